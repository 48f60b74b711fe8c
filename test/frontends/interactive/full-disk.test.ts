import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import { fullStore } from "../../fakes/full-store.ts";
import { says } from "../../fakes/kit.ts";
import { type Frame, isFinal, type Spoken, serve } from "./served.ts";

/** A model that sends half of it, and the rest on demand. */
function held() {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const reply = async function* (): AsyncGenerator<ModelEvent> {
    yield { type: "text", text: "Half" };
    await gate;
    yield* says(" and half");
  };
  return { reply, goOn: () => goOn() };
}

/** Ends and failure reports, in order. */
const endsIn = (frames: readonly Frame[]): unknown[] =>
  frames.flatMap(({ method, params }) => {
    if (params?.isFinal === true) return [["end", params.messageId, params.reason, params.code]];
    return method === "SessionStatusNotification" && params?.status === 3
      ? [["status 3", params.messageId, params.reason, params.code]]
      : [];
  });

const failed = (messageId: unknown): unknown[] => [
  ["end", messageId, "error", "storage_failed"],
  ["status 3", messageId, "error", "storage_failed"],
];

async function say(client: Spoken, sessionId: string, message: string): Promise<unknown> {
  return (await client.request("sendUserMessage", { sessionId, message })).result?.messageId;
}

test("messages waiting when the disk becomes full: each has one end under its id, in order, also for later clients", async () => {
  const { store, full } = fullStore();
  const { reply, goOn } = held();
  const { connect } = serve([reply, says("Room.")], {}, { store });
  const client = connect();
  const sessionId = await client.start();
  const ids = [await say(client, sessionId, "one")];
  await client.until(({ params }) => params?.chunk === "Half");
  ids.push(await say(client, sessionId, "two"), await say(client, sessionId, "three"));
  const early = connect();
  expect((await early.request("resumeSession", { sessionId })).result?.waiting).toEqual(ids.slice(1));
  full(true);
  goOn();
  const last = (frame: Frame): boolean => frame.params?.status === 3 && frame.params.messageId === ids[2];
  await client.until(last);
  expect(endsIn(client.frames)).toEqual(ids.flatMap(failed));
  await early.until(last);
  expect(endsIn(early.frames)).toEqual(ids.flatMap(failed));
  const during = connect();
  expect((await during.request("resumeSession", { sessionId })).result).toMatchObject({ running: false, waiting: [] });
  await during.until(last);
  expect(endsIn(during.frames)).toEqual(ids.flatMap(failed));
  expect((await client.request("sendUserMessage", { sessionId, message: "no" })).error?.code).toBe(-32_603);

  full(false);
  const later = (await client.ask(sessionId, "four")).findLast(isFinal)?.params?.messageId;
  await client.request("stopSession", { sessionId });
  await client.until(({ params }) => params?.status === 2);
  const back = connect();
  expect((await back.request("resumeSession", { sessionId })).result).toMatchObject({ running: false, waiting: [] });
  await back.request("echo");
  expect(endsIn(back.frames)).toEqual([...ids.flatMap(failed), ["end", later, "completed", undefined]]);
  const numbers = back.frames.flatMap(({ params }) => (typeof params?.seq === "number" ? [params.seq] : []));
  expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  for (const each of [client, early, during, back]) await each.close();
});

test("a message that its answer could not take up ends under its id", async () => {
  const { store, full } = fullStore();
  const client = serve([says("Well.")], {}, { store }).connect();
  const sessionId = await client.start();
  full("prompt.taken");
  const first = await say(client, sessionId, "one");
  await client.until(({ params }) => params?.status === 3);
  full(false);
  const second = (await client.ask(sessionId, "two")).findLast(isFinal)?.params?.messageId;
  expect(endsIn(client.frames)).toEqual([...failed(first), ["end", second, "completed", undefined]]);
  await client.close();
});

test("messages cancelled on a full disk have their ends", async () => {
  const { store, full } = fullStore();
  const { reply, goOn } = held();
  const client = serve([reply], {}, { store }).connect();
  const sessionId = await client.start();
  const first = await say(client, sessionId, "one");
  await client.until(({ params }) => params?.chunk === "Half");
  const second = await say(client, sessionId, "two");
  full(true);
  await client.request("cancel", { sessionId });
  goOn();
  await client.until(({ params }) => params?.status === 3);
  expect(endsIn(client.frames)).toEqual([["end", second, "cancelled", undefined], ...failed(first)]);
  await client.close();
});
