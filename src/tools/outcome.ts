import type { ToolOutput } from "../engine/tool.ts";
import { shownName } from "../text/shown-name.ts";

/** The result of a call that was stopped; `partial` is its output so far. */
export function interrupted(partial = ""): ToolOutput {
  const rest = partial === "" ? "" : `\n\nOutput before it was stopped:\n${partial}`;
  return { text: `Error: Tool execution cancelled by user${rest}`, status: "interrupted" };
}

/** Thrown when work ends because its signal aborted; the host throws the same. */
export function stopped(): Error {
  return Object.assign(new Error("Stopped."), { name: "AbortError", code: "ABORT_ERR" });
}

export function isStopped(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ABORT_ERR";
}

/** An error's message, with paths in the form shown elsewhere. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const path = "path" in error && typeof error.path === "string" ? error.path : "";
  return path === "" ? error.message : error.message.replaceAll(path, () => shownName(path));
}

/** Why a text cannot be in a file or its name, to follow its name; `undefined` if it can. */
export function halfCharacter(text: string): string | undefined {
  if (text.isWellFormed()) return undefined;
  return "contains half a character (a lone surrogate), which files cannot contain. Nothing was done.";
}
