import type { Notification } from "../../protocol/droid/notifications.ts";
import { type Fields, fieldsOf, numberOf, textOf } from "../../text/values.ts";
import { serversOf, signInEndOf, signInOf } from "../mcp.ts";
import type { Message, Settings, TokenUsage, TurnError, TurnEvent } from "../types.ts";
import { given, messageOf, noticeOf, textOfBlocks, usageOf } from "../wire.ts";
import { mergedSettings } from "../wire-settings.ts";
import { createCallBook } from "./call-book.ts";
import { forgetOldest, markOf } from "./repeats.ts";

/** A session's state as reported by the backend. */
export interface Known {
  settings: Settings;
  title: string | undefined;
  usage: TokenUsage | undefined;
}

/** Messages remembered to recognise copies, which arrive close together. */
const mostMessages = 1_000;
/** Messages that are streaming, or were abandoned and may still come. */
const mostShown = 64;
type Reader = (given: Fields) => Iterable<TurnEvent>;

/** The turn's end and `text` say the same. */
const silent: Reader = () => [];
/** Passed on as it came. */
const untranslated: Reader = (given) => [other(given)];

interface Shown {
  text: string;
  thought: boolean;
  /** The first half of a surrogate pair whose second half has not come, by kind. */
  readonly halves: { text: string; thinking: string };
  /** No longer awaited. */
  isGivenUp: boolean;
}

/**
 * Turns notifications into events, each reported once. Backends repeat messages, results, states and calls, restart
 * replies under the same id, and send unknown types; the events hide all of this.
 */
export function createTranslator(known: Known) {
  const messages = new Map<string, string>();
  /** Text shown of incomplete messages, by message, oldest first. */
  const shown = new Map<string, Shown>();
  const calls = createCallBook();
  let state: string | undefined;
  let serversMark: string | undefined;

  const shownOf = (messageId: string): Shown => {
    const fresh = { text: "", thought: false, halves: { text: "", thinking: "" }, isGivenUp: false };
    const now = shown.get(messageId) ?? fresh;
    shown.set(messageId, now);
    forgetOldest(shown, mostShown);
    return now;
  };

  function* delta(given: Fields, kind: "text" | "thinking"): Generator<TurnEvent> {
    const messageId = textOf(given.messageId) ?? "";
    const piece = textOf(given.textDelta) ?? "";
    // The message is complete already.
    if (piece === "" || messages.has(messageId)) return;
    const now = shownOf(messageId);
    const all = now.halves[kind] + piece;
    const text = isHalf(all.charCodeAt(all.length - 1)) ? all.slice(0, -1) : all;
    now.halves[kind] = all.slice(text.length);
    if (text === "") return;
    if (kind === "text") now.text += text;
    else now.thought = true;
    yield { type: kind, messageId, text };
  }

  function* created(given: Fields): Generator<TurnEvent> {
    const message = messageOf(given.message);
    if (message === undefined) {
      yield other(given);
      return;
    }
    const mark = markOf(JSON.stringify(message.content));
    const before = messages.get(message.id);
    if (before === mark) return;
    messages.set(message.id, mark);
    forgetOldest(messages, mostMessages);
    const text = textOfBlocks(message.content);
    if (message.role === "assistant") yield* completed(message, text, before !== undefined);
    yield { type: "message", message, text };
    for (const block of message.content) {
      if (block.type === "tool_use") yield* calls.isComplete(block, message.id);
    }
  }

  /** Whatever was not shown yet, so that the deltas add up to the message's text. */
  function* completed(message: Message, text: string, isChanged: boolean): Generator<TurnEvent> {
    const { id: messageId } = message;
    const before = shown.get(messageId);
    // Earlier messages were retried under another id.
    for (const [id, each] of shown) {
      if (id === messageId) break;
      each.isGivenUp = true;
    }
    shown.delete(messageId);
    if (before?.thought !== true && !isChanged) {
      for (const block of message.content) {
        if (block.type === "thinking" && block.thinking !== "") {
          yield { type: "thinking", messageId, text: block.thinking };
        }
      }
    }
    const start = before?.text ?? "";
    if (text === start && !isChanged) return;
    if (text.startsWith(start) && !isChanged) {
      yield { type: "text", messageId, text: text.slice(start.length) };
      return;
    }
    yield { type: "text_reset", messageId };
    if (text !== "") yield { type: "text", messageId, text };
  }

  /** Text shown so far does not belong to the new turn, but counts if its message still comes. */
  function giveUpShown(): void {
    for (const each of shown.values()) each.isGivenUp = true;
  }

  const readers: { readonly [Type in Notification["type"]]: Reader } = {
    assistant_text_delta: (given) => delta(given, "text"),
    assistant_text_complete: silent,
    thinking_text_delta: (given) => delta(given, "thinking"),
    thinking_text_complete: silent,
    create_message: created,
    tool_call: ({ toolUse }) => calls.isWritten(toolUse),
    tool_progress_update: (given) => calls.progress(given),
    tool_result: (given) => calls.result(given),
    droid_working_state_changed: ({ newState }) => {
      if (typeof newState !== "string" || newState === state) return [];
      state = newState;
      return [{ type: "state", state }];
    },
    session_token_usage_changed: ({ tokenUsage, lastCallTokenUsage }) => {
      const usage = usageOf(tokenUsage);
      if (usage === undefined) return [];
      known.usage = usage;
      return [given<TurnEvent & { type: "usage" }>({ type: "usage", usage, lastCall: usageOf(lastCallTokenUsage) })];
    },
    settings_updated: ({ settings: changed }) => {
      const settings = mergedSettings(changed, known.settings);
      if (JSON.stringify(settings) === JSON.stringify(known.settings)) return [];
      known.settings = settings;
      return [{ type: "settings", settings }];
    },
    session_title_updated: ({ title }) => {
      if (typeof title !== "string" || title === known.title) return [];
      known.title = title;
      return [{ type: "title", title }];
    },
    llm_retry: ({ attempt, reason }) => [
      { type: "retry", attempt: numberOf(attempt) ?? 0, reason: textOf(reason) ?? "unknown" },
    ],
    notice: (given) => [noticeOf(given) ?? other(given)],
    error: (given) => [errorEvent(given)],
    agent_turn_completed: silent,
    mcp_status_changed: (given) => {
      if (!Array.isArray(given.servers)) return [other(given)];
      const servers = serversOf(given.servers);
      const mark = markOf(JSON.stringify(servers));
      if (mark === serversMark) return [];
      serversMark = mark;
      return [{ type: "mcp_servers", servers }];
    },
    mcp_auth_required: (given) => [signInOf(given) ?? other(given)],
    mcp_auth_completed: (given) => [signInEndOf(given) ?? other(given)],
    permission_resolved: untranslated,
    session_compacted: untranslated,
    queued_messages_discarded: untranslated,
    tool_execution_heartbeat: untranslated,
  };

  return {
    take(given: Fields): readonly TurnEvent[] {
      const name = textOf(given.type) ?? "";
      const read = Object.hasOwn(readers, name) ? readers[name as Notification["type"]] : untranslated;
      return [...read(given)];
    },
    giveUpShown,
    /** A call that is about to be decided on is complete, even if its message has not come. */
    callIsComplete: (toolUse: unknown): readonly TurnEvent[] => [...calls.isComplete(toolUse)],
    /** Text of the last message that streamed and was not completed. */
    takeUnfinishedText(): string | undefined {
      const [last] = [...shown.values()].filter(({ text, isGivenUp }) => text !== "" && !isGivenUp).slice(-1);
      giveUpShown();
      return last?.text;
    },
  };
}

/** Whether a UTF-16 unit is the first of a pair. */
function isHalf(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff;
}

function other(given: Fields): TurnEvent {
  return { type: "other", name: textOf(given.type) ?? "", given };
}

function errorEvent({ message, errorType, error }: Fields): TurnEvent {
  const cause = fieldsOf(error);
  const code = textOf(cause.name);
  return {
    type: "error",
    error: given<TurnError>({
      message: textOf(message) ?? textOf(cause.message) ?? "The backend reported an error.",
      type: textOf(errorType) ?? code,
      code,
    }),
  };
}
