import type { AssistantMessage, Message } from "../core/message.ts";
import { textOf } from "../core/message.ts";
import type { ModelRequest } from "../core/ports.ts";
import { regexParts, type ScriptConditions, type ScriptReply } from "./script-format.ts";

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
 * it. So a session that is resumed in a new process goes on where it was, and many sessions can share one script. What
 * leaves no message (an error, an interrupted silence) is remembered for this process only.
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

  /** In an earlier process replies that leave nothing may have come before the one that is seen. */
  const guess = (
    used: readonly number[],
    use: (index: number) => void,
    situation: Situation,
    seen: AssistantMessage,
  ): number[] => {
    const picked: number[] = [];
    for (let round = 0; round <= replies.length; round += 1) {
      const index = pick(used, situation);
      if (index < 0) break;
      use(index);
      picked.push(index);
      if (seen.content.length === 0 || leavesMessage(replies[index]) || isUnlimited(replies[index])) break;
    }
    return picked;
  };

  /** A prompt that was never answered: the errors it met are used up. */
  const guessFailure = (used: readonly number[], use: (index: number) => void, situation: Situation): void => {
    for (let attempt = 0; attempt < 4; attempt += 1) {
      const index = pick(used, situation);
      const reply = replies[index];
      if (reply === undefined || leavesMessage(reply) || isUnlimited(reply)) return;
      use(index);
      if (!triedAgain(reply)) return;
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

function leavesMessage(reply: ScriptReply | undefined): boolean {
  return (
    reply !== undefined &&
    [reply.text, reply.reasoning, reply.repeat_text, reply.error === undefined ? reply.tool_calls : undefined].some(
      (part) => part !== undefined,
    )
  );
}

function triedAgain(reply: ScriptReply): boolean {
  if (reply.error === undefined) return false;
  if (typeof reply.error === "string") return true;
  return [408, 409, 425, 429].includes(reply.error.status) || reply.error.status >= 500;
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

export function latestUserText(messages: readonly Message[]): string {
  const user = messages.findLast((message) => message.role === "user");
  return user === undefined ? "" : textOf(user.content);
}

/** The results that the model has not answered yet, as one text. */
export function latestToolResult(messages: readonly Message[]): string {
  return freshResults(messages)
    .map((result) => result.text)
    .join("\n");
}

function freshResults(messages: readonly Message[]): Extract<Message, { role: "tool" }>["content"] {
  const last = messages.at(-1);
  return last?.role === "tool" ? last.content : [];
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
