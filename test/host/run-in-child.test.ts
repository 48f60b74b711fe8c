import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { bundleForChild } from "../fakes/bundle-for-child.ts";
import { isFullRun } from "../full-run.ts";
import { eventually, longNap, processesOfGroup, processesWith, tempFolder } from "./support.ts";

let folder = "";
let program = "";
let backgroundProgram = "";

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "tinman-host-child-"));
  program = await bundleForChild(join(import.meta.dirname, "run-child.ts"), folder);
  backgroundProgram = await bundleForChild(join(import.meta.dirname, "background-child.ts"), folder);
});

afterAll(() => rm(folder, { recursive: true, force: true }));

interface Child {
  readonly process: ChildProcess;
  readonly lines: string[];
  readonly ended: Promise<unknown>;
}

function startChild(command: string, cwd: string, file = program): Child {
  const child = spawn(process.execPath, [file, command, cwd], {
    // A process killed in the middle of a start cannot remove its temporary file.
    env: { ...process.env, TMPDIR: cwd },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  return { process: child, lines, ended: once(child, "close") };
}

async function summaryOf(command: string, cwd: string): Promise<Record<string, unknown>> {
  const child = startChild(command, cwd);
  await child.ended;
  return JSON.parse(child.lines.at(-1) ?? "");
}

describe("when our process is killed", () => {
  const trees: Readonly<Record<string, (nap: string) => string>> = {
    "in the foreground": (nap) => `echo $$; sleep ${nap}; sleep ${nap}`,
    "in the background": (nap) => `echo $$; sleep ${nap} & sleep ${nap} & wait`,
    "ignoring SIGTERM and SIGHUP": (nap) => `trap "" TERM HUP; echo $$; sleep ${nap}; sleep ${nap}; sleep ${nap}`,
    "in other sessions": (nap) =>
      `echo $$; setsid sleep ${nap} & (setsid bash -c 'sleep ${nap} & sleep ${nap}' &) ; wait; sleep ${nap}`,
    // Only the last lines are reported, so each of them names the group.
    "that write endlessly": (nap) => `trap "" PIPE; sleep ${nap} & while :; do echo $$ 2>/dev/null; sleep 0.01; done`,
  };

  test.each(Object.entries(trees))("its command's processes %s also end", async (_, make) => {
    const nap = longNap();
    const child = startChild(make(nap), await tempFolder());
    expect(await eventually(() => child.lines.length > 1 && processesWith(nap).length > 0)).toBe(true);
    const group = Number.parseInt(JSON.parse(child.lines[1] ?? ""), 10);
    expect(processesOfGroup(group).length).toBeGreaterThan(1);
    child.process.kill("SIGKILL");
    await child.ended;
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
    expect(await eventually(() => processesOfGroup(group).length === 0)).toBe(true);
  });

  test("at any moment of a command's start, nothing is left", async () => {
    const nap = longNap();
    const cwd = await tempFolder();
    for (const delay of isFullRun ? [0, 2, 4, 6, 8, 10, 12, 14, 16, 18] : [0, 4, 10]) {
      const child = startChild(`setsid sleep ${nap} & sleep ${nap}`, cwd);
      await once(child.process.stdout ?? child.process, "data");
      await new Promise((resolve) => setTimeout(resolve, delay));
      child.process.kill("SIGKILL");
      await child.ended;
    }
    // A watchdog that was started last may still be scanning.
    expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(processesWith(nap)).toEqual([]);
  });
});

describe("a process that has run a command", () => {
  test("exits at once on its own", async () => {
    const child = startChild("setsid sleep 1000 & echo done", await tempFolder());
    expect(await child.ended).toEqual([0, null]);
  });
});

describe("a process that has started a command in the background", () => {
  test("exits on its own, and the command continues", async () => {
    const nap = longNap();
    const child = startChild(`exec sleep ${nap}`, await tempFolder(), backgroundProgram);
    expect(await child.ended).toEqual([0, null]);
    const pid = Number(child.lines[0]);
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect(await eventually(() => processesWith(nap).length === 1)).toBe(true);
  });
});

describe("large output", () => {
  test("of 100 MB is counted, spooled whole, and takes little memory", async () => {
    const cwd = await tempFolder();
    const summary = await summaryOf("head -c 100000000 /dev/zero | tr '\\0' x", cwd);
    expect(summary).toEqual({
      end: { type: "exit", code: 0 },
      headLength: 16 * 1024,
      tailLength: 16 * 1024,
      skippedBytes: 100_000_000 - 32 * 1024,
      skippedLines: 0,
      totalBytes: 100_000_000,
      fullTextPath: join(cwd, "whole.txt"),
      grownMegabytes: expect.any(Number),
    });
    expect(summary.grownMegabytes).toBeLessThan(60);
    expect((await stat(join(cwd, "whole.txt"))).size).toBe(100_000_000);
  });

  test("of five million lines is counted to the line", async () => {
    const cwd = await tempFolder();
    const summary = await summaryOf("seq 5000000", cwd);
    // 1 to 5000000, with a newline each.
    const totalBytes = 9 * 2 + 90 * 3 + 900 * 4 + 9_000 * 5 + 90_000 * 6 + 900_000 * 7 + 4_000_001 * 8;
    expect(summary).toMatchObject({ totalBytes, skippedBytes: totalBytes - 32 * 1024 });
    const headText = Array.from({ length: 5000 }, (_, index) => `${index + 1}\n`).join("");
    const headLines = headText.slice(0, 16 * 1024).split("\n").length - 1;
    // Each line of the tail has eight bytes.
    expect(summary.skippedLines).toBe(5_000_000 - headLines - (16 * 1024) / 8);
    expect(summary.grownMegabytes).toBeLessThan(60);
  });
});
