import { expect, test } from "vitest";
import { UnreadableLogError } from "../../../src/engine/errors.ts";
import type { DurableEvent } from "../../../src/engine/event.ts";
import { damagedStore } from "../../fakes/damaged-store.ts";
import { calls, says } from "../../fakes/kit.ts";
import { createMemoryStore } from "../../fakes/memory-store.ts";
import { type Frame, isFinal, serve } from "./served.ts";

const options = { toolExecution: "server" } as const;

async function conversation() {
  const store = createMemoryStore({ now: () => 1 });
  const { connect, pool } = serve([says("First."), calls(["LS", {}]), says("Second.")], options, { store });
  const client = connect();
  const sessionId = await client.start();
  for (const message of ["one", "two"]) await client.ask(sessionId, message);
  await client.close();
  await pool.close();
  return { store, sessionId, events: (await store.read(sessionId)).events };
}

/** The frames for a resuming client, without the lost records. */
async function replayOf(
  { store, sessionId }: Awaited<ReturnType<typeof conversation>>,
  isLost: (event: DurableEvent) => boolean,
): Promise<Frame[]> {
  const { connect, pool } = serve([], options, { store: damagedStore(store, isLost) });
  const client = connect();
  const { result } = await client.request("resumeSession", { sessionId });
  const frames: Frame[] = [];
  while (frames.length < Number(result?.replayed)) frames.push(await client.next());
  await client.close();
  await pool.close();
  return frames;
}

test("reports a damaged log before what is left of it", async () => {
  const told = await conversation();
  const [notice] = await replayOf(told, ({ seq }) => seq === 4);
  expect(notice).toEqual({
    jsonrpc: "2.0",
    method: "ErrorNotification",
    params: {
      sessionId: told.sessionId,
      code: -32000,
      message: "1 damaged line of the session log skipped (line 4).",
      data: { reason: "notice", level: "warning" },
    },
  });
});

test("replays a lost answer as failed, never as an empty complete one", async () => {
  const told = await conversation();
  const frames = await replayOf(told, ({ type }) => type === "message.ended");
  expect(frames.filter(isFinal).map(({ params }) => [params?.reason, params?.code])).toEqual([
    ["error", "storage_failed"],
    ["error", "storage_failed"],
  ]);
});

test("whichever record is lost, each message has one end, and is complete only with its last text", async () => {
  const told = await conversation();
  for (const { seq: lost, type } of told.events.slice(1)) {
    const frames = await replayOf(told, ({ seq }) => seq === lost);
    const ends = frames.filter(isFinal);
    const isLastEnd = lost === told.events.length;
    expect([type, ends.length]).toEqual([type, 2]);
    const complete = ends.filter(({ params }) => params?.reason === "completed");
    for (const { params } of complete) {
      const text = frames.findLast((frame) => frame.params?.turnId === params?.turnId && frame.params?.chunk !== "");
      expect(text?.params?.chunk).toMatch(/^(First|Second)\.$/);
    }
    if (isLastEnd) expect(ends.at(-1)?.params?.reason).toBe("interrupted");
  }
});

test("rejects an unreadable session with a message", async () => {
  const { store, sessionId } = await conversation();
  const unreadable = async () => {
    throw new UnreadableLogError("Cannot read /home/a.jsonl: its first line is damaged.");
  };
  const { connect, pool } = serve([], options, { store: { ...store, read: unreadable, info: unreadable } });
  const client = connect();
  const { error } = await client.request("resumeSession", { sessionId });
  expect(error).toEqual({
    code: -32000,
    message: "This session cannot be read: its log is damaged, or from a later version. See the server's log.",
    data: { reason: "session_unreadable", errorId: expect.any(String) },
  });
  await client.close();
  await pool.close();
});
