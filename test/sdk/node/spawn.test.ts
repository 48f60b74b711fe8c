import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, describe, expect, it } from "vitest";
import { SdkError } from "../../../src/sdk/errors.ts";
import { type SpawnBounds, type SpawnOptions, spawnBackend } from "../../../src/sdk/node/spawn.ts";
import { isFullRun } from "../../full-run.ts";
import { isDone } from "../../rpc/held-sink.ts";
import { createStandIns, held, heldBeyond, isAlive, nextLine, until, wholeOf } from "../fakes/stand-ins.ts";

const standIns = createStandIns();
afterAll(standIns.remove);

const hurried: Partial<SpawnBounds> = { patienceMs: 100, stragglersMs: 100 };
/** For tests without waits: a leftover timer would stay, and a needed one would stop the test. */
const patient: Partial<SpawnBounds> = { patienceMs: 100_000, stragglersMs: 100_000 };

function start(executable: string, options: SpawnOptions = {}, bounds = patient) {
  return spawnBackend({ executable, ...options }, bounds)();
}

describe("a started backend", () => {
  it("gets the protocol's arguments, the caller's, its folder and its environment", async () => {
    const file = standIns.node(`
      const { KEPT, ADDED, TAKEN = "none" } = process.env;
      console.log(JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd(), KEPT, ADDED, TAKEN }));
    `);
    process.env.KEPT = "kept";
    process.env.TAKEN = "taken";
    const connection = await start(file, {
      args: ["--more", "a b"],
      cwd: standIns.folder,
      env: { ADDED: "added", TAKEN: undefined },
    });
    delete process.env.KEPT;
    delete process.env.TAKEN;
    const line = (await nextLine(connection)) ?? "";
    await connection.close();
    expect(JSON.parse(line)).toEqual({
      args: ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc", "--more", "a b"],
      cwd: standIns.folder,
      KEPT: "kept",
      ADDED: "added",
      TAKEN: "none",
    });
  });

  it("exchanges lines until it is closed", async () => {
    const connection = await start(standIns.shell('while read line; do echo "<$line>"; done; echo bye >&2'));
    connection.send("one");
    connection.send("two");
    expect([await nextLine(connection), await nextLine(connection)]).toEqual(["<one>", "<two>"]);
    await connection.close();
    expect(await wholeOf(connection)).toEqual({
      lines: [],
      end: {
        reason: expect.stringMatching(/^The connection to stand-in-\d+ was closed\.$/),
        exitCode: 0,
        signal: null,
        stderr: "bye\n",
      },
    });
  });

  it("is this package's program by default", async () => {
    const connection = await spawnBackend({ env: { HOME: standIns.folder } })();
    connection.send("no request");
    expect(JSON.parse((await nextLine(connection)) ?? "")).toMatchObject({ id: null, error: { code: -32700 } });
    await connection.close();
    expect(await connection.ended).toEqual({
      reason: "The connection to tinman was closed.",
      exitCode: 0,
      signal: null,
      stderr: "",
    });
  });

  it("is found from here, wherever it is started", async () => {
    const file = standIns.shell("pwd");
    const here = process
      .cwd()
      .split("/")
      .slice(1)
      .map(() => "..")
      .join("/");
    const connection = await start(`${here}${file}`, { cwd: "/" });
    expect((await wholeOf(connection)).lines).toEqual(["/"]);
  });
});

describe("a backend that exits", () => {
  const named = (file: string) => file.split("/").at(-1);

  it.each([
    ["at once", "exit 0", [], { exitCode: 0 }],
    ["at once, with a message on stderr", "echo boom >&2; exit 3", [], { exitCode: 3, stderr: "boom\n" }],
    [
      "in the middle of a line",
      "printf 'whole\\nhal'; kill -9 $$",
      ["whole", "hal"],
      { exitCode: null, signal: "SIGKILL" },
    ],
    ["after garbage", "printf '\\357\\273\\277{\\r\\n\\n\\0\\377]'", ["{", "\0\uFFFD]"], { exitCode: 0 }],
    ["after it has closed its output", "echo last; exec >&-; sleep 0.1; exit 5", ["last"], { exitCode: 5 }],
  ])("%s", async (_, code, lines, end) => {
    const file = standIns.shell(code);
    const reason = "signal" in end ? `was ended by ${end.signal}` : `ended with exit code ${end.exitCode}`;
    const connection = await start(file);
    const whole = await wholeOf(connection);
    await connection.close();
    await connection.close();
    expect(whole).toEqual({ lines, end: { reason: `${named(file)} ${reason}.`, signal: null, stderr: "", ...end } });
  });

  it("keeps the end of its stderr, starting at a whole character", async () => {
    const file = standIns.node("process.stderr.write('ü'.repeat(50_000) + '!')");
    const kept = await Promise.all(
      [{}, { stderrBytes: 4 }, { stderrBytes: 0 }].map(
        async (options) => (await wholeOf(await start(file, options))).end.stderr,
      ),
    );
    expect(kept).toEqual([`${"ü".repeat(8191)}!`, "ü!", ""]);
  });

  it("gets time to have its stderr read", async () => {
    const connection = await start(standIns.shell("(sleep 0.1; echo late >&2) >&- & exit 2"));
    expect((await wholeOf(connection)).end).toMatchObject({ exitCode: 2, stderr: "late\n" });
  });

  it("reports a line that is too long, and reads the next one", async () => {
    const connection = await start(standIns.shell("echo 12345; echo 123456; echo 1"), { maxLineBytes: 5 });
    expect((await wholeOf(connection)).lines).toEqual(["12345", "too_long: 6", "1"]);
  });

  it("can write lines of more than 64 MiB", async () => {
    const size = 65 * 1024 * 1024;
    const file = standIns.node(`process.stdout.write("x".repeat(${size}) + "\\n");`);
    const lengths: string[] = [];
    for await (const frame of (await start(file)).incoming) {
      lengths.push(frame.type === "line" ? `line: ${frame.text.length}` : `${frame.type}: ${frame.bytes}`);
    }
    expect(lengths).toEqual([`line: ${size}`]);
  });

  it("loses no output, however late it is read", async () => {
    const numbers = Array.from({ length: 1000 }, (_, i) => String(i));
    const text = join(standIns.folder, "text");
    writeFileSync(text, [...numbers.map((number) => `${number} ${"x".repeat(90)}`), "end"].join("\n"));
    const file = standIns.shell(`echo $$; exec cat ${text}`);
    const connection = await start(file, {}, { stragglersMs: 200 });
    const pid = Number(await nextLine(connection));
    await until(() => !isAlive(pid));
    await sleep(400);
    expect(await isDone(connection.ended)).toBe(false);
    const { lines, end } = await wholeOf(connection);
    expect(lines.map((line) => line.split(" ")[0])).toEqual([...numbers, "end"]);
    expect(end).toEqual({ reason: `${named(file)} ended with exit code 0.`, exitCode: 0, signal: null, stderr: "" });
  });

  it("is read to its end even by a reader that starts late", async () => {
    const mark = join(standIns.folder, "one-and-two");
    const connection = await start(standIns.shell(`echo one; echo two; echo $$ >${mark}.new; mv ${mark}.new ${mark}`));
    await until(() => existsSync(mark));
    await until(() => !isAlive(Number(readFileSync(mark, "utf8"))));
    await sleep(100);
    expect((await wholeOf(connection)).lines).toEqual(["one", "two"]);
  });

  const mark = join(standIns.folder, "talks");
  it.each([
    ["is silent", "sleep 60 & echo $!;", []],
    [
      "keeps writing",
      // Without a reader, writing would end it.
      `sh -c 'trap "" PIPE; echo $$; while :; do echo more; touch ${mark}; sleep 0.02; done' 2>&1 & until [ -e ${mark} ]; do :; done;`,
      ["more"],
    ],
  ])("does not live on in a process that keeps its streams and %s", async (_, code, others) => {
    const file = standIns.shell(`${code} echo said >&2; exit 4`);
    const connection = await start(file, {}, hurried);
    const pid = Number(await nextLine(connection));
    const { lines, end } = await wholeOf(connection);
    await connection.close();
    const wasAlive = isAlive(pid);
    process.kill(pid, "SIGKILL");
    expect({ others: [...new Set(lines)], end, wasAlive }).toEqual({
      others,
      end: { reason: `${named(file)} ended with exit code 4.`, exitCode: 4, signal: null, stderr: "said\n" },
      wasAlive: true,
    });
  });
});

describe("closing a backend", () => {
  it("lets earlier messages arrive", async () => {
    const received = join(standIns.folder, "received");
    const connection = await start(standIns.shell(`cat >${received}`));
    const line = "x".repeat(300_000);
    connection.send(line);
    connection.send("last");
    await Promise.all([connection.close(), connection.close()]);
    connection.send("too late");
    expect(readFileSync(received, "utf8")).toBe(`${line}\nlast\n`);
  });

  it("reads its remaining output, so that it can end cleanly", async () => {
    const file = standIns.node(`
      import { readFileSync, writeSync } from "node:fs";
      readFileSync(0);
      const line = Buffer.alloc(1024, "x\\n");
      for (let i = 0; i < 2048; i++) writeSync(1, line);
      process.exitCode = 7;
    `);
    const connection = await start(file);
    const reading = wholeOf(connection);
    await connection.close();
    const { lines, end } = await reading;
    expect([lines, end.exitCode, end.signal]).toEqual([[], 7, null]);
  });

  it.each([
    ["only on a signal", "", "SIGTERM"],
    ["not even then", 'process.on("SIGTERM", () => {});', "SIGKILL"],
  ])("ends one that ignores the end of its input: %s", async (_, code, signal) => {
    const file = standIns.node(`${code} console.log(process.pid); setInterval(() => {}, 1000);`);
    const connection = await start(file, {}, hurried);
    const pid = Number(await nextLine(connection));
    await connection.close();
    expect({ isAlive: isAlive(pid), end: await connection.ended, next: await nextLine(connection) }).toEqual({
      isAlive: false,
      end: {
        reason: `The connection to ${file.split("/").at(-1)} was closed.`,
        exitCode: null,
        signal,
        stderr: "",
      },
      next: undefined,
    });
  });

  it("does not wait for another process that keeps its streams", async () => {
    const file = standIns.shell("sleep 60 & echo $!; cat >/dev/null");
    const connection = await start(file, {}, { ...patient, stragglersMs: 100 });
    const pid = Number(await nextLine(connection));
    await connection.close();
    const { exitCode } = await connection.ended;
    process.kill(pid, "SIGKILL");
    expect(exitCode).toBe(0);
  });

  it("returns the last message of a backend that had died before", async () => {
    const connection = await start(standIns.shell("echo $$; echo unread; exit 6"));
    const pid = Number(await nextLine(connection));
    await until(() => !isAlive(pid));
    await connection.close();
    expect((await connection.ended).reason).toMatch(/ ended with exit code 6\.$/);
  });
});

describe("a backend that does not read", () => {
  it("blocks senders until it is closed", async () => {
    const connection = await start(standIns.shell("echo $$; exec sleep 60"), {}, hurried);
    const pid = Number(await nextLine(connection));
    for (let i = 0; i < 10; i++) connection.send("x".repeat(1024 * 1024));
    await sleep(20);
    connection.send("x".repeat(2 * 1024 * 1024));
    const waits = [connection.room(), connection.drained()];
    expect(await Promise.all(waits.map(isDone))).toEqual([false, false]);
    await connection.close();
    expect(await Promise.all(waits.map(isDone))).toEqual([true, true]);
    expect([connection.gone.aborted, connection.room(), isAlive(pid)]).toEqual([true, undefined, false]);
  });

  it("is gone for senders once it has closed its input, and can still be read", async () => {
    const connection = await start(standIns.shell("exec <&-; echo ready; sleep 0.3; echo still there"));
    expect(await nextLine(connection)).toBe("ready");
    for (let i = 0; i < 10; i++) connection.send("in vain");
    await connection.drained();
    expect(connection.gone.reason).toMatchObject({ code: "EPIPE" });
    expect((await wholeOf(connection)).lines).toEqual(["still there"]);
  });

  it("accepts anything when it is dead", async () => {
    const connection = await start(standIns.shell("exit 0"));
    for (let i = 0; i < 100; i++) connection.send("x".repeat(10_000));
    await wholeOf(connection);
    connection.send("still");
    await connection.drained();
    expect([connection.gone.aborted, connection.room()]).toEqual([true, undefined]);
  });
});

describe("a flooding backend", () => {
  const flood = `
    import { writeFileSync, writeSync } from "node:fs";
    const line = Buffer.from("x".repeat(1023) + "\\n");
    for (let written = 0; written < process.env.MEBIBYTES * 1024; written++) {
      if (written % 64 === 0) writeFileSync(process.env.PROGRESS, String(written));
      writeSync(1, line);
    }
    writeFileSync(process.env.PROGRESS, "all");
  `;

  it("is held back without a reader, and continues with one", async () => {
    const progress = join(standIns.folder, "progress");
    const told = () => (existsSync(progress) ? readFileSync(progress, "utf8") : "");
    async function standsStill(): Promise<string> {
      for (let before = ""; ; ) {
        await sleep(200);
        if (told() !== "" && told() === before) return before;
        before = told();
      }
    }
    const connection = await start(standIns.node(flood), { env: { PROGRESS: progress, MEBIBYTES: "200" } }, hurried);
    const first = Number(await standsStill());
    for (let i = 0; i < 5_000; i++) await nextLine(connection);
    const second = Number(await standsStill());
    await connection.close();
    const most = 2 * 1024;
    expect({ first: first < most, second: second > 4_900 && second < 5_000 + most }).toEqual({
      first: true,
      second: true,
    });
  });

  it("is read to the last line by a fast reader", async () => {
    const mebibytes = isFullRun ? 200 : 20;
    const env = { PROGRESS: join(standIns.folder, "written"), MEBIBYTES: String(mebibytes) };
    const connection = await start(standIns.node(flood), { env });
    let lines = 0;
    for await (const frame of connection.incoming) if (frame.type === "line" && frame.text.length === 1023) lines++;
    expect({ lines, exitCode: (await connection.ended).exitCode }).toEqual({ lines: mebibytes * 1024, exitCode: 0 });
  });
});

const rounds = isFullRun ? 50 : 15;
it(`leaves nothing behind after ${4 * rounds} connections, however they end`, async () => {
  const executables = [
    standIns.shell("echo $$; cat >/dev/null"),
    standIns.shell("echo $$; exit 1"),
    standIns.shell("echo $$; exec >&-; exec cat >/dev/null"),
    standIns.shell("echo $$; echo unread; kill -9 $$"),
  ];
  const before = held();
  const pids: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await Promise.all(
      executables.map(async (executable, i) => {
        const connection = await start(executable);
        connection.send("hello");
        pids.push(Number(await nextLine(connection)));
        if (i % 2 === round % 2) await connection.close();
        else if (i % 2 === 0) await Promise.all([connection.close(), connection.close()]);
        else await wholeOf(connection);
      }),
    );
    await expect(start(join(standIns.folder, "missing"))).rejects.toThrow(SdkError);
  }
  expect(await heldBeyond(before)).toEqual({});
  expect({ count: new Set(pids).size, alive: pids.filter(isAlive) }).toEqual({ count: 4 * rounds, alive: [] });
});
