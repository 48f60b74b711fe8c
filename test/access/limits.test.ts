import { expect, test } from "vitest";
import { createRate } from "../../src/access/rates.ts";
import { FakeClock, says } from "../fakes/kit.ts";
import { hangsAfter } from "../frontends/stream-jsonrpc/connection/served.ts";
import { ann, openServer, type WireName } from "./server.ts";

const limits = { queuedMessages: 99, openSessions: 99, sessionsPerMinute: 99, messagesPerMinute: 99 };
/** One wire uses up the limit, then the other one tries. */
const orders: readonly (readonly [WireName, WireName])[] = [
  ["ws", "rpc"],
  ["rpc", "ws"],
];

test("a rate limit holds for any minute", () => {
  const clock = new FakeClock();
  const rate = createRate(3, clock);
  const take = (): number | undefined => rate.take("ann");
  expect([take(), take()]).toEqual([undefined, undefined]);
  clock.advance(40_000);
  expect([take(), take()]).toEqual([undefined, 20_000]);
  clock.advance(20_000);
  expect([take(), take(), take()]).toEqual([undefined, undefined, 40_000]);
  expect(rate.take("bob")).toBeUndefined();
});

test.each(orders)("open sessions of /%s count for /%s, and stopping one makes room", async (first, second) => {
  const { client, pool, stored } = openServer([], { limits: { ...limits, openSessions: 2 } });
  const old = await stored({ owner: "ann" });
  const [one, other, bob] = [client(first), client(second), client(second, { user: "bob", role: "user" })];
  const { id } = await one.create();
  await one.create();
  expect((await other.create()).outcome).toBe("refused: Session limit reached (2). Stop one first.");
  expect(await other.open(old)).toBe("refused: Session limit reached (2). Stop one first.");
  // Using an open session takes no more room.
  expect(await other.open(id)).toBe("done");
  expect((await bob.create()).outcome).toBe("done");
  await pool.end(id);
  expect(await other.open(old)).toBe("done");
});

test.each(orders)("sessions of /%s per minute count for /%s: started, opened and forked", async (first, second) => {
  const { client, kit, rpc } = openServer([], { limits: { ...limits, sessionsPerMinute: 3 } });
  const [one, other] = [client(first), client(second)];
  const { id } = await one.create();
  await one.open(id);
  await other.open(id);
  const words = "refused: Rate limit reached (3 sessions per minute). Try again in 60 s.";
  expect([(await other.create()).outcome, await one.open(id)]).toEqual([words, words]);
  kit.clock.advance(60_000);
  const forking = rpc();
  await forking.client.request("droid.load_session", { sessionId: id });
  for (const expected of [undefined, undefined, "Rate limit reached (3 sessions per minute). Try again in 60 s."]) {
    expect((await forking.client.request("droid.fork_session", {})).error?.message).toBe(expected);
  }
});

test.each(orders)("messages of /%s per minute count for /%s", async (first, second) => {
  const replies = ["one", "two", "three"].map(says);
  const { client } = openServer(replies, { limits: { ...limits, messagesPerMinute: 2 } });
  const [one, other] = [client(first), client(second)];
  const { id } = await one.create();
  await other.open(id);
  expect([await one.send(id), await other.send(id)]).toEqual(["done", "done"]);
  const words = "refused: Rate limit reached (2 messages per minute). Try again in 60 s.";
  expect([await one.send(id), await other.send(id)]).toEqual([words, words]);
});

test.each(orders)("characters waiting over /%s count for /%s until they are answered", async (first, second) => {
  const { client, pool } = openServer([hangsAfter(), says("well")], { limits }, { model: { contextWindow: 1e9 } });
  const [one, other] = [client(first), client(second)];
  const large = "x".repeat(9_000_000);
  const { id } = await one.create();
  const { id: another } = await other.create();
  for (let at = 0; at < 3; at += 1) expect(await one.send(id, large)).toBe("done");
  const words = "refused: Limit for waiting messages reached (27000000 characters). Wait for an answer.";
  expect(await other.send(another, large)).toBe(words);
  await pool.get(id)?.interrupt();
  expect(await other.send(another, large)).toBe("done");
});

test("many connections of both wires share one limit of open sessions", async () => {
  const { client, pool } = openServer([], { limits: { ...limits, openSessions: 3 } });
  const clients = Array.from({ length: 8 }, (_, at) => client(at % 2 === 0 ? "ws" : "rpc"));
  const outcomes = await Promise.all(clients.map((each) => each.create()));
  expect(outcomes.filter(({ outcome }) => outcome === "done")).toHaveLength(3);
  expect(pool.countOf("ann")).toBe(3);
});

test("sessions opened by a viewer count for the viewer", async () => {
  const { client, pool, stored } = openServer([], { limits: { ...limits, openSessions: 1 } });
  const [id, another] = [await stored({ owner: "ann" }), await stored({ owner: "ann" })];
  const viewer = { user: "vic", role: "viewer" } as const;
  expect(await client("rpc", viewer).open(id)).toBe("done");
  expect(await client("ws", viewer).open(another)).toBe("refused: Session limit reached (1). Stop one first.");
  expect([pool.countOf("ann"), pool.countOf("vic")]).toEqual([0, 1]);
  expect((await client("ws").create()).outcome).toBe("done");
});

test.each(orders)("a stopping server starts nothing, over /%s or /%s", async (...both) => {
  const { access, client, stored } = openServer();
  const id = await stored({ owner: "ann" });
  const clients = both.map((wire) => client(wire, ann()));
  const opened = await Promise.all(clients.map((each) => each.create()));
  access.drain();
  const words = "refused: The server is stopping.";
  for (const [at, each] of clients.entries()) {
    const sent = await each.send(opened[at]?.id ?? "");
    expect([(await each.create()).outcome, await each.open(id), sent]).toEqual([words, words, words]);
  }
});
