import { expect, test } from "vitest";
import type { ModelEvent, SessionStore } from "../../../src/engine/ports.ts";
import { damagedStore } from "../../fakes/damaged-store.ts";
import { calls, says } from "../../fakes/kit.ts";
import { createMemoryStore } from "../../fakes/memory-store.ts";
import { type Frame, isFinal, type Served, serve } from "./served.ts";

/** Records after which number logs are read. */
function noting(store: SessionStore): { readonly store: SessionStore; readonly readAfter: number[] } {
  const readAfter: number[] = [];
  const read: SessionStore["read"] = (id, after = 0) => {
    readAfter.push(after);
    return store.read(id, after);
  };
  return { store: { ...store, read }, readAfter };
}

const replies = [
  says("One."),
  [{ type: "text", text: "Looking. " }, ...calls(["Read", { file_path: "a" }])] as readonly ModelEvent[],
  says("It says no."),
  says("Three."),
];

/** Three turns, one with a call that the client runs. */
async function conversation({ connect }: Served): Promise<{ readonly sessionId: string; readonly last: number }> {
  const client = connect();
  const sessionId = await client.start();
  await client.ask(sessionId, "one");
  await client.request("sendUserMessage", { sessionId, message: "two" });
  const [call] = (await client.until(({ method }) => method === "ToolCallNotification")).slice(-1);
  await client.request("provideToolResult", { sessionId, toolCallId: call?.params?.toolCallId, result: "no" });
  await client.until(isFinal);
  const end = (await client.ask(sessionId, "three")).at(-1);
  await client.close();
  return { sessionId, last: Number(end?.params?.seq) };
}

/** The frames for a client that has everything up to a number. */
async function toldAfter({ connect }: Served, sessionId: string, afterSeq: number): Promise<readonly Frame[]> {
  const client = connect();
  const { result } = await client.request("resumeSession", { sessionId, afterSeq });
  const told: Frame[] = [];
  for (let nth = 0; nth < Number(result?.replayed); nth += 1) told.push(await client.next());
  await client.close();
  return told;
}

test("from any number on, a client gets the rest, and earlier turns are not read", async () => {
  const { store, readAfter } = noting(createMemoryStore());
  const served = serve(replies, {}, { store });
  const { sessionId, last } = await conversation(served);
  const all = await toldAfter(served, sessionId, 0);
  const begins = (await store.read(sessionId)).events.flatMap((event) =>
    event.type === "turn.started" ? [event.seq] : [],
  );
  for (let after = 1; after <= last + 1; after += 1) {
    readAfter.length = 0;
    const told = await toldAfter(served, sessionId, after);
    expect({ after, told }).toEqual({ after, told: all.filter(({ params }) => Number(params?.seq) > after) });
    const begin = begins.findLast((seq) => seq <= after) ?? 1;
    expect({ after, early: readAfter.filter((from) => from < begin - 1) }).toEqual({ after, early: [] });
  }
  readAfter.length = 0;
  await toldAfter(served, sessionId, last);
  expect(readAfter).toEqual([]);
});

test("a damaged log is read and repaired completely, whatever the number", async () => {
  const healthy = createMemoryStore();
  const first = serve(replies, {}, { store: healthy });
  const { sessionId, last } = await conversation(first);
  await first.kit.engine.close();
  const end = (await healthy.read(sessionId)).events.find(({ type }) => type === "turn.ended");
  const { store, readAfter } = noting(damagedStore(healthy, ({ seq }) => seq === end?.seq));
  const served = serve([], {}, { store });
  const all = await toldAfter(served, sessionId, 0);
  readAfter.length = 0;
  for (const after of [1, 5, last - 2]) {
    const rest = all.filter(({ params }) => params?.seq !== undefined && Number(params.seq) > after);
    const told = (await toldAfter(served, sessionId, after)).filter(({ params }) => params?.seq !== undefined);
    expect({ after, told }).toEqual({ after, told: rest });
  }
  expect(new Set(readAfter)).toEqual(new Set([0]));
});
