import { Readable, type Writable } from "node:stream";
import { type ChildProcessByStdio, startProgram } from "../processes/start-program.ts";

/** The exit code, the signal, or why it could not start. */
export type ReaderExit = number | string;

export interface PdfReader {
  /** `undefined` if it could not start. */
  readonly pid: number | undefined;
  readonly output: Readable;
  readonly exit: Promise<ReaderExit>;
  send(file: Uint8Array): void;
  kill(): void;
}

interface ReaderSpec {
  readonly mainFile: string;
  readonly mostPages: number;
  readonly heapBytes: number;
}

/** Starts this program as the reader of one PDF, without environment, outside the user's folders. Calls back when it has ended. */
export function startPdfReader(spec: ReaderSpec, onGone: () => void): PdfReader {
  const heap = `--max-old-space-size=${Math.ceil(spec.heapBytes / 1024 / 1024)}`;
  const words = ["pdf-pages", String(spec.mostPages), String(process.pid)];
  const child = startOr(onGone, () =>
    startProgram<ChildProcessByStdio<Writable, Readable, null>>(process.execPath, [heap, spec.mainFile, ...words], {
      cwd: "/",
      env: {},
      stdio: ["pipe", "pipe", "ignore"],
    }),
  );
  // Without a free file descriptor, the pipes are undefined despite their types.
  const { stdin, stdout }: { readonly stdin?: Writable; readonly stdout?: Readable } = child;
  // Both may fail at any time; the exit says what happened.
  stdin?.on("error", () => undefined);
  stdout?.on("error", () => undefined);
  const exit = new Promise<ReaderExit>((done) => {
    child.once("exit", (code, signal) => done(signal ?? code ?? 1));
    child.once("error", (error) => done(error.message));
  });
  void exit.then(onGone);
  return {
    pid: child.pid,
    output: stdout ?? Readable.from([]),
    exit,
    send: (file) => void stdin?.end(file),
    kill: () => void child.kill("SIGKILL"),
  };
}

function startOr<T>(onFailure: () => void, start: () => T): T {
  try {
    return start();
  } catch (error) {
    onFailure();
    throw error;
  }
}
