import { commandEnvironment } from "./command-environment.ts";

export interface Captured {
  readonly code: number | null;
  readonly text: string;
  /** Whether there was more than was kept. */
  readonly cut: boolean;
}

export interface CaptureOptions {
  readonly cwd: string;
  readonly limitMs: number;
  readonly maxBytes: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly withErrors?: boolean;
}

/**
 * What a program says, up to `maxBytes`, at which it is ended. `undefined` when it does not start or takes longer than
 * `limitMs`. It gets no input and no keys. Never rejects.
 */
export async function capture(
  program: string,
  args: readonly string[],
  options: CaptureOptions,
): Promise<Captured | undefined> {
  const { spawn } = await import("node:child_process");
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    const child = spawn(program, [...args], {
      cwd: options.cwd,
      env: { ...commandEnvironment(process.env, []), ...options.environment },
      // A group of its own, so that what it started ends with it.
      detached: true,
      stdio: ["ignore", "pipe", options.withErrors === true ? "pipe" : "ignore"],
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It ended by itself.
      }
    };
    const finish = (result: Captured | undefined) => {
      clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      resolve(result);
    };
    const textOf = () => Buffer.concat(parts).subarray(0, options.maxBytes).toString("utf8");
    const timer = setTimeout(() => {
      kill();
      finish(undefined);
    }, options.limitMs);
    const take = (bytes: Buffer) => {
      parts.push(bytes);
      length += bytes.length;
      if (length <= options.maxBytes) return;
      kill();
      finish({ code: null, text: textOf(), cut: true });
    };
    child.stdout?.on("data", take);
    child.stderr?.on("data", take);
    child.once("error", () => finish(undefined));
    child.once("close", (code) => finish({ code, text: textOf(), cut: false }));
  });
}
