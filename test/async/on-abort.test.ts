import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { onAbort } from "../../src/async/on-abort.ts";
import { createSession, readStreamJson } from "../../src/sdk/node.ts";
import { createFakeBackend, obliging, settled } from "../sdk/fakes/fake-backend.ts";

const listenersOf = (signal: AbortSignal): number => getEventListeners(signal, "abort").length;
const many = Array.from({ length: 20 }, (_, nth) => nth);

test("a signal has one listener for all callbacks, and none without callbacks", () => {
  const controller = new AbortController();
  const { signal } = controller;
  const acted: number[] = [];
  const act = (nth: number) => () => acted.push(nth);
  const undo = many.map((nth) => onAbort(signal, act(nth)));
  expect(listenersOf(signal)).toBe(1);
  for (const each of undo) each();
  expect(listenersOf(signal)).toBe(0);
  const [first = () => {}] = [onAbort(signal, act(1)), onAbort(signal, act(2)), onAbort(signal, act(3))];
  first();
  first();
  controller.abort();
  expect([acted, listenersOf(signal)]).toEqual([[2, 3], 0]);
  onAbort(signal, act(4));
  expect(acted).toEqual([2, 3]);
});

test("a callback can remove another one, and itself", () => {
  const controller = new AbortController();
  const acted: string[] = [];
  const undoFirst = onAbort(controller.signal, () => {
    acted.push("first");
    undoFirst();
    undoSecond();
  });
  const undoSecond = onAbort(controller.signal, () => acted.push("second"));
  controller.abort();
  expect(acted).toEqual(["first"]);
});

test("prompts, calls, openings and reads with one signal leave no listener", async () => {
  const controller = new AbortController();
  const { signal } = controller;
  const warnings: Error[] = [];
  const note = (warning: Error): unknown => warnings.push(warning);
  process.on("warning", note);
  const reason = new Error("enough");
  const outcomes: Promise<unknown>[] = [];
  const keep = (promise: Promise<unknown>): unknown => outcomes.push(promise.catch((error: unknown) => error));

  const session = await createSession({ connect: createFakeBackend().connect });
  const { "droid.initialize_session": _, ...mute } = obliging;
  for (const nth of many) {
    keep(session.send(`go ${nth}`, { signal }));
    keep(session.tools({ signal }));
    keep(createSession({ connect: createFakeBackend(mute).connect, signal }));
    keep(readStreamJson({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }, { signal }).next());
  }
  await settled();
  expect(listenersOf(signal)).toBe(1);
  controller.abort(reason);
  expect(new Set(await Promise.all(outcomes))).toEqual(new Set([reason]));
  await settled();
  process.off("warning", note);
  expect([warnings, listenersOf(signal)]).toEqual([[], 0]);
  await session.close();
});
