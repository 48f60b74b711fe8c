import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";

export interface Child {
  readonly pid: number;
  /** All lines received so far. */
  readonly lines: readonly string[];
  say(line: string): void;
  /** The next unread line. */
  nextLine(): Promise<string>;
  endInput(): void;
  exitCode(): Promise<number | null>;
  /** Kills it, then waits for its end and its remaining output. */
  kill(): Promise<void>;
}

/** Runs a bundled module until the end of the test at most. It inherits stderr. */
export function startChild(file: string, ...args: readonly string[]): Child {
  const child = spawn(process.execPath, [file, ...args], { stdio: ["pipe", "pipe", "inherit"] });
  const closed = once(child, "close");
  const lines: string[] = [];
  const waiting: (() => void)[] = [];
  let taken = 0;
  const wake = () => {
    for (const resolve of waiting.splice(0)) resolve();
  };
  createInterface({ input: child.stdout }).on("line", (line) => {
    lines.push(line);
    wake();
  });
  child.on("close", wake);
  const kill = async () => {
    child.kill("SIGKILL");
    await closed;
  };
  onTestFinished(kill);
  return {
    pid: child.pid ?? 0,
    lines,
    say: (line) => child.stdin.write(`${line}\n`),
    endInput: () => child.stdin.end(),
    async exitCode() {
      await closed;
      return child.exitCode;
    },
    async nextLine() {
      while (lines.length <= taken) {
        if (child.exitCode !== null || child.signalCode !== null) throw new Error("the child has ended");
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
      taken += 1;
      return lines[taken - 1] ?? "";
    },
    kill,
  };
}
