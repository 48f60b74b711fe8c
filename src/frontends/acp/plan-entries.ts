import type { PlanEntry } from "@agentclientprotocol/sdk";

const statuses: Readonly<Record<string, PlanEntry["status"]>> = {
  pending: "pending",
  in_progress: "in_progress",
  completed: "completed",
};

const line = /^\s*(?:\d+[.)]|[-*])?\s*\[\s*([a-z_ ]+|x|X|)\s*\]\s*(.+?)\s*$/;

/** The tasks of a TodoWrite: lines such as `1. [in_progress] Do it`, or a list of objects. Lines that are none are passed over. */
export function planEntries(todos: unknown): PlanEntry[] {
  if (typeof todos === "string") return todos.split("\n").flatMap(entryOfLine);
  return Array.isArray(todos) ? todos.flatMap(entryOfObject) : [];
}

function entryOfLine(text: string): readonly PlanEntry[] {
  const [, word = "", content] = line.exec(text) ?? [];
  return content === undefined ? [] : [entry(content, word)];
}

function entryOfObject(value: unknown): readonly PlanEntry[] {
  const { content, status } = Object(value) as { content?: unknown; status?: unknown };
  return typeof content === "string" && content.trim() !== "" ? [entry(content, String(status))] : [];
}

function entry(content: string, word: string): PlanEntry {
  const key = word.toLowerCase().replaceAll(" ", "_");
  const status = key === "x" ? "completed" : Object.hasOwn(statuses, key) ? (statuses[key] ?? "pending") : "pending";
  return { content, status, priority: "medium" };
}
