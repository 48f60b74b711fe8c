import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { isMissing } from "../text/system-errors.ts";
import { readPlainText } from "./bounded-file.ts";
import type { UserConfig } from "./check/checked-config.ts";
import { invalid, reason } from "./check/config-fault.ts";

/**
 * The user's configuration, empty by default. Rejects with `config_invalid` and one line that names the place. `file` replaces
 * `config.yaml` and must exist.
 */
export async function loadUserConfig(ownHome: string, { file }: { file?: string } = {}): Promise<UserConfig> {
  const path = file ?? join(ownHome, "config.yaml");
  const text = file === undefined ? await readIfThere(path) : await readNamed(file);
  if (text === undefined || text.trim() === "") return {};
  return (await import("./check/checked-config.ts")).readUserConfig(text, path);
}

/** A YAML or JSON file as plain data. Rejects with `config_invalid`. Tries JSON first, because it is faster and needs no YAML parser. */
export async function readDocument(path: string): Promise<unknown> {
  const text = await readNamed(path);
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // Not JSON; YAML is the usual form.
  }
  return (await import("./check/yaml-document.ts")).parseYaml(text, path);
}

async function readNamed(path: string): Promise<string> {
  const text = await readIfThere(path);
  if (text === undefined) throw invalid(path, "the file does not exist");
  return text;
}

async function isLink(path: string): Promise<boolean> {
  const stats = await lstat(path).catch(() => undefined);
  return stats?.isSymbolicLink() ?? false;
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readPlainText(path);
  } catch (error) {
    if (!isMissing(error)) {
      throw invalid(path, reason(error));
    }
    // Rules must not be lost silently.
    if (await isLink(path)) throw invalid(path, "the link leads to no file");
    return undefined;
  }
}
