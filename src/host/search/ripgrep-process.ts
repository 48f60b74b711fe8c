import type { Readable } from "node:stream";
import { createPace } from "../../async/pace.ts";
import type { SearchResult } from "../../engine/ports.ts";
import { commandEnvironment } from "../environment/command-environment.ts";
import { isOutOfFiles, outOfFiles } from "../files/open-files.ts";
import { type ChildProcessByStdio, startProgram } from "../processes/start-program.ts";
import { type Found, type Reader, shownLine } from "./ripgrep-output.ts";
import { boundSearch } from "./search-bounds.ts";

const errorTextLimit = 8192;

interface RipgrepSearch {
  readonly program: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly limit: number;
  /** Parses the output. */
  readonly read: Reader;
  /** Whether a file is part of the search. */
  readonly wanted: (path: string) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly bounds?: { readonly timeMs?: number; readonly bytes?: number } | undefined;
}

type Child = ChildProcessByStdio<null, Readable, Readable>;

async function readErrorText(stream: Readable): Promise<{ text: string; lacksFiles: boolean; isUnreadable: boolean }> {
  let text = "";
  let end = "";
  let lacksFiles = false;
  let isUnreadable = false;
  for await (const chunk of stream) {
    const piece = (chunk as Buffer).toString("utf8");
    if (text.length < errorTextLimit) text += piece;
    end += piece;
    isUnreadable ||= end.includes("(os error ");
    lacksFiles ||= /\(os error 2[34]\)/.test(end);
    end = end.slice(-"(os error 24)".length);
  }
  return { text, lacksFiles, isUnreadable };
}

/** Ripgrep quotes the pattern over several lines; the cause follows `error:`. */
function meaningfulLine(errorText: string): string {
  const lines = errorText.split("\n").filter((line) => line.trim() !== "");
  const first = (lines[0] ?? "ripgrep failed").replace(/^rg: /, "").trim();
  const cause = lines.find((line) => line.startsWith("error: "))?.slice("error: ".length);
  if (/Consider enabling multiline mode/.test(errorText)) return `${first}. Set multiline to match across lines.`;
  return cause === undefined ? first : `${first.replace(/:$/, "")}: ${cause}`;
}

function ending(child: Child): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(isOutOfFiles(error) ? outOfFiles() : error));
    child.once("close", resolve);
  });
}

/** The wanted lines, up to the limit. A separator is kept only between kept lines. */
async function collect(found: AsyncIterable<Found>, search: RipgrepSearch): Promise<SearchResult> {
  const lines: string[] = [];
  const pace = createPace(search.signal);
  let latest: { readonly path: string; readonly wanted: boolean } | undefined;
  let isSeparated = false;
  for await (const item of found) {
    await pace.rest();
    if (item.type === "separator") {
      isSeparated = true;
      continue;
    }
    if (latest?.path !== item.path) latest = { path: item.path, wanted: await search.wanted(item.path) };
    if (!latest.wanted) continue;
    if (isSeparated && lines.length > 0) lines.push("--");
    isSeparated = false;
    if (lines.length >= search.limit) return { lines: lines.slice(0, search.limit), truncated: true };
    lines.push(shownLine(item));
  }
  return { lines, truncated: false };
}

/** Ripgrep's results. It is killed at the limit. Rejects with its own message if it fails. */
export async function searchWithRipgrep(search: RipgrepSearch): Promise<SearchResult> {
  search.signal.throwIfAborted();
  const child = startProgram<Child>(search.program, search.args, {
    cwd: search.cwd,
    env: commandEnvironment(process.env, []),
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = ending(child);
  // It may fail while lines are being read. Handled below.
  ended.catch(() => undefined);
  // Without a free file descriptor, the streams are undefined despite their types.
  if (child.pid === undefined) await ended;
  const errors = readErrorText(child.stderr).catch(() => ({ text: "", lacksFiles: false, isUnreadable: false }));
  const kill = () => child.kill("SIGKILL");
  search.signal.addEventListener("abort", kill, { once: true });
  const bounds = boundSearch(child.pid ?? 0, kill, search.bounds);
  try {
    const result = await collect(search.read(child.stdout), search);
    if (result.truncated) kill();
    const code = await ended;
    search.signal.throwIfAborted();
    const exceeded = bounds.exceeded();
    if (exceeded !== undefined) throw new Error(`The search was stopped because ${exceeded}`);
    if (result.truncated || code === 0 || code === 1) return result;
    const { text, lacksFiles, isUnreadable } = await errors;
    if (lacksFiles) throw outOfFiles();
    if (isUnreadable) return { ...result, unreadable: true };
    if (text.trim() !== "") throw new Error(meaningfulLine(text));
    return result;
  } finally {
    bounds.stop();
    kill();
    search.signal.removeEventListener("abort", kill);
  }
}
