import type { ToolOutput } from "../engine/tool.ts";
import { shownName } from "../text/shown-name.ts";

/** A call that was stopped; `partial` is what it had come to. */
export function interrupted(partial = ""): ToolOutput {
  const rest = partial === "" ? "" : `\n\nOutput before it was stopped:\n${partial}`;
  return { text: `Error: Tool execution cancelled by user${rest}`, status: "interrupted" };
}

/** Thrown where work ends because its signal was aborted; the host throws its like. */
export function stopped(): Error {
  return Object.assign(new Error("Stopped."), { name: "AbortError", code: "ABORT_ERR" });
}

export function isStopped(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ABORT_ERR";
}

/** The words of an error, in which a path is written as it is shown elsewhere. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const path = "path" in error && typeof error.path === "string" ? error.path : "";
  return path === "" ? error.message : error.message.replaceAll(path, () => shownName(path));
}

/** Why a text cannot be in a file or its name, as words that follow what it is; `undefined` when it can. */
export function halfCharacter(text: string): string | undefined {
  if (text.isWellFormed()) return undefined;
  return "holds half of a character (a lone surrogate), which no file can hold. Nothing was done.";
}
