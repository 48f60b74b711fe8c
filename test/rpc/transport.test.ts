import { describe, expect, it } from "vitest";
import type { LinkedEnd } from "../../src/rpc/transport.ts";
import { createLinkedPair } from "../../src/rpc/transport.ts";
import { isDone, settled } from "./held-sink.ts";

async function take({ incoming }: LinkedEnd, count = Number.POSITIVE_INFINITY): Promise<readonly string[]> {
  const lines: string[] = [];
  const iterator = incoming[Symbol.asyncIterator]();
  while (lines.length < count) {
    const { done, value } = await iterator.next();
    if (done === true) break;
    lines.push(value.type === "line" ? value.text : value.type);
  }
  return lines;
}

describe("the linked pair", () => {
  it("carries lines both ways, in order", async () => {
    const [client, server] = createLinkedPair();
    client.send("question");
    server.send("first");
    server.send("");
    server.send("second");
    expect([await take(server, 1), await take(client, 3)]).toEqual([["question"], ["first", "", "second"]]);
  });

  it("wakes a waiting reader", async () => {
    const [client, server] = createLinkedPair();
    const lines = take(server, 2);
    await settled();
    client.send("one");
    await settled();
    client.send("two");
    expect(await lines).toEqual(["one", "two"]);
  });

  it("can end one direction and keep the other open", async () => {
    const [client, server] = createLinkedPair();
    client.send("last");
    client.end();
    client.send("too late");
    expect(await take(server)).toEqual(["last"]);
    server.send("answer");
    expect(await take(client, 1)).toEqual(["answer"]);
    expect([client.gone.aborted, server.gone.aborted]).toEqual([false, false]);
  });

  it("ends for a waiting reader", async () => {
    const [client, server] = createLinkedPair();
    const lines = take(server);
    await settled();
    client.end();
    expect(await lines).toEqual([]);
  });

  it("applies back-pressure until the other end has read enough", async () => {
    const [client, server] = createLinkedPair({ maxWaiting: 4 });
    server.send("one");
    expect(server.room()).toBeUndefined();
    server.send("two");
    const room = server.room();
    const drained = server.drained();
    expect([await isDone(room), await isDone(drained)]).toEqual([false, false]);
    await take(client, 1);
    expect([await isDone(room), await isDone(drained)]).toEqual([true, false]);
    expect(server.room()).toBeUndefined();
    await take(client, 1);
    expect(await isDone(drained)).toBe(true);
    expect(await isDone(server.drained())).toBe(true);
  });

  it("releases a waiting sender when the other end is closed", async () => {
    const [client, server] = createLinkedPair({ maxWaiting: 1 });
    server.send("never taken");
    const waits = [server.room(), server.drained()];
    client.send("last");
    client.close();
    expect(await Promise.all(waits.map(isDone))).toEqual([true, true]);
    expect(server.gone.reason).toMatchObject({ code: "EPIPE" });
    server.send("in vain");
    expect(server.room()).toBeUndefined();
    expect([await take(server), await take(client)]).toEqual([["last"], []]);
  });
});
