import { readFile } from "node:fs/promises";
import { startProgram } from "./start-program.ts";

/** A process's resident memory. `undefined` if unknown, or if the process has ended. */
export async function residentBytes(pid: number): Promise<number | undefined> {
  const kilobytes = process.platform === "linux" ? await fromStatus(pid) : await fromPs(pid);
  return kilobytes === undefined ? undefined : Number(kilobytes) * 1024;
}

/** `statm` counts pages, and Node does not expose their size. */
async function fromStatus(pid: number): Promise<string | undefined> {
  const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "");
  return /^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1];
}

function fromPs(pid: number): Promise<string | undefined> {
  return new Promise((done) => {
    const child = startProgram("/bin/ps", ["-o", "rss=", "-p", String(pid)], {
      env: {},
      timeout: 2000,
      stdio: ["ignore", "pipe", "ignore"],
    });
    let text = "";
    child.stdout?.on("data", (bytes) => {
      text += bytes;
    });
    child.once("error", () => done(undefined));
    child.once("close", () => done(/^\s*(\d+)\s*$/.exec(text)?.[1]));
  });
}
