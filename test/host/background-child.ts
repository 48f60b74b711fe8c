import { createProcesses } from "../../src/host/processes/processes.ts";

/** Run as a process of its own: starts one command in the background, says its process id, and ends. */
const [command = "", cwd = ""] = process.argv.slice(2);
const { pid } = await createProcesses().startBackground({ command, cwd, outputPath: `${cwd}/output.txt` });
process.stdout.write(`${pid}\n`);
