import { chmod, mkdir, stat } from "node:fs/promises";
import { makeFolders } from "../engine/make-folders.ts";
import { isMissing } from "../text/system-errors.ts";
import { storageError } from "./storage-error.ts";

/**
 * Creates the home and its folders with mode 0700, whatever the umask. Tightens existing folders, but not an existing home.
 */
export async function ensureFolders(home: string, ...folders: readonly string[]): Promise<void> {
  // Fast path: they usually exist.
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
      // Another user's folder can't be changed. A failing write will show whether it is usable.
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
