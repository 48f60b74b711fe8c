import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

/** It prints lines of ignore files that it cannot read as patterns, and such a file may be a link to anything. */
const settings = "--no-ignore-messages\n";

/** The variable by which the ripgrep of a command reads these settings. None where the file cannot be written. */
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
