import { describe, expect, test } from "vitest";
import type { ModelEvent, ModelPort } from "../../src/core/ports.ts";
import { offlineInfo } from "../../src/models/offline/info.ts";
import { withRetries } from "../../src/models/retry.ts";
import { collect, instantClock, requestOf, stoppedClock, userMessage } from "./harness.ts";

const busy: ModelEvent & { type: "error" } = {
  type: "error",
  failure: { code: "model_overloaded", message: "busy" },
  retryable: true,
};
const fatal: ModelEvent = { type: "error", failure: { code: "model_auth", message: "no key" }, retryable: false };
const hello: ModelEvent = { type: "text", text: "hello" };
const end: ModelEvent = { type: "end", stop: "end" };
const request = requestOf([userMessage("hi")]);

/** Each attempt plays the next list of events. */
function attempts(
  ...lists: readonly (readonly (ModelEvent | Error)[])[]
): ModelPort & { readonly calls: () => number } {
  let calls = 0;
  return {
    info: offlineInfo,
    calls: () => calls,
    async *stream() {
      const list = lists[calls] ?? [];
      calls += 1;
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
      usage,
      end,
    ]);
  });

  test("as late as the server asks, within bounds", async () => {
    const clock = instantClock();
    const model = attempts([{ ...busy, retryAfterMs: 7 }], [{ ...busy, retryAfterMs: 900_000 }], [hello, end]);
    expect(await collect(withRetries(model, clock), request)).toEqual([retry(1, 7), retry(2, 30_000), hello, end]);
    expect(clock.pauses).toEqual([7, 30_000]);
  });

  test("with the pauses that are given", async () => {
    const clock = instantClock();
    const model = attempts([busy], [busy], [hello, end]);
    expect(await collect(withRetries(model, clock, { pauses: [1] }), request)).toEqual([retry(1, 1), busy]);
    expect(clock.pauses).toEqual([1]);
  });

  test("when the answer ends without an end", async () => {
    const failure = { code: "model_failed", message: "The model's answer ended before it was whole." } as const;
    expect(await collect(withRetries(attempts([], [hello, end]), instantClock()), request)).toEqual([
      { type: "retry", attempt: 1, delayMs: 500, failure },
      hello,
      end,
    ]);
  });
});

describe("does not try again", () => {
  test.each<readonly [string, ModelEvent]>([
    ["text", hello],
    ["thinking", { type: "thinking", text: "hm" }],
    ["arguments", { type: "tool_input", id: "c", name: "LS", text: "{" }],
    ["a call", { type: "tool_call", id: "c", name: "LS", inputText: "{}" }],
  ])("after %s was shown", async (_, shown) => {
    const model = attempts([shown, busy], [hello, end]);
    expect(await collect(withRetries(model, instantClock()), request)).toEqual([shown, busy]);
    expect(model.calls()).toBe(1);
  });

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
