import { spawn } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resultObject } from "../../src/protocol/stream-json.ts";
import { isFullRun } from "../full-run.ts";
import { processesWith, thatStay } from "./processes.ts";
import type { Bench } from "./tinman.ts";
import { createBench, lines, madeUp, mainFile } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

/** A number of seconds that nothing else sleeps for. */
let nextSleep = 700_000 + (process.pid % 1_000) * 100;
function uniqueSleep(): string {
  nextSleep += 1;
  return `sleep ${nextSleep}`;
}

async function busyRun(command: string, more: readonly string[] = []) {
  const model = await bench.script([
    { text: "Running.", tool_calls: [{ name: "Execute", input: { command, timeout: 600 } }] },
    { text: "ended" },
  ]);
  const child = bench.start(["exec", "-o", "stream-json", "--auto", "high", ...more, "-m", model, "go"]);
  child.stdin?.end();
  const output: Buffer[] = [];
  child.stdout?.on("data", (chunk: Buffer) => output.push(chunk));
  const closed = new Promise<number | null>((resolve) => child.on("close", (code) => resolve(code)));
  return { child, closed, events: () => lines(Buffer.concat(output).toString()) };
}

async function untilRunning(word: string): Promise<void> {
  for (let tries = 0; tries < 200 && (await processesWith(word)).length === 0; tries += 1) await sleep(25);
  expect((await processesWith(word)).length).toBeGreaterThan(0);
}

/** The model is called as soon as its prompt is in the session's log. */
async function untilLogged(prompt: string): Promise<void> {
  const sessions = join(bench.home, ".tinman", "sessions");
  const isLogged = async (): Promise<boolean> => {
    const names = await readdir(sessions, { recursive: true }).catch(() => []);
    const logs = names.filter((name) => name.endsWith(".jsonl")).map((name) => readFile(join(sessions, name), "utf8"));
    return (await Promise.all(logs)).some((text) => text.includes(prompt));
  };
  for (let tries = 0; tries < 200 && !(await isLogged()); tries += 1) await sleep(25);
  expect(await isLogged()).toBe(true);
}

describe.each([
  ["SIGINT", 130],
  ["SIGTERM", 143],
  ["SIGHUP", 129],
] as const)("%s", (signal, code) => {
  test("during a tool: kills its process tree, finishes the output, and sets the exit code", async () => {
    const word = uniqueSleep();
    const run = await busyRun(`${word} & setsid ${word} & ${word}`);
    await untilRunning(word);
    run.child.kill(signal);
    expect(await run.closed).toBe(code);
    expect(run.events().at(-1)).toMatchObject({ type: "completion", stopReason: "interrupted", exitCode: code });
    expect(run.events().filter(({ type }) => type === "completion")).toHaveLength(1);
    expect(run.events().find(({ type }) => type === "tool_result")).toMatchObject({ isError: true });
    expect(await thatStay(word)).toEqual([]);
  });

  // The short run tries one signal, because all are handled alike.
  if (!isFullRun && signal !== "SIGINT") return;

  test("while waiting for the model: the same", async () => {
    const model = await bench.script([{ text: "late", delay_ms: 60_000 }]);
    const prompt = madeUp();
    const child = bench.start(["exec", "-o", "json", "-m", model, prompt]);
    child.stdin?.end();
    const out: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => out.push(chunk));
    await untilLogged(prompt);
    child.kill(signal);
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(code);
    expect(resultObject.parse(JSON.parse(Buffer.concat(out).toString()))).toMatchObject({
      stop_reason: "interrupted",
      exit_code: code,
    });
  });
});

describe("nothing is left behind", () => {
  test("after success, even if a command started something in the background", async () => {
    const word = uniqueSleep();
    const run = await busyRun(`${word} & (setsid ${word} &) ; echo started`);
    expect(await run.closed).toBe(0);
    expect(await thatStay(word)).toEqual([]);
  });

  test("after a timeout of the run", async () => {
    const word = uniqueSleep();
    const run = await busyRun(`trap '' TERM; ${word}`, ["--timeout", "1s"]);
    expect(await run.closed).toBe(3);
    expect(await thatStay(word)).toEqual([]);
  });
});

describe("pipes", () => {
  test("5 MB through a slow reader arrive complete", async () => {
    const model = await bench.script([{ repeat_text: { text: "0123456789abcdef", times: 327_680 } }]);
    const child = bench.start(["exec", "-m", model, "-o", "json", "go"]);
    child.stdin?.end();
    await sleep(500);
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout ?? []) {
      chunks.push(chunk as Buffer);
      await sleep(2);
    }
    const { result } = resultObject.parse(JSON.parse(Buffer.concat(chunks).toString()));
    expect(result).toBe("0123456789abcdef".repeat(327_680));
  });

  test("a closed pipe ends the program quietly, and the tool with it", async () => {
    const word = uniqueSleep();
    const model = await bench.script([
      { text: "One.", tool_calls: [{ name: "LS", input: {} }] },
      { text: "Two.", tool_calls: [{ name: "Execute", input: { command: word, timeout: 600 } }], delay_ms: 300 },
    ]);
    const run = await bench.shell(
      `tinman exec --auto high -o stream-json -m '${model}' go | head -n 1; echo "\${PIPESTATUS[0]}"`,
    );
    expect(run.stdout.trimEnd().split("\n").at(-1)).toMatch(/^(141|0)$/);
    expect(run.stderr).toBe("");
    expect(await thatStay(word)).toEqual([]);
  });

  test("reports stdout on a full disk as a failure", async () => {
    for (const args of [
      "exec 'Just reply OK.'",
      "exec -o json 'Just reply OK.'",
      "exec -o stream-json 'Just reply OK.'",
      "models",
      "--version",
    ]) {
      const run = await bench.shell(`tinman ${args} > /dev/full`);
      expect([args, run.code]).toEqual([args, 1]);
      expect(run.stderr).toMatch(/tinman: Cannot write standard output: .*ENOSPC.*\n$/);
    }
  });

  test("closed streams cause no crash", async () => {
    expect(await bench.shell("tinman --version | true; tinman models | true")).toMatchObject({ stderr: "" });
    expect(await bench.shell("tinman exec 'Just reply OK.' 2>&-")).toMatchObject({ code: 0, stdout: "OK\n" });
    expect(await bench.shell("tinman exec --bogus 2>&-")).toMatchObject({ code: 2 });
    expect((await bench.shell("tinman exec 'Just reply OK.' <&-")).stdout).toBe("OK\n");
    expect((await bench.shell("tinman exec <&-")).code).toBe(2);
  });

  test("a reader that never reads does not block a terminated program", async () => {
    const model = await bench.script([{ repeat_text: { text: "0123456789abcdef", times: 100_000 } }]);
    const child = spawn(process.execPath, [mainFile, "exec", "-m", model, "go"], {
      cwd: bench.cwd,
      env: bench.env,
      stdio: ["ignore", "pipe", "ignore"],
    });
    await sleep(1_000);
    child.kill("SIGTERM");
    const closed = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
    expect(await Promise.race([closed, sleep(10_000, "still there")])).toBe(143);
    child.stdout?.destroy();
  });
});

test("100 MB of output and an endless line neither freeze nor bloat the program", async () => {
  const fill = (bytes: number): object => ({
    name: "Execute",
    input: { command: `head -c ${bytes} /dev/zero | tr '\\0' x` },
  });
  const model = await bench.script([{ tool_calls: [fill(300_000), fill(100_000_000)] }, { text: "still here" }]);
  const child = bench.start(["exec", "--auto", "high", "-m", model, "go"]);
  child.stdin?.end();
  let peak = 0;
  const watch = setInterval(async () => {
    const status = await readFile(`/proc/${child.pid}/status`, "utf8").catch(() => "");
    peak = Math.max(peak, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0));
  }, 10);
  const code = await new Promise((resolve) => child.on("close", resolve));
  clearInterval(watch);
  expect(code).toBe(0);
  expect(peak).toBeGreaterThan(30_000);
  expect(peak).toBeLessThan(200_000);
});

test("ten runs at once in one folder with one home do not interfere", async () => {
  const runs = Array.from({ length: 10 }, (_, n) =>
    bench.tinman(["exec", "-o", "json", "--auto", "low", `create file made-${n}.txt with content-${n}`]),
  );
  const results = (await Promise.all(runs)).map(({ code, stdout, stderr }) => ({
    code,
    stderr,
    result: resultObject.parse(JSON.parse(stdout)),
  }));
  expect(results.map(({ code, stderr }) => [code, stderr])).toEqual(results.map(() => [0, ""]));
  expect(new Set(results.map(({ result }) => result.session_id)).size).toBe(10);
  for (let n = 0; n < 10; n += 1) expect((await bench.read(`made-${n}.txt`)).trim()).toBe(`content-${n}`);
});

test("commands get none of our keys", async () => {
  const model = await bench.script([{ tool_calls: [{ name: "Execute", input: { command: "env" } }] }, { text: "ok" }]);
  const keys = {
    OPENAI_API_KEY: "sk-1",
    ANTHROPIC_API_KEY: "sk-2",
    FACTORY_API_KEY: "fk-3",
    MY_SECRET: "s-4",
    GH_TOKEN: "t-5",
    PLAIN: "p-6",
  };
  const run = await bench.tinman(["exec", "-o", "stream-json", "--auto", "high", "-m", model, "go"], { env: keys });
  const value = String(lines(run.stdout).find(({ type }) => type === "tool_result")?.value);
  expect(value).toContain("PLAIN=p-6");
  for (const secret of ["sk-1", "sk-2", "fk-3", "s-4", "t-5"]) expect(run.stdout).not.toContain(secret);
});
