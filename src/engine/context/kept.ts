import type { SessionState } from "../log/history.ts";
import {
  callsOf,
  type Message,
  remindersOf,
  type ToolCallBlock,
  type ToolResultBlock,
  type UserMessage,
} from "../message.ts";
import { withinTokens } from "./prune.ts";
import { textTokens } from "./tokens.ts";

/** The part of a tool's latest call that survives compaction; see `Tool.kept`. */
export type KeptOfCall = (call: ToolCallBlock, result: ToolResultBlock) => string | undefined;

export interface Kept {
  readonly texts: readonly string[];
  /** Some were cut, because they took too much room. */
  readonly isShortened: boolean;
}

/**
 * The texts that the model keeps verbatim when messages leave its view, oldest first: instructions, the task's prompts,
 * the plan, open todos, and names of changed files. Excludes what `rest` still shows.
 */
export function keptTexts(
  state: SessionState,
  rest: readonly Message[],
  { instructions, ofCall }: { readonly instructions: readonly string[]; readonly ofCall: KeptOfCall },
): readonly string[] {
  const inView = new Set(rest.map(({ id }) => id));
  const told = new Set(rest.flatMap(remindersOf));
  const prompts = state.task
    .filter((id) => !inView.has(id))
    .flatMap((id) => state.messages.findLast((message): message is UserMessage => message.id === id) ?? []);
  return [
    ...instructions.filter((text) => !told.has(text)),
    ...prompts.map((prompt) => `What the user asked for, word for word:\n\n${promptText(prompt)}`),
    ...latestOfTools(state.messages, inView, ofCall),
    ...changedFiles(state),
  ];
}

/** Cuts texts to this many tokens in total, the oldest first; each keeps at least its start. */
export function shortenOldest(texts: readonly string[], most: number): Kept {
  let over = texts.reduce((sum, text) => sum + textTokens(text), 0) - most;
  if (over <= 0) return { texts, isShortened: false };
  const least = Math.min(100, Math.floor(most / Math.max(1, texts.length)));
  const cut = texts.map((text) => {
    const tokens = textTokens(text);
    if (over <= 0 || tokens <= least) return text;
    const shorter = withinTokens(text, Math.max(least, tokens - over));
    over -= tokens - textTokens(shorter);
    return shorter;
  });
  return { texts: cut, isShortened: true };
}

/** Reminders that fit beside a prompt, cut if need be; none where there is room for hardly a sentence each. */
export function remindersWithin(texts: readonly string[], room: number): readonly string[] {
  const most = room - texts.length * reminderFrame;
  return most < texts.length * leastReminder ? [] : shortenOldest(texts, most).texts;
}

/** Tokens of the tags around a reminder, and of one worth sending. */
const reminderFrame = 20;
const leastReminder = 50;

function promptText({ content }: UserMessage): string {
  const parts = content.flatMap((block) => {
    if (block.type === "text") return [block.text];
    if (block.type === "document" && block.encoding === "text") return [`${block.name ?? "File"}:\n${block.data}`];
    return block.type === "reminder" ? [] : [`(${block.type === "image" ? "an image" : "a file"} was attached)`];
  });
  return parts.join("\n\n");
}

function latestOfTools(
  messages: readonly Message[],
  inView: ReadonlySet<string>,
  ofCall: KeptOfCall,
): readonly string[] {
  const found = new Map<string, string | undefined>();
  for (let at = messages.length - 1; at > 0; at -= 1) {
    const [before, message] = [messages[at - 1], messages[at]];
    if (message?.role !== "tool" || before?.role !== "assistant") continue;
    for (const result of [...message.content].reverse()) {
      if (found.has(result.name)) continue;
      const call = callsOf(before).find(({ id }) => id === result.callId);
      const text = call && ofCall(call, result);
      if (text !== undefined) found.set(result.name, inView.has(message.id) ? undefined : text);
    }
  }
  return [...found.values()].flatMap((text) => text ?? []).reverse();
}

const mostFiles = 200;

function changedFiles({ changed, cwd }: SessionState): readonly string[] {
  if (changed.size === 0) return [];
  const names = [...changed]
    .slice(-mostFiles)
    .map((path) => (path.startsWith(`${cwd}/`) ? path.slice(cwd.length + 1) : path));
  const more = changed.size > mostFiles ? `\n(and ${changed.size - mostFiles} before them)` : "";
  return [`Files that you have changed so far:\n${names.join("\n")}${more}`];
}
