import type { Command } from "commander";
import { InvalidArgumentError, Option } from "commander";

export interface GivenAdd {
  readonly url?: string;
  readonly type?: "http" | "sse";
  readonly header?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly contained?: boolean;
}

export interface GivenTrust {
  readonly yes?: boolean;
}

interface McpCommands {
  list(options: { readonly json?: boolean; readonly check?: boolean }): Promise<void>;
  test(name: string, options: { readonly json?: boolean }): Promise<void>;
  add(name: string, options: GivenAdd): Promise<void>;
  remove(name: string): Promise<void>;
  setEnabled(name: string, isEnabled: boolean): Promise<void>;
  login(name: string): Promise<void>;
  logout(name: string): Promise<void>;
  trust(name: string | undefined, options: GivenTrust): Promise<void>;
}

const addHelp = `
Examples:
  tinman mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes
  tinman mcp add docs --url https://docs.example.com/mcp --header 'Authorization=Bearer \${DOCS_KEY}'

In single quotes, \${NAME} is stored as it is, and replaced by that variable whenever the server is used.`;

/** `tinman mcp`. */
export function defineMcp(program: Command, run: McpCommands): Command {
  const mcp = program.command("mcp").description("list, add, test and trust MCP servers");
  mcp
    .command("list", { isDefault: true })
    .description("list the servers of sessions in this folder")
    .option("--check", "also start or reach them, and show the result")
    .option("--json", "print JSON")
    .action((options) => run.list(options));
  mcp
    .command("test <name>")
    .description("start or reach a server, and print its tools with their classes")
    .option("--json", "print JSON")
    .action((name, options) => run.test(name, options));
  mcp
    .command("add <name>")
    .usage("[options] <name> -- <command> [arguments...]")
    .description("add a server for all folders, started by a command or reached at an address")
    .option("--url <address>", "its address, instead of a command")
    .addOption(new Option("--type <type>", "how the address is reached (default: http)").choices(["http", "sse"]))
    .addOption(new Option("--header <name=value>", "sent to the address; repeatable").argParser(header))
    .addOption(new Option("--env <name=value>", "a variable for the command; repeatable").argParser(variable))
    .option("--contained", "run the command in the sandbox")
    .addHelpText("after", addHelp)
    .action((name, options) => run.add(name, options));
  mcp
    .command("remove <name>")
    .description("remove a server that was added")
    .action((name) => run.remove(name));
  mcp
    .command("enable <name>")
    .description("use a server again")
    .action((name) => run.setEnabled(name, true));
  mcp
    .command("disable <name>")
    .description("keep a server, but don't use it")
    .action((name) => run.setEnabled(name, false));
  mcp
    .command("login <name>")
    .description("sign in to a server that asks for it")
    .action((name) => run.login(name));
  mcp
    .command("logout <name>")
    .description("delete the tokens of a server")
    .action((name) => run.logout(name));
  mcp
    .command("trust [name]")
    .description("review servers that this folder's .mcp.json names, and allow them to start")
    .option("-y, --yes", "allow them without asking")
    .action((name, options) => run.trust(name, options));
  return mcp;
}

type Pairs = Readonly<Record<string, string>>;

function variable(value: string, before: Pairs = {}): Pairs {
  return { ...before, ...pair(value, value.indexOf("="), "Write NAME=value.") };
}

/** As `name=value`, or as HTTP has it. */
function header(value: string, before: Pairs = {}): Pairs {
  const ends = [value.indexOf("="), value.indexOf(":")].filter((end) => end >= 0);
  return { ...before, ...pair(value, Math.min(...ends), "Write name=value.") };
}

function pair(value: string, end: number, rule: string): Pairs {
  if (end < 1 || end > value.length) throw new InvalidArgumentError(rule);
  const text = value.slice(end + 1);
  return { [value.slice(0, end)]: value[end] === ":" ? text.trimStart() : text };
}
