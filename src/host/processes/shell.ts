import { existsSync } from "node:fs";

export function shellKind(): "bash" | "sh" {
  return existsSync("/bin/bash") ? "bash" : "sh";
}

/** The shell for commands and its arguments up to the command text. */
export function shellArguments(): readonly [string, ...string[]] {
  return shellKind() === "bash" ? ["/bin/bash", "--noprofile", "--norc", "-c", "--"] : ["/bin/sh", "-c", "--"];
}
