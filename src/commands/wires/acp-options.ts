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
An editor starts it, and speaks the Agent Client Protocol on standard input and output. In the settings of the editor:
  command: tinman    arguments: acp

With --backend another program does the work, and Tinman stands between it and the editor:
  tinman acp --backend droid
  tinman acp --backend "npx some-agent exec --input-format stream-jsonrpc --output-format stream-jsonrpc"
One word is started with the options that choose the protocol; anything longer is run by the shell as it is written.`;

export function defineAcp(program: Command, run: (given: GivenAcp) => Promise<void>): void {
  const command = program
    .command("acp")
    .description("be the agent of an editor that speaks the Agent Client Protocol")
    .option("--backend <command>", "a program that speaks stream-jsonrpc, instead of Tinman's own engine")
    // Has no effect any more, but editors still have it in their settings.
    .addOption(new Option("--skip-mcp-servers").hideHelp())
    .addOption(new Option("--sessions <of>", "whose sessions are listed with --backend").choices([...sessionOwners]));
  addSettings(command)
    .addHelpText("after", help)
    .allowExcessArguments(false)
    .action((options: GivenAcp) => run(options));
}
