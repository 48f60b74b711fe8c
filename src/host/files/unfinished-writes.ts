import { randomUUID } from "node:crypto";
import { mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { makeFolders } from "../../engine/make-folders.ts";

/*
 * A file that is there is written in place, and a crash in the middle of that leaves half of it. So its new text is stored
 * whole before, under a name that says which file it is for, and removed when it is in place.
 */

/** Longer paths lose their beginning: a name has at most 255 bytes. */
const longestPath = 200;
const ours = /^(.+)~[0-9a-f-]{36}\.unfinished$/;

export interface KeptText {
  readonly path: string;
  /** Never rejects. */
  drop(): Promise<void>;
}

/** Stores the text that `path` is to have, for the user's eyes only, and on the disk when this resolves. */
export async function keepText(folder: string, path: string, bytes: Uint8Array): Promise<KeptText> {
  await makeFolders(folder, (missing) => mkdir(missing, { mode: 0o700 }));
  const copy = join(folder, `${encodeURIComponent(path).slice(-longestPath)}~${randomUUID()}.unfinished`);
  const drop = () => unlink(copy).catch(() => undefined);
  const file = await open(copy, "wx", 0o600);
  try {
    await file.writeFile(bytes);
    await file.datasync();
  } catch (error) {
    await drop();
    throw error;
  } finally {
    await file.close();
  }
  return { path: copy, drop };
}

export interface UnfinishedWrite {
  /** The file that may be half-written; of a very long path only its end. */
  readonly path: string;
  /** The file with its whole new text. */
  readonly copy: string;
}

/** What crashes have left. Never rejects. */
export async function unfinishedWrites(folder: string): Promise<readonly UnfinishedWrite[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name) => {
    const [, encoded] = ours.exec(name) ?? [];
    return encoded === undefined ? [] : [{ path: decoded(encoded), copy: join(folder, name) }];
  });
}

/** A path that was cut may begin in the middle of a code. */
function decoded(text: string): string {
  for (const start of [0, 1, 2, 3, 6, 9]) {
    try {
      return (text.length >= longestPath ? "…" : "") + decodeURIComponent(text.slice(start));
    } catch {}
  }
  return text;
}
