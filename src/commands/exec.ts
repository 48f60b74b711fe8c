import { readFile, realpath, stat } from "node:fs/promises";
import type { Composition } from "../compose.ts";
import { compose } from "../compose.ts";
import { AgentError, failureOf } from "../core/errors.ts";
import type { SessionSettings } from "../core/settings.ts";
import type { ExecOptions } from "../frontends/exec/exec.ts";
import { runExec } from "../frontends/exec/exec.ts";
import { createLogger } from "../frontends/exec/log.ts";
import { printReport, reportFailure } from "../frontends/exec/report.ts";
import type { Io } from "../frontends/front-end.ts";
import type { GivenExec } from "./exec-options.ts";
import { readPrompt } from "./prompt-input.ts";
import { listTools, toolNames } from "./tool-names.ts";

/** `tinman exec`. `words` is what stood behind `--`. */
export async function exec(given: GivenExec, words: readonly string[] | undefined, io: Io): Promise<number> {
  try {
    const composition = await compose();
    const { engine } = composition;
    const disabledTools = toolNames(given.disabledTools ?? [], engine.tools);
    const enabledTools = toolNames(given.enabledTools ?? [], engine.tools);
    if (given.listTools === true) {
      await listTools(engine.tools, { ...given, disabledTools, enabledTools }, io.stdout);
      return 0;
    }
    const options = await execOptions(given, words, composition, io);
    if (options.cwd !== undefined) composition.lookAround(options.cwd);
    return await runExec(engine, io, { ...options, run: { ...options.run, enabledTools, disabledTools } });
  } catch (error) {
    const report = reportFailure(failureOf(error), { durationMs: Math.round(process.uptime() * 1_000) });
    await printReport(given.outputFormat, report, io, Date.now());
    return report.exitCode;
  }
}

async function execOptions(
  given: GivenExec,
  words: readonly string[] | undefined,
  { config }: Composition,
  io: Io,
): Promise<ExecOptions> {
  const id = given.sessionId ?? given.fork;
  const cwd = given.cwd === undefined && id !== undefined ? undefined : await folder(given.cwd ?? process.cwd());
  const appended = await appendedPrompt(given);
  const prompt = await readPrompt(given, words);
  const override = process.env.TINMAN_MODEL || undefined;
  const modelId = override === undefined ? given.model : undefined;
  const changes: Partial<SessionSettings> = {
    // A run gets what it was given: permissions of an earlier run do not come back by themselves.
    autonomy: given.auto ?? "off",
    mode: given.useSpec === true ? "spec" : "auto",
    ...(modelId === undefined ? {} : { modelId }),
    ...(given.reasoningEffort === undefined ? {} : { reasoningEffort: given.reasoningEffort }),
    ...(given.specModel === undefined ? {} : { specModelId: given.specModel }),
    ...(given.specReasoningEffort === undefined ? {} : { specReasoningEffort: given.specReasoningEffort }),
    ...(appended === undefined ? {} : { appendSystemPrompt: appended }),
    ...(given.tag === undefined ? {} : { tags: given.tag }),
  };
  return {
    prompt,
    format: given.outputFormat,
    from: id === undefined ? { type: "new" } : { type: given.fork === undefined ? "continue" : "fork", id },
    cwd,
    settings: {
      modelId: override ?? config.model ?? "offline",
      reasoningEffort: "none",
      autonomy: "off",
      mode: "auto",
      ...changes,
    },
    changes,
    run: { unsafe: given.skipPermissionsUnsafe ?? false, onDenied: given.onDenied },
    limits: {
      ...(given.maxTurns === undefined ? {} : { maxModelCalls: given.maxTurns }),
      ...(given.maxTokens === undefined ? {} : { maxTokens: given.maxTokens }),
    },
    ...(given.timeout === undefined ? {} : { timeoutMs: given.timeout }),
    log: createLogger(io.stderr, given.logLevel),
  };
}

/** Canonical, and a folder that is there. */
async function folder(path: string): Promise<string> {
  try {
    const real = await realpath(path);
    if ((await stat(real)).isDirectory()) return real;
  } catch {
    throw new AgentError("usage", `The folder ${path} does not exist.`);
  }
  throw new AgentError("usage", `${path} is not a folder.`);
}

async function appendedPrompt(given: GivenExec): Promise<string | undefined> {
  if (given.appendSystemPromptFile === undefined) return given.appendSystemPrompt;
  try {
    return await readFile(given.appendSystemPromptFile, "utf8");
  } catch {
    throw new AgentError("usage", `The file ${given.appendSystemPromptFile} cannot be read.`);
  }
}
