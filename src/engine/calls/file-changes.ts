import type { Access, CommandPart, Evidence } from "../permission.ts";
import { lookupKey } from "../permission.ts";
import type { Host } from "../ports.ts";

const mostPaths = 50;

/** A call's changes to the workspace, as far as later deletions depend on them. */
export interface FileChanges {
  /** Files and folders that it created. */
  readonly created: readonly string[];
  /** Paths to which it may have moved existing files. */
  readonly moved: readonly string[];
  /** Existing files whose text may have changed. */
  readonly wrote: readonly string[];
}

type Seen = ReadonlyMap<string, boolean>;

/** Which of the files that a call would write exist. */
export async function writtenBefore(
  accesses: readonly Access[],
  cwd: string,
  host: Pick<Host, "lookUp">,
): Promise<Seen> {
  const written = accesses.flatMap((access) => {
    if (access.type === "command") return access.evidence === undefined ? [] : writtenBy(access.evidence);
    return access.type === "write" ? [access.path] : [];
  });
  const paths = [...new Set(written)].filter((path) => path.startsWith(`${cwd}/`)).slice(0, mostPaths);
  return look(paths, host);
}

/** If something is gone after a call, it may have been moved to any path that the call wrote. */
export async function changesSince(before: Seen, host: Pick<Host, "lookUp">): Promise<FileChanges> {
  const after = await look([...before.keys()], host);
  const isThere = (path: string) => after.get(path) === true;
  const isGone = [...before].some(([path, wasThere]) => wasThere && !isThere(path));
  const there = [...before.keys()].filter(isThere);
  const wrote = there.filter((path) => before.get(path) === true);
  return isGone
    ? { created: [], moved: there, wrote }
    : { created: there.filter((path) => before.get(path) === false), moved: [], wrote };
}

function writtenBy({ reading, found }: Evidence): readonly string[] {
  const written = touchesIn(reading.root).filter(({ use }) => use === "write");
  return written.flatMap(({ lookup }) => found.get(lookupKey(lookup)) ?? []);
}

function touchesIn(part: CommandPart): CommandPart["touches"] {
  return [...part.touches, ...part.parts.flatMap(touchesIn)];
}

/** Unknown counts as existing. */
async function look(paths: readonly string[], { lookUp }: Pick<Host, "lookUp">): Promise<Seen> {
  const found = await Promise.all(
    paths.map(async (path) => {
      const answer = await lookUp({ what: "existing", path }).catch(() => undefined);
      return [path, answer?.length !== 0] as const;
    }),
  );
  return new Map(found);
}
