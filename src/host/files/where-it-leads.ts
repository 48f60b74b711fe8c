import { canonicalPath, type Step } from "./canonical-path.ts";

/** Links in `/proc` that lead somewhere else for every process that follows them. */
const processLink = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|root|exe|fd|map_files)$/;

/**
 * Where an absolute path leads, however it gets there. Below `/proc` first the path as a command would walk it, because it
 * would follow its own links there and not ours, and then ours; behind a link of a process's own there is no other reading
 * than the first. Rejects what cannot be resolved.
 */
export async function whereItLeads(path: string): Promise<readonly string[]> {
  const met = { proc: false, processLink: false };
  const written = await canonicalPath(path, "/", (at): Step => {
    if (!at.startsWith("/proc/")) return "follow";
    met.proc = true;
    met.processLink = processLink.test(at);
    return met.processLink ? "stop" : "keep";
  });
  if (!met.proc || met.processLink) return [written];
  return [...new Set([written, await canonicalPath(path, "/")])];
}

/** Whether a canonical path is a folder or lies in it. */
export function liesBelow(path: string, folder: string): boolean {
  return folder === "/" || path === folder || path.startsWith(`${folder}/`);
}

export function sortedUnique(paths: Iterable<string>): readonly string[] {
  return [...new Set(paths)].sort();
}
