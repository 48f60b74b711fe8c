import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { DurableEvent } from "../../src/engine/event.ts";
import { textOf } from "../../src/engine/message.ts";
import { createJsonlStore } from "../../src/store/jsonl-store.ts";
import { bundleForChild } from "../fakes/bundle-for-child.ts";
import { isFullRun } from "../full-run.ts";
import { startChild } from "./child.ts";
import { opened, prompt } from "./sample-events.ts";
import { locksIn, tempHome } from "./temp-home.ts";

let bundles: string;
let appendLoop: string;

beforeAll(async () => {
  bundles = await mkdtemp(join(tmpdir(), "tinman-bundles-"));
  const entry = fileURLToPath(new URL("children/append-loop.ts", import.meta.url));
  appendLoop = await bundleForChild(entry, bundles);
});
afterAll(() => rm(bundles, { recursive: true, force: true }));

function textOfPrompt(event: DurableEvent): string {
  return event.type === "prompt.accepted" ? textOf(event.content) : "";
}

it("keeps every acknowledged record exactly once when the writer is killed at any moment", async () => {
  const home = await tempHome();
  const store = createJsonlStore({ home });
  await (await store.create(opened("s1"))).release();
  for (let round = 1; round <= (isFullRun ? 30 : 8); round++) {
    const child = startChild(appendLoop, home);
    await child.nextLine();
    await pause(Math.random() * 60);
    await child.kill();
    const acknowledged = Number(child.lines.at(-1));
    const { events, damagedLines } = await store.read("s1");
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
    expect(events.length).toBeGreaterThanOrEqual(acknowledged);
    expect(events.slice(1).filter((event) => !textOfPrompt(event).startsWith(`${event.seq} `))).toEqual([]);

    // The dead writer's lock remains and is taken over.
    expect(await locksIn(home)).toHaveLength(1);
    const log = await store.acquire("s1");
    const next = events.length + 1;
    await log.append([prompt("s1", next, `${next} after the crash`)]);
    await log.release();
    const repaired = await store.read("s1");
    expect(repaired.damagedLines).toEqual(damagedLines);
    expect(repaired.events.length).toBe(next);
  }
}, 120_000);
