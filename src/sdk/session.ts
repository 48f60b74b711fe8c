import { errorCodes } from "../protocol/droid/version.ts";
import { errorMessage, type Fields, fieldsOf, listOf, textOf } from "../text/values.ts";
import type { CallOptions, CommonOptions, Connection, Session, SettingsChange } from "./api.ts";
import { callOptions, checkCall, checkSettings, checkText, promptOptions } from "./check-options.ts";
import { defaultLimits, type Limits, requestLimit } from "./connection/limits.ts";
import { Peer, type PeerEvents } from "./connection/peer.ts";
import { BusyError, methodWords, RequestError } from "./errors.ts";
import { createInteractions, mostCalls } from "./interactions.ts";
import { createMcp } from "./mcp.ts";
import { Prompts } from "./turns/prompts.ts";
import { createTranslator, type Known } from "./turns/sdk-events.ts";
import type { Message, TurnEvent } from "./types.ts";
import { messageOf, modelsOf, requestIdOf, toolsOf, usageOf } from "./wire.ts";
import { inOlderWords, mergedSettings } from "./wire-settings.ts";

/** How a session is opened. */
export interface Opening {
  /** The session's id, if it is known before. */
  readonly id?: string;
  open(
    request: (method: string, params: object) => Promise<Fields>,
  ): Promise<{ readonly id: string; readonly told: Fields }>;
  /** Opens another session the same way, over another connection. */
  another(id: string, settings: SettingsChange): Promise<Session>;
}

/** The state of a session as known so far. */
interface State {
  /** Unknown until a new session is open. */
  sessionId: string | undefined;
  /** Names that the backend can use for this session. */
  readonly ownIds: Set<string>;
  readonly known: Known;
  /** Counts the settings that the backend has reported. */
  settingsTold: number;
}

/** Connects the prompts, the interactions and the peer of a session with each other and with the caller's handlers. */
function wireUp(connection: Connection, options: CommonOptions, limits: Limits, state: State) {
  const translator = createTranslator(state.known);
  const isOwn = (id: string): boolean => state.ownIds.size === 0 || state.ownIds.has(id);

  const warning = (words: string): void => safely("onWarning", () => options.onWarning?.(words));
  const tell = (events: readonly TurnEvent[]): void => {
    for (const event of events) {
      // Callers without an event handler still get warnings.
      if (options.onEvent === undefined && event.type === "notice" && event.level === "warning") warning(event.message);
      safely("onEvent", () => options.onEvent?.(event, state.sessionId), warning);
    }
  };
  const happened = (notification: Fields, events: readonly TurnEvent[], characters: number): void => {
    tell(events);
    prompts.see(notification, events, characters);
  };

  const prompts = new Prompts({
    limits,
    whenBusy: options.whenBusy ?? "queue",
    request: (method, params, how) => peer.request(method, params, how),
    takeUnfinishedText: () => translator.takeUnfinishedText(),
    isAnswerDue: () => interactions.isAsked,
    ended: (event) => tell([event]),
    begins: () => translator.giveUpShown(),
    over: () => interactions.closeAll(),
  });
  const interactions = createInteractions({
    handlers: options,
    answer: (id, result) => {
      peer.answer(id, result);
      prompts.noteAnswer();
    },
    refuse: (id, method) => {
      warning(`The backend asked for an unknown method: ${method}`);
      peer.refuse(id, method);
    },
    refused: () => prompts.noteRefusal(),
    isUnwanted: () => prompts.isUnwanted,
    warning,
  });
  const events: PeerEvents = {
    notification(notification, characters) {
      if (notification.type === "settings_updated") state.settingsTold += 1;
      if (notification.type === "permission_resolved") interactions.closeOne(requestIdOf(notification.requestId) ?? "");
      happened(notification, translator.take(notification), characters);
    },
    request(id, method, params, characters) {
      if (typeof params.sessionId === "string" && !isOwn(params.sessionId)) {
        warning(`Declined a request of another session: ${params.sessionId}`);
        interactions.deny(id, method);
        return;
      }
      const calls = listOf(params.toolUses);
      for (const each of calls.length > mostCalls ? [] : calls) {
        // A fault here must not leave the request unanswered.
        const tellCall = (): void => happened({}, translator.callIsComplete(fieldsOf(each).toolUse), characters);
        safely("A request", tellCall, warning);
      }
      if (method === "droid.request_permission" || method === "droid.ask_user") prompts.noteQuestion();
      interactions.take(id, method, params);
    },
    strayError(error, about) {
      if (!prompts.strayError(error, about?.id))
        warning(`${about === undefined ? "The backend" : methodWords(about.method)}: ${error.message}`);
    },
    isOwn,
    hold: () => prompts.hold(),
    warning,
    gone(error) {
      interactions.closeAll();
      prompts.fail(error);
    },
  };
  const peer: Peer = new Peer(connection, events, { graceMs: limits.grace });
  return { peer, prompts, interactions };
}

/** A session over a connection. If it cannot be opened, the connection is closed. */
export async function openSession(connection: Connection, options: CommonOptions, opening: Opening): Promise<Session> {
  const limits: Limits = { ...defaultLimits, ...options.timeouts };
  const known: Known = { settings: mergedSettings({}), title: undefined, usage: undefined };
  const ownIds = new Set(opening.id === undefined ? [] : [opening.id]);
  const state: State = { sessionId: opening.id, ownIds, known, settingsTold: 0 };
  const { peer, prompts, interactions } = wireUp(connection, options, limits, state);

  const request = (method: string, params: object, { signal }: CallOptions = {}, timeoutMs = limits.request) =>
    peer.request(method, params, { timeoutMs, signal });

  async function change(wishes: SettingsChange, how: CallOptions = {}): Promise<void> {
    const before = state.settingsTold;
    const method = "droid.update_session_settings";
    await request(method, wishes, how).catch(async (error: unknown) => {
      const older = isFormat(error) ? inOlderWords({ ...wishes }) : undefined;
      if (older === undefined) throw error;
      await request(method, older, how);
    });
    // The backend has the last word.
    if (state.settingsTold === before) known.settings = mergedSettings(wishes, known.settings);
  }

  async function open() {
    const { id, told } = await opening.open((method, params) => request(method, params, options, limits.open));
    state.sessionId = id;
    ownIds.add(id);
    const session = fieldsOf(told.session);
    known.settings = mergedSettings(told.settings, known.settings);
    // Earlier notifications may have been about another session.
    known.title = textOf(session.title) ?? known.title;
    known.usage = usageOf(told.tokenUsage) ?? known.usage;
    const history = listOf(session.messages)
      .map(messageOf)
      .filter((message): message is Message => message !== undefined);
    if (told.isAgentLoopInProgress === true) prompts.noteForeignTurn();
    for (const [key, method] of pending) {
      for (const each of listOf(told[key])) {
        interactions.take(requestIdOf(fieldsOf(each).requestId) ?? "", method, fieldsOf(each));
      }
    }
    return { id, told, history };
  }

  const { id, told, history } = await open().catch(async (error: unknown) => {
    await peer.close();
    throw error;
  });

  return {
    id,
    cwd: textOf(told.cwd),
    history,
    ended: connection.ended,
    get title() {
      return known.title;
    },
    get settings() {
      return known.settings;
    },
    get usage() {
      return known.usage;
    },
    get isBusy() {
      return prompts.isBusy;
    },
    stream: (prompt, how) => prompts.stream(prompt, promptOptions("stream", how)),
    // A separate promise, so that ignoring its rejection is reported.
    send: async (prompt, how) => prompts.stream(prompt, promptOptions("send", how)).result,
    interrupt: async (how) => prompts.interrupt(callOptions("interrupt", how)),
    async updateSettings(wishes, how) {
      checkSettings(wishes);
      await change(wishes, callOptions("updateSettings", how));
      return known.settings;
    },
    async rename(title, how) {
      checkText("A title", title);
      await request("droid.rename_session", { title }, callOptions("rename", how));
      known.title = title;
    },
    async fork(options) {
      const { title, ...how } = callOptions("fork", options);
      if (prompts.isBusy) throw new BusyError("Cannot fork while a turn is running. Wait for its end.");
      const { newSessionId } = await request("droid.fork_session", title === undefined ? {} : { title }, how);
      if (typeof newSessionId !== "string") throw new RequestError("droid.fork_session", noFork);
      // Some backends switch to the copy without a notification.
      const { modelId, interactionMode: mode, autonomyLevel } = known.settings;
      const wishes: SettingsChange = { modelId, autonomyLevel, interactionMode: mode === "spec" ? "spec" : "auto" };
      const { settings } = await request("droid.load_session", { sessionId: id }, how, limits.open);
      known.settings = mergedSettings(settings, known.settings);
      await change(wishes, how);
      return opening.another(newSessionId, wishes);
    },
    async models(options) {
      const { includeDisabled = false, ...how } = callOptions("models", options);
      try {
        return modelsOf((await request("droid.list_models", includeDisabled ? { includeDisabled } : {}, how)).models);
      } catch (error) {
        if (!(error instanceof RequestError)) throw error;
        return modelsOf(told.availableModels);
      }
    },
    tools: async (how) => toolsOf((await request("droid.list_tools", {}, callOptions("tools", how))).tools),
    mcp: createMcp((method, params, how) => request(method, params, how, requestLimit(limits, method))),
    async call(method, params = {}, how = {}) {
      checkCall(method, params);
      return call(method.includes(".") ? method : `droid.${method}`, params, callOptions("call", how));
    },
    close,
    [Symbol.asyncDispose]: close,
  };

  /** A prompt sent this way has a foreign turn, and ours wait for its end. */
  async function call(method: string, params: object, { signal }: CallOptions = {}): Promise<Fields> {
    const isPrompt = method === "droid.add_user_message";
    const isForeign = isPrompt && !prompts.isBusy;
    if (isPrompt) prompts.noteOther(textOf((params as Fields).messageId));
    if (isForeign) prompts.noteForeignTurn();
    const onSent = (id: string): void => (isPrompt ? prompts.noteOther(id) : undefined);
    // It must overtake the compaction that it is for.
    const isUrgent = method === "droid.interrupt_session";
    const how = { timeoutMs: requestLimit(limits, method), signal, onSent, isUrgent };
    try {
      const result = await peer.request(method, params, how);
      // Some methods continue under another id.
      if (typeof result.newSessionId === "string") ownIds.add(result.newSessionId);
      return result;
    } catch (error) {
      if (isForeign) prompts.forgetForeignTurn();
      throw error;
    }
  }

  /** Interrupts a running turn, which nothing would wait for. */
  function close(): Promise<void> {
    return peer.close(prompts.isBusy ? "droid.interrupt_session" : undefined);
  }
}

const noFork = { code: 0, message: "The backend did not return the copy's id." };

const pending = [
  ["pendingPermissions", "droid.request_permission"],
  ["pendingAskUserRequests", "droid.ask_user"],
] as const;

const unreadable: readonly number[] = [errorCodes.invalidRequest, errorCodes.invalidParams];

/** The backend could not read the request. */
export function isFormat(error: unknown): boolean {
  return error instanceof RequestError && unreadable.includes(error.code);
}

/** Handlers must not break the session, not even by a rejected promise. */
function safely(what: string, act: () => unknown, warning?: (words: string) => void): void {
  const failed = (error: unknown): void => warning?.(`${what} failed: ${errorMessage(error)}`);
  try {
    const outcome = act();
    if (outcome instanceof Promise) outcome.catch(failed);
  } catch (error) {
    failed(error);
  }
}
