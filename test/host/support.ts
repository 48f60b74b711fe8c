import { readdirSync, readFileSync } from "node:fs";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import type { CommandResult, CommandSpec } from "../../src/engine/ports.ts";
import { createProcesses } from "../../src/host/processes/processes.ts";

/** A fresh folder that is removed after the test. */
export async function tempFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), "tinman-host-")));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

let tags = 0;

/** A unique duration for `sleep`, so that its processes can be found. */
export function longNap(): string {
  tags += 1;
  return `1${process.pid}.${String(tags).padStart(4, "0")}`;
}

function readProcess(pid: string, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "latin1");
  } catch {
    return "";
  }
}

function pids(): string[] {
  return readdirSync("/proc").filter((name) => /^\d+$/.test(name));
}

/** Command lines of running processes with `tag` as an argument. */
export function processesWith(tag: string): string[] {
  return pids()
    .map((pid) => readProcess(pid, "cmdline").split("\0"))
    .filter((args) => args.includes(tag))
    .map((args) => args.join(" ").trim());
}

/** Command lines of running processes of a group. */
export function processesOfGroup(group: number): string[] {
  return pids()
    .filter((pid) => {
      const [state, , pgrp] = readProcess(pid, "stat")
        .replace(/^.*\) /s, "")
        .split(" ");
      return state !== "Z" && Number(pgrp) === group;
    })
    .map((pid) => readProcess(pid, "cmdline").replaceAll("\0", " "));
}

/** Waits until a condition holds, for at most ten seconds. */
export async function eventually(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 500; tries += 1) {
    if (holds()) return true;
    await sleep(20);
  }
  return false;
}

/** Runs a command with this process's environment, by default in a new folder. */
export async function runCommand(
  command: string,
  changes: Partial<CommandSpec> & { readonly signal?: AbortSignal } = {},
): Promise<CommandResult> {
  const { signal, ...spec } = changes;
  const folder = await tempFolder();
  return createProcesses().run(
    {
      command,
      cwd: folder,
      timeoutMs: 20_000,
      spoolPath: join(folder, "outputs", "whole.txt"),
      keepBytes: 16 * 1024,
      onProgress: () => undefined,
      ...spec,
    },
    signal ?? new AbortController().signal,
  );
}

/** The result of a command with this complete output. */
export function saying(text: string, end: CommandResult["end"] = { type: "exit", code: 0 }): CommandResult {
  return { end, head: text, tail: "", skippedBytes: 0, skippedLines: 0, totalBytes: Buffer.byteLength(text) };
}
