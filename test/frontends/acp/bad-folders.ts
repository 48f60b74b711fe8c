import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAlive } from "../../sdk/stand-ins.ts";

export const badBackend = `'${process.execPath}' '${fileURLToPath(new URL("bad-backend.mjs", import.meta.url))}'`;

/** A folder whose backend behaves as it is told, life after life. */
export interface BadFolder {
  readonly cwd: string;
  /** How often it was started. */
  lives(): number;
  /** Those of its processes that are still there. */
  alive(): readonly number[];
  /** The options that were chosen for it, of all lives. */
  chosen(): readonly unknown[];
  /** Whether it was told to, in any life. */
  heard(method: string): boolean;
}

export function badFolder(root: string, name: string, ...lives: readonly string[]): BadFolder {
  const cwd = join(root, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, "lives"), lives.join("\n"));
  const lines = (file: string): readonly string[] => {
    try {
      // Behind the last line end is what is being written.
      return readFileSync(join(cwd, file), "utf8").split("\n").slice(0, -1);
    } catch {
      return [];
    }
  };
  const messages = () =>
    lines("heard").map(
      (line) => JSON.parse(line.replace(/^\d+ /, "")) as { method?: string; result?: { selectedOption?: unknown } },
    );
  return {
    cwd,
    lives: () => lines("pids").length,
    alive: () => lines("pids").map(Number).filter(isAlive),
    chosen: () => messages().flatMap(({ result }) => (result === undefined ? [] : [result.selectedOption])),
    heard: (method) => messages().some((message) => message.method === `droid.${method}`),
  };
}
