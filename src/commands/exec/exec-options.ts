import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import { sandboxModes } from "../../engine/containment.ts";
import type { Tag } from "../../engine/settings.ts";
import { autonomyLevels, reasoningEfforts } from "../../engine/settings.ts";
import type { LogLevel } from "../../frontends/exec/log.ts";
import { logLevels } from "../../frontends/exec/log.ts";
import type { OutputFormat } from "../../frontends/exec/report.ts";
import { durationMs, durationRule } from "../../text/user-words.ts";
import { isRecord } from "../../text/values.ts";

/** Options for the settings of new sessions. */
export interface GivenSettings {
  readonly model?: string;
  readonly reasoningEffort?: (typeof reasoningEfforts)[number];
  readonly auto?: "low" | "medium" | "high";
  readonly skipPermissionsUnsafe?: boolean;
  readonly sandbox?: (typeof sandboxModes)[number];
  readonly useSpec?: boolean;
  readonly specModel?: string;
  readonly specReasoningEffort?: (typeof reasoningEfforts)[number];
  readonly enabledTools?: readonly string[];
  readonly disabledTools?: readonly string[];
  readonly appendSystemPrompt?: string;
  readonly appendSystemPromptFile?: string;
  readonly mcpConfig?: readonly string[];
  readonly mcpWait?: number;
  readonly logLevel: LogLevel;
}

/** The options of `tinman exec`. */
export interface GivenExec extends GivenSettings {
  readonly prompt: string | undefined;
  /** `-` after the prompt: standard input is context. */
  readonly input?: string | undefined;
  readonly file?: string;
  readonly outputFormat?: OutputFormat | "stream-jsonrpc" | "acp";
  readonly inputFormat: "text" | "stream-jsonrpc";
  readonly sessionId?: string;
  readonly fork?: string;
  readonly cwd?: string;
  readonly listTools?: boolean;
  readonly tag?: readonly Tag[];
  readonly maxTurns?: number;
  readonly maxTokens?: number;
  readonly timeout?: number;
  readonly onDenied: "stop" | "continue";
  readonly mcpRequired?: readonly string[];
  readonly quirks?: readonly string[];
}

const help = `
The prompt is the argument, or the text of --file, or standard input (with no argument, or with -).
Everything after -- is the prompt, even if it looks like an option.
A - beside the prompt adds standard input as context: git diff | tinman exec "review this" -
Without it, standard input is not read.

By default a run only reads. To allow more:
  --auto low      create and edit files in the folder
  --auto medium   also builds, tests, installs, commits, downloads, writes outside the folder;
                  in the sandbox also scripts and unknown programs
  --auto high     every command: git push, deletions, unknown scripts and programs
  --skip-permissions-unsafe   never ask; only for disposable environments

A call above the level ends the run with exit code 5, before any call of that reply runs.

Output (-o):
  text          the final text
  json          one object: {"type":"result","subtype":"success","result":…,"session_id":…}
  stream-json   one JSON line per event as it happens; the last is always "completion"

A program as the client:
  tinman exec --input-format stream-jsonrpc --output-format stream-jsonrpc
speaks JSON-RPC on standard input and output until input closes: several turns, permissions, questions.
An editor as the client: -o acp, the same as tinman acp.

Examples:
  tinman exec "summarize this repo"
  git diff | tinman exec "review this" -
  tinman exec -o json "start task" | jq -r .session_id
  tinman exec -s <session-id> "continue with next step"
  tinman exec --auto low --timeout 10m --max-turns 40 -f task.md
  tinman exec -m script:replies.yaml -o stream-json "run it"

Exit codes: 0 success, 1 failed, 2 usage, 3 limit or timeout, 4 no such session, 5 stopped by a permission,
130 SIGINT, 143 SIGTERM.`;

/** Options of every command that runs sessions. */
export function sandboxOption(): Option {
  return new Option("--sandbox <mode>", "run commands in the sandbox where it works, always, or never").choices([
    ...sandboxModes,
  ]);
}

export function mcpConfigOption(): Option {
  return new Option("--mcp-config <file>", "a file with further MCP servers; repeatable").argParser(
    (file: string, before: readonly string[] = []) => [...before, file],
  );
}

export function addSettings(command: Command): Command {
  const efforts = [...reasoningEfforts];
  const levels = autonomyLevels.filter((level) => level !== "off");
  return command
    .option("-m, --model <id>", "the model; see: tinman models")
    .addOption(new Option("-r, --reasoning-effort <effort>", "reasoning effort").choices(efforts))
    .addOption(new Option("--auto <level>", "what runs without asking").choices(levels))
    .addOption(new Option("--skip-permissions-unsafe", "never ask for permission").conflicts("auto"))
    .addOption(sandboxOption())
    .option("--use-spec", "only read, and propose a plan")
    .option("--spec-model <id>", "the model for spec mode")
    .addOption(new Option("--spec-reasoning-effort <effort>", "reasoning effort in spec mode").choices(efforts))
    .addOption(new Option("--enabled-tools <names>", "tools to allow by name at any level").argParser(names))
    .addOption(new Option("--disabled-tools <names>", "tools to withhold from the model").argParser(names))
    .option("--append-system-prompt <text>", "text to append to the system prompt")
    .addOption(new Option("--append-system-prompt-file <path>", "the same from a file").conflicts("appendSystemPrompt"))
    .addOption(mcpConfigOption())
    .addOption(
      new Option("--mcp-wait <duration>", "how long to wait for MCP servers (default: 10s)").argParser(duration),
    )
    .addOption(new Option("--log-level <level>", "what to log on stderr").choices([...logLevels]).default("warn"));
}

export function defineExec(program: Command, run: (given: GivenExec) => Promise<void>): void {
  const command = program
    .command("exec")
    .description("run one prompt non-interactively, and print the result")
    .argument("[prompt]", "the prompt; - reads it from standard input")
    .argument("[input]", "- adds standard input to the prompt")
    .option("-f, --file <path>", "read the prompt from a file")
    .addOption(
      new Option("-o, --output-format <format>", 'output format (default: "text")').choices([
        "text",
        "json",
        "stream-json",
        "stream-jsonrpc",
        "acp",
      ]),
    )
    .addOption(
      new Option("--input-format <format>", "input format").choices(["text", "stream-jsonrpc"]).default("text"),
    );
  addSettings(command)
    .option("-s, --session-id <id>", "continue a session")
    .addOption(new Option("--fork <id>", "continue a copy of a session").conflicts("sessionId"))
    .option("--cwd <path>", "the folder to work in")
    .option("--list-tools", "print the tools of this run and exit")
    .addOption(
      new Option("--tag <tag>", "a name or JSON {name, metadata} kept with the session; repeatable").argParser(tag),
    )
    .addOption(new Option("--max-turns <count>", "limit for model calls").argParser(count))
    .addOption(new Option("--max-tokens <count>", "limit for tokens, sent and received").argParser(count))
    .addOption(new Option("--timeout <duration>", "time limit: 90, 90s, 10m, 1h").argParser(duration))
    .addOption(
      new Option("--on-denied <action>", "what to do when a call is denied")
        .choices(["stop", "continue"])
        .default("stop"),
    )
    .addOption(new Option("--mcp-required <names>", "MCP servers without which nothing runs").argParser(servers))
    .addOption(new Option("--quirks <names>", "add faults to stream-jsonrpc, to test clients").argParser(quirks))
    .addHelpText("after", help)
    .allowExcessArguments(false)
    .action((prompt: string | undefined, input: string | undefined, options: Omit<GivenExec, "prompt" | "input">) =>
      run({ ...options, prompt, input }),
    );
}

function names(value: string, before: readonly string[] = []): readonly string[] {
  return listed(value, before, "Give at least one tool name.");
}

function servers(value: string, before: readonly string[] = []): readonly string[] {
  return listed(value, before, "Give at least one name.");
}

function quirks(value: string, before: readonly string[] = []): readonly string[] {
  return listed(value, before, "Give at least one name from docs/quirks.md.");
}

function listed(value: string, before: readonly string[], ifNone: string): readonly string[] {
  const given = value.split(/[\s,]+/).filter((name) => name !== "");
  if (given.length === 0) throw new InvalidArgumentError(ifNone);
  return [...before, ...given];
}

function tag(value: string, before: readonly Tag[] = []): readonly Tag[] {
  if (!value.trim().startsWith("{")) {
    if (value.trim() === "") throw new InvalidArgumentError("A tag needs a name.");
    return [...before, { name: value.trim() }];
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(value);
  } catch {
    throw new InvalidArgumentError("It is not valid JSON.");
  }
  const { name, metadata } = parsed as { name?: unknown; metadata?: unknown };
  if (typeof name !== "string" || name.trim() === "") throw new InvalidArgumentError('It needs a "name".');
  if (metadata === undefined) return [...before, { name }];
  if (!isRecord(metadata)) {
    throw new InvalidArgumentError('Its "metadata" must be an object.');
  }
  return [...before, { name, metadata: metadata as Record<string, unknown> }];
}

function count(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number < 1 || !Number.isSafeInteger(number)) {
    throw new InvalidArgumentError("It must be a whole number of at least 1.");
  }
  return number;
}

/** Milliseconds; a bare number is seconds. */
export function duration(value: string): number {
  const ms = durationMs(value);
  if (ms === undefined) throw new InvalidArgumentError(durationRule);
  return ms;
}
