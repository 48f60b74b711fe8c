import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";

/** The options of `tinman connect`. */
export interface GivenConnect {
  readonly address: string | undefined;
  readonly tokenFile?: string;
  readonly user?: string;
  readonly language?: string;
  readonly model?: string;
  readonly context?: string;
  readonly tools?: string;
  readonly toolExecution?: "client" | "server";
  readonly toolCommand?: string;
  readonly resume?: string;
  readonly after?: number;
  readonly outputFormat: "text" | "json";
}

const help = `
Every line of standard input is a message. Answers go to standard output, everything else to standard error.
  printf 'hello\\nand again\\n' | tinman connect
Each line is sent after the answer to the previous one; the end of input stops the session.
At a terminal, Ctrl-C cancels the running answer, or leaves; Ctrl-D stops the session and leaves.
Lines that begin with a slash are commands: /help lists them.

The token comes from --token-file, else from TINMAN_TOKEN, else from tinman serve's file on this machine.

Exit codes: 0 success, 1 no connection, no session or a failed answer, 2 usage, 3 timeout,
5 stopped by a permission, 130 SIGINT, 143 SIGTERM.`;

export function defineConnect(program: Command, run: (given: GivenConnect) => Promise<void>): void {
  program
    .command("connect")
    .description("talk to a running tinman serve from a terminal or a script")
    .argument("[address]", "the server (default: ws://127.0.0.1:8000/ws)")
    .option("--token-file <path>", "a file with the token")
    .option("--user <id>", "the user's id (default: the login name)")
    .option("--language <language>", "the language to answer in")
    .option("-m, --model <id>", "the model")
    .option("--context <text>", "context for the model")
    .option("--tools <file>", "a JSON file with your tools: [{name, description, inputSchema}]")
    .addOption(new Option("--tool-execution <side>", "who runs tools").choices(["client", "server"]))
    .option("--tool-command <command>", "a shell command that runs tool calls: JSON on stdin, result on stdout")
    .addOption(
      new Option("--resume <session-id>", "continue a session").conflicts([
        "language",
        "model",
        "context",
        "tools",
        "toolExecution",
      ]),
    )
    .addOption(
      new Option("--after <seq>", "with --resume: replay only what came after this number").argParser(sequence),
    )
    .addOption(
      new Option("-o, --output-format <format>", "text, or every received frame as a line of JSON")
        .choices(["text", "json"])
        .default("text"),
    )
    .addHelpText("after", help)
    .allowExcessArguments(false)
    .action((address: string | undefined, options: Omit<GivenConnect, "address">) => run({ ...options, address }));
}

function sequence(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || !Number.isSafeInteger(number))
    throw new InvalidArgumentError("It must be a whole number.");
  return number;
}
