import { realpathSync, statSync } from "node:fs";
import { ownHomes } from "../config/own-homes.ts";
import { AgentError } from "../engine/errors.ts";
import { expandHome } from "../text/user-words.ts";
import { errorMessage } from "../text/values.ts";

/** The canonical folder of `--cwd`, or the current one. It exists. */
export function workingFolder(path: string | undefined): string {
  const given = path === undefined ? undefined : fromHome(path);
  try {
    const real = realpathSync.native(given ?? process.cwd());
    if (statSync(real).isDirectory()) return real;
  } catch {
    throw new AgentError(
      "usage",
      path === undefined ? "The current folder does not exist." : `The folder ${path} does not exist.`,
    );
  }
  throw new AgentError("usage", `${path} is not a folder.`);
}

/** Shells don't expand `--cwd=~/x`, and programs have no shell. Throws `usage` for `~name`. */
export function fromHome(path: string): string {
  if (!path.startsWith("~")) return path;
  try {
    return expandHome(path, ownHomes(process.env).user);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    throw new AgentError("usage", errorMessage(error));
  }
}
