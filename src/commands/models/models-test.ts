import type { Composition } from "../../compose.ts";
import { compose } from "../../compose.ts";
import { printable } from "../../config/check/visible.ts";
import type { Failure } from "../../engine/errors.ts";
import type { Usage } from "../../engine/message.ts";
import type { ModelEvent, ModelPort, ModelRequest } from "../../engine/ports.ts";
import { exitCodeOf, exitCodes, signalCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";

const usualTimeoutMs = 60_000;
const mostShown = 120;
const mostKept = 2_000;

const request: ModelRequest = {
  system: "This is a connection test. Answer with as few words as possible.",
  mark: "test",
  messages: [{ id: "", createdAt: 0, role: "user", content: [{ type: "text", text: "Reply with the word OK." }] }],
  tools: [],
  reasoningEffort: "none",
  mode: "auto",
};

interface Retry {
  readonly attempt: number;
  readonly delayMs: number;
  readonly error: Failure;
}

/** Times are in milliseconds since the request. */
interface Outcome {
  readonly firstEventMs: number | null;
  readonly durationMs: number;
  readonly text: string;
  readonly stop: string | null;
  readonly usage: Usage | null;
  readonly retries: readonly Retry[];
  readonly notices: readonly string[];
  readonly error?: Failure;
}

/** `tinman models test`: sends one tiny prompt and reports the result. */
export async function testModel(
  id: string,
  options: { readonly json?: boolean; readonly timeout?: number },
  io: Io,
): Promise<number> {
  const composition = await compose();
  const port = await composition.models.resolve(id);
  const found = await whereabouts(port, composition);
  const tell = async (line: string): Promise<void> => {
    if (options.json !== true) await io.stdout.write(`${printable(line)}\n`);
  };
  const { modelOverride } = composition;
  if (modelOverride !== undefined && modelOverride !== id) await tell(`TINMAN_MODEL replaces ${id}.`);
  await tell(headLine(found));
  const stopping = new AbortController();
  let stopped: { readonly failure: Failure; readonly exitCode: number } | undefined;
  const stop = (failure: Failure, exitCode: number): void => {
    stopped ??= { failure, exitCode };
    stopping.abort();
  };
  const timeoutMs = options.timeout ?? usualTimeoutMs;
  const timer = setTimeout(() => {
    const failure: Failure = { code: "timeout", message: `No complete reply within ${timeoutMs / 1_000} s.` };
    stop(failure, exitCodeOf("timeout"));
  }, timeoutMs);
  const ignoreSignals = io.onSignal((signal) => {
    stop({ code: "interrupted", message: "The test was interrupted." }, signalCodes[signal]);
  });
  const outcome = await ask(port, stopping.signal, () => stopped?.failure, tell).finally(() => {
    clearTimeout(timer);
    ignoreSignals();
  });
  const { error } = outcome;
  const ownCode = error === undefined ? exitCodes.success : exitCodeOf(error.code);
  const exitCode = error !== undefined && error === stopped?.failure ? stopped.exitCode : ownCode;
  if (options.json === true) {
    const report = { ...found, ok: error === undefined, ...outcome, exitCode };
    await io.stdout.write(`${JSON.stringify(report)}\n`);
  } else for (const line of resultLines(outcome)) await tell(line);
  return exitCode;
}

interface Whereabouts {
  readonly model: string;
  readonly provider: string;
  readonly address: string | null;
  readonly key: string | null;
}

async function whereabouts({ info }: ModelPort, { inspectModels }: Composition): Promise<Whereabouts> {
  const status = (await inspectModels()).status(info.id);
  const { id: model, provider } = info;
  return { model, provider, address: status?.address ?? null, key: status?.key ?? null };
}

function headLine({ model, provider, address, key }: Whereabouts): string {
  const place = address === null ? "in this process" : `at ${address}`;
  const by = address === null ? "" : key === null ? ", without a key" : `, with the key of ${key}`;
  return `${model} (${provider}) ${place}${by}`;
}

async function ask(
  port: ModelPort,
  signal: AbortSignal,
  stopped: () => Failure | undefined,
  tell: (line: string) => Promise<void>,
): Promise<Outcome> {
  const begun = performance.now();
  const elapsed = (): number => Math.round(performance.now() - begun);
  const retries: Retry[] = [];
  const notices: string[] = [];
  let [firstEventMs, text]: [number | null, string] = [null, ""];
  let usage: Usage | null = null;
  let last: Extract<ModelEvent, { type: "end" | "error" }> | undefined;
  for await (const event of port.stream(request, signal)) {
    if (event.type === "retry") {
      const { attempt, delayMs, failure, model } = event;
      if (model !== undefined) {
        // A fallback would say nothing about the tested model.
        last = { type: "error", failure, retryable: true };
        break;
      }
      const { code, message } = failure;
      retries.push({ attempt, delayMs, error: { code, message } });
      await tell(`attempt ${attempt} failed, retrying in ${delayMs / 1_000} s: ${message}`);
    } else if (event.type === "notice") {
      notices.push(event.text);
      await tell(event.text);
    } else if (event.type === "error") last = event;
    else {
      firstEventMs ??= elapsed();
      if (event.type === "text") text = (text + event.text).slice(0, mostKept);
      if (event.type === "usage") usage = event.usage;
      if (event.type === "end") last = event;
    }
  }
  const error = stopped() ?? failureIn(last, text);
  return {
    firstEventMs,
    durationMs: elapsed(),
    text,
    stop: last?.type === "end" ? last.stop : null,
    usage,
    retries,
    notices,
    ...(error === undefined ? {} : { error }),
  };
}

function failureIn(
  last: Extract<ModelEvent, { type: "end" | "error" }> | undefined,
  text: string,
): Failure | undefined {
  if (last === undefined) return { code: "model_failed", message: "The model's reply ended early." };
  if (last.type === "error") {
    const { code, message } = last.failure;
    return { code, message };
  }
  if (last.stop === "refusal") {
    return { code: "model_refused", message: text.trim() === "" ? "The model declined to answer." : text };
  }
  if (text.trim() === "") return { code: "model_empty", message: "The model returned an empty reply." };
  return undefined;
}

function resultLines({ firstEventMs, durationMs, text, stop, usage, error }: Outcome): readonly string[] {
  if (error !== undefined) return [`failed after ${seconds(durationMs)}: ${error.message}`];
  const words = text.trim();
  const shown = words.length > mostShown ? `${words.slice(0, mostShown)}…` : words;
  const cut = stop === "length" ? " (truncated at its output limit)" : "";
  const lines = [
    `first event after ${seconds(firstEventMs ?? durationMs)}, complete reply after ${seconds(durationMs)}`,
    `answer: ${shown.replace(/\s+/g, " ")}${cut}`,
  ];
  if (usage === null) return lines;
  const { input, cacheRead, cacheWrite, output, thinking } = usage;
  const cached = cacheRead + cacheWrite === 0 ? "" : `, ${cacheRead} read from and ${cacheWrite} written to the cache`;
  const thought = thinking === 0 ? "" : `, ${thinking} of them thinking`;
  return [...lines, `tokens: ${input} in${cached}, ${output} out${thought}`];
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(2)} s`;
}
