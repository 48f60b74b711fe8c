import { realpathSync, statSync } from "node:fs";
import { AgentError } from "../core/errors.ts";

/** Canonical, and a folder that is there: the one of `--cwd`, or the current one. */
export function workingFolder(path: string | undefined): string {
  try {
    const real = realpathSync.native(path ?? process.cwd());
    if (statSync(real).isDirectory()) return real;
  } catch {
    throw new AgentError(
      "usage",
      path === undefined ? "The current folder does not exist." : `The folder ${path} does not exist.`,
    );
  }
  throw new AgentError("usage", `${path} is not a folder.`);
}
