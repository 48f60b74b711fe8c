import { Readable, type Writable } from "node:stream";
import { type ChildProcessByStdio, startProgram } from "../processes/start-program.ts";

/** The exit code, or the name of the signal that ended it, or why it could not be started. */
export type ReaderExit = number | string;

export interface PdfReader {
  /** `undefined` when it could not be started. */
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

/** Starts this program as the reader of one PDF: with no environment, in no folder of the user's. Calls back when it is gone. */
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
  // Without a free file descriptor there are no pipes, whatever the types say.
  const { stdin, stdout }: { readonly stdin?: Writable; readonly stdout?: Readable } = child;
  // Both ends may vanish at any time; what there is to know about it comes with the exit.
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
