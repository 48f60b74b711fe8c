import type { NoticeSeverity, SessionUpdate } from "@agentclientprotocol/sdk";
import type { Session } from "../../../sdk/api.ts";
import {
  handleTurnEvent,
  ignored,
  type TurnEventHandlers,
  type TurnEventOf,
} from "../../../sdk/turns/turn-event-handlers.ts";
import type { ModelInfo, TokenUsage, TurnEvent } from "../../../sdk/types.ts";
import { askBackend } from "../ask-backend.ts";
import type { Client } from "../client.ts";
import { configOptions, modeOf } from "../modes.ts";
import type { Translator } from "../view/acp-updates.ts";
import { shownTitle } from "../view/shown-text.ts";
import { createServerNews } from "./server-news.ts";

/** Whether an event matters only while a turn runs. */
const isOfTurn: { readonly [Type in TurnEvent["type"]]: boolean } = {
  text: true,
  text_reset: true,
  thinking: true,
  message: false,
  tool_input: true,
  tool_call: true,
  tool_progress: true,
  tool_result: true,
  state: true,
  usage: false,
  settings: false,
  title: false,
  retry: false,
  notice: false,
  mcp_servers: false,
  sign_in_required: false,
  sign_in_ended: false,
  error: false,
  other: false,
  end: false,
};

/** Updates that can wait for a client that does not read. Beyond that, only the latest of each kind is kept. */
const mostUnread = 100;

interface NewsParts {
  readonly sessionId: string;
  readonly client: Client;
  readonly translator: Translator;
  readonly models: readonly ModelInfo[];
  /** Undefined while no backend runs. */
  session(): Session | undefined;
  isTurnRunning(): boolean;
  /** Servers have changed, and so perhaps the commands that they offer. */
  commandsMayHaveChanged(): void;
  /** Shows a notice to people if the client cannot. */
  warn(words: string): void;
}

export type SessionNews = ReturnType<typeof createSessionNews>;

/** Updates about a session for the client, in order. */
export function createSessionNews(parts: NewsParts) {
  const { client, sessionId } = parts;
  let told: Promise<void> = Promise.resolve();
  let shown = settingsNow();
  /** The model's window in tokens, if the backend reports it. */
  let windowSize: number | undefined;
  let isMeasuring = false;
  let unread = 0;
  const latest = new Map<SessionUpdate["sessionUpdate"], SessionUpdate>();
  let mayHaveBegun = false;

  function settingsNow() {
    const settings = parts.session()?.settings;
    if (settings === undefined) return undefined;
    return { mode: modeOf(settings), options: configOptions(settings, parts.models) };
  }

  function tell(updates: Iterable<SessionUpdate>): void {
    for (const update of updates) told = client.update(sessionId, update);
  }

  /** For updates outside of turns, where there is no back-pressure on the backend. */
  function tellLatest(update: SessionUpdate): void {
    if (unread >= mostUnread || latest.size > 0) {
      latest.set(update.sessionUpdate, update);
      return;
    }
    unread += 1;
    tell([update]);
    void told.then(() => {
      unread -= 1;
      if (unread > 0) return;
      const waiting = [...latest.values()];
      latest.clear();
      for (const each of waiting) tellLatest(each);
    });
  }

  function notice(severity: NoticeSeverity, title: string, description = ""): void {
    const more = description === "" ? {} : { description };
    if (client.capabilities.session?.notices) tellLatest({ sessionUpdate: "notice", severity, title, ...more });
    else parts.warn([title, description].join("\n").trim());
  }

  function tellSettings(): void {
    const now = settingsNow();
    if (now === undefined || JSON.stringify(now) === JSON.stringify(shown)) return;
    const before = shown;
    shown = now;
    if (now.mode !== before?.mode) tellLatest({ sessionUpdate: "current_mode_update", currentModeId: now.mode });
    tellLatest({ sessionUpdate: "config_option_update", configOptions: now.options });
    // Another model may have another window.
    measure().catch(() => undefined);
  }

  async function measure(): Promise<void> {
    const session = parts.session();
    if (isMeasuring || session === undefined) return;
    isMeasuring = true;
    const { used, limit } = await askBackend(session, "get_context_stats");
    isMeasuring = false;
    if (!isCount(limit) || limit === 0) return;
    windowSize = limit;
    const isBegun = session.history.length > 0 || session.usage !== undefined;
    if (isBegun) tellFilling(used, limit);
  }

  /** The next call begins with the last call's input and output. */
  function tellUsage(lastCall: TokenUsage | undefined): void {
    if (windowSize === undefined || lastCall === undefined) {
      measure().catch(() => undefined);
      return;
    }
    const { inputTokens, cacheReadTokens, cacheCreationTokens, outputTokens } = lastCall;
    const used = inputTokens + cacheReadTokens + cacheCreationTokens + outputTokens;
    tellFilling(used, windowSize);
  }

  function tellFilling(used: unknown, size: number): void {
    if (isCount(used)) tellLatest({ sessionUpdate: "usage_update", used, size });
  }

  /**
   * Backends report a call as running even right before they ask for permission. So it counts as started only when
   * something other than the question follows, at the latest a heartbeat.
   */
  function watchBeginning(event?: TurnEvent): void {
    if (event?.type === "state") mayHaveBegun = event.state === "executing_tool";
    else if (mayHaveBegun) {
      mayHaveBegun = false;
      tell(parts.translator.begin());
    }
  }

  const servers = createServerNews({
    client,
    sessionId,
    notice,
    cancelSignIn: async (server) => parts.session()?.mcp.cancelSignIn(server),
  });

  function seeOther({ name }: TurnEventOf<"other">): void {
    if (name === "tool_execution_heartbeat") watchBeginning();
  }

  const translated = (event: TurnEvent): void => tell(parts.translator.take(event));

  const handlers: TurnEventHandlers = {
    text: translated,
    text_reset: translated,
    thinking: translated,
    message: ignored,
    tool_input: translated,
    tool_call: translated,
    tool_progress: translated,
    tool_result: translated,
    // See `watchBeginning`.
    state: ignored,
    usage: ({ lastCall }) => tellUsage(lastCall),
    settings: tellSettings,
    title: ({ title }) =>
      tellLatest({
        sessionUpdate: "session_info_update",
        title: shownTitle(title),
        updatedAt: new Date().toISOString(),
      }),
    retry: ({ reason, attempt }) => notice("info", `Calling the model again (${reason}, retry ${attempt}).`),
    notice: ({ level, message }) => notice(level, message),
    mcp_servers: (event) => {
      servers.changed(event);
      parts.commandsMayHaveChanged();
    },
    sign_in_required: servers.signInRequired,
    sign_in_ended: servers.signInEnded,
    // Sent with the end of the turn.
    error: ignored,
    other: seeOther,
    end: ignored,
  };

  return {
    tell,
    /** Resolves when the client has room for more. */
    room: () => told,
    notice,
    /** Sends mode and options if they have changed. */
    tellSettings,
    /** Asks the backend for the window's size and sends how full it is, unless the session is empty. */
    measure,
    happened(event: TurnEvent) {
      if (isOfTurn[event.type]) {
        if (!parts.isTurnRunning()) return;
        watchBeginning(event);
      }
      handleTurnEvent(handlers, event);
    },
  };
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}
