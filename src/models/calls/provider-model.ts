import type { ModelEvent, ModelPort } from "../../engine/ports.ts";
import type { ModelSpec } from "../providers/model-spec.ts";
import type { OpenAnswer } from "./ai-sdk.ts";
import { openAnswer } from "./ai-sdk.ts";
import { chooseEffort } from "./effort.ts";
import { countLeftOut } from "./prompt.ts";
import { providerFailure } from "./provider-failure.ts";
import { redactor } from "./redact.ts";
import type { Watch } from "./watched-fetch.ts";
import { watchedFetch } from "./watched-fetch.ts";

/** A provider's model. Each call is one attempt, and all failures are events. */
export function createProviderModel(spec: ModelSpec, fetch: typeof globalThis.fetch): ModelPort {
  const redact = redactor([spec.apiKey, ...Object.values(spec.headers), ...new URLSearchParams(spec.query).values()]);
  const { firstByteMs, idleMs } = spec.timeouts;

  async function* stream(...[request, signal, heard]: Parameters<ModelPort["stream"]>): AsyncGenerator<ModelEvent> {
    if (spec.missing !== undefined) {
      yield { type: "error", failure: { code: "model_auth", message: spec.missing }, retryable: false };
      return;
    }
    const { effort, notice } = chooseEffort(request.reasoningEffort, spec.info.reasoningEfforts, spec.info.id);
    if (notice !== undefined) yield { type: "notice", level: "warning", text: notice };
    const leftOut = countLeftOut(request, spec);
    if (leftOut > 0) {
      const what = leftOut === 1 ? "1 image or document was" : `${leftOut} images or documents were`;
      yield { type: "notice", level: "warning", text: `${what} left out: unsupported by ${spec.info.id}.` };
    }
    const own = new AbortController();
    const stop = (): void => own.abort();
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    // Keep-alives without content could hold a connection forever, so this clock counts only events.
    let isSilent = false;
    let heardAt = performance.now();
    let hasAnswered = false;
    const noteBytes = (): void => {
      // The headers restart the clock.
      if (!hasAnswered) heardAt = performance.now();
      hasAnswered = true;
      heard?.();
    };
    const watch: Watch = { status: 0, saysDone: false, heard: noteBytes };
    const listen = (): void => {
      const leftMs = heardAt + firstByteMs + idleMs - performance.now();
      if (leftMs > 0) {
        clock = setTimeout(listen, leftMs);
        return;
      }
      isSilent = true;
      stop();
    };
    let clock = setTimeout(listen, firstByteMs + idleMs);
    let answer: OpenAnswer | undefined;
    try {
      answer = await openAnswer(spec, watchedFetch(spec, fetch, watch), request, effort, own.signal, watch);
      for (;;) {
        const events = await answer.next();
        if (events.length > 0) heardAt = performance.now();
        for (const event of events) {
          yield event;
          if (event.type === "end") return;
        }
      }
    } catch (error) {
      if (isSilent) yield silence(spec);
      else if (!signal.aborted) yield providerFailure(error, spec, redact, watch);
    } finally {
      clearTimeout(clock);
      signal.removeEventListener("abort", stop);
      answer?.close();
    }
  }

  return { info: spec.info, boundsSilence: true, stream };
}

function silence({ providerName, timeouts }: ModelSpec): ModelEvent {
  const seconds = (timeouts.firstByteMs + timeouts.idleMs) / 1_000;
  const message = `${providerName} kept the connection open but sent nothing for ${seconds} s. The model's timeouts in config.yaml set this limit.`;
  return { type: "error", failure: { code: "model_failed", message, cause: "timeout" }, retryable: true };
}
