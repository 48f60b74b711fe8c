import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import type { Random } from "../fakes/seeded-random.ts";
import { logFile } from "../fakes/ws/log-oracle.ts";
import { type Program, type SocketClient, startProgram, userOf } from "../fakes/ws/program.ts";
import { isFullRun } from "../full-run.ts";
import { createDisk, type Disk, whyNoDisk } from "./disk.ts";
import { drawsFor, figures, hangMs, seed } from "./form.ts";

const rounds = isFullRun ? 40 : 3;
const faults = ["none", "full disk", "lost log"] as const;
const [ann, root] = [userOf("ann", "user"), userOf("root", "admin")];
const model = "script:../script-1.json";

const noDisk = whyNoDisk();
if (isFullRun) test("a disk can be mounted here", () => expect(noDisk).toBeUndefined());

// A container can forbid mounts; the full run requires them.
const describeDisk = noDisk === undefined ? describe : () => undefined;
describeDisk("revoking a user", () => {
  let bench: Bench;
  let disk: Disk;
  beforeAll(async () => {
    bench = await createBench();
    await bench.script([
      { when: { user: "long" }, text: Array(400).fill("word "), chunk_delay_ms: 8, times: "any" },
      { text: "Well.", times: "any" },
    ]);
    disk = await createDisk(bench, "12m");
    await disk.bench.tinman(["exec", "Just reply OK."]);
  });
  afterAll(async () => {
    await disk.remove();
    await bench.remove();
  });

  test(`ends the user's work ${rounds} times, while disks fail and logs are lost, and leaves other users' work alone`, {
    timeout: hangMs,
  }, async () => {
    const drawn: Record<string, number> = {};
    for (let nth = 0; nth < rounds; nth += 1) {
      const random = drawsFor(nth);
      const fault = isFullRun ? random.pick(faults) : (faults[nth % faults.length] ?? "none");
      const isKilled = random.chance(0.5);
      drawn[`${fault}, ${isKilled ? "killed" : "stopped"}`] =
        (drawn[`${fault}, ${isKilled ? "killed" : "stopped"}`] ?? 0) + 1;
      const words = `round ${nth} of seed ${seed}, ${fault}`;
      expect({ words, found: await round(random, fault, isKilled) }).toEqual({ words, found: [] });
    }
    figures("revocation", drawn);
  });

  async function round(random: Random, fault: (typeof faults)[number], isKilled: boolean): Promise<string[]> {
    const found: string[] = [];
    const config = join(bench.root, "users.json");
    const allow = (...users: readonly object[]): void => writeFileSync(config, JSON.stringify({ serve: { users } }));
    const start = (): Promise<Program> => startProgram(disk.bench, { model, auth: true, args: ["--config", config] });
    allow(ann.entry, root.entry);
    const program = await start();
    const [hers, also, others] = await Promise.all(
      [ann.token, ann.token, root.token].map((token) => program.connect({ token })),
    );
    if (hers === undefined || also === undefined || others === undefined) throw new Error("not connected");
    const sessions = [await working(hers), await working(also), await working(others)] as const;

    const filler = join(disk.seen, "filler");
    if (fault === "full disk") fill(filler);
    if (fault === "lost log") rmSync(logFile(join(disk.seen, "home"), sessions[0]));
    await pause(random.below(40));
    allow(root.entry);
    for (const { code, reason } of await Promise.all([hers.closed, also.closed])) {
      if (code !== 1008 || reason !== "token revoked") found.push(`closed with ${code} ${reason}`);
    }
    rmSync(filler, { force: true });

    // Her answers take 3 seconds: they were ended, not awaited.
    for (const sessionId of sessions.slice(0, 2)) {
      await until(async () => (await others.request("resumeSession", { sessionId })).result?.running !== true);
    }
    if (fault === "none") {
      const theirs = await others.until(({ params }) => params?.sessionId === sessions[2] && params.isFinal === true);
      if (theirs.params?.reason !== "completed") found.push(`another user's answer ended as ${theirs.params?.reason}`);
    }
    const { result } = await others.request("startSession", { userId: "u" });
    await others.request("sendUserMessage", { sessionId: result?.sessionId, message: "hello" });
    const end = await others.until(({ params }) => params?.isFinal === true && params.sessionId === result?.sessionId);
    if (end.params?.reason !== "completed") found.push(`a new answer ended as ${end.params?.reason}`);

    program.kill(isKilled ? "SIGKILL" : "SIGTERM");
    const { code, signal } = await program.exit;
    if (isKilled ? signal !== "SIGKILL" : code !== 0) found.push(`exit ${code} ${signal}: ${program.stderr()}`);
    const next = await start();
    const admin = await next.connect({ token: root.token });
    for (const sessionId of sessions.slice(fault === "lost log" ? 1 : 0, 2)) {
      const resumed = (await admin.request("resumeSession", { sessionId })).result;
      if (resumed?.running !== false) found.push(`${sessionId} continues after a restart: ${JSON.stringify(resumed)}`);
      if (JSON.stringify(resumed?.waiting) !== "[]") found.push(`${sessionId} still waits: ${JSON.stringify(resumed)}`);
    }
    next.kill("SIGTERM");
    await next.exit;
    return found;
  }
});

/** A session with an answer under way and a message behind it. */
async function working(client: SocketClient): Promise<string> {
  const { result } = await client.request("startSession", { userId: "u" });
  const sessionId = String(result?.sessionId);
  await client.request("sendUserMessage", { sessionId, message: "long" });
  await client.request("sendUserMessage", { sessionId, message: "hello" });
  await client.until(({ params }) => params?.chunk === "word ");
  return sessionId;
}

function fill(file: string): void {
  expect(() => writeFileSync(file, Buffer.alloc(13_000_000))).toThrow("ENOSPC");
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function until(holds: () => Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (await holds()) return;
    await pause(10);
  }
  throw new Error("it never came about");
}
