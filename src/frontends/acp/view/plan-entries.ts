import type { PlanEntry } from "@agentclientprotocol/sdk";

const statuses: Readonly<Record<string, PlanEntry["status"]>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
  done: "completed",
  x: "completed",
};

/** For a trimmed line. Adjacent parts match different characters, so matching is linear. */
const line = /^(?:\d+[.)]|[-*])?\s*\[([a-z_\s-]*)\]\s*(\S.*)$/i;

/**
 * The tasks of a TodoWrite: lines such as `1. [in_progress] Do it`, or a list of objects. Others are skipped; undefined if
 * none of them can be read.
 */
export function planEntries(todos: unknown): PlanEntry[] | undefined {
  const given = typeof todos === "string" ? todos.split("\n").filter((text) => text.trim() !== "") : todos;
  if (!Array.isArray(given)) return undefined;
  const entries = given.flatMap((each: unknown) =>
    typeof each === "string" ? entryOfLine(each) : entryOfObject(each),
  );
  return entries.length === 0 && given.length > 0 ? undefined : entries;
}

function entryOfLine(text: string): readonly PlanEntry[] {
  const [, word = "", content] = line.exec(text.trim()) ?? [];
  return content === undefined ? [] : [entry(content, word)];
}

function entryOfObject(value: unknown): readonly PlanEntry[] {
  const { content, status } = Object(value) as { content?: unknown; status?: unknown };
  return typeof content === "string" && content.trim() !== "" ? [entry(content, String(status))] : [];
}

function entry(content: string, word: string): PlanEntry {
  const key = word.trim().toLowerCase().replaceAll(/[ -]+/g, "_");
  const status = Object.hasOwn(statuses, key) ? (statuses[key] ?? "pending") : "pending";
  return { content, status, priority: "medium" };
}
