import { AgentError } from "../../engine/errors.ts";
import { runAcp } from "../../frontends/acp/acp.ts";
import { createLogger } from "../../frontends/exec/log.ts";
import type { Io } from "../../frontends/front-end.ts";
import { commandBackend, engineBackend } from "./acp-backends.ts";
import type { GivenAcp } from "./acp-options.ts";

/** Options of our own engine, refused for other backends. */
const ofTheEngine = {
  specModel: "--spec-model",
  specReasoningEffort: "--spec-reasoning-effort",
  skipPermissionsUnsafe: "--skip-permissions-unsafe",
  sandbox: "--sandbox",
  enabledTools: "--enabled-tools",
  disabledTools: "--disabled-tools",
  appendSystemPrompt: "--append-system-prompt",
  appendSystemPromptFile: "--append-system-prompt-file",
  mcpConfig: "--mcp-config",
  mcpWait: "--mcp-wait",
} as const satisfies Partial<Record<keyof GivenAcp, string>>;

export async function acp(given: GivenAcp, io: Io): Promise<number> {
  const log = createLogger(io.stderr, given.logLevel);
  const { backend: command } = given;
  if (command !== undefined) refuseOptionsOfTheEngine(given);
  else if (given.sessions !== undefined) throw new AgentError("usage", "--sessions needs --backend.");
  return runAcp(io, {
    input: process.stdin,
    backend: command === undefined ? engineBackend(given, io) : commandBackend(command, given),
    version: TINMAN_VERSION,
    warn: (words) => void log.warn(words),
  });
}

function refuseOptionsOfTheEngine(given: GivenAcp): void {
  const used = Object.entries(ofTheEngine).find(([key]) => given[key as keyof GivenAcp] !== undefined)?.[1];
  if (used !== undefined)
    throw new AgentError("usage", `${used} cannot be used with --backend. Pass it to the backend.`);
}
