import type { Readable } from "node:stream";
import type { SearchResult } from "../core/ports.ts";
import { commandEnvironment } from "./command-environment.ts";
import { type ChildProcessByStdio, startProgram } from "./start-program.ts";

const newline = 0x0a;
const errorTextLimit = 8192;

export interface LineSearch {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly limit: number;
  /** The line to return for a line of the program; `undefined` for none. */
  readonly keep: (line: string) => string | undefined;
  readonly signal: AbortSignal;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

async function* linesOf(stream: Readable): AsyncGenerator<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of stream) {
    const bytes = rest.length === 0 ? (chunk as Buffer) : Buffer.concat([rest, chunk as Buffer]);
    let start = 0;
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline, start)) {
      yield bytes.toString("utf8", start, end);
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
  if (rest.length > 0) yield rest.toString("utf8");
}

async function readErrorText(stream: Readable): Promise<string> {
  let text = "";
  for await (const chunk of stream) {
    if (text.length < errorTextLimit) text += (chunk as Buffer).toString("utf8");
  }
  return text;
}

/** ripgrep quotes the pattern over several lines; what is wrong with it stands behind `error:`. */
export function meaningfulLine(errorText: string): string {
  const lines = errorText.split("\n").filter((line) => line.trim() !== "");
  const first = (lines[0] ?? "ripgrep failed").replace(/^rg: /, "").trim();
  const cause = lines.find((line) => line.startsWith("error: "))?.slice("error: ".length);
  return cause === undefined ? first : `${first.replace(/:$/, "")}: ${cause}`;
}

function ending(child: Child): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
}

/** The lines of the program that are kept, up to the limit, at which it is ended. Rejects with its own words when it fails. */
export async function collectLines(search: LineSearch): Promise<SearchResult> {
  search.signal.throwIfAborted();
  const child = startProgram<Child>(search.program, search.args, {
    cwd: search.cwd,
    env: commandEnvironment(process.env, []),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = ending(child);
  // It may fail while lines are still read; it is waited for, and its fault seen, below.
  ended.catch(() => undefined);
  // Without a free file descriptor there are no streams, whatever the types say.
  if (child.pid === undefined) await ended;
  const errorText = readErrorText(child.stderr).catch(() => "");
  const kill = () => child.kill("SIGKILL");
  search.signal.addEventListener("abort", kill, { once: true });
  const lines: string[] = [];
  let truncated = false;
  try {
    for await (const line of linesOf(child.stdout)) {
      const kept = search.keep(line);
      if (kept === undefined) continue;
      if (lines.length >= search.limit) {
        truncated = true;
        break;
      }
      lines.push(kept);
    }
    if (truncated) kill();
    const code = await ended;
    search.signal.throwIfAborted();
    const problem = await errorText;
    if (code !== 0 && code !== 1 && !truncated && problem.trim() !== "") throw new Error(meaningfulLine(problem));
    return { lines, truncated };
  } finally {
    search.signal.removeEventListener("abort", kill);
  }
}
