import { AgentError } from "../../engine/errors.ts";
import type { GivenExec } from "./exec-options.ts";

/** Options for a single run. They don't apply when a client drives. */
const forOneRun = {
  prompt: "a prompt",
  file: "--file",
  sessionId: "--session-id",
  fork: "--fork",
  maxTurns: "--max-turns",
  maxTokens: "--max-tokens",
  timeout: "--timeout",
  tag: "--tag",
  mcpRequired: "--mcp-required",
} as const satisfies Partial<Record<keyof GivenExec, string>>;

/** `protocol`: the option that selects the protocol. `words`: the arguments after `--`. */
export function refuseOptionsOfOneRun(given: GivenExec, words: readonly string[] | undefined, protocol: string): void {
  const used = Object.entries(forOneRun).find(([key]) => given[key as keyof GivenExec] !== undefined)?.[1];
  const refused = words === undefined ? used : forOneRun.prompt;
  if (refused === undefined) return;
  throw new AgentError("usage", `${refused} cannot be used with ${protocol}: the client sets it.`);
}
