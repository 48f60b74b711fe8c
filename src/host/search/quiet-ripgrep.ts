import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** Ripgrep prints malformed lines of ignore files, and such a file may be a link to anything. */
const settings = "--no-ignore-messages\n";

/** The variable that makes the commands' ripgrep read these settings. Empty if the file cannot be written. */
export async function quietRipgrep(path: string): Promise<Readonly<Record<string, string>>> {
  try {
    const known = await readFile(path, "utf8").catch(() => "");
    if (known !== settings) {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      await writeFile(path, settings, { mode: 0o600 });
    }
    return { RIPGREP_CONFIG_PATH: path };
  } catch {
    return {};
  }
}
