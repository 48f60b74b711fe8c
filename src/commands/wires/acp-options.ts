import type { Command } from "commander";
import { Option } from "commander";
import { addSettings, type GivenSettings } from "../exec/exec-options.ts";

/** The options of `tinman acp`. */
export interface GivenAcp extends GivenSettings {
  readonly backend?: string;
  readonly sessions?: SessionsOf;
}

const sessionOwners = ["tinman", "droid", "none"] as const;
export type SessionsOf = (typeof sessionOwners)[number];

const help = `
An editor starts it and speaks the Agent Client Protocol on standard input and output. In the editor's settings:
  command: tinman    arguments: acp

With --backend, Tinman translates between the editor and another program:
  tinman acp --backend droid
  tinman acp --backend "npx some-agent exec --input-format stream-jsonrpc --output-format stream-jsonrpc"
A single word is started with the options for the protocol; anything longer is run by the shell as written.`;

export function defineAcp(program: Command, run: (given: GivenAcp) => Promise<void>): void {
  const command = program
    .command("acp")
    .description("serve an editor over the Agent Client Protocol")
    .option("--backend <command>", "a program that speaks stream-jsonrpc, instead of Tinman's own engine")
    // Has no effect, but editors still have it in their settings.
    .addOption(new Option("--skip-mcp-servers").hideHelp())
    .addOption(new Option("--sessions <of>", "which program's sessions --backend lists").choices([...sessionOwners]));
  addSettings(command)
    .addHelpText("after", help)
    .allowExcessArguments(false)
    .action((options: GivenAcp) => run(options));
}
