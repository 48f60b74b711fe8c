import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resultObject } from "../../src/protocol/stream-json.ts";
import { quiet } from "../e2e/rpc/raw-client.ts";
import type { Bench } from "../e2e/tinman.ts";
import { createBench, lines, mainFile } from "../e2e/tinman.ts";
import { openWire } from "../fakes/rpc/wire.ts";
import { isFullRun } from "../full-run.ts";
import { createDisk, startedBy, whyNoDisk } from "./disk.ts";
import { ownHome } from "./form.ts";

let bench: Bench;
let sessionId: string;
beforeAll(async () => {
  bench = await createBench();
  const run = await bench.tinman(["exec", "-o", "json", "Just reply OK."]);
  sessionId = resultObject.parse(JSON.parse(run.stdout)).session_id;
});
afterAll(() => bench.remove());

const unwritable = (words: string): object => ({
  code: "storage_failed",
  message: expect.stringMatching(new RegExp(`^[^\n]*${words}[^\n]*$`)),
});

/** Writing commands fail with one line that names the cause, in every format. */
async function refusesToWrite(home: Bench, words: string): Promise<void> {
  const text = await home.tinman(["exec", "Just reply OK."]);
  expect([text.code, text.stdout]).toEqual([1, ""]);
  expect(text.stderr).toMatch(new RegExp(`^tinman: [^\n]*${words}[^\n]*\n$`));
  const json = await home.tinman(["exec", "-o", "json", "Just reply OK."]);
  const { error, exit_code, stop_reason } = resultObject.parse(JSON.parse(json.stdout));
  expect([json.code, exit_code, stop_reason, error]).toEqual([1, 1, "storage_failed", unwritable(words)]);
  const stream = await home.tinman(["exec", "-o", "stream-json", "Just reply OK."]);
  expect([stream.code, lines(stream.stdout).at(-1)?.error]).toEqual([1, unwritable(words)]);

  const wire = openWire(home, { protocolVersion: "1.15.0" });
  const open = await wire.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd });
  expect(open.error).toEqual({ ...unwritable(words), code: -32603, data: { code: "storage_failed" } });
  expect((await wire.request("droid.list_models", {})).error).toBeUndefined();
  wire.eof();
  expect(await wire.exit()).toEqual(quiet);
}

/** Reading commands work as usual. */
async function reads(home: Bench): Promise<void> {
  const commands = [
    ["sessions", "list", "--json"],
    ["models", "list"],
    ["sessions", "path", sessionId],
    ["exec", "--list-tools"],
    ["policy", "explain", "ls"],
  ];
  for (const args of isFullRun ? commands : commands.slice(0, 2)) {
    const { code, stderr, stdout } = await home.tinman(args);
    expect([args, code, stderr, stdout === ""]).toEqual([args, 0, "", false]);
  }
  const shown = await home.tinman(["sessions", "show", sessionId]);
  expect(shown.stdout).toContain("assistant: OK");
}

/** An existing session can be neither continued nor deleted, and stays unchanged. */
async function keepsItsSession(home: Bench, words: string): Promise<void> {
  const before = await home.tinman(["sessions", "show", sessionId, "--json"]);
  for (const args of [
    ["exec", "-s", sessionId, "Just reply OK."],
    ["exec", "--fork", sessionId, "Just reply OK."],
    ["sessions", "delete", sessionId],
  ]) {
    const { code, stderr } = await home.tinman(args);
    expect([args, code, stderr]).toEqual([
      args,
      1,
      expect.stringMatching(new RegExp(`^tinman: [^\n]*${words}[^\n]*\n$`)),
    ]);
  }
  expect((await home.tinman(["sessions", "show", sessionId, "--json"])).stdout).toBe(before.stdout);
  const doctor = await home.tinman(["doctor"]);
  expect([doctor.code, doctor.stdout]).toEqual([1, expect.stringMatching(/^failed +home /m)]);
}

test.each(["", "/home"])("reports a home that is a file%s in one line", async (below) => {
  const file = await bench.file("file", "");
  const home = startedBy(bench, ["env"], { TINMAN_HOME: `${file}${below}` });
  await refusesToWrite(home, "(ENOTDIR|EEXIST|not a folder)");
  const { code, stdout } = await home.tinman(["sessions", "list"]);
  expect([code, stdout]).toEqual([0, "No sessions.\n"]);
});

const noDisk = whyNoDisk();
if (isFullRun) test("a disk can be mounted here", () => expect(noDisk).toBeUndefined());
const describeDisk = noDisk === undefined ? describe : () => undefined;

describeDisk("a home on a disk that is read-only", () => {
  test("can only be read", async () => {
    const disk = await createDisk(bench, "8m");
    try {
      cpSync(ownHome(bench), join(disk.seen, "home"), { recursive: true });
      disk.readOnly(true);
      await reads(disk.bench);
      await refusesToWrite(disk.bench, "the file system is read-only \\(EROFS\\)");
      await keepsItsSession(disk.bench, "EROFS");
      disk.readOnly(false);
      expect((await disk.bench.tinman(["exec", "-s", sessionId, "Just reply OK."])).stdout).toBe("OK\n");
    } finally {
      await disk.remove();
    }
  });
});

/** Root ignores permissions, so the test runs as another user, if that one can read the program. */
const nobody = 65_534;
const isRoot = process.getuid?.() === 0;
const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups", "--"] as const;
const asUser = isRoot ? asNobody : (["env"] as const);
const [user, ...before] = asUser;
const canBeUser = spawnSync(user, [...before, process.execPath, mainFile, "--version"]).status === 0;
const testUser = canBeUser ? test : () => undefined;

testUser("a home that its user may not write in can be read, and nothing else", async () => {
  const [home, temp] = [join(bench.root, "locked"), join(bench.root, "temp")];
  cpSync(ownHome(bench), home, { recursive: true });
  mkdirSync(temp);
  if (isRoot) {
    execFileSync("chown", ["-R", `${nobody}:${nobody}`, home, temp, bench.cwd]);
    chmodSync(bench.root, 0o711);
  }
  execFileSync("chmod", ["-R", "a-w", home]);
  const other = startedBy(bench, asUser, { TINMAN_HOME: home, TMPDIR: temp });
  await reads(other);
  await refusesToWrite(other, "permission was denied \\(EACCES\\)");
  await keepsItsSession(other, "EACCES");
  execFileSync("chmod", ["-R", "u+w", home]);
  expect((await other.tinman(["exec", "-s", sessionId, "Just reply OK."])).stdout).toBe("OK\n");
});
