import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";
import type { SandboxOptions } from "../../engine/containment.ts";
import { type LogLevel, logLevels } from "../../server/log.ts";
import { mcpConfigOption, sandboxOption } from "../exec/exec-options.ts";

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
  readonly mcpConfig?: readonly string[];
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
$TINMAN_HOME/serve-token. Add further users to the configuration with the output of tinman serve token.

  tinman serve                     for this machine only, on port 8000
  tinman serve link                a one-time link that opens it in a browser
  tinman serve --host 0.0.0.0 --allow-remote     for other machines: put a TLS proxy in front

One line on standard output has the address; the log is JSON lines on standard error.
SIGTERM and SIGINT let running turns end; a second one stops at once. See docs/serve.md.`;

export function defineServe(program: Command, run: ServeCommands): void {
  const serve = program
    .command("serve")
    .description("serve sessions over WebSocket, to any number of clients")
    .option("--host <address>", "address to listen on", "127.0.0.1")
    .addOption(new Option("--port <number>", "port to listen on; 0 for any free one").default(8_000).argParser(anyPort))
    .option("--allow-remote", "allow an address that other machines can reach")
    .option("--no-auth", "require no token, so everyone on this machine can do everything; for tests")
    .option("--config <file>", "use this file instead of config.yaml")
    .option("--cwd <path>", "the folder that sessions work in")
    .option("-m, --model <id>", "the model of sessions that name none")
    .addOption(sandboxOption())
    .addOption(mcpConfigOption())
    .addOption(new Option("--log-level <level>", "what to log").choices([...logLevels]).default("info"))
    .addHelpText("after", help)
    .allowExcessArguments(false)
    .action((given: GivenServe) => run.serve(given));
  serve
    .command("token")
    .description("print a new token, and its configuration entry")
    .option("--json", "print JSON")
    .allowExcessArguments(false)
    .action((given: GivenServeToken) => run.token(given));
  serve
    .command("link")
    .description("print a link that opens a running server in a browser; it works once and expires after a minute")
    .option("--host <address>", "the server's address", "127.0.0.1")
    .option("--port <number>", "the server's port", "8000")
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
