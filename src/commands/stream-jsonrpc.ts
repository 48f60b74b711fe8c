import { compose } from "../compose.ts";
import { AgentError } from "../core/errors.ts";
import { createLogger } from "../frontends/exec/log.ts";
import type { Io } from "../frontends/front-end.ts";
import type { Quirks } from "../frontends/stream-jsonrpc/quirks.ts";
import { runStreamJsonRpc } from "../frontends/stream-jsonrpc/stream-jsonrpc.ts";
import { appendedPrompt } from "./appended-prompt.ts";
import type { GivenExec } from "./exec-options.ts";
import { toolNames } from "./tool-names.ts";
import { workingFolder } from "./working-folder.ts";

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

/** `tinman exec --input-format stream-jsonrpc`. What the command line says is what sessions begin with. */
export async function serveStreamJsonRpc(
  given: GivenExec,
  words: readonly string[] | undefined,
  io: Io,
): Promise<number> {
  refuseOptionsOfOneRun(given, words);
  const quirks = given.quirks === undefined ? undefined : await quirksNamed(given.quirks);
  const { engine, defaultModel, modelOverride, repositoryName } = await compose();
  const appendSystemPrompt = await appendedPrompt(given);
  const { reasoningEffort, specModel, specReasoningEffort, auto, useSpec } = given;
  const cwd = given.cwd === undefined ? undefined : workingFolder(given.cwd);
  const modelId = modelOverride === undefined ? (given.model ?? defaultModel) : defaultModel;
  await engine.checkModels({ modelId, ...(specModel === undefined ? {} : { specModelId: specModel }) });
  if (quirks !== undefined) {
    await io.stderr.write(`tinman: this server misbehaves on purpose (--quirks): ${quirks.names.join(", ")}.\n`);
  }
  return runStreamJsonRpc(engine, io, {
    input: process.stdin,
    ...(quirks === undefined ? {} : { over: quirks.over }),
    defaults: {
      modelId,
      reasoningEffort: reasoningEffort ?? "none",
      ...(specModel === undefined ? {} : { specModelId: specModel }),
      ...(specReasoningEffort === undefined ? {} : { specReasoningEffort }),
      ...(appendSystemPrompt === undefined ? {} : { appendSystemPrompt }),
      ...(auto === undefined ? {} : { autonomy: auto }),
      ...(useSpec === undefined ? {} : { spec: useSpec }),
      ...(cwd === undefined ? {} : { cwd }),
    },
    run: {
      unsafe: given.skipPermissionsUnsafe ?? false,
      onDenied: given.onDenied,
      enabledTools: toolNames(given.enabledTools ?? [], engine.tools),
      disabledTools: toolNames(given.disabledTools ?? [], engine.tools),
    },
    folder: workingFolder,
    repository: repositoryName,
    log: createLogger(io.stderr, given.logLevel),
  });
}

function refuseOptionsOfOneRun(given: GivenExec, words: readonly string[] | undefined): void {
  const used = Object.entries(forOneRun).find(([key]) => given[key as keyof GivenExec] !== undefined)?.[1];
  const refused = words === undefined ? used : forOneRun.prompt;
  if (refused === undefined) return;
  throw new AgentError("usage", `${refused} has no meaning with --input-format stream-jsonrpc: the client says it.`);
}

/** Only who asks for faults loads what makes them. */
async function quirksNamed(names: readonly string[]): Promise<Quirks> {
  return (await import("../frontends/stream-jsonrpc/quirks.ts")).createQuirks(names);
}
