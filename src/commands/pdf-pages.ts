import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { readPdfPages } from "../pdf/pages.ts";

/** A hostile file can keep the main thread too busy to notice that its parent is gone; this thread watches for that. */
const watch = `
const parent = require("node:worker_threads").workerData;
setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 100);
`;

/**
 * Reads a PDF from standard input and prints one line of JSON per part, for `Host.pdfPages`. Opens no files; its parent
 * enforces the limits. Arguments: the number of pages, and the process id of the parent, with which it ends.
 */
export async function runPdfPages([mostPages, starter]: readonly string[]): Promise<void> {
  const thread = new Worker(watch, { eval: true, workerData: Number(starter), env: {} });
  thread.unref();
  // Ctrl-C is for the parent, which ends this process in time.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, ignore);
  // A library's logging must not end up between the lines.
  Object.assign(globalThis.console, { log: ignore, info: ignore, debug: ignore, warn: ignore, error: ignore });
  process.stdout.on("error", () => process.exit(1));

  const file: Buffer[] = [];
  for await (const piece of process.stdin) file.push(piece as Buffer);
  for await (const part of readPdfPages(Buffer.concat(file), Number(mostPages), new AbortController().signal))
    if (!process.stdout.write(`${JSON.stringify(part)}\n`)) await once(process.stdout, "drain");
  process.stdout.end(() => process.exit(0));
}

function ignore(): void {}
