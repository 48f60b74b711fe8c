import { mkdir, open, readdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { makeFolders } from "../../engine/make-folders.ts";

/*
 * An existing file is written in place, and a crash in between leaves half of it. So the complete new text is stored first,
 * under a name that identifies the file, and removed afterwards.
 */

/** Longer paths lose their start: a name has at most 255 bytes. */
const longestPath = 200;
const ours = /^(.+)~[0-9a-f-]{36}\.unfinished$/;

export interface KeptText {
  readonly path: string;
  /** Never rejects. */
  drop(): Promise<void>;
}

/** Stores the new text of `path` privately. Resolves once it is on disk. */
export async function keepText(folder: string, path: string, bytes: Uint8Array): Promise<KeptText> {
  await makeFolders(folder, (missing) => mkdir(missing, { mode: 0o700 }));
  const copy = join(folder, `${encodeURIComponent(path).slice(-longestPath)}~${crypto.randomUUID()}.unfinished`);
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
  /** The possibly half-written file. Only the end of a very long path. */
  readonly path: string;
  /** The file with its complete new text. */
  readonly copy: string;
}

/** Texts left by crashes. Never rejects. */
export async function unfinishedWrites(folder: string): Promise<readonly UnfinishedWrite[]> {
  const names = await readdir(folder).catch(() => []);
  return names.flatMap((name) => {
    const [, encoded] = ours.exec(name) ?? [];
    return encoded === undefined ? [] : [{ path: decoded(encoded), copy: join(folder, name) }];
  });
}

/** A cut path may start in the middle of an escape. */
function decoded(text: string): string {
  for (const start of [0, 1, 2, 3, 6, 9]) {
    try {
      return (text.length >= longestPath ? "…" : "") + decodeURIComponent(text.slice(start));
    } catch {}
  }
  return text;
}
