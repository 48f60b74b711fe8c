import type { Failure } from "../engine/errors.ts";
import { failureOf } from "../engine/errors.ts";
import type { Message, Usage } from "../engine/message.ts";
import { addUsage, noUsage } from "../engine/message.ts";
import type { Clock, ModelEvent, ModelPort, ModelRequest } from "../engine/ports.ts";
import { pause } from "./scripted/pause.ts";

export interface RetryOptions {
  /** Milliseconds before each retry. Its length is the number of retries. */
  readonly pauses?: readonly number[];
  /** The longest pause that a server can ask for. */
  readonly longestPauseMs?: number;
  /** Limit for the sum of one reply's pauses. */
  readonly maxWaitMs?: number;
  /** Jitter from 0 to 1, so that simultaneous failures don't retry simultaneously. Absent: exact pauses. */
  readonly random?: () => number;
}

type ErrorEvent = ModelEvent & { type: "error" };

const defaultPauses = [500, 1_000, 2_000];
const defaultMaxWaitMs = 90_000;
export const defaultLongestPauseMs = 60_000;
export const defaultAttempts = defaultPauses.length + 1;

/** An empty reply is retried once; another retry would be empty too. */
const emptyReplyRetries = 1;
const empty: ErrorEvent = {
  type: "error",
  failure: { code: "model_empty", message: "The model answered with nothing.", cause: "empty_response" },
  retryable: true,
};
const cut: ErrorEvent = {
  type: "error",
  failure: { code: "model_failed", message: "The model's reply ended early.", cause: "network" },
  retryable: true,
};

/**
 * Retries transient failures, each announced by a `retry` event. `retryAfterMs` overrides our pauses. Text already shown is
 * kept: the model gets it back and continues from there. An abort ends the stream at once.
 */
export function withRetries(model: ModelPort, clock: Clock, options: RetryOptions = {}): ModelPort {
  const { pauses = defaultPauses, longestPauseMs = defaultLongestPauseMs, maxWaitMs = defaultMaxWaitMs } = options;

  async function* stream(...[request, signal, heard]: Parameters<ModelPort["stream"]>): AsyncGenerator<ModelEvent> {
    const reply: Shown = { text: "", textBlock: undefined, endsInText: false, inputOf: undefined, spent: noUsage };
    let waited = 0;
    for (let attempt = 1; ; attempt += 1) {
      const passing = passingOn(reply, attempt);
      const attempted = reply.text === "" ? request : continued(request, reply.text, model.info.id);
      let failed = cut;
      // Inlined, because another generator would add to the cost of every delta.
      try {
        for await (const event of model.stream(attempted, signal, heard)) {
          if (event.type === "error") {
            failed = event;
            break;
          }
          if (event.type === "end") {
            if (!passing.isEmptyEnd(event)) {
              yield* passing.calls;
              yield event;
              return;
            }
            failed = empty;
            break;
          }
          const shown = passing.shown(event);
          if (shown !== undefined) yield shown;
        }
      } catch (error) {
        // An adapter must not throw. If one does, report a fault instead of losing the session.
        failed = { type: "error", failure: failureOf(error), retryable: false };
      }
      if (signal.aborted) return;
      const ownPause = pauses[attempt - 1];
      const delayMs = withJitter(failed.retryAfterMs, ownPause ?? 0, options.random);
      if (ownPause === undefined || !failed.retryable) {
        yield failed;
        return;
      }
      const askedMs = failed.retryAfterMs ?? delayMs;
      if (askedMs > longestPauseMs || waited + askedMs > maxWaitMs) {
        yield tooLong(failed, askedMs);
        return;
      }
      yield { type: "retry", attempt, delayMs, failure: failed.failure };
      waited += delayMs;
      await pause(clock, delayMs, signal);
      if (signal.aborted) return;
    }
  }

  return { ...model, stream };
}

/** Adds up to a half to our own pause, or up to a tenth to a server's. */
function withJitter(askedMs: number | undefined, ownMs: number, random = (): number => 0): number {
  return Math.round(askedMs === undefined ? ownMs * (1 + random() / 2) : askedMs * (1 + random() / 10));
}

/** What all attempts so far have shown. */
interface Shown {
  text: string;
  textBlock: string | undefined;
  endsInText: boolean;
  /** The attempt whose tool input was shown. Input of later attempts is hidden, as it would repeat. */
  inputOf: number | undefined;
  spent: Usage;
}

/** Filters the events of one attempt. */
interface Passing {
  /** Held back: only a successful attempt's calls run. */
  readonly calls: readonly ModelEvent[];
  /** The event to show; `undefined` for none. */
  shown(event: ModelEvent): ModelEvent | undefined;
  /** Whether the reply was empty and is to be retried. */
  isEmptyEnd(end: ModelEvent & { type: "end" }): boolean;
}

function passingOn(reply: Shown, attempt: number): Passing {
  const isResumed = reply.text !== "";
  const calls: ModelEvent[] = [];
  const { spent } = reply;
  let isEmpty = !isResumed;

  const shown = (event: ModelEvent): ModelEvent | undefined => {
    switch (event.type) {
      case "tool_call":
        isEmpty = false;
        calls.push(event);
        return undefined;
      case "usage":
        reply.spent = addUsage(spent, event.usage);
        return { type: "usage", usage: reply.spent };
      case "notice":
        return attempt === 1 ? event : undefined;
      case "text": {
        isEmpty &&= event.text === "";
        reply.text += event.text;
        const continuesBlock = isResumed && reply.endsInText;
        if (!continuesBlock) reply.textBlock = event.block;
        reply.endsInText = true;
        return isResumed ? textIn(reply.textBlock, event.text) : event;
      }
      case "thinking":
        reply.endsInText = false;
        return attempt === 1 ? event : { ...event, block: `${attempt}/${event.block ?? ""}` };
      case "tool_input":
        reply.inputOf ??= attempt;
        return reply.inputOf === attempt ? event : undefined;
      default:
        return event;
    }
  };

  return {
    calls,
    shown,
    isEmptyEnd: ({ stop }) => isEmpty && stop === "end" && attempt <= emptyReplyRetries,
  };
}

/** Continued text stays in its block. It loses its proof, because a proof covers the text of one attempt only. */
function textIn(block: string | undefined, text: string): ModelEvent {
  return block === undefined ? { type: "text", text } : { type: "text", text, block };
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

function tooLong(failed: ErrorEvent, delayMs: number): ErrorEvent {
  const wait = `It asks for a wait of ${Math.ceil(delayMs / 1_000)} s, which is over the limit.`;
  const failure: Failure = { ...failed.failure, message: `${failed.failure.message} ${wait}` };
  return { ...failed, failure };
}
