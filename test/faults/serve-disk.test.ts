import { readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import type { Bench } from "../e2e/tinman.ts";
import { createBench } from "../e2e/tinman.ts";
import { until } from "../fakes/kit.ts";
import { logFile } from "../fakes/ws/log-oracle.ts";
import { leaksIn, type Program, type SocketClient, startProgram } from "../fakes/ws/program.ts";
import { isFullRun } from "../full-run.ts";
import { createDisk, type Disk, startedBy, whyNoDisk } from "./disk.ts";

const model = "script:../script-1.json";
const long = "0123456789".repeat(1_000);

let bench: Bench;
const running: Program[] = [];
beforeAll(async () => {
  bench = await createBench();
  await bench.script([
    { when: { user: "long" }, text: Array(100).fill(long.slice(0, 1_000)), chunk_delay_ms: 8, times: "any" },
    { when: { user: "much" }, repeat_text: { text: long, times: 10 }, times: "any" },
    { text: "Well.", times: "any" },
  ]);
});
afterEach(async () => {
  for (const program of running.splice(0)) {
    program.kill("SIGTERM");
    expect(await program.exit).toEqual({ code: 0, signal: null });
  }
});
afterAll(() => bench.remove());

async function start(on: Bench, env: Readonly<Record<string, string>> = {}): Promise<Program> {
  const program = await startProgram(on, { model, env });
  running.push(program);
  return program;
}

/** A client gets only the id, with which the operator finds the rest. */
const internal = { code: -32603, message: "Internal error", data: { errorId: expect.any(String) } };

/** The log takes another path than the frames, and can be behind them. */
function isLogged(program: Program, errorId: unknown): Promise<void> {
  return until(() => program.log().some((line) => Object.values(line).includes(errorId) && line.level === "error"));
}

const begin = (client: SocketClient) => client.request("startSession", { userId: "u" });
const say = (client: SocketClient, sessionId: unknown, message: string) =>
  client.request("sendUserMessage", { sessionId, message });
const final = (client: SocketClient) => client.until(({ params }) => params?.isFinal === true);

const endsIn = ({ frames }: SocketClient): (readonly [id: unknown, reason: unknown])[] =>
  frames.flatMap(({ params }) => (params?.isFinal === true ? [[params.messageId, params.reason] as const] : []));

/** The turn ends for every listener, with only the kind of failure and an id. */
async function failedTurn(program: Program, client: SocketClient): Promise<void> {
  const { params } = await final(client);
  expect(params).toMatchObject({ chunk: "", reason: "error", code: "storage_failed" });
  const status = await client.until(({ method }) => method === "SessionStatusNotification");
  expect(status.params).toMatchObject({ status: 3, reason: "error", code: "storage_failed" });
  await isLogged(program, status.params?.errorId);
}

async function wellDone(client: SocketClient, sessionId: unknown): Promise<void> {
  expect((await say(client, sessionId, "hello")).result).toMatchObject({ status: 0 });
  expect((await final(client)).params?.reason).toBe("completed");
}

test("a log that cannot grow: its turn fails, and others continue", async () => {
  const program = await start(startedBy(bench, ["bash", "-c", 'ulimit -f 32; exec "$@"', "sh"]));
  const client = await program.connect();
  const [first, second] = [(await begin(client)).result?.sessionId, (await begin(client)).result?.sessionId];
  await client.until(({ params }) => params?.sessionId === second);
  await say(client, first, "much");
  await failedTurn(program, client);
  await wellDone(client, second);
  expect(leaksIn(client.frames, bench.root)).toEqual([]);
});

test("a log removed while it is in use: the session fails with an id, and others can be created", async () => {
  const home = join(bench.root, "home-taken");
  const program = await start(bench, { TINMAN_HOME: home });
  const client = await program.connect();
  const { result } = await begin(client);
  await client.until(({ params }) => params?.status === 1);
  await wellDone(client, result?.sessionId);
  rmSync(logFile(home, String(result?.sessionId)));
  // Checked when it is synced: at the end of a turn.
  await say(client, result?.sessionId, "still there?");
  await failedTurn(program, client);
  const refused = await say(client, result?.sessionId, "and now?");
  expect(refused.error).toEqual(internal);
  await isLogged(program, refused.error?.data?.errorId);
  expect((await client.request("resumeSession", { sessionId: result?.sessionId })).error?.code).toBeLessThan(-32_000);
  expect((await client.request("stopSession", { sessionId: result?.sessionId })).result).toEqual({ status: 2 });
  renameSync(join(home, "sessions"), join(home, "elsewhere"));
  await wellDone(client, (await begin(client)).result?.sessionId);
  expect(leaksIn(client.frames, bench.root)).toEqual([]);
});

const noDisk = whyNoDisk();
if (isFullRun) test("a disk can be mounted here", () => expect(noDisk).toBeUndefined());

// Users cannot mount disks everywhere; the full run requires it.
const describeDisk = noDisk === undefined ? describe : () => undefined;
describeDisk("a disk", () => {
  let disk: Disk;
  beforeAll(async () => {
    disk = await createDisk(bench, "6m");
    // The compile cache would take the room.
    await disk.bench.tinman(["exec", "Just reply OK."]);
    const first = await startProgram(disk.bench, { model });
    first.kill("SIGTERM");
    await first.exit;
  });
  afterAll(() => disk.remove());

  const filler = (): string => join(disk.seen, "filler");
  afterEach(() => rmSync(filler(), { force: true }));
  const fill = (): void => {
    expect(() => writeFileSync(filler(), Buffer.alloc(7_000_000))).toThrow("ENOSPC");
  };

  test("that becomes full: requests fail with an id, running answers end, and everything works once there is room", async () => {
    const program = await start(disk.bench);
    const client = await program.connect();
    const { result } = await begin(client);
    await client.until(({ params }) => params?.status === 1);
    await say(client, result?.sessionId, "long");
    await client.until(({ params }) => String(params?.chunk).length > 100);
    fill();
    await failedTurn(program, client);
    for (const { error } of [await begin(client), await say(client, result?.sessionId, long)]) {
      expect(error).toEqual(internal);
      await isLogged(program, error?.data?.errorId);
    }
    expect((await client.request("listSessions")).result?.sessions).not.toEqual([]);
    rmSync(filler());
    await wellDone(client, result?.sessionId);
    await wellDone(client, (await begin(client)).result?.sessionId);
    const follower = await program.connect();
    const resumed = await follower.request("resumeSession", { sessionId: result?.sessionId });
    expect(resumed.result).toMatchObject({ running: false, waiting: [] });
    await follower.request("echo", {});
    const ends = follower.frames.flatMap(({ params }) => (params?.isFinal === true ? [params.reason] : []));
    expect(ends).toEqual(["error", "completed"]);
    expect(leaksIn([...client.frames, ...follower.frames], bench.root)).toEqual([]);
  });

  test("that becomes full while messages wait: each has one end under its id, and none is answered later", async () => {
    const before = await start(disk.bench);
    const client = await before.connect();
    const sessionId = (await begin(client)).result?.sessionId;
    await client.until(({ params }) => params?.status === 1);
    const ids = [(await say(client, sessionId, "long")).result?.messageId];
    await client.until(({ params }) => String(params?.chunk).length > 100);
    // Enough to fill the log's last page: the first few can still find room in it.
    for (let count = 0; count < 12; count += 1) ids.push((await say(client, sessionId, "hi")).result?.messageId);
    fill();
    await client.until(({ params }) => params?.status === 3 && params.messageId === ids.at(-1));
    const ends = endsIn(client);
    expect(ends.map(([id]) => id)).toEqual(ids);
    expect([ends[0], ends.at(-1)]).toEqual([
      [ids[0], "error"],
      [ids.at(-1), "error"],
    ]);
    const follower = await before.connect();
    const full = await follower.request("resumeSession", { sessionId });
    expect(full.result).toMatchObject({ running: false, waiting: [] });
    await follower.request("echo", {});
    expect(endsIn(follower)).toEqual(ends);
    rmSync(filler());
    // Nothing more is sent, but the log has it when the server stops.
    before.kill("SIGTERM");
    await before.exit;
    const log = readFileSync(logFile(join(disk.seen, "home"), String(sessionId)), "utf8");
    expect(log).toContain(`"untaken":["${ids.at(-1)}"]`);
    const after = await (await start(disk.bench)).connect();
    expect((await after.request("resumeSession", { sessionId })).result).toMatchObject({ running: false, waiting: [] });
    const last = (await say(after, sessionId, "hello")).result?.messageId;
    await after.until(({ params }) => params?.isFinal === true && params.messageId === last);
    expect(endsIn(after)).toEqual([...ends, [last, "completed"]]);
    const numbers = after.frames.flatMap(({ params }) => (typeof params?.seq === "number" ? [params.seq] : []));
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b));
  });

  test("that becomes read-only: writing requests fail with an id, and reading ones work", async () => {
    const program = await start(disk.bench);
    const client = await program.connect();
    const { result } = await begin(client);
    await client.until(({ params }) => params?.status === 1);
    await wellDone(client, result?.sessionId);
    // A disk cannot become read-only while a file is open for writing.
    await client.request("stopSession", { sessionId: result?.sessionId });
    await client.until(({ params }) => params?.status === 2);
    disk.readOnly(true);
    try {
      for (const { error } of [
        await begin(client),
        await client.request("resumeSession", { sessionId: result?.sessionId }),
      ]) {
        expect(error).toEqual(internal);
        await isLogged(program, error?.data?.errorId);
      }
      expect((await client.request("listSessions")).result?.sessions).not.toEqual([]);
    } finally {
      disk.readOnly(false);
    }
    const back = { sessionId: result?.sessionId, afterSeq: 1_000 };
    expect(await client.request("resumeSession", back)).toMatchObject({ result: { status: 1 } });
    await wellDone(client, (await begin(client)).result?.sessionId);
    expect(leaksIn(client.frames, bench.root)).toEqual([]);
  });
});
