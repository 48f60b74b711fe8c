import type { AssistantMessage, Message } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import type { ModelRequest } from "../core/ports.ts";
import { defaultAttempts } from "./retry.ts";
import { isTriedAgain, leavesMessage, shownBy, wentOn } from "./script-attempts.ts";
import { regexParts, type ScriptConditions, type ScriptReply } from "./script-format.ts";
import { freshResults, latestToolResult, latestUserText, templateOf } from "./script-template.ts";

export interface Chooser {
  /** The reply for this request; it counts as used from now on. `undefined` when none is left. */
  choose(request: ModelRequest): ScriptReply | undefined;
}

/** What a reply may be conditioned on, at one point of a conversation. */
interface Situation {
  readonly system: string;
  readonly messages: readonly Message[];
  /** Unknown for calls of an earlier process. */
  readonly modelCall: number | undefined;
}

const longestJournal = 10_000;

/**
 * Which replies are used up is read from the conversation itself: the choice is made again for every assistant message in
 * it. So a session that is resumed in a new process goes on where it was, and many sessions can share one script. One message
 * may have used several replies, when they broke off and were tried again. What the conversation does not show (an error, an
 * interrupted silence) is remembered for this process only.
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

  /** Counts what was used before `messages[until]` was asked for. */
  const replay = (request: ModelRequest, until: number): number[] => {
    const used = replies.map(() => 0);
    const use = (index: number): void => {
      used[index] = (used[index] ?? 0) + 1;
    };
    for (let at = 1; at < until; at += 1) {
      const before = request.messages[at - 1];
      if (before === undefined || before.role === "assistant") continue;
      const known = journal.get(pointAt(before));
      if (known !== undefined) {
        known.forEach(use);
        continue;
      }
      const next = request.messages[at];
      const situation = { system: request.system, messages: request.messages.slice(0, at), modelCall: undefined };
      if (next?.role === "assistant") journal.set(pointAt(before), guess(used, use, situation, next));
      else if (next?.role === "user" && before.role === "user") guessFailure(used, use, situation);
    }
    return used;
  };

  /** What an earlier process must have used for a message: all that were tried again on the way to it. */
  const guess = (
    used: readonly number[],
    use: (index: number) => void,
    situation: Situation,
    seen: AssistantMessage,
  ): number[] => {
    const fill = templateOf(situation.messages);
    const picked: number[] = [];
    let shown = 0;
    for (let attempt = 1; attempt <= defaultAttempts; attempt += 1) {
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

  /** A prompt that was never answered: the errors it met are used up. */
  const guessFailure = (used: readonly number[], use: (index: number) => void, situation: Situation): void => {
    for (let attempt = 1; attempt <= defaultAttempts; attempt += 1) {
      const index = pick(used, situation);
      const reply = replies[index];
      if (reply === undefined || leavesMessage(reply) || isUnlimited(reply)) return;
      use(index);
      if (!isTriedAgain(reply, attempt)) return;
    }
  };

  return {
    choose(request) {
      calls += 1;
      const { messages } = request;
      const used = replay(request, messages.length);
      const point = pointAt(messages.at(-1));
      const before = journal.get(point) ?? [];
      for (const index of before) used[index] = (used[index] ?? 0) + 1;
      const index = pick(used, { system: request.system, messages, modelCall: calls });
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

/** A place in a conversation, by the message before it. Ids may come from clients, so the time is taken with them. */
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
    // A rule for a prompt must not answer its own tool's result, unless it says that it wants results.
    const aboutTools = when.after_tool !== undefined || when.tool_result !== undefined;
    if (!aboutTools && answeredByTools(messages)) return false;
    if (!matches(when.user, latestUserText(messages))) return false;
  }
  return when.contains === undefined || said(messages).some((text) => matches(when.contains ?? "", text));
}

function matches(pattern: string, text: string): boolean {
  const parts = regexParts(pattern);
  return parts === undefined ? text.includes(pattern) : new RegExp(parts.source, parts.flags).test(text);
}

function answeredByTools(messages: readonly Message[]): boolean {
  const user = messages.findLastIndex((message) => message.role === "user");
  return messages.slice(user + 1).some((message) => message.role === "tool");
}

function said(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => {
    if (message.role === "user") return [textOf(message.content)];
    return message.role === "tool" ? message.content.map((result) => result.text) : [];
  });
}
