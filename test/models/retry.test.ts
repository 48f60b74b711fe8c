import { describe, expect, test } from "vitest";
import type { ModelEvent, ModelPort, ModelRequest } from "../../src/core/ports.ts";
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
    async *stream(asked) {
      const list = lists[requests.length] ?? [];
      requests.push(asked);
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

describe("tries again", () => {
  test("after pauses that are drawn apart, and never shorter than they should be", async () => {
    const clock = instantClock();
    const model = attempts([busy], [{ ...busy, retryAfterMs: 1_000 }], [busy], [hello, end]);
    await collect(withRetries(model, clock, { random: () => 1 }), request);
    expect(clock.pauses).toEqual([750, 1_100, 3_000]);
  });

  test("three times at most, with growing pauses", async () => {
    const clock = instantClock();
    const model = attempts([busy], [busy], [busy], [busy], [hello, end]);
    expect(await collect(withRetries(model, clock), request)).toEqual([
      retry(1, 500),
      retry(2, 1_000),
      retry(3, 2_000),
      busy,
    ]);
    expect(clock.pauses).toEqual([500, 1_000, 2_000]);
    expect(model.calls()).toBe(4);
  });

  test("until it works", async () => {
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

  test("as late as the server asks, within bounds", async () => {
    const clock = instantClock();
    const model = attempts([{ ...busy, retryAfterMs: 7 }], [{ ...busy, retryAfterMs: 50_000 }], [hello, end]);
    expect(await collect(withRetries(model, clock), request)).toEqual([retry(1, 7), retry(2, 50_000), hello, end]);
    expect(clock.pauses).toEqual([7, 50_000]);
  });

  test("with what was said already, and goes on from there in the same block", async () => {
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
    const words =
      "The connection broke while you answered. Go on exactly where your answer stopped, without repeating anything.";
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
          { id: "", createdAt: 0, role: "user", content: [{ type: "reminder", text: words }] },
        ],
      },
    ]);
  });

  test("from the start after thoughts alone, which are then thought anew", async () => {
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

  test("without the calls of an answer that failed, and with no arguments twice", async () => {
    const input: ModelEvent = { type: "tool_input", id: "c", name: "LS", text: "{" };
    const call: ModelEvent = { type: "tool_call", id: "c", name: "LS", inputText: "{}" };
    const model = attempts([input, call, busy], [input, call, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([input, retry(1, 500), call, end]);
  });

  test("once, when the answer is empty; what both cost is added up", async () => {
    const usage: ModelEvent = {
      type: "usage",
      usage: { input: 3, output: 1, cacheRead: 0, cacheWrite: 0, thinking: 0 },
    };
    const twice: ModelEvent = {
      type: "usage",
      usage: { input: 6, output: 2, cacheRead: 0, cacheWrite: 0, thinking: 0 },
    };
    const message = "The model answered with nothing.";
    const failure = { code: "model_empty", message, cause: "empty_response" } as const;
    const model = attempts([usage, end], [usage, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([
      usage,
      { type: "retry", attempt: 1, delayMs: 500, failure },
      twice,
      end,
    ]);
  });

  test("not past the time that all pauses may take", async () => {
    const clock = instantClock();
    const later = { ...busy, retryAfterMs: 50_000 };
    const model = attempts([later], [later], [hello, end]);
    expect(await collect(withRetries(model, clock), request)).toEqual([
      retry(1, 50_000),
      {
        ...later,
        failure: {
          code: "model_overloaded",
          message: "busy It asks to wait 50 s, and that is longer than a reply is waited for.",
          cause: "overloaded",
        },
      },
    ]);
    expect(clock.pauses).toEqual([50_000]);
  });

  test("not when the server asks for more patience than a run has", async () => {
    const model = attempts([{ ...busy, retryAfterMs: 3_600_000 }], [hello, end]);
    const message = "busy It asks to wait 3600 s, and that is longer than a reply is waited for.";
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([
      { ...busy, retryAfterMs: 3_600_000, failure: { code: "model_overloaded", message, cause: "overloaded" } },
    ]);
  });

  test("with the pauses that are given", async () => {
    const clock = instantClock();
    const model = attempts([busy], [busy], [hello, end]);
    expect(await collect(withRetries(model, clock, { pauses: [1] }), request)).toEqual([retry(1, 1), busy]);
    expect(clock.pauses).toEqual([1]);
  });

  test("when the answer ends without an end", async () => {
    const message = "The model's answer ended before it was whole.";
    const failure = { code: "model_failed", message, cause: "network" } as const;
    expect(await collect(withRetries(attempts([], [hello, end]), instantClock()), request)).toEqual([
      { type: "retry", attempt: 1, delayMs: 500, failure },
      hello,
      end,
    ]);
  });
});

describe("does not try again", () => {
  test("what cannot pass", async () => {
    const model = attempts([fatal], [hello, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([fatal]);
  });

  test("a model that throws", async () => {
    expect(await collect(withRetries(attempts([new Error("oops")]), instantClock()), request)).toEqual([
      { type: "error", failure: { code: "internal", message: "oops" }, retryable: false },
    ]);
  });
});

test("an abort in the pause ends it at once", async () => {
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

test("it is the same model to the outside", () => {
  expect(withRetries(attempts(), instantClock()).info).toBe(offlineInfo);
});
