import { setTimeout as sleep } from "node:timers/promises";
import { createGzip } from "node:zlib";
import { describe, expect, test } from "vitest";
import { createFetch } from "../../src/net/http/fetch.ts";
import { ask, httpServer, patient, testNetwork } from "./support.ts";

const megabyte = 1024 * 1024;

/** Writes as fast as possible, and counts what was accepted. */
async function fireHose(compressed: boolean) {
  // Far more than the buffers can hold. Less for gzip, which is slow.
  const whole = (compressed ? 48 : 100) * megabyte;
  const state = { written: 0 };
  const { port } = await httpServer(async (_incoming, response) => {
    if (compressed) response.setHeader("Content-Encoding", "gzip");
    const out = compressed ? createGzip({ level: 1 }) : response;
    if (compressed) out.pipe(response);
    // Random enough that it still exceeds the buffers when compressed.
    const piece = Buffer.from(Array.from({ length: megabyte }, (_, i) => (i * i * 31 + (i >> 7)) ^ (i % 251)));
    while (state.written < whole) {
      await new Promise((resolve) => out.write(piece, resolve));
      state.written += piece.length;
    }
    out.end();
  });
  /** Waits until no more is accepted. */
  const stalled = async () => {
    for (let [still, last] = [0, -1]; still < 15; still += 1) {
      if (state.written !== last) [still, last] = [0, state.written];
      await sleep(20);
    }
    return state.written;
  };
  return { url: `http://127.0.0.1:${port}/`, whole, stalled };
}

describe("a slow reader", () => {
  test.each([false, true])("slows the server down (compressed: %j)", async (compressed) => {
    const { url, whole, stalled } = await fireHose(compressed);
    const { body } = await ask(url, testNetwork());
    let [read, written] = [0, 0];
    for await (const piece of body) {
      if (read === 0) written = await stalled();
      read += piece.byteLength;
    }
    expect([written < whole / 2, read]).toEqual([true, whole]);
  });

  test("slows it down through fetch", async () => {
    const { url, whole, stalled } = await fireHose(false);
    const { body } = await createFetch(testNetwork(), patient)(url);
    const written = await stalled();
    let read = 0;
    for await (const piece of body ?? []) read += piece.byteLength;
    expect([written < whole / 2, read]).toEqual([true, whole]);
  });

  test("slows it down before the first read", async () => {
    const { url, whole, stalled } = await fireHose(false);
    const response = await ask(url, testNetwork());
    expect((await stalled()) < whole / 2).toBe(true);
    response.close();
  });
});
