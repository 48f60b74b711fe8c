import { createPace } from "../../async/pace.ts";
import type { SearchResult } from "../../engine/ports.ts";
import { compileWrittenGlob } from "../../text/glob-pattern.ts";

type WantedPath = (path: string) => Promise<boolean>;

/**
 * Searches for paths that match one of the patterns; without patterns, all do. Rejects a malformed pattern, unless a file
 * has exactly that name.
 */
export async function wantedPaths(
  include: readonly string[],
  signal: AbortSignal,
  search: (wanted: WantedPath) => Promise<SearchResult>,
): Promise<SearchResult> {
  const globs = include.map(compileWrittenGlob);
  const malformed = new Set(globs.filter(({ problem }) => problem !== undefined));
  const pace = createPace(signal);
  const result = await search(async (path) => {
    if (globs.length === 0) return true;
    for (const glob of globs) {
      if (glob.matches(path)) {
        malformed.delete(glob);
        return true;
      }
      await pace.rest();
    }
    return false;
  });
  for (const { problem } of malformed) throw new Error(problem);
  return result;
}

/** An absolute pattern inside the folder means the same as its relative form. */
export function relativeTo(folder: string, pattern: string): string {
  const prefix = folder.endsWith("/") ? folder : `${folder}/`;
  return pattern.startsWith(prefix) ? `/${pattern.slice(prefix.length)}` : pattern;
}
