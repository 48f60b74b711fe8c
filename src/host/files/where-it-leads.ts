import { canonicalPath, type Step } from "./canonical-path.ts";

/** Links in `/proc` that differ for every process. */
const processLink = /^\/proc\/[^/]+\/(?:task\/[^/]+\/)?(?:cwd|root|exe|fd|map_files)$/;

/**
 * The target of an absolute path. Below `/proc`: first as a command would resolve it, with its own links instead of ours, then as
 * we do; behind a process's own link, only the former. Rejects if it cannot be resolved.
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
