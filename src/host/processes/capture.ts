import { commandEnvironment } from "../environment/command-environment.ts";
import { ownPath, ownProgram } from "./executables.ts";

interface Captured {
  readonly code: number | null;
  readonly text: string;
  /** There was more output. */
  readonly cut: boolean;
}

interface CaptureOptions {
  readonly cwd: string;
  readonly limitMs: number;
  readonly maxBytes: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** A program's first line of output. Ignores programs in `cwd`. Rejects if it is missing or fails. */
export async function firstLine(name: string, args: readonly string[], cwd: string): Promise<string> {
  const program = ownProgram(name, cwd);
  if (program === undefined) throw new Error(`${name} was not found`);
  const said = await capture(program, args, { cwd, limitMs: 5_000, maxBytes: 4_096 });
  if (said?.code !== 0) throw new Error(`${program} could not be run`);
  return said.text.split("\n")[0] ?? "";
}

/**
 * A program's output. It is killed at `maxBytes`. `undefined` if it does not start or takes longer than `limitMs`. It gets
 * no input and no credentials. Never rejects.
 */
export async function capture(
  program: string,
  args: readonly string[],
  options: CaptureOptions,
): Promise<Captured | undefined> {
  const { startProgram } = await import("./start-program.ts");
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    let length = 0;
    const child = startProgram(program, args, {
      cwd: options.cwd,
      env: { ...commandEnvironment(process.env, []), PATH: ownPath(options.cwd), ...options.environment },
      // A separate group, so that everything it started ends with it.
      detached: true,
      stdio: ["ignore", "pipe", "ignore"],
    });
    const kill = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has already exited.
      }
    };
    const finish = (result: Captured | undefined) => {
      clearTimeout(timer);
      child.stdout?.destroy();
      resolve(result);
    };
    const textOf = () => Buffer.concat(parts).subarray(0, options.maxBytes).toString("utf8");
    const timer = setTimeout(() => {
      kill();
      finish(undefined);
    }, options.limitMs);
    child.stdout?.on("data", (bytes: Buffer) => {
      parts.push(bytes);
      length += bytes.length;
      if (length <= options.maxBytes) return;
      kill();
      finish({ code: null, text: textOf(), cut: true });
    });
    child.once("error", () => finish(undefined));
    child.once("close", (code) => finish({ code, text: textOf(), cut: false }));
  });
}
