import { type ChildProcessWithoutNullStreams, startProgram } from "../host/processes/start-program.ts";
import { headAndTail } from "../text/output.ts";

interface ToolOutcome {
  readonly result: string;
  readonly isError: boolean;
}

const limitMs = 600_000;
/** As JSON it fits into a frame of 1 MiB. */
const maxResult = 512 * 1024;
const maxKept = 2 * maxResult;

/**
 * Runs the user's command for one call, which it reads as JSON from stdin. No part of the call becomes part of the command.
 * Ends all that the command has started, when it exits or the signal aborts.
 */
export function runToolCommand(
  command: string,
  call: object,
  signal: AbortSignal,
  { timeoutMs = limitMs }: { readonly timeoutMs?: number } = {},
): Promise<ToolOutcome> {
  // The command gets the model's calls, so it must not get the token.
  const { TINMAN_TOKEN: _, ...env } = process.env;
  return new Promise((resolve) => {
    const child = startProgram<ChildProcessWithoutNullStreams>("/bin/sh", ["-c", command], {
      env,
      detached: true,
      stdio: "pipe",
    });
    if (child.pid === undefined) {
      // Without a free file descriptor the streams are missing, despite their types.
      child.once("error", (error) => {
        resolve({ result: `The tool's command could not be started: ${error.message}.`, isError: true });
      });
      return;
    }
    const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
    let why: string | undefined;
    const end = (words: string | undefined): void => {
      why ??= words;
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // All its processes have ended.
      }
    };
    const timer = setTimeout(() => end(`It timed out after ${timeoutMs / 1_000} s.`), timeoutMs);
    const abort = (): void => end("It was stopped: its result is no longer needed.");
    signal.addEventListener("abort", abort, { once: true });
    if (signal.aborted) abort();
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${JSON.stringify(call)}\n`);
    child.once("exit", () => end(undefined));
    const settle = (fault: string | undefined): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
      if (fault === undefined) resolve({ result: bounded(stdout()), isError: false });
      else
        resolve({
          result: bounded([stdout(), stderr(), fault].filter((part) => part !== "").join("\n")),
          isError: true,
        });
    };
    child.once("error", (error) => settle(`The tool's command could not be started: ${error.message}.`));
    child.once("close", (code, by) => {
      if (why !== undefined) settle(why);
      else settle(code === 0 ? undefined : `The tool's command failed with ${by ?? `exit code ${code}`}.`);
    });
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  const kept: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    if (bytes < maxKept) kept.push(chunk);
    bytes += chunk.length;
  });
  return () => {
    const text = Buffer.concat(kept).toString("utf8");
    const lost = bytes - kept.reduce((sum, { length }) => sum + length, 0);
    return lost > 0 ? `${text}\n[${lost} more bytes]` : text;
  };
}

function bounded(text: string): string {
  return headAndTail(text, maxResult, (skipped) => `[${skipped} characters omitted]`);
}
