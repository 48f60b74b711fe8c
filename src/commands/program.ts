import { Command, CommanderError, Option } from "commander";
import { AgentError, failureOf } from "../engine/errors.ts";
import { autonomyLevels } from "../engine/settings.ts";
import { exitCodeOf, exitCodes } from "../frontends/exit-codes.ts";
import type { Io } from "../frontends/front-end.ts";
import { terminalLine } from "../text/terminal-text.ts";
import { defineExec, duration, sandboxOption } from "./exec/exec-options.ts";
import { defineMcp } from "./mcp/mcp-options.ts";
import { processIo } from "./process-io.ts";
import { defineServe } from "./serve/serve-options.ts";
import { reportUsage } from "./usage.ts";
import { defineAcp } from "./wires/acp-options.ts";
import { defineConnect } from "./wires/connect-options.ts";

const examples = `
Examples:
  tinman exec "Which files are in this folder?"
  tinman exec --auto low "create file notes.md with hello"
  git diff | tinman exec "review this" -
  tinman sessions list
  tinman acp        for an editor to start; see docs/acp.md

Without a configured model, Tinman prints a notice and uses its offline model, which needs no key or network.
Exit codes: 0 success, 1 failed, 2 usage, 3 limit or timeout, 4 no such session, 5 stopped by a permission.`;

/** Parses the command line and runs one command. Resolves with the exit code; never ends the process. */
export async function runProgram(argv: readonly string[]): Promise<number> {
  // A library's logging must not end up between the lines of a protocol.
  const { error: toStderr } = globalThis.console;
  Object.assign(globalThis.console, { log: toStderr, info: toStderr, debug: toStderr, dir: toStderr, table: toStderr });
  const io = processIo();
  let code: number = exitCodes.success;
  const help: string[] = [];
  const program = new Command("tinman")
    .description("A coding agent for machines to drive: one engine, every wire.")
    .version(TINMAN_VERSION, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", examples)
    .exitOverride()
    .configureOutput({ writeOut: (text) => help.push(text), writeErr: () => undefined })
    .showSuggestionAfterError(true);
  const separator = argv.indexOf("--");
  const words = separator < 0 ? undefined : argv.slice(separator + 1);
  const flags = separator < 0 ? argv : argv.slice(0, separator);
  defineCommands(program, io, argv[0], words, (result) => {
    code = result;
  });
  try {
    if (argv.length === 0) throw new AgentError("usage", "No command given. Try: tinman --help");
    await program.parseAsync([...flags], { from: "user" });
    return (await outputProblem(io)) ?? code;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) {
      for (const text of help) await io.stdout.write(text);
      return (await outputProblem(io)) ?? exitCodes.success;
    }
    if (error instanceof CommanderError) {
      return reportUsage(flags, unknownWord(error, program, flags) ?? usageWords(error, flags), io);
    }
    const failure = failureOf(error);
    if (failure.code === "usage") return reportUsage(flags, failure.message, io);
    await io.stderr.write(`tinman: ${terminalLine(failure.message.split("\n")[0] ?? "")}\n`);
    return exitCodeOf(failure.code);
  }
}

/** A closed pipe is fine; a full disk must not look like success. */
async function outputProblem({ stdout, stderr }: Io): Promise<number | undefined> {
  const { code, message } = (stdout.gone.reason ?? {}) as Partial<NodeJS.ErrnoException>;
  if (!stdout.gone.aborted || code === "EPIPE") return undefined;
  await stderr.write(`tinman: Cannot write standard output: ${message}\n`);
  return exitCodes.failed;
}

function defineCommands(
  program: Command,
  io: Io,
  asked: string | undefined,
  words: readonly string[] | undefined,
  done: (code: number) => void,
): void {
  defineExec(program, async (given) => {
    const { exec } = await import("./exec/exec.ts");
    done(await exec(given, words, io));
  });
  // Commands used by programs don't wait for the others' definitions.
  if (asked === "exec") return;
  defineAcp(program, async (given) => {
    const { acp } = await import("./wires/acp.ts");
    done(await acp(given, io));
  });
  if (asked === "acp") return;
  defineServe(program, {
    serve: async (given) => done(await (await import("./serve/serve.ts")).serve(given, io)),
    token: async (given) => done(await (await import("./serve/serve-token.ts")).printServeToken(given, io)),
    link: async (given) => done(await (await import("./serve/serve-link.ts")).printServeLink(given, io)),
  });
  defineConnect(program, async (given) => {
    const { connect } = await import("./wires/connect.ts");
    done(await connect(given, io));
  });
  const sessions = program.command("sessions").description("list, show, find and delete sessions");
  const json = ["--json", "print JSON"] as const;
  sessions
    .command("list", { isDefault: true })
    .description("list sessions, newest first")
    .option("--cwd <path>", "only sessions of this folder")
    .option("-n, --limit <count>", "maximum number of sessions", "50")
    .option(...json)
    .action(async (options) => done(await (await import("./sessions.ts")).listSessions(options, io)));
  sessions
    .command("show <id>")
    .description("print the conversation of a session")
    .option(...json)
    .action(async (id, options) => done(await (await import("./sessions.ts")).showSession(id, options, io)));
  sessions
    .command("path <id>")
    .description("print the path of a session's log")
    .action(async (id) => done(await (await import("./sessions.ts")).printPath(id, io)));
  sessions
    .command("delete <id...>")
    .description("delete sessions and their tool outputs")
    .action(async (ids) => done(await (await import("./sessions.ts")).deleteSessions(ids, io)));
  const models = defineModels(program, io, done);
  const mcp = defineMcp(program, {
    list: async (options) => done(await (await import("./mcp/mcp-list.ts")).listServers(options, io)),
    test: async (name, options) => done(await (await import("./mcp/mcp-test.ts")).testServer(name, options, io)),
    add: async (name, options) => done(await (await import("./mcp/mcp-change.ts")).addServer(name, options, words, io)),
    remove: async (name) => done(await (await import("./mcp/mcp-change.ts")).removeServer(name, io)),
    setEnabled: async (name, isEnabled) =>
      done(await (await import("./mcp/mcp-change.ts")).setServerEnabled(name, isEnabled, io)),
    login: async (name) => done(await (await import("./mcp/mcp-login.ts")).signInToServer(name, io)),
    logout: async (name) => done(await (await import("./mcp/mcp-login.ts")).signOutOfServer(name, io)),
    trust: async (name, options) => done(await (await import("./mcp/mcp-trust.ts")).trustServers(name, options, io)),
  });
  program
    .command("doctor")
    .description("check this machine and the configuration")
    .option(...json)
    .action(async (options) => done(await (await import("./doctor.ts")).runDoctor(options, io)));
  program
    .command("schema [name]")
    .description("print the JSON Schema of a format, or list the formats")
    .action(async (name) => done(await (await import("./schema.ts")).printSchema(name, io)));
  const policy = program.command("policy").description("show how commands would be decided");
  policy
    .command("explain [command]")
    .description("print how a command is read, and at which levels it would run unasked; runs nothing")
    .addOption(
      new Option("--auto <level>", "only this level; exit code 5 unless it runs unasked").choices(autonomyLevels),
    )
    .option("--cwd <path>", "the folder it would run in")
    .addOption(sandboxOption())
    .option(...json)
    .addHelpText("after", "\nPut the command in quotes; - reads it from standard input.")
    .action(async (command, options) =>
      done(await (await import("./policy/policy-explain.ts")).explainCommand(command, words, options, io)),
    );
  policy
    .command("test <file>")
    .description("check cases from a YAML or JSON file; exit code 1 if one fails")
    .option("--cwd <path>", "the folder the commands would run in")
    .addOption(
      new Option("--sandbox <mode>", "judge without the sandbox or in it, whether it works here or not")
        .choices(["off", "required"])
        .default("off"),
    )
    .option(...json)
    .action(async (file, options) =>
      done(await (await import("./policy/policy-test.ts")).testPolicy(file, options, io)),
    );
  for (const command of [
    ...program.commands,
    ...sessions.commands,
    ...models.commands,
    ...mcp.commands,
    ...policy.commands,
  ])
    command.allowExcessArguments(false);
}

function defineModels(program: Command, io: Io, done: (code: number) => void): Command {
  const models = program.command("models").description("list, discover, test and import models");
  models
    .command("list", { isDefault: true })
    .description("list usable models, and why the others are not usable")
    .option("--discover", "query the usual model servers on this machine")
    .option("--json", "print JSON")
    .action(async ({ discover, ...options }) => {
      if (discover === true) done(await (await import("./models/models-discover.ts")).discoverModels(options, io));
      else done(await (await import("./models/models.ts")).listModels(options, io));
    });
  models
    .command("test <id>")
    .description("send one tiny prompt to a model, and report the result")
    .addOption(new Option("--timeout <duration>", "time limit: 90, 90s, 10m (default: 60s)").argParser(duration))
    .option("--json", "print JSON")
    .action(async (id, options) => done(await (await import("./models/models-test.ts")).testModel(id, options, io)));
  models
    .command("import")
    .description("print the custom models of ~/.factory/settings.json as configuration")
    .option("--from <file>", "another file in that format")
    .option("--write", "add them to config.yaml")
    .action(async (options) => done(await (await import("./models/models-import.ts")).importModels(options, io)));
  return models;
}

/** A misspelt subcommand is parsed as an argument of the default one, so Commander suggests nothing. */
function unknownWord(error: CommanderError, program: Command, [name]: readonly string[]): string | undefined {
  const { commands = [], args: [first = ""] = [] } = program.commands.find((one) => one.name() === name) ?? {};
  const known = commands.map((one) => one.name());
  const word = commands.find(({ args }) => args.length > 0)?.args[0];
  if (error.code !== "commander.excessArguments" || word === undefined) return undefined;
  if (known.includes(first) || known.includes(word)) return undefined;
  const group = new Command().exitOverride().configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
  for (const one of known) group.command(one);
  try {
    group.parse([word], { from: "user" });
  } catch (unknown) {
    const hint = /\(Did you mean [^)]*\)/.exec(unknown instanceof CommanderError ? unknown.message : "")?.[0];
    return `unknown command "${word}"${hint === undefined ? "" : ` ${hint}`}`;
  }
  return undefined;
}

/** Commander's message as one line, with its suggestion. */
function usageWords(error: CommanderError, [command, sub]: readonly string[]): string {
  const line = error.message.replace(/^error: /, "").replace(/\s*\n\s*/g, " ");
  if (error.code === "commander.excessArguments" && command === "exec") {
    return `${line} Put the prompt in quotes, or after --.`;
  }
  if (error.code === "commander.excessArguments" && command === "mcp" && sub === "add") {
    return `${line} Put the command after --.`;
  }
  const isLoose = error.code === "commander.excessArguments" || error.code === "commander.unknownOption";
  if (isLoose && command === "policy" && sub === "explain")
    return `${line.replace(/\.?$/, ".")} Put the command in quotes.`;
  if (error.code === "commander.help") return "A command is missing. Try: tinman --help";
  return line;
}
