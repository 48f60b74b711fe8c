import { closeSync, constants, openSync, unlinkSync } from "node:fs";
import { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownProgram } from "./executables.ts";
import { startProgram } from "./start-program.ts";

interface OutputPipe {
  readonly reader: Socket;
  /** For the child's output. Call `closeWriter` once the child has it. */
  readonly writer: number;
  closeWriter(): void;
}

function makeFifo(path: string, cwd: string): Promise<boolean> {
  const mkfifo = ownProgram("mkfifo", cwd);
  return new Promise((resolve) => {
    if (mkfifo === undefined) return resolve(false);
    const child = startProgram(mkfifo, ["-m", "600", path], { env: {}, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("exit", (code) => resolve(code === 0));
  });
}

/**
 * A real pipe. Node uses sockets instead, which Linux cannot open by name, so `echo oops > /dev/stderr` would fail.
 * `undefined` without a `mkfifo` outside `cwd`.
 */
export async function openOutputPipe(cwd: string): Promise<OutputPipe | undefined> {
  const path = join(tmpdir(), `tinman-${crypto.randomUUID()}.pipe`);
  if (!(await makeFifo(path, cwd))) return undefined;
  let readEnd: number | undefined;
  try {
    // Open the read end first, without blocking: otherwise each end waits for the other.
    readEnd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, constants.O_WRONLY);
    const reader = new Socket({ fd: readEnd, readable: true, writable: false });
    return { reader, writer, closeWriter: () => closeSync(writer) };
  } catch {
    if (readEnd !== undefined) closeSync(readEnd);
    return undefined;
  } finally {
    unlinkSync(path);
  }
}
