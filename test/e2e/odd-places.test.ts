import { existsSync } from "node:fs";
import { mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWire } from "../fakes/rpc/wire.ts";
import type { Bench } from "./tinman.ts";
import { createBench, finished, lines } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  await mkdir(join(bench.home, ".ssh"));
  await writeFile(join(bench.home, ".ssh", "id"), "PRIVATE\n");
  await symlink(bench.home, join(bench.root, "home-link"));
});
afterAll(() => bench.remove());

const call = (name: string, input: object) => ({ tool_calls: [{ name, input }] });

describe("homes", () => {
  test.each(["home-link", "home/", "home/.", "./home//", "project/../home"])(
    "HOME as %s protects what is in it",
    async (name) => {
      const denied = [
        call("Read", { file_path: join(bench.home, ".ssh", "id") }),
        call("Execute", { command: `cat ${join(bench.home, ".ssh", "id")}` }),
        call("Create", { file_path: join(bench.home, ".tinman", "config.yaml"), content: "model: x" }),
      ];
      const search = call("Grep", { pattern: "PRIVATE", path: bench.home, output_mode: "content" });
      const model = await bench.script([...denied, search, { text: "ok" }]);
      const run = await bench.tinman(
        ["exec", "--auto", "medium", "--on-denied", "continue", "-o", "stream-json", "-m", model, "go"],
        { env: { HOME: `${bench.root}/${name}` } },
      );
      expect(run.code).toBe(5);
      const said = lines(run.stdout);
      expect(JSON.stringify(said.filter(({ type }) => type !== "tool_call"))).not.toContain("PRIVATE");
      expect(said.filter(({ type }) => type === "tool_result")).toMatchObject([
        ...denied.map(() => ({ isError: true, value: expect.stringContaining("a protected place") })),
        { value: "No matching files found" },
      ]);
    },
  );

  test("reports a read-only place at once", async () => {
    const run = await bench.tinman(["exec", "Just reply OK."], { env: { TINMAN_HOME: "/proc/nowhere" } });
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/^tinman: .*\/proc\/nowhere.*\n$/);
    expect((await bench.tinman(["doctor"], { env: { TINMAN_HOME: "/proc/nowhere" } })).code).toBe(1);
  });
});

describe("folders", () => {
  test("a file that cannot be created fails its call, not the program", async () => {
    const model = await bench.script([call("Create", { file_path: "/proc/zz/x", content: "" }), { text: "no" }]);
    const run = await bench.tinman(["exec", "--skip-permissions-unsafe", "-m", model, "go"]);
    expect([run.code, run.stdout]).toEqual([1, "no\n"]);
  });

  test("a session whose folder is gone says so, and continues in another one", async () => {
    const folder = join(bench.root, "short-lived");
    await mkdir(folder);
    const first = JSON.parse((await bench.tinman(["exec", "-o", "json", "Just reply OK."], { cwd: folder })).stdout);
    await rm(folder, { recursive: true });
    const run = await bench.tinman(["exec", "-s", first.session_id, "Just reply OK."]);
    expect([run.code, run.stdout]).toEqual([2, ""]);
    expect(run.stderr).toContain(folder);
    const moved = await bench.tinman(["exec", "-s", first.session_id, "--cwd", bench.cwd, "Just reply OK."]);
    expect([moved.code, moved.stdout]).toEqual([0, "OK\n"]);
    expect(JSON.parse((await bench.tinman(["sessions", "show", first.session_id, "--json"])).stdout).cwd).toBe(
      bench.cwd,
    );
  });

  test("reports a deleted current folder in one line", async () => {
    const run = await bench.shell(`mkdir gone && cd gone && rmdir ../gone && tinman exec "Just reply OK."`);
    expect([run.code, run.stderr.split("\n").at(-2)]).toEqual([2, "tinman: The current folder does not exist."]);
  });
});

describe("input without end", () => {
  test.each([
    ["-f", "/dev/zero"],
    ["--append-system-prompt-file", "/dev/zero", "hi"],
  ])("%s %s is refused", async (...args) => {
    const run = await bench.tinman(["exec", ...args]);
    expect(run.code).toBe(2);
    expect(run.stderr).toMatch(/larger than/);
  });

  test.each([
    ["a pipe without a writer", "mkfifo script"],
    ["a device", "ln -s /dev/zero script"],
    ["a folder", "mkdir script"],
  ])("%s as a model's script is refused", async (_, make) => {
    const path = join(bench.cwd, "script");
    await bench.shell(`rm -rf script; ${make}`);
    const refused = `${path}: is not a plain file`;
    const run = await bench.tinman(["exec", "-m", `script:${path}`, "hi"]);
    expect(run).toEqual({ code: 2, signal: null, stdout: "", stderr: `tinman: ${refused}\n` });
    const wire = openWire(bench);
    const params = { machineId: "m", cwd: bench.cwd, modelId: `script:${path}` };
    const { error } = await wire.request("droid.initialize_session", params);
    expect(error?.message).toContain(refused);
    wire.eof();
    expect(await wire.exit()).toMatchObject({ code: 0, signal: null });
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s while waiting for the prompt ends the run in its own format", async (signal, code) => {
    const child = bench.start(["exec", "-o", "stream-json"]);
    const output: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
    // More than a pipe holds: once all of it is taken, the reader is there.
    await new Promise((resolve) => child.stdin?.write("word ".repeat(200_000), resolve));
    child.kill(signal);
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(code);
    expect(lines(Buffer.concat(output).toString()).at(-1)).toMatchObject({ type: "completion", exitCode: code });
  });

  test("reports errors before waiting for the prompt", async () => {
    for (const [args, code] of [
      [["-m", "nonsense"], 2],
      [["-s", "00000000-0000-4000-8000-000000000000"], 4],
    ] as const) {
      const child = bench.start(["exec", ...args]);
      expect(await new Promise((resolve) => child.on("close", resolve))).toBe(code);
    }
  });
});

test("a timeout before the turn counts too", async () => {
  const model = await bench.script([{ text: "late", delay_ms: 5_000 }]);
  for (const timeout of ["1ms", "2ms", "5ms", "20ms"]) {
    const run = await finished(bench.start(["exec", "-o", "json", "--timeout", timeout, "-m", model, "go"]));
    expect([timeout, run.code, JSON.parse(run.stdout).stop_reason]).toEqual([timeout, 3, "limit"]);
  }
});

test("deeply nested arguments and endless ids are the model's fault and harmless", async () => {
  const raw = `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`;
  const model = await bench.script([
    { tool_calls: [{ name: "Read", raw, id: "x".repeat(70_000) }] },
    { text: "sorry" },
  ]);
  const run = await bench.tinman(["exec", "-o", "stream-json", "-m", model, "go"]);
  const result = run.stdout.split("\n").find((line) => line.includes('"tool_result"')) ?? "";
  expect(result.length).toBeLessThan(64 * 1024);
  expect(JSON.parse(result)).toMatchObject({ isError: true });
  expect(run.code).toBe(1);
});

test("doctor and models report a configured model that does not exist", async () => {
  const other = await createBench();
  await other.shell("mkdir -p ~/.tinman && echo 'model: nonsense' > ~/.tinman/config.yaml");
  expect((await other.tinman(["doctor"])).stdout).toMatch(/failed +model .*nonsense/);
  expect((await other.tinman(["models"])).code).toBe(2);
  await other.remove();
});

test.each([
  [
    "a chain of missing folders as HOME",
    { HOME: "/nowhere-at-all/home" },
    /^tinman: HOME is "\/nowhere-at-all\/home", and neither/,
  ],
  ["a line end in TINMAN_HOME", { TINMAN_HOME: "a\n" }, /^tinman: TINMAN_HOME has a line end: "a\\n"\.\n$/],
])("rejects %s without creating anything", async (_, env, words) => {
  const bench = await createBench();
  try {
    const run = await bench.tinman(["exec", "Just reply OK."], { env });
    expect([run.code, run.stdout, run.stderr]).toEqual([2, "", expect.stringMatching(words)]);
    expect([existsSync("/nowhere-at-all"), existsSync(join(bench.cwd, "a\n"))]).toEqual([false, false]);
  } finally {
    await bench.remove();
  }
});

test("reports a folder as standard input", async () => {
  const bench = await createBench();
  try {
    for (const prompt of ["-", '"Just reply OK." -']) {
      const run = await bench.shell(`tinman exec ${prompt} < .`);
      expect([run.code, run.stderr]).toEqual([2, expect.stringContaining("input cannot be read: it is a folder")]);
    }
  } finally {
    await bench.remove();
  }
});
