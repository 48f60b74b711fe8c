import type { Interaction } from "../../../src/engine/interaction.ts";
import type { PromptBlock } from "../../../src/engine/message.ts";
import { noUsage } from "../../../src/engine/message.ts";
import type { PromptHandle, PromptOptions } from "../../../src/engine/session/sent-prompts.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import type { Dialect } from "../../../src/frontends/stream-jsonrpc/dialect.ts";
import type {
  Translator,
  TranslatorStart,
} from "../../../src/frontends/stream-jsonrpc/notifications/droid-notifications.ts";
import { createTranslator } from "../../../src/frontends/stream-jsonrpc/notifications/droid-notifications.ts";
import type { Outgoing } from "../../../src/frontends/stream-jsonrpc/outbox.ts";
import { answerOf } from "../../../src/frontends/stream-jsonrpc/requests/answers.ts";
import { notification } from "../../../src/protocol/droid/notifications.ts";
import { serverRequests } from "../../../src/protocol/droid/server-requests.ts";
import { settings } from "../../fakes/kit.ts";

export type Response = { readonly result?: unknown; readonly error?: unknown };

/** Sent messages: a notification unchanged, a request under its method. */
export type Sent = object;

export interface TranslatedSession {
  readonly sent: Sent[];
  prompt(text: string | readonly PromptBlock[], options?: PromptOptions & { requestId?: string }): PromptHandle;
  /** Messages sent since the last call. */
  take(): Sent[];
  types(): string[];
  stop(): Promise<void>;
}

/**
 * Follows a session through the translator, as a client that answers requests. Checks everything against the schema.
 */
export function listenTranslated(
  session: Session,
  options: Partial<TranslatorStart> & {
    readonly dialect?: Dialect;
    respond?(method: string): Response | undefined;
  } = {},
): TranslatedSession {
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const origins = new Map<string, { requestId?: string; clientMessageId?: string }>();
  const { respond, ...given } = options;
  const translator = createTranslator({
    dialect: "later",
    sessionId: session.id,
    settings: session.settings,
    lastMessageId: session.history().at(-1)?.id,
    usage: session.usage,
    waiting: session.waiting(),
    origin: (messageId) => origins.get(messageId),
    ...given,
  });
  const sent: Sent[] = [];
  const answer = (id: string, interaction: Interaction | undefined, response: Response | undefined): void => {
    if (interaction === undefined || interaction.kind === "tool" || response === undefined) return;
    attachment.answer(id, answerOf(interaction, response));
  };
  const done = (async () => {
    for await (const event of attachment.events()) {
      for (const outgoing of translator.translate(event)) {
        sent.push(checked(outgoing));
        if (outgoing.kind === "request") {
          answer(outgoing.id, session.openRequests().get(outgoing.id), respond?.(outgoing.method));
        }
      }
    }
  })();
  return {
    sent,
    prompt(text, { requestId, ...rest } = {}) {
      const content = typeof text === "string" ? [{ type: "text", text } as const] : text;
      const handle = session.prompt(content, rest);
      const named = rest.messageId === undefined ? {} : { clientMessageId: rest.messageId };
      if (requestId !== undefined) origins.set(handle.messageId, { requestId, ...named });
      return handle;
    },
    take: () => sent.splice(0),
    types: () => sent.map((entry) => ("type" in entry ? String(entry.type) : "request")),
    stop: async () => {
      attachment.detach();
      await done;
    },
  };
}

/** The outgoing message, once its schema has accepted all of it. */
export function checked(outgoing: Outgoing): Sent {
  if (outgoing.kind === "notification") return notification.parse(outgoing.notification);
  const { id, method, params } = outgoing;
  return { method, id, params: serverRequests[method].parse(params) };
}

export function entered(newState: string): Sent {
  return { type: "droid_working_state_changed", newState };
}

type MessageFacts = { readonly id: string; readonly parentId: string; readonly content: readonly object[] };

function created(role: string, { id, parentId, content }: MessageFacts, at: number): Sent {
  return { id, role, content, createdAt: at, updatedAt: at, parentId };
}

export function userMessage(facts: MessageFacts & { readonly requestId?: string; readonly at?: number }): Sent {
  const { requestId } = facts;
  const message = created("user", facts, facts.at ?? 1_000_000);
  return { type: "create_message", message, ...(requestId === undefined ? {} : { requestId }) };
}

export function assistantMessage(facts: MessageFacts & { readonly at?: number }): Sent {
  return { type: "create_message", message: created("assistant", facts, facts.at ?? 1_000_000) };
}

/** `calls` model calls, each with the fakes' usage. */
export function tokens(calls: number): object {
  return {
    inputTokens: 10 * calls,
    outputTokens: 5 * calls,
    cacheCreationTokens: 0,
    cacheReadTokens: 0,
    thinkingTokens: 0,
  };
}

export function usageTold(sessionId: string, calls: number): Sent {
  const lastCallTokenUsage = { inputTokens: 10, cacheReadTokens: 0, outputTokens: 5 };
  return { type: "session_token_usage_changed", sessionId, tokenUsage: tokens(calls), lastCallTokenUsage };
}

export function noUsageTold(sessionId: string, total = 0): Sent {
  return { type: "session_token_usage_changed", sessionId, tokenUsage: tokens(total) };
}

export function turnCompleted(
  reason: string,
  turnId: string,
  { calls = 1, total = calls, durationMs = 0 }: { calls?: number; total?: number; durationMs?: number } = {},
): Sent {
  const usage = { tokenUsage: tokens(calls), cumulativeTokenUsage: tokens(total) };
  return { type: "agent_turn_completed", reason, turnId, ...usage, durationMs };
}

export const text = (value: string) => ({ type: "text", text: value }) as const;

/** A translator at the start of an unused session. */
export function fresh(start: Partial<TranslatorStart> = {}): Translator {
  return createTranslator({
    dialect: "later",
    sessionId: "s",
    settings,
    lastMessageId: undefined,
    usage: noUsage,
    waiting: [],
    origin: () => undefined,
    ...start,
  });
}
