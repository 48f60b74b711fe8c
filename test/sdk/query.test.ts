import { afterEach, beforeEach, expect, test } from "vitest";
import { type Connect, query, type TurnEvent } from "../../src/sdk/node.ts";
import { busy, createFakeBackend, delta, idle, says, settled } from "./fakes/fake-backend.ts";

const unhandled: unknown[] = [];
const note = (error: unknown): number => unhandled.push(error);
let others: NodeJS.UnhandledRejectionListener[] = [];
beforeEach(() => {
  unhandled.length = 0;
  others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection").on("unhandledRejection", note);
});
afterEach(() => {
  process.removeAllListeners("unhandledRejection");
  for (const listener of others) process.on("unhandledRejection", listener);
});

const interrupted = { status: "interrupted", reason: "interrupted", text: "", turnId: "t" };
const refuse: Connect = () => Promise.reject(new Error("Nobody is there."));

test.each(["before", "after"])("is interrupted by leaving its loop: the result is requested %s", async (when) => {
  const backend = createFakeBackend();
  const turn = query("go", { id: "t", connect: backend.connect });
  const early = when === "before" ? turn.result : undefined;
  const loop = (async () => {
    for await (const event of turn) if (event.type === "text") break;
  })();
  await backend.next("droid.add_user_message");
  backend.notify(busy, delta("m", "Be"));
  await loop;
  expect(await (early ?? turn.result)).toEqual(interrupted);
  await settled();
  expect(unhandled).toEqual([]);
});

test("reports its session", async () => {
  const backend = createFakeBackend();
  const turn = query("go", { id: "t", connect: backend.connect });
  const before = turn.sessionId;
  const { result } = turn;
  await backend.next("droid.add_user_message");
  const within = turn.sessionId;
  backend.notify(busy, says("m", "Done."), idle);
  await result;
  expect([before, within, turn.sessionId]).toEqual([undefined, "s-1", "s-1"]);
});

test("opens nothing if interrupted before it began", async () => {
  const turn = query("go", { id: "t", connect: refuse });
  await turn.interrupt();
  const events: TurnEvent[] = [];
  for await (const event of turn) events.push(event);
  expect([events, await turn.result]).toEqual([[{ type: "end", result: interrupted }], interrupted]);
});

test("that cannot open reports it in the loop, and in the result", async () => {
  const turn = query("go", { connect: refuse });
  const { result } = turn;
  const loop = (async () => {
    for await (const _ of turn);
  })();
  const interrupting = turn.interrupt();
  await expect(loop).rejects.toThrow("Nobody is there.");
  await interrupting;
  await settled();
  expect(unhandled).toEqual([]);
  await expect(result).rejects.toThrow("Nobody is there.");
});
