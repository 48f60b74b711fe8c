import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import type { ServedSocket } from "../../src/rpc/web-socket.ts";
import { createConnections } from "../../src/server/connections.ts";
import { ownIdentity } from "../../src/server/credentials.ts";
import { createMetrics } from "../../src/server/metrics.ts";
import { createFakeOpenSocket } from "../rpc/fake-open-socket.ts";

test("frames of one tick are sent together, without waiting for others", async () => {
  const done: string[] = [];
  const note = (what: string) => (): void => void done.push(what);
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const metrics = createMetrics({ version: "0.0.0" });
  const connections = createConnections({ unsentBytes: 1e6, stalledMs: 1e6, pingMs: 1e6, log, metrics });
  const fake = createFakeOpenSocket();
  const socket = Object.assign(fake, { send: (text: string) => void done.push(text) });
  let served: ServedSocket | undefined;
  connections.add(
    socket as unknown as WebSocket,
    { cork: note("cork"), uncork: note("uncork") },
    "/ws",
    (one) => {
      served = one;
      return { drain: () => {}, closed: () => {} };
    },
    { hash: "", identity: ownIdentity },
  );
  const send = async (...texts: string[]): Promise<void> => {
    for (const text of texts) {
      served?.transport.send(text);
      await Promise.resolve();
    }
  };
  await send("a", "b", "c");
  await new Promise((resolve) => setImmediate(resolve));
  await send("d");
  await new Promise((resolve) => setImmediate(resolve));
  expect(done).toEqual(["cork", "a", "b", "c", "uncork", "cork", "d", "uncork"]);
  fake.closes();
  metrics.stop();
});
