import { compose } from "../../compose.ts";
import { printable } from "../../config/check/visible.ts";
import { withEvidence } from "../../engine/calls/evidence.ts";
import type { SandboxOptions } from "../../engine/containment.ts";
import type { Access, AccessClass, Decision, DecisionContext, JudgedPart } from "../../engine/permission.ts";
import { lookupKey } from "../../engine/permission.ts";
import type { Host } from "../../engine/ports.ts";
import { autonomyLevels } from "../../engine/settings.ts";
import type { Io } from "../../frontends/front-end.ts";
import { workingFolder } from "../working-folder.ts";
import { wallsText } from "./walls-text.ts";

export const policyLevels = [...autonomyLevels, "unsafe", "spec"] as const;
export type PolicyLevel = (typeof policyLevels)[number];

/** `asks` becomes a denial without a user to ask. `denied`: by a rule, without asking. */
export type Verdict = "runs" | "asks" | "denied" | "refused";

export interface JudgedCommand {
  readonly class: AccessClass | "refused";
  readonly impactLevel: Decision["impact"];
  readonly programs: readonly string[];
  /** Needs an explicit yes at every level. */
  readonly protected: boolean;
  readonly tree: JudgedPart;
  /** The sandbox's remaining permissions; absent if the command runs outside it. */
  readonly contained?: string;
  /** Why the text cannot run at all. */
  readonly refused?: string;
  /** The configured rule that denies it, in a sentence. */
  readonly denied?: string;
  /** Stable name of the row or rule that decided the class. */
  readonly rule: string;
  /** The same in words, after "because". */
  readonly because: string;
  at(level: PolicyLevel): Verdict;
}

interface JudgedSandbox {
  readonly mode?: SandboxOptions["mode"] | undefined;
  /** Judge as if the sandbox works, without probing it. */
  readonly isAssumed?: boolean;
  /** The level to judge for. Commands at `high` are not contained unless that is required. */
  readonly level?: PolicyLevel | undefined;
}

/** Judges commands as a run in this folder would, without running them. */
export async function createJudge(
  cwd: string | undefined,
  sandbox: JudgedSandbox,
  io: Io,
): Promise<(command: string) => Promise<JudgedCommand>> {
  const folder = workingFolder(cwd);
  const { mode, isAssumed = false, level = "off" } = sandbox;
  const { engine, policy, host, decisionContext } = await compose(process.env, { sandboxMode: mode });
  if (!isAssumed) await engine.checkSandbox();
  const { context, notices } = await decisionContext(folder, isAssumed && mode !== "off");
  for (const notice of notices) await io.stderr.write(`tinman: ${printable(notice)}\n`);
  const machine = lookingOnce(host);
  return async (command) => {
    // Execute runs nothing for a blank command, so there is nothing to decide.
    const access: Access = { type: "command", command, background: false };
    const accesses = await withEvidence(command.trim() === "" ? [] : [access], policy, machine, context);
    const evidence = accesses.flatMap((one) => (one.type === "command" ? (one.evidence ?? []) : []))[0];
    const decide = (level: PolicyLevel): Decision => policy.decide(accesses, { ...context, ...contextAt(level) });
    const blankTree: ReturnType<typeof policy.explain> = { tree: { ...blank, source: command } };
    const { tree, walls } =
      evidence === undefined ? blankTree : policy.explain(evidence, { ...context, ...contextAt(level) });
    const refused = evidence?.reading.refused;
    const judged = judgedCommand(decide, level, tree, refused === undefined ? undefined : `it ${refused}`);
    return walls === undefined ? judged : { ...judged, contained: wallsText(walls) };
  };
}

const blank = {
  kind: "script",
  class: "read",
  protected: false,
  rule: "no-access",
  why: "runs nothing",
  parts: [],
} as const;

function judgedCommand(
  decide: (level: PolicyLevel) => Decision,
  level: PolicyLevel,
  tree: JudgedPart,
  refused: string | undefined,
): JudgedCommand {
  const decision = decide(level);
  const nodes = nodesOf(tree).filter(({ rule }) => rule !== "parts");
  const decisive = nodes.find((node) => node.protected) ?? nodes.find((node) => node.class === decision.class);
  const isAllRead = decision.class === "read" && nodes.length > 1;
  const because = isAllRead ? "all of its parts are" : `it ${decisive?.why ?? blank.why}`;
  return {
    class: refused === undefined ? decision.class : "refused",
    impactLevel: decision.impact,
    programs: decision.extractedCommands,
    protected: nodes.some((node) => node.protected),
    tree,
    ...(refused === undefined ? {} : { refused }),
    ...(decision.verdict === "deny" ? { denied: decision.why } : {}),
    rule: refused === undefined ? (decisive?.rule ?? blank.rule) : decision.rule,
    because: refused ?? because,
    at: (level) => verdictWords[decide(level).verdict],
  };
}

const verdictWords = { allow: "runs", ask: "asks", deny: "denied", refuse: "refused" } as const;

function contextAt(level: PolicyLevel): Partial<DecisionContext> {
  if (level === "unsafe") return { unsafe: true };
  return level === "spec" ? { mode: "spec" } : { autonomy: level };
}

function nodesOf(part: JudgedPart): readonly JudgedPart[] {
  return [part, ...part.parts.flatMap(nodesOf)];
}

/** Caches answers about the machine, which many commands share. */
function lookingOnce(host: Host): Host {
  const answers = new Map<string, ReturnType<Host["lookUp"]>>();
  return {
    ...host,
    lookUp(lookup) {
      const key = lookupKey(lookup);
      const answer = answers.get(key) ?? host.lookUp(lookup);
      answers.set(key, answer);
      return answer;
    },
  };
}

/** Untrusted text on one line of a terminal, cut. */
export function shown(text: string, most: number): string {
  const start = text
    .slice(0, most * 2)
    .toWellFormed()
    .replace(/\n/g, "↵");
  const characters = [...start];
  const isCut = text.length > start.length || characters.length > most;
  return `${printable(characters.slice(0, most).join(""))}${isCut ? "…" : ""}`;
}
