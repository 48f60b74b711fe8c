import type { MessagePort } from "node:worker_threads";
import { Worker } from "node:worker_threads";
import type { GrepQuery } from "../../engine/ports.ts";
import { namesCarriageReturns } from "./line-ends.ts";

/** The query for each text. */
interface Task {
  readonly source: string;
  readonly flags: string;
  readonly multiline: boolean;
  readonly keepsCarriageReturns: boolean;
  readonly before: number;
  readonly after: number;
  readonly mostLines: number;
  readonly longestLine: number;
}

/** A line that matches, or one around it. */
export interface FoundLine {
  /** From 0. */
  readonly number: number;
  readonly text: string;
  readonly matches: boolean;
}

interface LineSearch {
  /** The matching lines and those around them. Rejects on a timeout or an abort. */
  find(bytes: Uint8Array): Promise<readonly FoundLine[]>;
  close(): Promise<void>;
}

const longestLine = 2000;

/** Runs in the thread from its source text, so it must be self-contained. */
function searchTexts(port: MessagePort, task: Task): void {
  const pattern = new RegExp(task.source, task.flags);

  function matchingLines(text: string, lines: readonly string[]): Set<number> {
    const found = new Set<number>();
    if (!task.multiline) {
      for (const [number, line] of lines.entries()) {
        pattern.lastIndex = 0;
        if (pattern.test(line)) found.add(number);
        if (found.size >= task.mostLines) break;
      }
      return found;
    }
    let number = 0;
    let at = 0;
    for (const match of text.matchAll(pattern)) {
      for (; at < match.index; at += 1) if (text[at] === "\n") number += 1;
      const height = match[0].replace(/\n$/, "").split("\n").length;
      for (let line = number; line < number + height; line += 1) found.add(line);
      if (found.size >= task.mostLines) break;
    }
    return found;
  }

  port.on("message", (bytes: Uint8Array) => {
    const decoded = new TextDecoder().decode(bytes);
    const text = task.keepsCarriageReturns ? decoded : decoded.replaceAll("\r\n", "\n");
    const lines = text.split("\n");
    if (text.endsWith("\n")) lines.pop();
    const found = matchingLines(text, lines);
    const near = new Set<number>();
    for (const number of found) {
      const last = Math.min(number + task.after, lines.length - 1);
      for (let at = Math.max(0, number - task.before); at <= last; at += 1) near.add(at);
    }
    const numbers = [...near].sort((a, b) => a - b).slice(0, task.mostLines);
    port.postMessage(
      numbers.map((number) => {
        const line = (lines[number] ?? "").replace(/\r$/, "").slice(0, task.longestLine);
        return { number, text: line.replace(/[\ud800-\udbff]$/, ""), matches: found.has(number) };
      }),
    );
  });
}

function taskOf(query: GrepQuery): Task {
  const source = query.fixedString ? query.pattern.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&") : query.pattern;
  return {
    source,
    flags: `g${query.caseInsensitive ? "i" : ""}${query.multiline ? "ms" : ""}`,
    multiline: query.multiline,
    keepsCarriageReturns: namesCarriageReturns(source),
    before: query.before,
    after: query.after,
    mostLines: query.limit + 1,
    longestLine,
  };
}

/**
 * Searches with a JavaScript regular expression in a thread, because a slow one can only be stopped by ending its thread.
 * Throws if the expression is malformed.
 */
export function createLineSearch(query: GrepQuery, mostMs: number, signal: AbortSignal): LineSearch {
  const task = taskOf(query);
  new RegExp(task.source, task.flags);
  const program = `const { parentPort, workerData } = require("node:worker_threads"); (${searchTexts})(parentPort, workerData);`;
  let worker: Worker | undefined;
  return {
    find(bytes) {
      signal.throwIfAborted();
      worker ??= new Worker(program, { eval: true, workerData: task, env: {} });
      const thread = worker;
      return new Promise((resolve, reject) => {
        const fail = (error: unknown): void => {
          settle();
          void thread.terminate().catch(() => undefined);
          reject(error);
        };
        const succeed = (lines: readonly FoundLine[]): void => {
          settle();
          resolve(lines);
        };
        const onAbort = (): void => fail(signal.reason);
        const tooLong = new Error(
          `The pattern takes more than ${mostMs / 1000} seconds for one file. Simplify it, or install ripgrep.`,
        );
        const timer = setTimeout(fail, mostMs, tooLong);
        const settle = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", onAbort);
          thread.off("message", succeed);
          thread.off("error", fail);
        };
        signal.addEventListener("abort", onAbort, { once: true });
        thread.on("message", succeed);
        thread.on("error", fail);
        thread.postMessage(bytes);
      });
    },
    async close() {
      await worker?.terminate();
    },
  };
}
