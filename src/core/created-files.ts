import type { Access, CommandPart, Evidence } from "./permission.ts";
import { lookupKey } from "./permission.ts";
import type { Host } from "./ports.ts";

const mostPaths = 50;

/**
 * What a call would make in the workspace: for each file it writes that is not there, the highest folder that is missing.
 * Nothing for a command that moves files, because what it puts in a new place was somewhere before.
 */
export async function missingBefore(
  accesses: readonly Access[],
  cwd: string,
  host: Pick<Host, "lookUp">,
): Promise<readonly string[]> {
  const written = accesses.flatMap((access) => {
    if (access.type === "command") return access.evidence === undefined ? [] : writtenBy(access.evidence);
    return access.type === "write" ? [access.path] : [];
  });
  const found = await Promise.all([...new Set(written)].slice(0, mostPaths).map((path) => missingIn(path, cwd, host)));
  return [...new Set(found.flat())];
}

/** Those that are there now. */
export async function madeOf(missing: readonly string[], host: Pick<Host, "lookUp">): Promise<readonly string[]> {
  const isMade = await Promise.all(missing.map(async (path) => (await isThere(path, host)) === true));
  return missing.filter((_, at) => isMade[at]);
}

function writtenBy({ reading, found }: Evidence): readonly string[] {
  const touches = touchesIn(reading.root);
  if (touches.some(({ moves, lookup }) => moves === true || lookup.what === "work-tree")) return [];
  const written = touches.filter(({ use, lookup }) => use === "write" && lookup.what === "path");
  return written.flatMap(({ lookup }) => found.get(lookupKey(lookup)) ?? []);
}

function touchesIn(part: CommandPart): CommandPart["touches"] {
  return [...part.touches, ...part.parts.flatMap(touchesIn)];
}

async function missingIn(path: string, cwd: string, host: Pick<Host, "lookUp">): Promise<readonly string[]> {
  let highest: string | undefined;
  for (let at = path; at.startsWith(`${cwd}/`); at = at.slice(0, at.lastIndexOf("/"))) {
    if ((await isThere(at, host)) !== false) break;
    highest = at;
  }
  return highest === undefined ? [] : [highest];
}

/** `undefined` when that cannot be told. */
async function isThere(path: string, host: Pick<Host, "lookUp">): Promise<boolean | undefined> {
  const found = await host.lookUp({ what: "existing", path }).catch(() => undefined);
  return found && found.length > 0;
}
