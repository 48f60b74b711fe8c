import type { Failure } from "../core/errors.ts";
import { failureOf } from "../core/errors.ts";
import type { Message, Usage } from "../core/message.ts";
import { addUsage, noUsage } from "../core/message.ts";
import type { Clock, ModelEvent, ModelPort, ModelRequest } from "../core/ports.ts";
import { pause } from "./pause.ts";

export interface RetryOptions {
  /** Milliseconds before each retry; their number is the number of retries. */
  readonly pauses?: readonly number[];
  /** A server that asks for more patience than this is not waited for. */
  readonly longestPauseMs?: number;
  /** All pauses of one reply together. */
  readonly mostWaitMs?: number;
  /** From 0 to 1: draws pauses apart, so that those who failed together do not come back together. Without it they are exact. */
  readonly random?: () => number;
}

type ErrorEvent = ModelEvent & { type: "error" };

const defaultPauses = [500, 1_000, 2_000];
const defaultMostWaitMs = 90_000;
export const defaultLongestPauseMs = 60_000;
export const defaultAttempts = defaultPauses.length + 1;

/** An answer with nothing in it is asked for once more; the next would be empty, too. */
const emptyAnswers = 1;
const empty: ErrorEvent = {
  type: "error",
  failure: { code: "model_empty", message: "The model answered with nothing.", cause: "empty_response" },
  retryable: true,
};
const cut: ErrorEvent = {
  type: "error",
  failure: { code: "model_failed", message: "The model's answer ended before it was whole.", cause: "network" },
  retryable: true,
};

/**
 * Tries again when a reply failed in a way that may pass. A server's own `retryAfterMs` goes before our pauses. Text that was
 * shown stands: the model is then sent what it has said, and goes on from there, so nothing is shown twice. Every retry is
 * announced by a `retry` event; an abort ends the stream at once.
 */
export function withRetries(model: ModelPort, clock: Clock, options: RetryOptions = {}): ModelPort {
  const { pauses = defaultPauses, longestPauseMs = defaultLongestPauseMs, mostWaitMs = defaultMostWaitMs } = options;

  async function* stream(...[request, signal, heard]: Parameters<ModelPort["stream"]>): AsyncGenerator<ModelEvent> {
    const reply: Shown = { text: "", textBlock: undefined, endsInText: false, inputOf: undefined, spent: noUsage };
    let waited = 0;
    for (let attempt = 1; ; attempt += 1) {
      const passing = passingOn(reply, attempt);
      const asked = reply.text === "" ? request : continued(request, reply.text, model.info.id);
      let failed = cut;
      // Here and not in a generator of its own, which would add to the cost of every piece of an answer.
      try {
        for await (const event of model.stream(asked, signal, heard)) {
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
        // A model must not throw; one that does is told as a fault instead of taking the session down.
        failed = { type: "error", failure: failureOf(error), retryable: false };
      }
      if (signal.aborted) return;
      const ownPause = pauses[attempt - 1];
      const delayMs = drawnApart(failed.retryAfterMs, ownPause ?? 0, options.random);
      if (ownPause === undefined || !failed.retryable) {
        yield failed;
        return;
      }
      const askedMs = failed.retryAfterMs ?? delayMs;
      if (askedMs > longestPauseMs || waited + askedMs > mostWaitMs) {
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

/** Our own pause by up to a half, what a server asked for by up to a tenth; never less than either. */
function drawnApart(askedMs: number | undefined, ownMs: number, random = (): number => 0): number {
  return Math.round(askedMs === undefined ? ownMs * (1 + random() / 2) : askedMs * (1 + random() / 10));
}

/** What was shown so far, over all attempts. */
interface Shown {
  text: string;
  textBlock: string | undefined;
  endsInText: boolean;
  /** The attempt whose calls were shown as they came in; those of later ones would be shown twice. */
  inputOf: number | undefined;
  spent: Usage;
}

/** How the events of one attempt are passed on. */
interface Passing {
  /** Held back: only the calls of the attempt that ends well may run. */
  readonly calls: readonly ModelEvent[];
  /** What is shown of an event, if anything. */
  shown(event: ModelEvent): ModelEvent | undefined;
  /** Whether nothing came before this end, and that is to be tried again. */
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
        const goesOn = isResumed && reply.endsInText;
        if (!goesOn) reply.textBlock = event.block;
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
    isEmptyEnd: ({ stop }) => isEmpty && stop === "end" && attempt <= emptyAnswers,
  };
}

/** Text that goes on belongs to the block that it goes on with. No proof covers what two answers made together. */
function textIn(block: string | undefined, text: string): ModelEvent {
  return block === undefined ? { type: "text", text } : { type: "text", text, block };
}

function continued(request: ModelRequest, text: string, model: string): ModelRequest {
  const words =
    "The connection broke while you answered. Go on exactly where your answer stopped, without repeating anything.";
  const common = { id: "", createdAt: 0 };
  const said: Message = { ...common, role: "assistant", content: [{ type: "text", text }], stop: "failed", model };
  const goOn: Message = { ...common, role: "user", content: [{ type: "reminder", text: words }] };
  return { ...request, messages: [...request.messages, said, goOn] };
}

/** The conversation that a request is about: without what was added to go on with an answer that broke off. */
export function withoutContinuation(messages: readonly Message[]): readonly Message[] {
  const [said, goOn] = messages.slice(-2);
  // No message of a conversation is without an id and a time.
  const isAdded = said?.role === "assistant" && goOn?.role === "user" && [said, goOn].every(isUndated);
  return isAdded ? messages.slice(0, -2) : messages;
}

function isUndated({ id, createdAt }: Message): boolean {
  return id === "" && createdAt === 0;
}

function tooLong(failed: ErrorEvent, delayMs: number): ErrorEvent {
  const wait = `It asks to wait ${Math.ceil(delayMs / 1_000)} s, and that is longer than a reply is waited for.`;
  const failure: Failure = { ...failed.failure, message: `${failed.failure.message} ${wait}` };
  return { ...failed, failure };
}
