import { createProcesses } from "../../src/host/processes/processes.ts";

/** A separate process: runs one command, then prints the result and the peak memory. */
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
