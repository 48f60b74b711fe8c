import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import type { SandboxOptions } from "../../engine/containment.ts";
import { type LogLevel, logLevels } from "../../server/log.ts";
import { sandboxOption } from "../exec/exec-options.ts";

/** The options of `tinman serve`. */
export interface GivenServe {
  readonly host: string;
  readonly port: number;
  readonly allowRemote?: boolean;
  /** False with `--no-auth`. */
  readonly auth: boolean;
  readonly config?: string;
  readonly cwd?: string;
  readonly model?: string;
  readonly sandbox?: SandboxOptions["mode"];
  readonly logLevel: LogLevel;
}

export interface GivenServeToken {
  readonly json?: boolean;
}

export interface GivenServeLink {
  readonly host: string;
  readonly port: number;
}

interface ServeCommands {
  serve(given: GivenServe): Promise<void>;
  token(given: GivenServeToken): Promise<void>;
  link(given: GivenServeLink): Promise<void>;
}

const help = `
Every request needs a token, as the header Authorization: Bearer <token>. This machine's own is in
$TINMAN_HOME/serve-token; further users stand in the configuration, with what tinman serve token prints.

  tinman serve                     for this machine alone, on port 8000
  tinman serve link                a link that opens it in a browser, once
  tinman serve --host 0.0.0.0 --allow-remote     for others, too: put a proxy with TLS before it

One line on standard output says where it listens; the log is JSON lines on standard error.
SIGTERM and SIGINT let running turns end; a second one does not wait. See docs/serve.md.`;

export function defineServe(program: Command, run: ServeCommands): void {
  const serve = program
    .command("serve")
    .description("serve sessions over WebSocket, to any number of clients")
    .option("--host <address>", "where to listen", "127.0.0.1")
    .addOption(new Option("--port <number>", "the port; 0 is any that is free").default(8_000).argParser(anyPort))
    .option("--allow-remote", "listen where other machines can come, too")
    .option("--no-auth", "ask nobody for a token: everybody on this machine may do everything; for tests")
    .option("--config <file>", "instead of config.yaml in Tinman's home")
    .option("--cwd <path>", "the folder that sessions work in")
    .option("-m, --model <id>", "the model of sessions that name none")
    .addOption(sandboxOption())
    .addOption(new Option("--log-level <level>", "what to log").choices([...logLevels]).default("info"))
    .addHelpText("after", help)
    .allowExcessArguments(false)
    .action((given: GivenServe) => run.serve(given));
  serve
    .command("token")
    .description("print a new token, and what to put into the configuration for it")
    .option("--json", "print JSON")
    .allowExcessArguments(false)
    .action((given: GivenServeToken) => run.token(given));
  serve
    .command("link")
    .description("print a link that opens a running server in a browser; it works once, within a minute")
    .option("--host <address>", "where it listens", "127.0.0.1")
    .option("--port <number>", "its port", "8000")
    .allowExcessArguments(false)
    // Commander assigns options with the same name to the parent command.
    .action(() => {
      const { host, port }: GivenServe = serve.opts();
      return run.link({ host, port });
    });
}

function anyPort(value: string): number {
  const number = Number(value);
  if (!/^\d+$/.test(value) || number > 65_535) throw new InvalidArgumentError("It must be a number from 0 to 65535.");
  return number;
}
