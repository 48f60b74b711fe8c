import { errorCode } from "../text/system-errors.ts";
import { withoutTrailingSlashes } from "../text/text-cut.ts";

/**
 * Creates a folder with its parents. Node's recursive `mkdir` never returns if the system denies a folder by reporting
 * its existing parent as missing, as Linux does in /proc.
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
