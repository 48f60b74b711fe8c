import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSession } from "../../../src/sdk/node.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import { type Bench, createBench } from "../../e2e/tinman.ts";
import { isFullRun } from "../../full-run.ts";
import { bridgeWebSockets } from "../fakes/web-socket-bridge.ts";

const backend = fileURLToPath(new URL("../fakes/flood-backend.mjs", import.meta.url));
const consumer = fileURLToPath(new URL("slow-consumer.mjs", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tinman-slow-"));
let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await bench.remove();
});

const deltas = isFullRun ? 100_000 : 10_000;
const size = 1024;
/** The system's buffers hold a small part, so reading ahead shows. */
const sizeOnSocket = 4 * size;

interface Seen {
  /** How many deltas the backend was ahead, at most, when the reader paused. */
  readonly mostAhead: number;
  readonly liveMb: number;
  readonly peakHeapMb: number;
  readonly peakRssMb: number;
}

/** Keeping the text needs more than this, and reading ahead gets further. */
async function take(
  executable: string,
  progress: string,
  most: { readonly ahead: number; readonly liveMb: number },
  each = size,
) {
  const wanted = JSON.stringify({ executable, progress, deltas, size: each });
  const { stdout } = await promisify(execFile)(process.execPath, ["--expose-gc", consumer, wanted]);
  const { mostAhead, liveMb, peakHeapMb, peakRssMb, ...seen } = JSON.parse(stdout) as Seen;
  const figures = `ahead ${mostAhead}, live ${liveMb} MB, heap ${peakHeapMb} MB, resident ${peakRssMb} MB`;
  const isBounded = mostAhead <= most.ahead && liveMb <= most.liveMb && peakHeapMb < 96;
  return { ...seen, isAhead: mostAhead >= 100, isBounded, ...(!isBounded && { figures }) };
}

const whole = {
  taken: deltas,
  outOfOrder: 0,
  wrongSize: 0,
  messages: deltas / 100,
  asked: 3,
  end: "completed",
  isAhead: true,
  isBounded: true,
};

describe("a turn of many events and a slow reader", { timeout: 240_000 }, () => {
  it("from a process: nothing is lost, little waits", async () => {
    expect(await take(backend, join(folder, "process"), { ahead: 1_000, liveMb: 8 })).toEqual(whole);
  });

  // The short form of socket back-pressure is in web-socket-ws.test.ts.
  if (isFullRun) {
    it("from a WebSocket that can be paused: nothing is lost, little waits", async () => {
      const progress = join(folder, "socket");
      const env = { ...bench.env, PROGRESS: progress };
      const bridge = await bridgeWebSockets(bench, { start: () => spawn(process.execPath, [backend], { env }) });
      expect(await take(bridge.address, progress, { ahead: 6_000, liveMb: 24 }, sizeOnSocket)).toEqual(whole);
      await bridge.close();
    });
  }
});

describe("a flooding process", () => {
  it.each([
    ["reads continuously", {}],
    ["reads nothing while its output is unread", { IS_DEAF: "1" }],
  ])("that %s is interrupted from within the loop", async (_, env) => {
    const session = await createSession({ executable: backend, env });
    const turn = session.stream(JSON.stringify({ deltas: 1_000_000, size, perMessage: 1_000 }));
    let taken = 0;
    let end: TurnEvent | undefined;
    for await (const event of turn) {
      end = event;
      if (event.type !== "text") continue;
      taken += 1;
      expect(Number.parseInt(event.text, 10)).toBe(taken);
      if (taken !== 10) continue;
      // By then it cannot send more.
      await sleep(100);
      await session.interrupt();
    }
    await session.close();
    expect(end).toMatchObject({ type: "end", result: { status: "interrupted", reason: "cancelled" } });
    expect(taken).toBeLessThan(20_000);
  });

  it("is left from within the loop, and the next turn has only its own events", async () => {
    const session = await createSession({ executable: backend });
    for await (const event of session.stream(JSON.stringify({ deltas: 1_000_000, size, perMessage: 1_000 }))) {
      if (event.type === "text") break;
    }
    const texts: string[] = [];
    for await (const event of session.stream(JSON.stringify({ deltas: 3, size: 2, perMessage: 3 }))) {
      if (event.type === "text") texts.push(event.text);
    }
    await session.close();
    expect(texts).toEqual(["1 ", "2 ", "3 "]);
  });
});
