import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Connection, ConnectionEnd } from "../../../src/sdk/api.ts";

/** Programs that act as backends only by their source. */
export interface StandIns {
  readonly folder: string;
  /** A file that Node runs. */
  node(code: string): string;
  /** An executable, which starts faster. */
  shell(code: string): string;
  remove(): void;
}

export function createStandIns(): StandIns {
  const folder = mkdtempSync(join(tmpdir(), "tinman-stand-ins-"));
  let count = 0;
  return {
    folder,
    node(code) {
      const file = join(folder, `stand-in-${++count}.mjs`);
      writeFileSync(file, code);
      return file;
    },
    shell(code) {
      const file = join(folder, `stand-in-${++count}`);
      writeFileSync(file, `#!/bin/sh\n${code}\n`, { mode: 0o755 });
      return file;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

export interface Whole {
  readonly lines: readonly string[];
  readonly end: ConnectionEnd;
}

/** All output from now on, and how it ended. */
export async function wholeOf(connection: Connection): Promise<Whole> {
  const lines: string[] = [];
  for await (const frame of connection.incoming) {
    lines.push(frame.type === "line" ? frame.text : `${frame.type}: ${frame.bytes}`);
  }
  return { lines, end: await connection.ended };
}

/** The next line; `undefined` at the end. */
export async function nextLine({ incoming }: Connection): Promise<string | undefined> {
  const { done, value } = await incoming[Symbol.asyncIterator]().next();
  if (done === true) return undefined;
  return value.type === "line" ? value.text : value.type;
}

export function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Until a condition holds; the test's own timeout is the limit. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}

export type Held = ReadonlyMap<string, number>;

/** The resources that keep this process running, and its listeners. */
export function held(): Held {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo()) counts.set(name, (counts.get(name) ?? 0) + 1);
  for (const name of process.eventNames()) counts.set(`on ${String(name)}`, process.listenerCount(name));
  return counts;
}

/** The lasting increase: the test runner's own handles come and go. */
export async function heldBeyond(before: Held): Promise<Readonly<Record<string, number>>> {
  for (let tries = 0; ; tries++) {
    const more = [...held()].map(([name, count]) => [name, count - (before.get(name) ?? 0)] as const);
    const extra = more.filter(([, count]) => count > 0);
    if (extra.length === 0 || tries === 50) return Object.fromEntries(extra);
    await sleep(20);
  }
}
