import type { EngineEvent, EventOf, EventType, SettingsChanges } from "../../../engine/event.ts";
import { type EventHandlers, handleEvent, ignored } from "../../../engine/event-handlers.ts";
import type { Interaction } from "../../../engine/interaction.ts";
import { changeSettings, type SessionState } from "../../../engine/log/history.ts";
import type { PromptBlock, Usage } from "../../../engine/message.ts";
import { noUsage, textOf } from "../../../engine/message.ts";
import type { ServerState } from "../../../engine/servers/server-state.ts";
import type { SessionSettings } from "../../../engine/settings.ts";
import type { WireSettings } from "../../../protocol/droid/settings.ts";
import type { TurnEndReason } from "../../../protocol/droid/words.ts";
import { type Dialect, type Vocabulary, vocabularyOf } from "../dialect.ts";
import { clearedSettings, wireSettings } from "../methods/droid-settings.ts";
import type { ToolFilters } from "../methods/tool-filters.ts";
import type { Outgoing } from "../outbox.ts";
import { createOutbox } from "../outbox.ts";
import { createOpenRequests } from "../requests/open-requests.ts";
import { createServerNews } from "./server-news.ts";
import { createStreamedReply } from "./streamed-reply.ts";
import { retryReason, turnEndReason, turnError } from "./turn-end.ts";
import { isError, resultContent, wireMessage, wireUsage } from "./wire-messages.ts";

interface WaitingPrompt {
  readonly content: readonly PromptBlock[];
  /** When the prompt was accepted. */
  readonly at?: number;
}

/** A session as a client knows it, or is about to, when it begins to listen. */
export interface TranslatorStart {
  readonly dialect: Dialect;
  readonly vocabulary?: Vocabulary;
  /** Whether commands run in a sandbox with these settings; absent or `undefined` without one. */
  contains?(settings: SessionSettings): boolean | undefined;
  readonly sessionId: string;
  readonly settings: SessionSettings;
  filters?(): ToolFilters;
  readonly lastMessageId: string | undefined;
  readonly usage: Usage;
  readonly waiting: readonly (WaitingPrompt & { readonly messageId: string })[];
  /** The turn under way: its id for clients, the reply so far, running calls, and open requests. */
  readonly turn?: SessionState["turn"];
  readonly turnId?: string;
  readonly partial?: SessionState["partial"];
  readonly isCalling?: boolean;
  readonly isCompacting?: boolean;
  readonly openRequests?: ReadonlyMap<string, Interaction>;
  /** Its servers, reported from `openServers` on; absent: from the start. */
  readonly servers?: readonly ServerState[];
  readonly canSignIn?: boolean;
  /** A prompt's origin. Not used after the prompt was taken or discarded. */
  origin(messageId: string): { readonly requestId?: string; readonly clientMessageId?: string } | undefined;
}

export type Translator = ReturnType<typeof createTranslator>;

/** Translates engine events into messages. Holds what later events refer to. */
export function createTranslator(start: TranslatorStart) {
  const { dialect, sessionId, origin, vocabulary = vocabularyOf("early", undefined) } = start;
  const outbox = createOutbox();
  const { tell, enter } = outbox;
  const prompts = new Map<string, WaitingPrompt>(start.waiting.map((prompt) => [prompt.messageId, prompt]));
  const reply = createStreamedReply(outbox);
  let { settings, lastMessageId, usage } = start;
  const shown = (): WireSettings => wireSettings(settings, dialect, start.filters?.(), start.contains?.(settings));
  let toldSettings = JSON.stringify(shown());
  let { turnId } = start;
  /** A prompt that joins a turn under way does not rename it. */
  let isUnderWay = turnId !== undefined && (start.turn === undefined || start.turn.hasReply === true);
  let isInTurn = start.turn !== undefined;
  let isUsageTold = false;
  /** Interrupts that are not done yet. */
  let holds = 0;
  let heldEnd: (() => void) | undefined;

  const tellSettings = (): void => {
    const wire = shown();
    const text = JSON.stringify(wire);
    if (text === toldSettings) return;
    const gone = clearedSettings(JSON.parse(toldSettings) as WireSettings, wire);
    toldSettings = text;
    tell({ type: "settings_updated", settings: "interactionMode" in wire ? { ...wire, ...gone } : wire });
  };

  const change = (changes: SettingsChanges): void => {
    settings = changeSettings(settings, changes);
    tellSettings();
  };

  const requests = createOpenRequests({ dialect, vocabulary, outbox, already: start.openRequests, change });

  const serverNews = createServerNews(outbox, { servers: start.servers, canSignIn: start.canSignIn ?? true });

  const tellUsage = (call?: Usage): void => {
    isUsageTold = true;
    const told = { type: "session_token_usage_changed", sessionId, tokenUsage: wireUsage(usage) } as const;
    const last = call && { inputTokens: call.input, cacheReadTokens: call.cacheRead, outputTokens: call.output };
    tell(last === undefined ? told : { ...told, lastCallTokenUsage: last });
  };

  const completeTurn = (reason: TurnEndReason, id: string, spent: Usage, durationMs: number): void => {
    const tokens = { tokenUsage: wireUsage(spent), cumulativeTokenUsage: wireUsage(usage) };
    tell({ type: "agent_turn_completed", reason, turnId: id, ...tokens, durationMs });
  };

  const takePrompt = ({ messageId: id, at }: EventOf<"prompt.taken">): void => {
    const prompt = prompts.get(id);
    const { requestId, clientMessageId } = origin(id) ?? {};
    prompts.delete(id);
    if (!isUnderWay) turnId = clientMessageId ?? id;
    if (prompt !== undefined) {
      const own = { id, role: "user", content: prompt.content, createdAt: prompt.at ?? at } as const;
      const message = wireMessage(own, lastMessageId);
      tell({ type: "create_message", message, ...(requestId === undefined ? {} : { requestId }) });
    }
    lastMessageId = id;
  };

  const discardPrompt = (messageId: string): void => {
    const { requestId, clientMessageId } = origin(messageId) ?? {};
    const text = textOf(prompts.get(messageId)?.content ?? []);
    prompts.delete(messageId);
    tell({ type: "queued_messages_discarded", text, ...(requestId === undefined ? {} : { requestId }) });
    if (clientMessageId !== undefined) completeTurn("cancelled", clientMessageId, noUsage, 0);
  };

  /** If a turn takes up none of several prompts, the last one names it, unless it has a name already. */
  const nameOf = ({ turnId: own, untaken = [] }: EventOf<"turn.ended">): string => {
    const named = turnId === undefined ? untaken.at(-1) : undefined;
    for (const messageId of untaken) if (messageId !== named) discardPrompt(messageId);
    if (named === undefined) return turnId ?? own;
    prompts.delete(named);
    return origin(named)?.clientMessageId ?? named;
  };

  const tellEnd = (): void => {
    heldEnd?.();
    heldEnd = undefined;
  };

  const endTurn = (event: EventOf<"turn.ended">): void => {
    reply.abandon(event.at);
    isInTurn = false;
    const id = nameOf(event);
    const isTold = isUsageTold;
    heldEnd = () => {
      if (!isTold) tellUsage();
      const error = turnError(event.reason, event.failure, event.at);
      if (error !== undefined) tell(error);
      completeTurn(turnEndReason(event.reason, event.failure), id, event.usage, event.durationMs);
      enter("idle");
    };
    if (holds === 0) tellEnd();
    turnId = undefined;
    isUnderWay = false;
    isUsageTold = false;
    requests.clear();
  };

  /** Fast path: every piece of an answer has a delta. */
  const handlers: EventHandlers<void, Exclude<EventType, "message.delta">> = {
    "session.opened": ignored,
    "session.updated": ({ changes }) => change(changes),
    "session.titled": ({ title }) => tell({ type: "session_title_updated", title }),
    "prompt.accepted": ({ messageId, content, at }) => void prompts.set(messageId, { content, at }),
    "prompt.discarded": ({ messageId }) => discardPrompt(messageId),
    "prompt.queued": ignored,
    "prompt.taken": takePrompt,
    "turn.started": () => {
      tellEnd();
      isInTurn = true;
      enter("streaming_assistant_message");
    },
    "turn.ended": endTurn,
    "model.called": () => {
      isUnderWay = true;
      reply.begin();
      enter("streaming_assistant_message");
    },
    "message.started": ignored,
    "message.checkpoint": ignored,
    "message.ended": ({ message, at }) => {
      isUnderWay = true;
      if (reply.end(message, lastMessageId, at)) lastMessageId = message.id;
      isUsageTold = false;
    },
    "usage.updated": ({ call, total }) => {
      usage = total;
      tellUsage(call);
    },
    "retry.scheduled": ({ attempt, failure, model, at }) => {
      reply.restart();
      tell({ type: "llm_retry", attempt, reason: retryReason(failure) });
      if (model === undefined) return;
      const message = `${failure.message} Using ${model} instead.`;
      tell({ type: "notice", level: "warning", message, timestamp: new Date(at).toISOString() });
    },
    "compaction.started": () => enter("compacting_conversation"),
    "context.compacted": ({ summary }) => {
      if (summary === undefined) return;
      const { message, through: visibleBoundaryMessageId, removed: removedCount } = summary;
      tell({ type: "session_compacted", summaryId: message.id, removedCount, visibleBoundaryMessageId });
    },
    "servers.changed": serverNews.changed,
    "sign-in.required": serverNews.signInRequired,
    "sign-in.ended": serverNews.signInEnded,
    "compaction.ended": () => enter(isInTurn ? "streaming_assistant_message" : "idle"),
    notice: ({ level, text: message, at }) =>
      tell({ type: "notice", level, message, timestamp: new Date(at).toISOString() }),
    "tool.input": reply.toolInput,
    "tool.started": () => {
      if (requests.size === 0) enter("executing_tool");
    },
    "tool.progress": ({ callId: toolUseId, name: toolName, text, at: timestamp }) =>
      tell({ type: "tool_progress_update", toolUseId, toolName, update: { type: "status", text, timestamp } }),
    "tool.heartbeat": ({ callId: toolUseId, name: toolName }) =>
      tell({ type: "tool_execution_heartbeat", toolUseId, toolName }),
    "tool.ended": ({ messageId, result }) => {
      lastMessageId = messageId;
      const told = { type: "tool_result", toolUseId: result.callId, messageId } as const;
      tell({ ...told, content: resultContent(result), isError: isError(result) });
    },
    "request.opened": ({ requestId, interaction }) => requests.open(requestId, interaction),
    "request.closed": requests.close,
    "session.closed": ignored,
  };

  return {
    /** The state of the turn under way and its reply's text so far; later deltas continue from there. */
    underWay(): readonly Outgoing[] {
      if (start.turn === undefined && start.isCompacting !== true) return [];
      if (requests.size > 0) enter("waiting_for_tool_confirmation");
      else if (start.isCompacting === true) enter("compacting_conversation");
      else enter(start.isCalling === true ? "executing_tool" : "streaming_assistant_message");
      return [...outbox.take(), ...reply.join(start.partial)];
    },
    translate(event: EngineEvent): readonly Outgoing[] {
      if (event.type === "message.delta") return reply.delta(event);
      handleEvent(handlers, event);
      return outbox.take();
    },
    /** The status of all servers, and what has happened to them. */
    openServers(): readonly Outgoing[] {
      serverNews.open();
      return outbox.take();
    },
    /** Begins an interrupt: the turn's end waits until all dropped prompts are reported, or another turn begins. */
    holdEnd() {
      holds += 1;
    },
    releaseEnd(): readonly Outgoing[] {
      holds -= 1;
      if (holds === 0) tellEnd();
      return outbox.take();
    },
    /** Sends the settings if the client knows other ones: filters change without an event. */
    settingsChanged(): readonly Outgoing[] {
      tellSettings();
      return outbox.take();
    },
  };
}
