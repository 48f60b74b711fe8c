import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, describe, expect, it } from "vitest";
import { SdkError } from "../../../src/sdk/errors.ts";
import { type SpawnOptions, spawnBackend } from "../../../src/sdk/node/spawn.ts";
import { createStandIns, held, heldBeyond, isAlive, nextLine, until, wholeOf } from "../fakes/stand-ins.ts";

const standIns = createStandIns();
afterAll(standIns.remove);

async function failureOf(options: SpawnOptions): Promise<unknown> {
  const error: unknown = await spawnBackend(options)().catch((reason: unknown) => reason);
  return error instanceof SdkError ? error.message : error;
}

describe("a backend that cannot be started", () => {
  const plain = join(standIns.folder, "plain");
  writeFileSync(plain, "text");
  const orphan = join(standIns.folder, "orphan");
  writeFileSync(orphan, "#!/no/such/interpreter\n", { mode: 0o755 });
  const barred = join(standIns.folder, "bin");
  mkdirSync(barred);
  writeFileSync(join(barred, "barred-program"), "#!/bin/sh\n");
  chmodSync(join(barred, "barred-program"), 0o644);

  it.each<[SpawnOptions, string]>([
    [{ executable: "no-such-program" }, "No program no-such-program on PATH."],
    [{ executable: "droid", env: { PATH: standIns.folder } }, "No program droid on PATH."],
    [{ executable: "/no/such/program" }, "The program /no/such/program does not exist."],
    [{ executable: "/no/such/program.mjs" }, "The program /no/such/program.mjs does not exist."],
    [{ executable: plain }, `${plain} is not executable.`],
    [{ executable: "barred-program", env: { PATH: barred } }, "The program barred-program on PATH is not executable."],
    [{ executable: orphan }, `${orphan} cannot be started: the program that its first line names is missing.`],
    [{ cwd: "/no/such/folder" }, "tinman cannot be started in /no/such/folder: the folder does not exist."],
    [{ executable: "droid", cwd: plain }, `droid cannot be started in ${plain}: it is not a folder.`],
  ])("%j", async (options, message) => {
    expect(await failureOf(options)).toBe(message);
  });

  it("reports it even if the system does not try", async () => {
    expect(await failureOf({ args: ["\0"] })).toMatch(/^tinman cannot be started: .*null bytes/);
  });
});

describe("a command line", () => {
  it("is run as written, without extra arguments", async () => {
    const command = 'read line; echo "$line $WORD $# $0" | tr a-z A-Z';
    const connection = await spawnBackend({ command, env: { WORD: "two words" } })();
    connection.send("one");
    expect((await wholeOf(connection)).lines).toEqual(["ONE TWO WORDS 0 /BIN/SH"]);
  });

  it("is ended together with processes that ignore the end, and left once the shell has gone", async () => {
    const command = "(trap '' TERM; exec sleep 63) & echo $!; read line";
    const bounds = { patienceMs: 100, stragglersMs: 100 };
    const closed = await spawnBackend({ command }, bounds)();
    const pid = Number(await nextLine(closed));
    await closed.close();
    await until(() => !isAlive(pid));
    const ended = await spawnBackend({ command: command.replace("read line", "exit 1") }, bounds)();
    const other = Number(await nextLine(ended));
    await wholeOf(ended);
    await until(() => !isAlive(other));
  });

  it("that cannot run reports the shell's message", async () => {
    const { end } = await wholeOf(await spawnBackend({ command: "no-such-program --with flags" })());
    expect({ ...end, stderr: /no-such-program.*not found/.test(end.stderr ?? "") }).toEqual({
      reason: "no-such-program --with flags ended with exit code 127.",
      exitCode: 127,
      signal: null,
      stderr: true,
    });
  });
});

describe("a separate process group", () => {
  const stays = "trap '' TERM; sleep 61 & echo $!; sleep 62 | cat; wait";

  it.each<[string, SpawnOptions]>([
    ["a command line", { command: stays }],
    ["a program", { executable: standIns.shell(stays) }],
  ])("%s that is killed ends with everything that it started", async (_, options) => {
    const connection = await spawnBackend(options, { patienceMs: 100, stragglersMs: 100 })();
    const grandchild = Number(await nextLine(connection));
    expect(isAlive(grandchild)).toBe(true);
    await connection.close();
    await until(() => !isAlive(grandchild));
  });

  it("ends as a whole even if only its leader obeys the signal", async () => {
    const backend = standIns.shell("(trap '' TERM; exec sleep 64) & echo $!; exec sleep 65");
    const connection = await spawnBackend({ executable: backend }, { patienceMs: 100, stragglersMs: 100 })();
    const pid = Number(await nextLine(connection));
    await connection.close();
    await until(() => !isAlive(pid));
  });

  it("shields a backend from terminal signals, and ends when the program is gone", async () => {
    const backend = standIns.shell('while read line; do echo "$line $$"; done');
    const sdk = new URL("../../../dist/sdk/node.js", import.meta.url);
    const program = standIns.node(`
      import { spawnBackend } from ${JSON.stringify(sdk.href)};
      const connection = await spawnBackend({ executable: ${JSON.stringify(backend)} })();
      process.on("SIGINT", () => connection.send("still"));
      connection.send("ready");
      for await (const { text } of connection.incoming) console.log(text);
      console.log("gone");
    `);
    // The leader of a group, as a shell starts programs.
    const host = spawn(process.execPath, [program], { detached: true, stdio: ["ignore", "pipe", "inherit"] });
    const lines = createInterface(host.stdout)[Symbol.asyncIterator]();
    const told = async () => String((await lines.next()).value).split(" ");
    const [word, pid] = await told();
    process.kill(-Number(host.pid), "SIGINT");
    expect([word, await told()]).toEqual(["ready", ["still", pid]]);
    host.kill("SIGKILL");
    await until(() => !isAlive(Number(pid)));
  });
});

describe("an abandoned start", () => {
  it("does not begin if abandoned before", async () => {
    const mark = join(standIns.folder, "begun");
    const reason = new Error("changed my mind");
    const connect = spawnBackend({ executable: standIns.shell(`touch ${mark}`) });
    await expect(connect(AbortSignal.abort(reason))).rejects.toBe(reason);
    expect(existsSync(mark)).toBe(false);
  });

  it("ends the process if abandoned during it", async () => {
    const before = held();
    const reason = new Error("changed my mind");
    const giveUp = new AbortController();
    const connecting = spawnBackend(
      { executable: standIns.shell("exec sleep 60") },
      { patienceMs: 100_000 },
    )(giveUp.signal);
    giveUp.abort(reason);
    await expect(connecting).rejects.toBe(reason);
    expect(await heldBeyond(before)).toEqual({});
  });

  it("cannot be abandoned afterwards", async () => {
    const giveUp = new AbortController();
    const connection = await spawnBackend({ executable: standIns.shell("read line; echo $line") })(giveUp.signal);
    giveUp.abort();
    connection.send("here");
    expect((await wholeOf(connection)).lines).toEqual(["here"]);
  });
});
