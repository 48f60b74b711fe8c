import type { Failure } from "../core/errors.ts";
import { failureOf } from "../core/errors.ts";
import type { Message } from "../core/message.ts";
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
}

type ErrorEvent = ModelEvent & { type: "error" };

const defaultPauses = [500, 1_000, 2_000];
const defaultLongestPauseMs = 60_000;
const defaultMostWaitMs = 90_000;

/** An answer with nothing in it is asked for once more; the next would be empty, too. */
const emptyAnswers = 1;
const empty: ErrorEvent = {
  type: "error",
  failure: { code: "model_empty", message: "The model answered with nothing." },
  retryable: true,
};
const cut: ErrorEvent = {
  type: "error",
  failure: { code: "model_failed", message: "The model's answer ended before it was whole." },
  retryable: true,
};

/**
 * Tries again when a reply failed in a way that may pass. A server's own `retryAfterMs` goes before our pauses. Text that was
 * shown stands: the model is then sent what it has said, and goes on from there, so nothing is shown twice. Every retry is
 * announced by a `retry` event; an abort ends the stream at once.
 */
export function withRetries(model: ModelPort, clock: Clock, options: RetryOptions = {}): ModelPort {
  const { pauses = defaultPauses, longestPauseMs = defaultLongestPauseMs, mostWaitMs = defaultMostWaitMs } = options;

  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const reply = {
      text: "",
      textBlock: undefined as string | undefined,
      endsInText: false,
      showsInput: false,
      spent: noUsage,
    };
    let waited = 0;
    for (let attempt = 1; ; attempt += 1) {
      const failed = yield* oneAttempt(model, request, signal, reply, attempt);
      if (failed === undefined || signal.aborted) return;
      const ownPause = pauses[attempt - 1];
      const delayMs = failed.retryAfterMs ?? ownPause ?? 0;
      if (ownPause === undefined || !failed.retryable || delayMs > longestPauseMs || waited + delayMs > mostWaitMs) {
        yield delayMs > longestPauseMs && failed.retryable ? tooLong(failed, delayMs) : failed;
        return;
      }
      yield { type: "retry", attempt, delayMs, failure: failed.failure };
      waited += delayMs;
      await pause(clock, delayMs, signal);
      if (signal.aborted) return;
    }
  }

  return { info: model.info, stream };
}

/** What was shown so far, over all attempts. */
interface Shown {
  text: string;
  textBlock: string | undefined;
  endsInText: boolean;
  /** Arguments of a call that did not come to its end were shown. */
  showsInput: boolean;
  spent: typeof noUsage;
}

/** Passes an attempt on, but for the error that ends it. `undefined`: it ended well. */
async function* oneAttempt(
  model: ModelPort,
  request: ModelRequest,
  signal: AbortSignal,
  reply: Shown,
  attempt: number,
): AsyncGenerator<ModelEvent, ErrorEvent | undefined> {
  const isResumed = reply.text !== "";
  const asked = isResumed ? continued(request, reply.text, model.info.id) : request;
  // Only those of the attempt that ends well may run.
  const calls: ModelEvent[] = [];
  let isEmpty = !isResumed;
  let isInput = reply.showsInput;
  let { spent } = reply;
  try {
    for await (const event of model.stream(asked, signal)) {
      switch (event.type) {
        case "error":
          return event;
        case "end":
          if (isEmpty && event.stop === "end" && attempt <= emptyAnswers) return empty;
          yield* calls;
          yield event;
          return undefined;
        case "tool_call":
          isEmpty = false;
          calls.push(event);
          break;
        case "usage":
          spent = addUsage(reply.spent, event.usage);
          yield { type: "usage", usage: spent };
          break;
        case "notice":
          if (attempt === 1) yield event;
          break;
        case "text": {
          isEmpty &&= event.text === "";
          reply.text += event.text;
          const goesOn = isResumed && reply.endsInText;
          if (!goesOn) reply.textBlock = event.block;
          reply.endsInText = true;
          yield isResumed ? textIn(reply.textBlock, event.text) : event;
          break;
        }
        case "thinking":
          isEmpty = false;
          reply.endsInText = false;
          yield attempt === 1 ? event : { ...event, block: `${attempt}/${event.block ?? ""}` };
          break;
        case "tool_input":
          if (reply.showsInput && attempt > 1) break;
          isInput = true;
          yield event;
          break;
        default:
          yield event;
      }
    }
  } catch (error) {
    // A model must not throw; one that does is told as a fault instead of taking the session down.
    return { type: "error", failure: failureOf(error), retryable: false };
  } finally {
    reply.spent = spent;
    reply.showsInput = isInput;
  }
  return signal.aborted ? undefined : cut;
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

function tooLong(failed: ErrorEvent, delayMs: number): ErrorEvent {
  const wait = `It asks to wait ${Math.ceil(delayMs / 1_000)} s, which is longer than a run waits.`;
  const failure: Failure = { ...failed.failure, message: `${failed.failure.message} ${wait}` };
  return { ...failed, failure };
}
