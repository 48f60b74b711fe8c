import { existsSync } from "node:fs";

/** The shell for commands and its arguments up to the command text. */
export function shellArguments(): readonly [string, ...string[]] {
  return existsSync("/bin/bash") ? ["/bin/bash", "--noprofile", "--norc", "-c", "--"] : ["/bin/sh", "-c", "--"];
}
