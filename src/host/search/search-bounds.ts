import { readFileSync } from "node:fs";

const longestMs = 120_000;
const mostBytes = 1024 * 1024 * 1024;
const lookEveryMs = 100;
const pageBytes = 4096;

interface SearchBounds {
  /** Why the search was ended, if it was. */
  exceeded(): string | undefined;
  stop(): void;
}

/**
 * Ends a search that takes too long or too much memory. A repository's ignore file can be a pipe, or a link to an endless
 * device, which ripgrep reads completely.
 */
export function boundSearch(
  pid: number,
  kill: () => void,
  { timeMs = longestMs, bytes = mostBytes } = {},
): SearchBounds {
  const startedAt = performance.now();
  let why: string | undefined;
  const look = (): void => {
    if (performance.now() - startedAt > timeMs) why = `it took more than ${timeMs / 1000} seconds`;
    else if (ownBytes(pid) > bytes) why = `it used more than ${bytes / 1024 / 1024} MiB of memory`;
    else return;
    why += ". Search a smaller folder, and check that .gitignore and .ignore are regular files.";
    clearInterval(timer);
    kill();
  };
  const timer = setInterval(look, lookEveryMs);
  return { exceeded: () => why, stop: () => clearInterval(timer) };
}

/** Excludes memory shared with files. 0 if the system does not report it. */
function ownBytes(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, "utf8").split(" ").map(Number);
    return (resident - shared) * pageBytes;
  } catch {
    return 0;
  }
}
