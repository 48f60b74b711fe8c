import { randomUUID } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { thatStay } from "../e2e/processes.ts";
import type { Random } from "../fakes/seeded-random.ts";
import { preloaded } from "./form.ts";
import type { Verdict } from "./told.ts";

/** When a program is killed: after some time, at one of its lines or writes, or while one of its commands runs. */
export type Moment =
  | { readonly at: "time"; readonly ms: number }
  | { readonly at: "line"; readonly line: number; readonly ms: number }
  | { readonly at: "write"; readonly write: number; readonly place: "before" | "torn" | "after" }
  | { readonly at: "command"; readonly command: number; readonly ms: number };

/** Rough duration of a session; a later moment is one where it only waits. */
export interface Extent {
  readonly ms: number;
  readonly lines: number;
  readonly writes: number;
  /** Those that leave something running. */
  readonly commands: readonly number[];
}

const kinds = ["time", "line", "write", "command"] as const;

/** The kinds alternate, so that even a few kills include all. */
export function drawMoment(nth: number, random: Random, { ms, lines, writes, commands }: Extent): Moment {
  const kind = kinds[nth % kinds.length];
  if (kind === "time") return { at: "time", ms: random.below(ms) };
  if (kind === "command") return { at: "command", command: random.pick(commands), ms: random.pick([0, 1, 5, 20, 100]) };
  // A line is sent right after something was stored, and often right before the next.
  if (kind === "line") return { at: "line", line: 1 + random.below(lines), ms: random.pick([0, 0, 1, 2, 4]) };
  return { at: "write", write: 1 + random.below(writes), place: random.pick(["before", "torn", "after"]) };
}

/** Long enough for any session to reach its waiting point. */
const patienceMs = 3_000;

/** Watches a program to be killed. `line` is called with every line, `stop` when the program is gone. */
export interface Killing {
  readonly env: Readonly<Record<string, string>>;
  line(): void;
  /** Resolves with the processes that outlive it. */
  stop(): Promise<readonly number[]>;
}

/** `marks`: the file in which commands record their numbers. */
export function killAt(moment: Moment, marks: string, kill: () => void): Killing {
  // Every command has it in its environment, and so has its watchdog.
  const mark = `FAULTS_RUN=${randomUUID()}`;
  const timers = [setTimeout(kill, moment.at === "time" ? moment.ms : patienceMs)];
  const poll = setInterval(() => {
    if (moment.at !== "command" || !linesOf(marks).includes(String(moment.command))) return;
    clearInterval(poll);
    timers.push(setTimeout(kill, moment.ms));
  }, 5);
  let lines = 0;
  const [name = "", value = ""] = mark.split("=");
  const own = { [name]: value };
  return {
    env:
      moment.at === "write" ? preloaded("kill-at-write", { ...own, FAULT_AT: `${moment.write} ${moment.place}` }) : own,
    line() {
      lines += 1;
      if (moment.at !== "line" || lines !== moment.line) return;
      if (moment.ms === 0) kill();
      else timers.push(setTimeout(kill, moment.ms));
    },
    async stop() {
      clearInterval(poll);
      for (const timer of timers) clearTimeout(timer);
      const orphans = await thatStay(mark);
      for (const pid of orphans) process.kill(pid, "SIGKILL");
      return orphans;
    },
  };
}

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
}

/** Findings of all kills. Each names its kill, and how to reproduce it. */
export interface Tally {
  readonly counts: { kills: number; reached: number; lost: number; duplicates: number; orphans: number };
  readonly phases: Record<string, number>;
  readonly findings: string[];
}

export interface Outcome {
  readonly signal: NodeJS.Signals | null;
  /** The log's last event at that time; undefined without a session. */
  readonly phase: string | undefined;
  readonly verdict: Verdict;
  readonly orphans: readonly number[];
}

/** Adds one kill. Never rejects, so that the others continue. */
export async function addKill(tally: Tally, where: string, kill: () => Promise<Outcome>): Promise<void> {
  const { counts, phases, findings } = tally;
  try {
    const { signal, phase, verdict, orphans } = await kill();
    if (signal === "SIGKILL") counts.kills += 1;
    if (phase !== undefined) counts.reached += 1;
    phases[phase ?? "no session"] = (phases[phase ?? "no session"] ?? 0) + 1;
    counts.lost += verdict.lost.length;
    counts.duplicates += verdict.duplicates.length;
    counts.orphans += orphans.length;
    const found = { ...verdict, orphans };
    if (Object.values(found).some((list) => list.length > 0)) findings.push(`${where}: ${JSON.stringify(found)}`);
  } catch (error) {
    findings.push(`${where}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

export function newTally(): Tally {
  return { counts: { kills: 0, reached: 0, lost: 0, duplicates: 0, orphans: 0 }, phases: {}, findings: [] };
}
