import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { isAlive } from "../../../sdk/fakes/stand-ins.ts";

export const badBackend = `'${process.execPath}' '${fileURLToPath(new URL("bad-backend.mjs", import.meta.url))}'`;

/** A folder whose backend behaves as scripted, life after life. */
export interface BadFolder {
  readonly cwd: string;
  /** Number of starts. */
  lives(): number;
  /** Its processes that are still running. */
  alive(): readonly number[];
  /** The options chosen for it, over all lives. */
  chosen(): readonly unknown[];
  /** Whether it was asked to, in any life. */
  heard(method: string): boolean;
}

export function badFolder(root: string, name: string, ...lives: readonly string[]): BadFolder {
  const cwd = join(root, name);
  mkdirSync(cwd);
  writeFileSync(join(cwd, "lives"), lives.join("\n"));
  const lines = (file: string): readonly string[] => {
    try {
      // The text after the last line end is still being written.
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
