import { createProcesses } from "../../../src/host/processes/processes.ts";
import { createHostSandbox } from "../../../src/host/sandbox/sandbox.ts";

/**
 * A separate process: gives up root's rights if asked, starts a contained background command, then runs a contained
 * command, and prints what became of it.
 */
const [background = "", foreground = "", workspace = "", kept = "", user = ""] = process.argv.slice(2);
if (user !== "" && process.getuid?.() === 0) {
  process.setgroups?.([]);
  process.setgid?.(Number(user));
  process.setuid?.(Number(user));
}
const sandbox = createHostSandbox();
const processes = createProcesses({ sandbox: async () => sandbox });
const sessionId = `child-${process.pid}`;
const contained = {
  sessionId,
  walls: {
    writable: [workspace, sandbox.tempOf(sessionId)],
    ...{
      caches: [],
      repositories: [],
      newFolders: [],
      unwanted: [],
      runsHooks: true,
      outputs: [],
      kept: [],
      barred: [kept],
    },
    ...{ hidden: [`${workspace}/hidden`], shown: [] },
    ...({ network: "session", processes: "own" } as const),
  },
};
const where = { cwd: workspace, contained };
if (background !== "") {
  await processes.startBackground({ command: background, ...where, outputPath: `${workspace}/background.txt` });
}
process.stdout.write(`${sandbox.tempOf(sessionId)}\n`);
const result = await processes.run(
  {
    ...{ command: foreground, timeoutMs: 60_000, spoolPath: `${workspace}/spool`, keepBytes: 10_000, ...where },
    onProgress: (tail) => process.stdout.write(`${JSON.stringify({ tail })}\n`),
  },
  new AbortController().signal,
);
process.stdout.write(`${JSON.stringify(result)}\n`);
// The session stays open: commands that still run must not keep the process alive, and end with it.
