import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { readPdfPages } from "../pdf/pages.ts";

/**
 * A hostile file can keep this process so busy that it never notices that whoever started it is gone. A thread does, and
 * nothing can keep that busy.
 */
const watch = `
const parent = require("node:worker_threads").workerData;
setInterval(() => process.ppid === parent || process.kill(process.pid, "SIGKILL"), 100);
`;

/**
 * The process that a PDF is read in: the file on standard input, and on standard output a line of JSON for each part, as
 * `Host.pdfPages` hands them on. It opens no file, and its starter sees to its bounds. Arguments: how many pages, and the
 * starter's process id, without which it does not want to live.
 */
export async function runPdfPages([mostPages, starter]: readonly string[]): Promise<void> {
  const thread = new Worker(watch, { eval: true, workerData: Number(starter), env: {} });
  thread.unref();
  // A key pressed in the terminal is meant for the starter, which ends this process when it is time.
  for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(name, ignore);
  // A library that logs must not write between the lines.
  Object.assign(globalThis.console, { log: ignore, info: ignore, debug: ignore, warn: ignore, error: ignore });
  process.stdout.on("error", () => process.exit(1));

  const file: Buffer[] = [];
  for await (const piece of process.stdin) file.push(piece as Buffer);
  for await (const part of readPdfPages(Buffer.concat(file), Number(mostPages), new AbortController().signal))
    if (!process.stdout.write(`${JSON.stringify(part)}\n`)) await once(process.stdout, "drain");
  process.stdout.end(() => process.exit(0));
}

function ignore(): void {}
