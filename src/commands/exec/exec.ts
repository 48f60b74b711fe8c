import { mkdirSync } from "node:fs";
import type { Composition } from "../../compose.ts";
import { compose } from "../../compose.ts";
import { offeredTools } from "../../engine/calls/offered-tools.ts";
import { AgentError, failureOf } from "../../engine/errors.ts";
import { makeFolders } from "../../engine/make-folders.ts";
import type { ExecOptions } from "../../frontends/exec/exec.ts";
import { runExec } from "../../frontends/exec/exec.ts";
import { createLogger } from "../../frontends/exec/log.ts";
import type { OutputFormat } from "../../frontends/exec/report.ts";
import { printReport, reportFailure } from "../../frontends/exec/report.ts";
import type { ExitCode, HandledSignal } from "../../frontends/exit-codes.ts";
import { signalCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import { workingFolder } from "../working-folder.ts";
import { appendedPrompt } from "./appended-prompt.ts";
import type { GivenExec } from "./exec-options.ts";
import { givenServers } from "./given-servers.ts";
import { requireArgument } from "./given-text.ts";
import { offlineRunNotice, whyOffline } from "./offline-notice.ts";
import { readPrompt, readsInput } from "./prompt-input.ts";
import { runSettings } from "./run-settings.ts";
import { listTools, toolNames } from "./tool-names.ts";
import { hasWaitingInput } from "./waiting-input.ts";

const inputNotUsed =
  'Standard input was not read. To add it to the prompt, add -: git diff | tinman exec "review this" -';

/** `tinman exec`. `words` are the arguments after `--`. */
export async function exec(given: GivenExec, words: readonly string[] | undefined, io: Io): Promise<number> {
  const format = outputFormat(given);
  if (format === "acp") return acp(given, words, io);
  if (format === "stream-jsonrpc") {
    return (await import("../wires/stream-jsonrpc.ts")).serveStreamJsonRpc(given, words, io);
  }
  let signalCode: ExitCode | undefined;
  try {
    const composition = await compose(process.env, { sandboxMode: given.sandbox, serverWaitMs: given.mcpWait });
    const { engine } = composition;
    const disabledTools = toolNames(given.disabledTools ?? [], engine.tools);
    const enabledTools = toolNames(given.enabledTools ?? [], engine.tools);
    if (given.listTools === true) {
      const { info } = await composition.models.resolve(given.model ?? composition.defaultModel);
      const offered = offeredTools(engine.tools, info, given.useSpec === true ? "spec" : "auto");
      await listTools(offered, { ...given, disabledTools, enabledTools }, io.stdout);
      return 0;
    }
    const options = await unlessStopped(io, execOptions(given, words, format, composition, io), (signal) => {
      signalCode = signalCodes[signal];
    });
    if (options.cwd !== undefined) composition.lookAround(options.cwd);
    const run = { ...options.run, enabledTools, disabledTools };
    const code = await runExec(engine, io, { ...options, run });
    if (!readsInput(given, words) && (await hasWaitingInput())) await options.log.always(inputNotUsed);
    return code;
  } catch (error) {
    const failed = reportFailure(failureOf(error), { durationMs: Math.round(process.uptime() * 1_000) });
    const report = { ...failed, exitCode: signalCode ?? failed.exitCode };
    await printReport(format, report, io, Date.now());
    return report.exitCode;
  }
}

/** The same as `tinman acp`, because editors start other agents this way. */
async function acp(given: GivenExec, words: readonly string[] | undefined, io: Io): Promise<number> {
  const [{ refuseOptionsOfOneRun }, front] = await Promise.all([import("./one-run.ts"), import("../wires/acp.ts")]);
  refuseOptionsOfOneRun(given, words, "-o acp");
  return front.acp(given, io);
}

/** stream-jsonrpc needs both the input and the output format. */
function outputFormat({
  inputFormat,
  outputFormat: wanted,
  quirks,
}: GivenExec): NonNullable<GivenExec["outputFormat"]> {
  if (inputFormat !== "stream-jsonrpc" && quirks !== undefined) {
    throw new AgentError("usage", "--quirks needs --input-format stream-jsonrpc.");
  }
  if (inputFormat === "stream-jsonrpc" && (wanted ?? "stream-jsonrpc") !== "stream-jsonrpc") {
    throw new AgentError("usage", "--input-format stream-jsonrpc needs --output-format stream-jsonrpc.");
  }
  if (inputFormat !== "stream-jsonrpc" && wanted === "stream-jsonrpc") {
    throw new AgentError("usage", "--output-format stream-jsonrpc needs --input-format stream-jsonrpc.");
  }
  return inputFormat === "stream-jsonrpc" ? inputFormat : (wanted ?? "text");
}

/** A signal ends the wait for a prompt from a pipe that is never closed. */
async function unlessStopped<T>(io: Io, work: Promise<T>, note: (signal: HandledSignal) => void): Promise<T> {
  let ignoreSignals: () => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => {
    ignoreSignals = io.onSignal((signal) => {
      note(signal);
      reject(new AgentError("interrupted", "The run was interrupted before it had its prompt."));
    });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    ignoreSignals();
    work.catch(() => undefined);
  }
}

async function execOptions(
  given: GivenExec,
  words: readonly string[] | undefined,
  format: OutputFormat,
  composition: Composition,
  io: Io,
): Promise<ExecOptions> {
  const { homes, models, store, modelOverride, defaultModel, isOfflineNamed, namesOffline } = composition;
  const id = given.sessionId ?? given.fork;
  const cwd = given.cwd === undefined && id !== undefined ? undefined : workingFolder(given.cwd);
  const appended = await appendedPrompt(given);
  requireArgument(JSON.stringify(given.tag ?? []), "The text of --tag");
  const modelId = modelOverride === undefined ? given.model : undefined;
  // Report errors that are known before waiting for input.
  await models.resolve(modelId ?? defaultModel);
  if (id !== undefined && readsInput(given, words)) await store.info(id);
  const { text: prompt, warning } = await readPrompt(given, words);
  const log = createLogger(io.stderr, given.logLevel);
  if (warning !== undefined) await log.warn(warning);
  const servers = await givenServers(given, log.warn);
  await makeHome(homes.own);
  const isModelNamed = modelId !== undefined && namesOffline(modelId);
  const changes = runSettings(given, { modelId, isModelNamed, appended });
  const named = given.useSpec === true ? (given.specModel ?? given.model) : given.model;
  const isNamed = modelOverride === undefined && named !== undefined ? namesOffline(named) : isOfflineNamed;
  const modelByDefault = isNamed ? undefined : await whyOffline(composition, named, id !== undefined);
  return {
    prompt,
    format,
    from: id === undefined ? { type: "new" } : { type: given.fork === undefined ? "continue" : "fork", id },
    cwd,
    settings: {
      modelId: defaultModel,
      reasoningEffort: "none",
      autonomy: "off",
      mode: "auto",
      ...changes,
    },
    changes,
    run: {
      unsafe: given.skipPermissionsUnsafe ?? false,
      onDenied: given.onDenied,
      ...(modelByDefault && { modelByDefault }),
      ...servers,
    },
    ...(given.mcpRequired === undefined ? {} : { requiredServers: given.mcpRequired }),
    ...(modelByDefault && { offlineNotice: offlineRunNotice(modelByDefault) }),
    limits: {
      ...(given.maxTurns === undefined ? {} : { maxModelCalls: given.maxTurns }),
      ...(given.maxTokens === undefined ? {} : { maxTokens: given.maxTokens }),
    },
    ...(given.timeout === undefined ? {} : { timeoutMs: given.timeout }),
    log,
  };
}

async function makeHome(path: string): Promise<void> {
  await makeFolders(path, async (folder) => mkdirSync(folder, { mode: 0o700 })).catch((error: unknown) => {
    throw new AgentError("storage_failed", `Cannot create Tinman's home ${path}: ${failureOf(error).message}`);
  });
}
