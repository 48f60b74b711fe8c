import { type ContentBlock, type PromptResponse, RequestError } from "@agentclientprotocol/sdk";
import { deferred } from "../../../async/promises.ts";
import type { ConnectionEnd, Handlers, McpServer, Session, SettingsChange, Turn } from "../../../sdk/api.ts";
import { RequestError as BackendError, BackendGoneError, SessionNotFoundError } from "../../../sdk/errors.ts";
import type { ModelInfo, TurnEvent, TurnResult } from "../../../sdk/types.ts";
import { createBackendLink } from "../backend-link.ts";
import type { Client } from "../client.ts";
import { choosable, effortsOf, type SessionState, sessionState } from "../modes.ts";
import { askForPlan, askPermission } from "../requests/permissions.ts";
import { askQuestions } from "../requests/questions.ts";
import { rpcError } from "../rpc-errors.ts";
import { createTranslator, type Translator } from "../view/acp-updates.ts";
import { shownTitle } from "../view/shown-text.ts";
import { promptInput } from "./prompt-input.ts";
import { replay } from "./replay.ts";
import { createSessionNews, type SessionNews } from "./session-news.ts";
import { advertised, type Commands, findCommand } from "./slash-commands.ts";
import { answerTo } from "./stop-reason.ts";
import { textIn } from "./text-in.ts";

/** How long a turn can continue after it was cancelled. */
const patienceMs = 3_000;
/** How long to wait for the list of models. A session is useful without it. */
const listPatienceMs = 5_000;

/** Blocks that add nothing but text to the prompt. */
const wordTypes: ReadonlySet<ContentBlock["type"]> = new Set(["text", "resource_link"]);

/** Events about the session itself, which an editor needs even if they come before it knows the session. */
const isEarly: ReadonlySet<TurnEvent["type"]> = new Set(["mcp_servers", "sign_in_required", "sign_in_ended", "notice"]);

const cancelled: PromptResponse = { stopReason: "cancelled" };

interface Parts {
  readonly client: Client;
  readonly cwd: string;
  /** Opens the backend's session; `again` is its id if its backend has died since. */
  open(
    handlers: Handlers,
    servers: readonly McpServer[],
    again: string | undefined,
    signal: AbortSignal,
  ): Promise<Session>;
  /** MCP servers that the client wants. The session opens without those that the backend rejects. */
  readonly servers: readonly McpServer[];
  /** Problems with the other MCP servers that the client wants. */
  readonly problems: readonly string[];
  /** Throws when the id belongs to another session. Before this, nothing is sent in its name. */
  claim(id: string): void;
  /** Gives up opening; no effect once it is open. */
  readonly signal: AbortSignal;
  /** Messages for people, never sent on the wire. */
  warn(words: string): void;
}

/** Opens a session for an editor, whatever backend runs it. */
export async function openEditorSession(parts: Parts): Promise<EditorSession> {
  const { client, cwd, signal, warn, servers } = parts;
  const translator = createTranslator(cwd, textIn);
  let opened: EditorSession | undefined;
  /** Events from before the client knew the session's id, to be sent to it. */
  const early: TurnEvent[] = parts.problems.map((message) => ({ type: "notice", level: "warning", message }));

  const asking = {
    client,
    translator,
    get sessionId() {
      // Requests that come too early are declined.
      if (opened === undefined) throw new Error("The backend sent a request before its session was open.");
      return opened.id;
    },
  };
  const onEvent = (event: TurnEvent, sessionId: string | undefined): void => {
    // A fork uses the same handlers while it is open.
    if (opened !== undefined && sessionId !== opened.id) return;
    if (opened !== undefined) opened.news.happened(event);
    else if (isEarly.has(event.type)) early.push(event);
  };
  const handlers: Handlers = {
    onPermission: (request) => askPermission(request, asking),
    onPlan: (request) => askForPlan(request, asking),
    onQuestion: (request) => askQuestions(request, asking),
    onEvent,
    onWarning: warn,
  };

  /** If the backend rejects the request because of its servers, it is sent again without them. */
  async function openWithServers(unwanted: AbortSignal): Promise<Session> {
    const again = opened?.id;
    try {
      return await parts.open(handlers, servers, again, unwanted);
    } catch (error) {
      const isRefused = error instanceof BackendError && !(error instanceof SessionNotFoundError);
      if (!isRefused || servers.length === 0 || unwanted.aborted) throw error;
      const session = await parts.open(handlers, [], again, unwanted);
      const names = servers.map(({ name }) => name).join(", ");
      const message = `The session opened without its MCP servers (${names}): ${rpcError(error).message}`;
      onEvent({ type: "notice", level: "warning", message }, opened?.id);
      return session;
    }
  }

  const link = createBackendLink({
    open: openWithServers,
    opened: (session) => opened?.backendStarted(session),
    died: (end) => opened?.backendDied(end),
    warn,
  });

  async function begin() {
    const first = await link.get();
    parts.claim(first.id);
    const list = await first.models({ signal: AbortSignal.timeout(listPatienceMs) }).catch((error: unknown) => {
      if (error instanceof BackendGoneError) throw error;
      return [];
    });
    return { first, models: choosable(first.settings, list) };
  }

  const leave = (): void => void link.close().catch(() => undefined);
  signal.throwIfAborted();
  signal.addEventListener("abort", leave, { once: true });
  const begun = await begin()
    .catch(async (error: unknown) => {
      await link.close();
      throw signal.aborted ? signal.reason : error;
    })
    .finally(() => signal.removeEventListener("abort", leave));
  opened = new EditorSession({ ...begun, link, translator, early, client, cwd, warn });
  return opened;
}

/** A prompt and its outcome. */
interface Running {
  turn?: Turn;
  isCancelled: boolean;
  readonly stopsCommand: AbortSignal;
  cancel(): void;
}

interface Opened extends Pick<Parts, "client" | "cwd" | "warn"> {
  readonly first: Session;
  readonly models: readonly ModelInfo[];
  readonly link: ReturnType<typeof createBackendLink>;
  readonly translator: Translator;
  readonly early: TurnEvent[];
}

/** A session that an editor works with. Rejects with errors meant for the editor. */
export class EditorSession {
  readonly id: string;
  readonly cwd: string;
  readonly models: readonly ModelInfo[];
  readonly news: SessionNews;
  private readonly parts: Opened;
  private readonly running = new Set<Running>();
  private latest: Session;
  private death: ConnectionEnd | undefined;
  private commands: Promise<Commands> | undefined;
  private toldCommands: string | undefined;
  private haveCommandsChanged = false;
  private replaying: Promise<void> = Promise.resolve();

  constructor(parts: Opened) {
    const { first, cwd, models, link } = parts;
    this.parts = parts;
    this.id = first.id;
    this.cwd = cwd;
    this.models = models;
    this.latest = first;
    this.news = createSessionNews({
      ...parts,
      sessionId: first.id,
      session: () => link.current,
      isTurnRunning: () => this.isBusy,
      commandsMayHaveChanged: () => this.refreshCommands().catch((error: unknown) => parts.warn(String(error))),
    });
  }

  get isBusy(): boolean {
    return this.running.size > 0;
  }

  get efforts(): readonly string[] {
    return effortsOf(this.latest.settings, this.models);
  }

  get state(): SessionState {
    return sessionState(this.latest.settings, this.models);
  }

  backendStarted(session: Session): void {
    this.latest = session;
    this.death = undefined;
    this.news.tellSettings();
  }

  backendDied(end: ConnectionEnd): void {
    this.death = end;
    this.tellDeath();
  }

  /** Sends the conversation so far. Prompts that arrive meanwhile wait until it is done. */
  replay(): Promise<void> {
    const telling = this.tellHistory();
    this.replaying = telling.catch(() => undefined);
    return telling;
  }

  /** Resolves, never rejects, when no replay is under way. */
  replayed(): Promise<void> {
    return this.replaying;
  }

  /** Sends the state of a session once the client knows its id. */
  async introduce(): Promise<void> {
    const { early, first } = this.parts;
    const [known] = await Promise.all([this.knownCommands(), this.news.measure()]);
    this.tellCommands(known);
    if (this.haveCommandsChanged) await this.refreshCommands();
    for (const event of early.splice(0)) this.news.happened(event);
    if (first.title) this.news.tell([{ sessionUpdate: "session_info_update", title: shownTitle(first.title) }]);
  }

  async prompt(blocks: readonly ContentBlock[], unwanted: AbortSignal): Promise<PromptResponse> {
    const gaveUp = deferred();
    const stopCommand = new AbortController();
    const entry: Running = {
      isCancelled: false,
      stopsCommand: stopCommand.signal,
      cancel() {
        if (entry.isCancelled) return;
        entry.isCancelled = true;
        stopCommand.abort();
        if (entry.turn === undefined) return gaveUp.resolve();
        entry.turn.interrupt().catch(() => undefined);
        setTimeout(gaveUp.resolve, patienceMs).unref();
      },
    };
    this.running.add(entry);
    unwanted.addEventListener("abort", entry.cancel, { once: true });
    const ended = this.run(entry, blocks);
    ended.catch(() => undefined);
    try {
      const answer = await Promise.race([ended, gaveUp.promise]);
      if (answer === undefined) this.giveUp(entry);
      return answer ?? cancelled;
    } catch (error) {
      if (entry.isCancelled) return cancelled;
      this.death = undefined;
      throw rpcError(error, this.id);
    } finally {
      unwanted.removeEventListener("abort", entry.cancel);
      this.running.delete(entry);
      if (!this.isBusy) this.news.tell(this.parts.translator.closeCalls());
      this.tellDeath();
    }
  }

  cancel(): void {
    for (const entry of this.running) entry.cancel();
  }

  async change(change: SettingsChange): Promise<void> {
    try {
      await (await this.parts.link.get()).updateSettings(change);
    } catch (error) {
      throw rpcError(error, this.id);
    }
    this.news.tellSettings();
  }

  /** The id of a copy, which is closed. */
  async fork(): Promise<string> {
    const copy = await (await this.parts.link.get()).fork();
    await copy.close();
    return copy.id;
  }

  close(): Promise<void> {
    this.cancel();
    return this.parts.link.close();
  }

  /** Reports a backend's end, unless a running prompt will fail with it. */
  private tellDeath(): void {
    if (this.death === undefined || this.isBusy) return;
    const { reason, stderr } = this.death;
    this.death = undefined;
    this.news.notice("error", `${reason} The next prompt starts it again.`, stderr?.trim());
  }

  private knownCommands(): Promise<Commands> {
    this.commands ??= advertised(this.parts.first);
    return this.commands;
  }

  private tellCommands({ commands }: Commands): void {
    const availableCommands = commands.map(({ name, description, hint }) => {
      return { name, description, ...(hint === undefined ? {} : { input: { hint } }) };
    });
    const text = JSON.stringify(availableCommands);
    if (text === this.toldCommands) return;
    this.toldCommands = text;
    this.news.tell([{ sessionUpdate: "available_commands_update", availableCommands }]);
  }

  /** Only if the backend has a list. Before the first one was sent, this waits. On failure the editor keeps its list. */
  private async refreshCommands(): Promise<void> {
    this.haveCommandsChanged = this.toldCommands === undefined;
    if (this.haveCommandsChanged || !(await this.knownCommands()).isListed) return;
    this.commands = advertised(this.parts.link.current);
    this.tellCommands(await this.commands);
  }

  private async tellHistory(): Promise<void> {
    // Without the files' contents, because the earlier ones are unknown.
    for (const update of replay(this.parts.first.history, createTranslator(this.cwd))) {
      this.news.tell([update]);
      await this.news.room();
    }
  }

  private async run(entry: Running, blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const { news, models, cwd, id } = this;
    const { text, images, files } = promptInput(blocks);
    await this.replaying;
    const session = await this.parts.link.get();
    if (entry.isCancelled) return cancelled;
    // A command with attachments is for the model.
    const isCommand = text.trimStart().startsWith("/") && blocks.every(({ type }) => wordTypes.has(type));
    const command = isCommand ? findCommand((await this.knownCommands()).commands, text) : undefined;
    if (entry.isCancelled) return cancelled;
    if (command?.run !== undefined) {
      const words = await command.run({ session, models, cwd, id, signal: entry.stopsCommand }, command.rest);
      if (entry.isCancelled) return cancelled;
      news.tell([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } }]);
      return { stopReason: "end_turn" };
    }
    entry.turn = session.stream(text, { images, files });
    const result = await this.resultOf(entry.turn);
    const answer = answerTo(result, entry.isCancelled);
    if (answer instanceof RequestError) throw answer;
    const words = result.status === "failed" ? result.error?.message : undefined;
    if (words === undefined) return answer;
    news.notice("warning", words);
    return { ...answer, _meta: { message: words } };
  }

  /** Events are sent as they happen; iterating only applies back-pressure to the backend. */
  private async resultOf(turn: Turn): Promise<TurnResult> {
    for await (const _ of turn) await this.news.room();
    return turn.result;
  }

  /** Ends a backend that failed to end or begin its turn. The next prompt starts it again. */
  private giveUp({ turn }: Running): void {
    const { link } = this.parts;
    const isStartUnwanted = link.current === undefined && [...this.running].every(({ isCancelled }) => isCancelled);
    if (turn !== undefined || isStartUnwanted) link.drop();
  }
}
