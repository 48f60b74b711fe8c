import { AgentError } from "../../engine/errors.ts";
import type { GivenExec } from "./exec-options.ts";

/** Options that say what one run does, and mean nothing where a client says it. */
const forOneRun = {
  prompt: "a prompt",
  file: "--file",
  sessionId: "--session-id",
  fork: "--fork",
  maxTurns: "--max-turns",
  maxTokens: "--max-tokens",
  timeout: "--timeout",
  tag: "--tag",
} as const satisfies Partial<Record<keyof GivenExec, string>>;

/** `protocol` is the option by which the client speaks. `words` is what stood behind `--`. */
export function refuseOptionsOfOneRun(given: GivenExec, words: readonly string[] | undefined, protocol: string): void {
  const used = Object.entries(forOneRun).find(([key]) => given[key as keyof GivenExec] !== undefined)?.[1];
  const refused = words === undefined ? used : forOneRun.prompt;
  if (refused === undefined) return;
  throw new AgentError("usage", `${refused} has no meaning with ${protocol}: the client says it.`);
}
