import { createProcesses } from "../../src/host/processes/processes.ts";

/** A separate process: starts one command in the background, prints its process id, and exits. */
const [command = "", cwd = ""] = process.argv.slice(2);
const { pid } = await createProcesses().startBackground({ command, cwd, outputPath: `${cwd}/output.txt` });
process.stdout.write(`${pid}\n`);
