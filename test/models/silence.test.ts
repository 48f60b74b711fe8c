import { describe, expect, test } from "vitest";
import type { ModelEvent, ModelPort, ModelRequest } from "../../src/engine/ports.ts";
import { offlineInfo } from "../../src/models/offline/info.ts";
import { withRetries } from "../../src/models/retry.ts";
import { FakeClock, until } from "../fakes/kit.ts";
import { requestOf, userMessage } from "./harness.ts";

type Move = ModelEvent | { readonly type: "sign" } | { readonly type: "wait"; readonly ms: number };

const text: ModelEvent = { type: "text", text: "hi" };
const end: ModelEvent = { type: "end", stop: "end" };
const sign: Move = { type: "sign" };
const wait = (seconds: number): Move => ({ type: "wait", ms: seconds * 1_000 });

/**
 * Plays one list of moves per attempt, on a clock that moves only with `wait`. After the list it is silent until
 * aborted.
 */
async function played(
  lists: readonly (readonly Move[])[],
  options: Parameters<typeof withRetries>[2] = {},
  more: Partial<ModelRequest> = {},
) {
  const clock = new FakeClock();
  let attempt = 0;
  const model: ModelPort = {
    info: offlineInfo,
    async *stream(_, signal, heard) {
      const moves = lists[attempt] ?? [];
      attempt += 1;
      for (const move of moves) {
        if (move.type === "wait") clock.advance(move.ms);
        else if (move.type === "sign") heard?.();
        else yield move;
        if (signal.aborted) return;
      }
      while (!signal.aborted) {
        clock.advance(1_000);
        await Promise.resolve();
      }
    },
  };
  const events: ModelEvent[] = [];
  const signal = new AbortController().signal;
  for await (const event of withRetries(model, clock, options).stream(requestOf([userMessage("hi")], more), signal)) {
    events.push(event);
    if (event.type === "retry") void until(() => clock.waiting > 0).then(() => clock.advance(event.delayMs));
  }
  return { events, attempts: attempt, waiting: clock.waiting };
}

const silent = (message: string): ModelEvent => ({
  type: "error",
  failure: { code: "model_failed", message, cause: "timeout" },
  retryable: true,
  maxRetries: 1,
});
const nothing = "offline sent nothing for 180 s. The model's timeouts.firstByte in config.yaml sets this limit.";
const stalled = "offline sent nothing for 120 s. The model's timeouts.idle in config.yaml sets this limit.";
const kept = "offline sent only keep-alives for 300 s. The model's timeouts in config.yaml set this limit.";

describe("a model", () => {
  test("has 180 s until its first event, and 120 s between two", async () => {
    const { events, waiting } = await played([[wait(179), text, wait(119), text, wait(119), end]]);
    expect(events).toEqual([text, text, end]);
    expect(waiting).toBe(0);
  });

  test("is called once more if it never answers", async () => {
    const { events, attempts } = await played([[], []]);
    expect(events).toEqual([
      {
        type: "retry",
        attempt: 1,
        delayMs: 500,
        failure: { code: "model_failed", message: nothing, cause: "timeout" },
      },
      silent(nothing),
    ]);
    expect(attempts).toBe(2);
  });

  test("is called once more if it falls silent, and continues", async () => {
    const { events } = await played([[text], [text, end]]);
    expect(events.map(({ type }) => type)).toEqual(["text", "retry", "text", "end"]);
    expect(events[1]).toMatchObject({ failure: { message: stalled } });
  });

  test("can take longer with keep-alives, but not forever", async () => {
    const alive = [sign, wait(100), sign, wait(100), sign, wait(90), text, end];
    expect((await played([alive])).events).toEqual([text, end]);
    const lists = [[...Array.from({ length: 5 }, () => [wait(100), sign]).flat()], [text, end]];
    expect((await played(lists)).events[0]).toMatchObject({ type: "retry", failure: { message: kept } });
  });

  test("has the configured time and retries", async () => {
    const silence = { firstByteMs: 5_000, idleMs: 2_000 };
    const { events, attempts } = await played([[], [], []], { silence, retriesAfterSilence: 2 });
    expect(attempts).toBe(3);
    expect(events.at(-1)).toMatchObject({ failure: { message: expect.stringMatching(/nothing for 5 s\./) } });
    const none = await played([[]], { silence, retriesAfterSilence: 0 });
    expect(none.events.map(({ type }) => type)).toEqual(["error"]);
  });

  test.each([
    ["never answers", [], ["error"], "nothing for 60 s"],
    ["falls silent", [text], ["text", "error"], "nothing for 40 s"],
    ["sends only keep-alives", [1, 2, 3].flatMap(() => [wait(50), sign]), ["error"], "only keep-alives for 100 s"],
  ])("that %s gets a third of the time for a summary, and no second try", async (_, moves, types, words) => {
    const { events } = await played([moves, [text, end]], {}, { purpose: "summary" });
    expect(events.map(({ type }) => type)).toEqual(types);
    expect(events.at(-1)).toMatchObject({ failure: { message: expect.stringContaining(words) } });
  });
});

test("a slow reader of the reply is not a silent model", async () => {
  const clock = new FakeClock();
  const model: ModelPort = {
    info: offlineInfo,
    async *stream() {
      yield* [text, text, end];
    },
  };
  const events: ModelEvent[] = [];
  const signal = new AbortController().signal;
  for await (const event of withRetries(model, clock).stream(requestOf([userMessage("hi")]), signal)) {
    events.push(event);
    clock.advance(600_000);
  }
  expect(events).toEqual([text, text, end]);
});
