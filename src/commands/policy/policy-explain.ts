import type { SandboxOptions } from "../../engine/containment.ts";
import { AgentError } from "../../engine/errors.ts";
import type { JudgedPart } from "../../engine/permission.ts";
import type { Autonomy } from "../../engine/settings.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import type { JudgedCommand, PolicyLevel, Verdict } from "./policy.ts";
import { createJudge, policyLevels, shown } from "./policy.ts";

const maxInputBytes = 1_000_000;
const mostShown = 100;
/** A command can have a thousand parts, each containing all that follow. */
const mostSource = 4_000;

interface ExplainOptions {
  readonly auto?: Autonomy;
  readonly sandbox?: SandboxOptions["mode"];
  readonly cwd?: string;
  readonly json?: boolean;
}

/** `tinman policy explain`. `words` are the arguments after `--`. */
export async function explainCommand(
  given: string | undefined,
  words: readonly string[] | undefined,
  options: ExplainOptions,
  io: Io,
): Promise<number> {
  const command = await commandOf(given, words ?? []);
  const judge = await createJudge(
    options.cwd,
    { mode: options.sandbox, isAssumed: options.sandbox === "required", level: options.auto },
    io,
  );
  const judged = await judge(command);
  const levels: readonly PolicyLevel[] = options.auto === undefined ? policyLevels : [options.auto];
  const verdicts = levels.map((level) => [level, judged.at(level)] as const);
  await io.stdout.write(
    options.json === true ? `${JSON.stringify(asObject(command, judged, verdicts))}\n` : asText(judged, verdicts),
  );
  const [only] = verdicts;
  return options.auto === undefined || only?.[1] === "runs" ? exitCodes.success : exitCodes.denied;
}

async function commandOf(given: string | undefined, words: readonly string[]): Promise<string> {
  const all = given === undefined ? words : [given, ...words];
  const [command] = all;
  if (command === undefined) throw new AgentError("usage", "No command given. Try: tinman policy explain 'ls -la'");
  // Joining would lose the quotes that the shell removed, and explain another command.
  if (all.length > 1) throw new AgentError("usage", "Give the command as one argument: put it in quotes.");
  const text = given === "-" ? await readStandardInput() : command;
  if (text.trim() === "") throw new AgentError("usage", "The command is empty.");
  return text;
}

/** The exact text, except for the last line end, which comes from the pipe. */
async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY === true) throw new AgentError("usage", "Standard input is a terminal; pipe the command in.");
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of process.stdin) {
    chunks.push(chunk as Buffer);
    bytes += (chunk as Buffer).length;
    if (bytes > maxInputBytes) throw new AgentError("usage", "The command is larger than 1 MB.");
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks)).replace(/\n$/, "");
  } catch {
    throw new AgentError("usage", "The command is not UTF-8 text.");
  }
}

type Verdicts = readonly (readonly [PolicyLevel, Verdict])[];

function asObject(command: string, judged: JudgedCommand, verdicts: Verdicts): object {
  const { contained, refused, denied } = judged;
  return {
    command,
    class: judged.class,
    impactLevel: judged.impactLevel,
    programs: judged.programs,
    protected: judged.protected,
    rule: judged.rule,
    because: judged.because,
    tree: cutTree(judged.tree),
    verdicts: Object.fromEntries(verdicts),
    ...(contained === undefined ? {} : { contained }),
    ...(refused === undefined ? {} : { refused }),
    ...(denied === undefined ? {} : { denied }),
  };
}

function cutTree(part: JudgedPart): JudgedPart {
  const { source } = part;
  return {
    ...part,
    source: source.length > mostSource ? `${source.slice(0, mostSource).toWellFormed()}…` : source,
    parts: part.parts.map(cutTree),
  };
}

function asText(judged: JudgedCommand, verdicts: Verdicts): string {
  const { denied } = judged;
  const facts = [
    ["class", `${judged.class}, because ${shown(judged.because, 500)}`],
    ...(judged.contained === undefined ? [] : [["contained", shown(judged.contained, 1_000)]]),
    ["programs", judged.programs.length === 0 ? "none" : shown(judged.programs.join(", "), 500)],
    ...(denied === undefined ? [] : [["denied", shown(denied, 500)]]),
  ];
  const table = verdicts.map(([level, verdict]) => [level, verdict === "asks" ? "asks (in exec: denied)" : verdict]);
  const rows = [...facts, [], ...table].map(([name, value]) =>
    name === undefined ? "" : `${name.padEnd(10)}${value}`,
  );
  // Refused text was not parsed; the reason follows below.
  const tree = judged.refused === undefined ? treeLines(judged.tree) : [shown(judged.tree.source, mostShown)];
  return `${[...tree, "", ...rows].join("\n")}\n`;
}

/** One line for a part's text and one for its decision. A part that only groups others has just the first. */
function treeLines(part: JudgedPart): readonly string[] {
  const [only] = part.parts;
  // Skip a wrapper around the same text.
  if (part.rule === "parts" && part.parts.length === 1 && only?.source === part.source) return treeLines(only);
  const lines = [`${part.kind}  ${shown(part.source, mostShown)}`];
  const stem = part.parts.length === 0 ? "   " : "│  ";
  if (part.rule !== "parts") {
    const marks = `${part.protected ? ", protected" : ""}${part.contained === true ? ", contained" : ""}`;
    lines.push(`${stem}${part.class}${marks}: it ${shown(part.why, 500)} [${shown(part.rule, 80)}]`);
  }
  part.parts.forEach((inner, index) => {
    const isLast = index === part.parts.length - 1;
    const [first = "", ...rest] = treeLines(inner);
    lines.push(`${isLast ? "└─ " : "├─ "}${first}`, ...rest.map((line) => `${isLast ? "   " : "│  "}${line}`));
  });
  return lines;
}
