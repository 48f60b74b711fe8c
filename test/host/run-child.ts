import { createProcesses } from "../../src/host/processes/processes.ts";

/** Run as a process of its own: runs one command, then says how it went and how much memory that took at most. */
const [command = "", cwd = ""] = process.argv.slice(2);
const before = process.resourceUsage().maxRSS;
process.stdout.write("running\n");
const result = await createProcesses().run(
  {
    command,
    cwd,
    timeoutMs: 60_000,
    spoolPath: `${cwd}/whole.txt`,
    keepBytes: 16 * 1024,
    onProgress: (tail) => process.stdout.write(`${JSON.stringify(tail)}\n`),
  },
  new AbortController().signal,
);
const grownMegabytes = (process.resourceUsage().maxRSS - before) / 1024;
const { head, tail, ...rest } = result;
const summary = { ...rest, headLength: head.length, tailLength: tail.length, grownMegabytes };
process.stdout.write(`${JSON.stringify(summary)}\n`);
