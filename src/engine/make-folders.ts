import { errorCode } from "../text/system-errors.ts";
import { withoutTrailingSlashes } from "../text/text-cut.ts";

/**
 * Makes a folder with its missing parents. Node's own recursive `mkdir` never returns where the system denies a folder and
 * says that its parent, which is there, does not exist (as Linux does in /proc); this asks each folder once.
 */
export async function makeFolders(path: string, make: (path: string) => Promise<unknown>): Promise<void> {
  try {
    await make(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "EEXIST") return;
    const parent = path.slice(0, Math.max(1, withoutTrailingSlashes(path).lastIndexOf("/")));
    if (code !== "ENOENT" || parent === path) throw error;
    await makeFolders(parent, make);
    await make(path).catch((again: unknown) => {
      if (errorCode(again) !== "EEXIST") throw again;
    });
  }
}
