import { describe, expect, test } from "vitest";
import type { ModelEvent, ModelPort, ModelRequest } from "../../src/engine/ports.ts";
import { offlineInfo } from "../../src/models/offline/info.ts";
import { withRetries } from "../../src/models/retry.ts";
import { collect, instantClock, requestOf, stoppedClock, userMessage } from "./harness.ts";

const busy: ModelEvent & { type: "error" } = {
  type: "error",
  failure: { code: "model_overloaded", message: "busy", cause: "overloaded" },
  retryable: true,
};
const fatal: ModelEvent = { type: "error", failure: { code: "model_auth", message: "no key" }, retryable: false };
const hello: ModelEvent = { type: "text", text: "hello" };
const end: ModelEvent = { type: "end", stop: "end" };
const request = requestOf([userMessage("hi")]);

/** Each attempt plays the next list of events. */
function attempts(
  ...lists: readonly (readonly (ModelEvent | Error)[])[]
): ModelPort & { readonly calls: () => number; readonly requests: ModelRequest[] } {
  const requests: ModelRequest[] = [];
  return {
    info: offlineInfo,
    calls: () => requests.length,
    requests,
    async *stream(received) {
      const list = lists[requests.length] ?? [];
      requests.push(received);
      for (const event of list) {
        if (event instanceof Error) throw event;
        yield event;
      }
    },
  };
}

const retry = (attempt: number, delayMs: number): ModelEvent => ({
  type: "retry",
  attempt,
  delayMs,
  failure: busy.failure,
});

describe("retries", () => {
  test("with jitter that only lengthens pauses", async () => {
    const clock = instantClock();
    const model = attempts([busy], [{ ...busy, retryAfterMs: 1_000 }], [busy], [hello, end]);
    await collect(withRetries(model, clock, { random: () => 1 }), request);
    expect(clock.pauses).toEqual([750, 1_100, 3_000]);
  });

  test("for two minutes, with growing pauses", async () => {
    const clock = instantClock();
    const model = attempts(...Array.from({ length: 20 }, () => [busy]));
    const events = await collect(withRetries(model, clock), request);
    const pauses = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000, 20_000, 20_000];
    expect(events).toEqual([...pauses.map((delayMs, index) => retry(index + 1, delayMs)), busy]);
    expect(clock.pauses).toEqual(pauses);
    expect(model.calls()).toBe(11);
  });

  test.each([
    [0, []],
    [3, [500, 1_000]],
    [12, [500, 1_000, 2_000, 4_000]],
  ])("for the configured time: %s s", async (seconds, pauses) => {
    const clock = instantClock();
    const model = attempts(...Array.from({ length: 20 }, () => [busy]));
    const events = await collect(withRetries(model, clock, { patienceMs: seconds * 1_000 }), request);
    expect(events.at(-1)).toEqual(busy);
    expect(clock.pauses).toEqual(pauses);
  });

  test.each([
    [undefined, [500, 1_000, 2_000, 4_000, 8_000]],
    [600, [500, 1_000, 2_000, 4_000, 8_000]],
    [3, [500, 1_000]],
  ])("for 20 s at most when it is a summary: %s s configured", async (seconds, pauses) => {
    const clock = instantClock();
    const model = attempts(...Array.from({ length: 20 }, () => [busy]));
    const options = seconds === undefined ? {} : { patienceMs: seconds * 1_000 };
    const events = await collect(withRetries(model, clock, options), { ...request, purpose: "summary" });
    expect(events.at(-1)).toEqual(busy);
    expect(clock.pauses).toEqual(pauses);
  });

  test("counts the time that failed attempts take", async () => {
    const clock = instantClock();
    const slow: ModelPort = {
      info: offlineInfo,
      async *stream() {
        clock.after(50_000, () => undefined);
        yield busy;
      },
    };
    await collect(withRetries(slow, clock), request);
    expect(clock.pauses.filter((ms) => ms !== 50_000)).toEqual([500, 1_000, 2_000]);
  });

  test("a server that asks for no pause, but not endlessly", async () => {
    const model = attempts(...Array.from({ length: 20 }, () => [{ ...busy, retryAfterMs: 0 }]));
    await collect(withRetries(model, instantClock()), request);
    expect(model.calls()).toBe(11);
  });

  test("an error that more retries don't fix only a few times", async () => {
    const malformed = { ...busy, maxRetries: 2 };
    const model = attempts([busy], [malformed], [busy], [malformed], [malformed], [hello, end]);
    expect((await collect(withRetries(model, instantClock()), request)).at(-1)).toEqual(malformed);
    expect(model.calls()).toBe(5);
  });

  test("until an attempt succeeds, and sums their usage", async () => {
    const usage: ModelEvent = {
      type: "usage",
      usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, thinking: 0 },
    };
    const model = attempts([usage, busy], [hello, usage, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([
      usage,
      retry(1, 500),
      hello,
      { type: "usage", usage: { input: 2, output: 2, cacheRead: 0, cacheWrite: 0, thinking: 0 } },
      end,
    ]);
  });

  test("after the pause that the server asks for", async () => {
    const clock = instantClock();
    const model = attempts([{ ...busy, retryAfterMs: 7 }], [{ ...busy, retryAfterMs: 50_000 }], [hello, end]);
    expect(await collect(withRetries(model, clock), request)).toEqual([retry(1, 7), retry(2, 50_000), hello, end]);
    expect(clock.pauses).toEqual([7, 50_000]);
  });

  test("with the text shown so far, and continues it in the same block", async () => {
    const model = attempts(
      [{ type: "thinking", text: "hm", block: "a" }, { type: "text", text: "hel", block: "b" }, busy],
      [{ type: "text", text: "lo", block: "b", proof: { test: { id: "2" } } }, end],
    );
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([
      { type: "thinking", text: "hm", block: "a" },
      { type: "text", text: "hel", block: "b" },
      retry(1, 500),
      { type: "text", text: "lo", block: "b" },
      end,
    ]);
    const instruction =
      "The connection broke during your answer. Continue exactly where it stopped, without repeating anything.";
    expect(model.requests).toEqual([
      request,
      {
        ...request,
        messages: [
          ...request.messages,
          {
            id: "",
            createdAt: 0,
            role: "assistant",
            content: [{ type: "text", text: "hel" }],
            stop: "failed",
            model: "offline",
          },
          { id: "", createdAt: 0, role: "user", content: [{ type: "reminder", text: instruction }] },
        ],
      },
    ]);
  });

  test("from the start if only thinking was shown", async () => {
    const thought: ModelEvent = { type: "thinking", text: "hm", block: "a", proof: { test: { id: "1" } } };
    const model = attempts([thought, busy], [thought, hello, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([
      thought,
      retry(1, 500),
      { ...thought, block: "2/a" },
      hello,
      end,
    ]);
    expect(model.requests).toEqual([request, request]);
  });

  test("without the calls of a failed attempt, and without repeated tool input", async () => {
    const input: ModelEvent = { type: "tool_input", id: "c", name: "LS", text: "{" };
    const call: ModelEvent = { type: "tool_call", id: "c", name: "LS", inputText: "{}" };
    const model = attempts([input, call, busy], [input, call, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([input, retry(1, 500), call, end]);
  });

  test("an empty reply once, and sums the usage", async () => {
    const usage: ModelEvent = {
      type: "usage",
      usage: { input: 3, output: 1, cacheRead: 0, cacheWrite: 0, thinking: 0 },
    };
    const twice: ModelEvent = {
      type: "usage",
      usage: { input: 6, output: 2, cacheRead: 0, cacheWrite: 0, thinking: 0 },
    };
    const message = "The model returned an empty reply.";
    const failure = { code: "model_empty", message, cause: "empty_response" } as const;
    const model = attempts([usage, end], [usage, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([
      usage,
      { type: "retry", attempt: 1, delayMs: 500, failure },
      twice,
      end,
    ]);
  });

  test("only until the limit for all pauses", async () => {
    const clock = instantClock();
    const later = { ...busy, retryAfterMs: 70_000 };
    const model = attempts([later], [later], [hello, end]);
    expect(await collect(withRetries(model, clock), request)).toEqual([
      retry(1, 70_000),
      {
        ...later,
        failure: {
          code: "model_overloaded",
          message: "busy It asks for a wait of 70 s, over the limit.",
          cause: "overloaded",
        },
      },
    ]);
    expect(clock.pauses).toEqual([70_000]);
  });

  test("only if the server's pause is within the limit", async () => {
    const model = attempts([{ ...busy, retryAfterMs: 3_600_000 }], [hello, end]);
    const message = "busy It asks for a wait of 3600 s, over the limit.";
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([
      { ...busy, retryAfterMs: 3_600_000, failure: { code: "model_overloaded", message, cause: "overloaded" } },
    ]);
  });

  test("a stream without an end event", async () => {
    const message = "The model's reply ended early.";
    const failure = { code: "model_failed", message, cause: "network" } as const;
    expect(await collect(withRetries(attempts([], [hello, end]), instantClock()), request)).toEqual([
      { type: "retry", attempt: 1, delayMs: 500, failure },
      hello,
      end,
    ]);
  });
});

describe("does not retry", () => {
  test("a permanent error", async () => {
    const model = attempts([fatal], [hello, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([fatal]);
  });

  test("a model that throws", async () => {
    expect(await collect(withRetries(attempts([new Error("oops")]), instantClock()), request)).toEqual([
      { type: "error", failure: { code: "internal", message: "oops" }, retryable: false },
    ]);
  });
});

test("an abort during a pause ends the stream at once", async () => {
  const clock = stoppedClock();
  const model = attempts([busy], [hello, end]);
  const controller = new AbortController();
  const events = collect(withRetries(model, clock), request, controller.signal);
  while (clock.waiting() === 0) await new Promise((resolve) => setImmediate(resolve));
  controller.abort();
  expect(await events).toEqual([retry(1, 500)]);
  expect(clock.waiting()).toBe(0);
  expect(model.calls()).toBe(1);
});

test("keeps the model's info", () => {
  expect(withRetries(attempts(), instantClock()).info).toBe(offlineInfo);
});
