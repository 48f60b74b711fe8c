import { onAbort } from "../async/on-abort.ts";
import { failureOf } from "../engine/errors.ts";
import type { Message } from "../engine/message.ts";
import type { Clock, ModelEvent, ModelPort, ModelRequest } from "../engine/ports.ts";
import { Chain, type Fallbacks, patientFor, type RetryOptions } from "./chain.ts";
import { defaultRetriesAfterSilence, type ErrorEvent } from "./patience.ts";
import { pause } from "./scripted/pause.ts";
import { nothingShown, passingOn } from "./shown-reply.ts";
import { defaultSilence, watchSilence } from "./silence.ts";

const empty: ErrorEvent = {
  type: "error",
  failure: { code: "model_empty", message: "The model returned an empty reply.", cause: "empty_response" },
  retryable: true,
};
const cut: ErrorEvent = {
  type: "error",
  failure: { code: "model_failed", message: "The model's reply ended early.", cause: "network" },
  retryable: true,
};

/**
 * Retries transient failures, each announced by a `retry` event, and gives up on silence. Text already shown is kept: the
 * next attempt gets it and continues from there, even if another model makes it. An abort ends the stream at once.
 */
export function withRetries(
  model: ModelPort,
  clock: Clock,
  options: RetryOptions = {},
  fallbacks?: Fallbacks,
): ModelPort {
  async function* stream(...[request, signal, heard]: Parameters<ModelPort["stream"]>): AsyncGenerator<ModelEvent> {
    const reply = nothingShown();
    const chain = new Chain(patientFor(request, { model, options }), fallbacks);
    for (;;) {
      const { asked } = chain;
      const { info } = asked.model;
      const { silence = defaultSilence, retriesAfterSilence = defaultRetriesAfterSilence } = asked.options;
      const passing = passingOn(reply, chain.attempt, chain.isNew);
      const attempted = reply.text === "" ? request : continued(request, reply.text, info.id);
      const startedAt = clock.monotonic();
      let hasShown = false;
      let failed = cut;
      const own = new AbortController();
      const stop = (): void => own.abort();
      const stopListening = onAbort(signal, stop);
      if (signal.aborted) stop();
      const watch = watchSilence(silence, clock, info.id, stop);
      const noteSign = (): void => {
        watch.heard();
        heard?.();
      };
      // Inlined, because another generator would add to the cost of every delta.
      try {
        for await (const event of asked.model.stream(attempted, own.signal, noteSign)) {
          watch.event(event);
          if (event.type === "error") {
            failed = event;
            break;
          }
          if (event.type === "end") {
            if (!passing.isEmptyEnd(event)) {
              yield* passing.calls;
              chain.ended();
              yield event;
              return;
            }
            failed = empty;
            break;
          }
          const shown = passing.shown(event);
          if (shown !== undefined) {
            hasShown ||= event.type !== "notice";
            yield shown;
          }
          watch.wait();
        }
      } catch (error) {
        // An adapter must not throw. If one does, report a fault instead of losing the session.
        failed = { type: "error", failure: failureOf(error), retryable: false };
      } finally {
        watch.stop();
        stopListening();
      }
      if (signal.aborted) return;
      const silent = watch.failure();
      if (silent !== undefined) {
        failed = { type: "error", failure: silent, retryable: true, maxRetries: retriesAfterSilence };
      }
      const lostMs = hasShown || silent !== undefined ? 0 : clock.monotonic() - startedAt;
      for (const event of await chain.after(failed, lostMs, request)) {
        yield event;
        if (event.type === "error") return;
        if (event.type === "retry") await pause(clock, event.delayMs, signal);
      }
      if (signal.aborted) return;
    }
  }

  return { ...model, stream };
}

function continued(request: ModelRequest, text: string, model: string): ModelRequest {
  const instruction =
    "The connection broke during your answer. Continue exactly where it stopped, without repeating anything.";
  const common = { id: "", createdAt: 0 };
  const partial: Message = { ...common, role: "assistant", content: [{ type: "text", text }], stop: "failed", model };
  const reminder: Message = { ...common, role: "user", content: [{ type: "reminder", text: instruction }] };
  return { ...request, messages: [...request.messages, partial, reminder] };
}

/** Removes the two messages that `continued` added, if any. */
export function withoutContinuation(messages: readonly Message[]): readonly Message[] {
  const [partial, reminder] = messages.slice(-2);
  // Every other message has an id and a time.
  const isAdded = partial?.role === "assistant" && reminder?.role === "user" && [partial, reminder].every(isUndated);
  return isAdded ? messages.slice(0, -2) : messages;
}

function isUndated({ id, createdAt }: Message): boolean {
  return id === "" && createdAt === 0;
}
