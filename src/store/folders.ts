import { chmod, mkdir, stat } from "node:fs/promises";
import { makeFolders } from "../core/make-folders.ts";
import { isMissing } from "./listing/file-errors.ts";
import { storageError } from "./storage-error.ts";

/**
 * Makes the home and the folders of ours in it, with no access for others, whatever the umask. A folder of ours that is
 * open to others is closed; a home that was there before keeps its mode.
 */
export async function ensureFolders(home: string, ...folders: readonly string[]): Promise<void> {
  // Nearly always they are there, and looking at all of them at once is quicker.
  const modes = await Promise.all(folders.map((folder) => folderMode(folder).catch(() => undefined)));
  if (modes.every((mode) => mode !== undefined && (mode & 0o077) === 0)) return;
  await ensureFolder(home, false);
  for (const folder of folders) await ensureFolder(folder, true);
}

async function ensureFolder(path: string, tighten: boolean): Promise<void> {
  try {
    const mode = await folderMode(path);
    if (mode === undefined) {
      await makeFolders(path, (folder) => mkdir(folder, { mode: 0o700 }));
      await chmod(path, 0o700);
    } else if (tighten && (mode & 0o077) !== 0) {
      // Somebody else's folder cannot be changed; whether it can be written to is seen soon enough.
      await chmod(path, 0o700).catch(() => {});
    }
  } catch (error) {
    throw storageError("write", path, error);
  }
}

async function folderMode(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mode;
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}
