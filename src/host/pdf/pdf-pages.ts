import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PdfBound, PdfPart } from "../../engine/pdf-part.ts";
import type { Host } from "../../engine/ports.ts";
import { residentBytes } from "../processes/resident-memory.ts";
import { createTurns } from "./mutex.ts";
import { partsOf } from "./pdf-parts.ts";
import { type ReaderExit, startPdfReader } from "./pdf-reader.ts";

const megabyte = 1024 * 1024;
const memoryPollMs = 100;
/** Stop waiting for a process that SIGKILL did not end. */
const exitLimitMs = 2000;

const usualLimits: Readonly<Record<PdfBound, number>> = {
  milliseconds: 30_000,
  memoryBytes: 512 * megabyte,
  textBytes: 64 * megabyte,
};

export interface PdfPagesOptions {
  /** The program's main file, to be started as the reader process. */
  readonly mainFile?: string;
  readonly limits?: Partial<typeof usualLimits>;
}

/**
 * Reads each PDF in a separate process, without environment and with limits. One at a time, so that several files need no more
 * memory than one.
 */
export function createPdfPages(options: PdfPagesOptions = {}): Host["pdfPages"] {
  const limits = { ...usualLimits, ...options.limits };
  const nextTurn = createTurns();
  return async function* pdfPages(bytes, mostPages, signal) {
    const endTurn = await nextTurn(signal);
    // All files of the built program are in one folder.
    const mainFile = options.mainFile ?? join(__dirname, "main.cjs");
    const reader = startPdfReader({ mainFile, mostPages, heapBytes: limits.memoryBytes }, endTurn);
    let exceeded: PdfBound | undefined;
    const exceed = (bound: PdfBound): void => {
      exceeded ??= bound;
      reader.kill();
    };
    const letGo = (): void => {
      reader.kill();
      reader.output.destroy();
    };
    signal.addEventListener("abort", letGo, { once: true });
    const timer = setTimeout(() => exceed("milliseconds"), limits.milliseconds).unref();
    const unwatch = watchMemory(reader.pid, limits.memoryBytes, () => exceed("memoryBytes"));
    try {
      reader.send(bytes);
      let last: PdfPart | undefined;
      for await (const part of partsOf(reader.output, limits.textBytes, () => exceed("textBytes"))) {
        last = part;
        yield part;
      }
      const exit = await reader.exit;
      signal.throwIfAborted();
      if (last?.type === "failed") return;
      const bound = exceeded ?? (isOutOfMemory(exit) ? "memoryBytes" : undefined);
      if (bound !== undefined) yield { type: "exceeded", bound, limit: limits[bound] };
      else if (exit !== 0) yield { type: "failed", encrypted: false, message: `its reader ended with ${exit}` };
    } finally {
      clearTimeout(timer);
      unwatch();
      signal.removeEventListener("abort", letGo);
      letGo();
      await Promise.race([reader.exit, sleep(exitLimitMs, undefined, { ref: false })]);
    }
  };
}

/** Whether it ended at its heap limit, or because the system ran out of memory. */
function isOutOfMemory(exit: ReaderExit): boolean {
  return exit === "SIGABRT" || exit === "SIGKILL";
}

/** Calls back once the process exceeds `limit`. If memory cannot be measured, only the heap limit applies. */
function watchMemory(pid: number | undefined, limit: number, onTooMuch: () => void): () => void {
  const stopped = new AbortController();
  async function watch(watched: number): Promise<void> {
    while (!stopped.signal.aborted) {
      await sleep(memoryPollMs, undefined, { ref: false, signal: stopped.signal });
      const bytes = await residentBytes(watched);
      if (stopped.signal.aborted || bytes === undefined) return;
      if (bytes > limit) return onTooMuch();
    }
  }
  // It rejects only once stopped.
  if (pid !== undefined) watch(pid).catch(() => undefined);
  return () => stopped.abort();
}
