import type { AssistantMessage, Message } from "../../engine/message.ts";
import { textOf } from "../../engine/message.ts";
import type { ModelRequest } from "../../engine/ports.ts";
import { isRetried, leavesMessage, maxAttempts, shownBy, wentOn } from "./script-attempts.ts";
import { regexParts, type ScriptConditions, type ScriptReply } from "./script-format.ts";
import { freshResults, latestToolResult, latestUserText, templateOf } from "./script-template.ts";

export interface Chooser {
  /** Picks the reply for this request and marks it used. `undefined` if none is left. */
  choose(request: ModelRequest): ScriptReply | undefined;
}

/** The inputs of a reply's conditions at one point of a conversation. */
interface Situation {
  readonly system: string;
  readonly messages: readonly Message[];
  /** `undefined` for calls of an earlier process. */
  readonly modelCall: number | undefined;
}

const longestJournal = 10_000;

/**
 * Replays the choices from the conversation, so that resumed sessions continue in place and sessions can share a script.
 * Errors and silent replies leave no message; a journal remembers them for this process only.
 */
export function createChooser(replies: readonly ScriptReply[]): Chooser {
  const journal = new Map<string, number[]>();
  let calls = 0;

  const pick = (used: readonly number[], situation: Situation): number => {
    const free = (index: number): boolean => (used[index] ?? 0) < limitOf(replies[index]);
    const byRule = replies.findIndex(
      (reply, index) => reply.when !== undefined && free(index) && holds(reply.when, situation),
    );
    return byRule >= 0 ? byRule : replies.findIndex((reply, index) => reply.when === undefined && free(index));
  };

  /** How often each reply was used in a conversation so far. */
  const replay = (system: string, messages: readonly Message[]): number[] => {
    const used = replies.map(() => 0);
    const use = (index: number): void => {
      used[index] = (used[index] ?? 0) + 1;
    };
    for (let at = 1; at < messages.length; at += 1) {
      const before = messages[at - 1];
      if (before === undefined || before.role === "assistant") continue;
      const known = journal.get(pointAt(before));
      if (known !== undefined) {
        known.forEach(use);
        continue;
      }
      const next = messages[at];
      const situation = { system, messages: messages.slice(0, at), modelCall: undefined };
      if (next?.role === "assistant") journal.set(pointAt(before), guess(used, use, situation, next));
      else if (next?.role === "user" && before.role === "user") guessFailure(used, use, situation);
    }
    return used;
  };

  /** The replies that an earlier process must have used for a message, including retried ones. */
  const guess = (
    used: readonly number[],
    use: (index: number) => void,
    situation: Situation,
    seen: AssistantMessage,
  ): number[] => {
    const fill = templateOf(situation.messages);
    const picked: number[] = [];
    let shown = 0;
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const index = pick(used, situation);
      const reply = replies[index];
      if (reply === undefined) break;
      use(index);
      picked.push(index);
      shown += shownBy(reply, fill);
      if (isUnlimited(reply) || !wentOn(seen, reply, attempt, shown)) break;
    }
    return picked;
  };

  /** Uses up the errors that left a prompt unanswered. */
  const guessFailure = (used: readonly number[], use: (index: number) => void, situation: Situation): void => {
    for (let attempt = 1; attempt <= maxAttempts; attempt += 1) {
      const index = pick(used, situation);
      const reply = replies[index];
      if (reply === undefined || leavesMessage(reply) || isUnlimited(reply)) return;
      use(index);
      if (!isRetried(reply, attempt)) return;
    }
  };

  return {
    choose(request) {
      calls += 1;
      const { system, messages } = request;
      const past = request.past?.() ?? messages;
      const used = replay(system, past);
      const point = pointAt(past.at(-1));
      const before = journal.get(point) ?? [];
      for (const index of before) used[index] = (used[index] ?? 0) + 1;
      const index = pick(used, { system, messages, modelCall: calls });
      if (index < 0) return undefined;
      journal.set(point, [...before, index]);
      for (const oldest of journal.keys()) {
        if (journal.size <= longestJournal) break;
        journal.delete(oldest);
      }
      return replies[index];
    },
  };
}

/** Identifies a point by the message before it. Clients can repeat ids, so the time is included. */
function pointAt(message: Message | undefined): string {
  return message === undefined ? "" : `${message.id}@${message.createdAt}`;
}

function limitOf(reply: ScriptReply | undefined): number {
  if (reply?.times === "any") return Number.POSITIVE_INFINITY;
  return reply?.times ?? 1;
}

function isUnlimited(reply: ScriptReply | undefined): boolean {
  return reply?.times === "any";
}

function holds(when: ScriptConditions, situation: Situation): boolean {
  const { messages } = situation;
  const results = freshResults(messages);
  if (when.model_call !== undefined && when.model_call !== situation.modelCall) return false;
  if (when.system !== undefined && !matches(when.system, situation.system)) return false;
  if (when.after_tool !== undefined && !results.some((result) => result.name === when.after_tool)) return false;
  if (
    when.tool_result !== undefined &&
    (results.length === 0 || !matches(when.tool_result, latestToolResult(messages)))
  )
    return false;
  if (when.user !== undefined) {
    // A rule for a prompt must not match again after its own tool call, unless it also has a tool condition.
    const hasToolCondition = when.after_tool !== undefined || when.tool_result !== undefined;
    if (!hasToolCondition && hasResults(messages)) return false;
    if (!matches(when.user, latestUserText(messages))) return false;
  }
  return when.contains === undefined || said(messages).some((text) => matches(when.contains ?? "", text));
}

function matches(pattern: string, text: string): boolean {
  const parts = regexParts(pattern);
  return parts === undefined ? text.includes(pattern) : new RegExp(parts.source, parts.flags).test(text);
}

function hasResults(messages: readonly Message[]): boolean {
  const user = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(user + 1).some((message) => message.role === "tool");
}

function said(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === "user") return [textOf(message.content)];
    return message.role === "tool" ? message.content.map((result) => result.text) : [];
  });
}
