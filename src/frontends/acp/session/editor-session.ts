import { type ContentBlock, type PromptResponse, RequestError } from "@agentclientprotocol/sdk";
import type { ConnectionEnd, Handlers, McpServer, Session, SettingsChange, Turn } from "../../../sdk/api.ts";
import { RequestError as BackendError, BackendGoneError, SessionNotFoundError } from "../../../sdk/errors.ts";
import type { ModelInfo, TurnEvent, TurnResult } from "../../../sdk/types.ts";
import { createBackendLink } from "../backend-link.ts";
import type { Client } from "../client.ts";
import { choosable, effortsOf, type SessionState, sessionState } from "../modes.ts";
import { askForPlan, askPermission } from "../requests/permissions.ts";
import { askQuestions } from "../requests/questions.ts";
import { rpcError } from "../rpc-errors.ts";
import { createTranslator } from "../view/acp-updates.ts";
import { shownTitle } from "../view/shown-text.ts";
import { promptInput } from "./prompt-input.ts";
import { replay } from "./replay.ts";
import { createSessionNews, type SessionNews } from "./session-news.ts";
import { advertised, findCommand, type SlashCommand } from "./slash-commands.ts";
import { answerTo } from "./stop-reason.ts";
import { textIn } from "./text-in.ts";

/** How long a turn may go on after it was cancelled. */
const patienceMs = 3_000;
/** How long the list of models is waited for: a session is of use without it. */
const listPatienceMs = 5_000;

/** Blocks that are in the text, and have nothing beside it. */
const wordTypes: ReadonlySet<ContentBlock["type"]> = new Set(["text", "resource_link"]);

const cancelled: PromptResponse = { stopReason: "cancelled" };

/** A session that a client works with, whatever stands behind it. What is rejected is what the client is told. */
export interface LiveSession {
  readonly id: string;
  readonly cwd: string;
  readonly isBusy: boolean;
  readonly models: readonly ModelInfo[];
  readonly efforts: readonly string[];
  readonly state: SessionState;
  /** Tells the conversation so far. What is prompted meanwhile comes after it. */
  replay(): Promise<void>;
  /** Resolves, never rejects, when the conversation is told, if it is being told. */
  replayed(): Promise<void>;
  /** Tells what a client wants to know of a session once it knows the session. */
  introduce(): Promise<void>;
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse>;
  cancel(): void;
  change(change: SettingsChange): Promise<void>;
  /** The id of a copy, which is not open. */
  fork(): Promise<string>;
  close(): Promise<void>;
}

export interface LiveParts {
  readonly client: Client;
  readonly cwd: string;
  /** Opens it; `again` is its id when its backend has died since. */
  open(
    handlers: Handlers,
    servers: readonly McpServer[],
    again: string | undefined,
    signal: AbortSignal,
  ): Promise<Session>;
  /** MCP servers that the client wants. The session opens without those that the backend cannot have. */
  readonly servers: readonly McpServer[];
  /** What is wrong with others that it wants. */
  readonly problems: readonly string[];
  /** Throws when the id belongs to another session. Until then nothing is told or asked in its name. */
  claim(id: string): void;
  /** Nobody wants it any more; without effect once it is open. */
  readonly signal: AbortSignal;
  /** Words for people, never for the wire. */
  warn(words: string): void;
}

/** A prompt and what became of it. */
interface Running {
  turn?: Turn;
  isCancelled: boolean;
  cancel(): void;
}

export async function openLive(parts: LiveParts): Promise<LiveSession> {
  const { client, cwd, open, claim, servers, problems, signal, warn } = parts;
  const translator = createTranslator(cwd, textIn);
  const running = new Set<Running>();
  let id = "";
  let news: SessionNews | undefined;
  let latest: Session | undefined;
  let death: ConnectionEnd | undefined;
  let commands: Promise<readonly SlashCommand[]> | undefined;
  let replayed: Promise<void> = Promise.resolve();
  /** What happened before the client knew the session, and it should know. */
  const early: TurnEvent[] = problems.map((message) => ({ type: "notice", level: "warning", message }));

  const asking = {
    client,
    translator,
    get sessionId() {
      // Whoever asks before the client knows the session gets no answer, which is a no.
      if (id === "") throw new Error("The backend asked before its session was open.");
      return id;
    },
  };
  const handlers: Handlers = {
    onPermission: (request) => askPermission(request, asking),
    onPlan: (request) => askForPlan(request, asking),
    onQuestion: (request) => askQuestions(request, asking),
    onEvent: (event, sessionId) => {
      // A copy of it speaks to the same handlers as long as it is open.
      if (id !== "" && sessionId !== id) return;
      const isStatus = event.type === "other" && event.name === "mcp_status_changed";
      if (news !== undefined) news.happened(event);
      else if (isStatus || event.type === "notice") early.push(event);
    },
    onWarning: warn,
  };

  const link = createBackendLink({
    open: (signal) => openWithServers(signal),
    opened: (session) => {
      latest = session;
      death = undefined;
      news?.tellSettings();
    },
    died: (end) => {
      death = end;
      tellDeath();
    },
    warn,
  });

  /** A backend that refuses the request for its servers is asked without them. */
  async function openWithServers(unwanted: AbortSignal): Promise<Session> {
    const again = id === "" ? undefined : id;
    try {
      return await open(handlers, servers, again, unwanted);
    } catch (error) {
      const isRefused = error instanceof BackendError && !(error instanceof SessionNotFoundError);
      if (!isRefused || servers.length === 0 || unwanted.aborted) throw error;
      const session = await open(handlers, [], again, unwanted);
      const names = servers.map(({ name }) => name).join(", ");
      const message = `The session opened without its MCP servers (${names}): ${rpcError(error).message}`;
      handlers.onEvent?.({ type: "notice", level: "warning", message }, id === "" ? undefined : id);
      return session;
    }
  }

  /** Unless a prompt is to be failed by it. */
  function tellDeath(): void {
    if (death === undefined || running.size > 0) return;
    const { reason, stderr } = death;
    death = undefined;
    news?.notice("error", `${reason} The next prompt starts it again.`, stderr?.trim());
  }

  async function begin() {
    const session = await link.get();
    claim(session.id);
    const list = await session.models({ signal: AbortSignal.timeout(listPatienceMs) }).catch((error: unknown) => {
      if (error instanceof BackendGoneError) throw error;
      return [];
    });
    return { first: session, models: choosable(session.settings, list) };
  }

  const leave = (): void => void link.close().catch(() => undefined);
  signal.throwIfAborted();
  signal.addEventListener("abort", leave, { once: true });
  const { first, models } = await begin()
    .catch(async (error: unknown) => {
      await link.close();
      throw signal.aborted ? signal.reason : error;
    })
    .finally(() => signal.removeEventListener("abort", leave));
  const settings = () => (latest ?? first).settings;
  id = first.id;
  const told = createSessionNews({
    sessionId: id,
    client,
    translator,
    models,
    session: () => link.current,
    isTurnRunning: () => running.size > 0,
    warn,
  });
  news = told;

  /** A client may know them before it is told. */
  function knownCommands(): Promise<readonly SlashCommand[]> {
    commands ??= advertised(first);
    return commands;
  }

  /** What does not end, or begin, as it was told to is ended. The next prompt starts it again. */
  function giveUp({ turn }: Running): void {
    const isStartUnwanted = link.current === undefined && [...running].every(({ isCancelled }) => isCancelled);
    if (turn !== undefined || isStartUnwanted) link.drop();
  }

  /** Events are told as they happen; here the backend is only kept from running far ahead of the client. */
  async function resultOf(turn: Turn): Promise<TurnResult> {
    for await (const _ of turn) await told.room();
    return turn.result;
  }

  async function tellHistory(): Promise<void> {
    // Of files as they were then nothing is known.
    for (const update of replay(first.history, createTranslator(cwd))) {
      told.tell([update]);
      await told.room();
    }
  }

  async function run(entry: Running, blocks: readonly ContentBlock[]): Promise<PromptResponse> {
    const { text, images, files } = promptInput(blocks);
    await replayed;
    const backend = await link.get();
    if (entry.isCancelled) return cancelled;
    // What is attached to a command is for the model.
    const isCommand = text.trimStart().startsWith("/") && blocks.every(({ type }) => wordTypes.has(type));
    const command = isCommand ? findCommand(await knownCommands(), text) : undefined;
    if (command?.run !== undefined) {
      const words = await command.run({ session: backend, models, cwd, id }, command.rest);
      if (entry.isCancelled) return cancelled;
      told.tell([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text: words } }]);
      return { stopReason: "end_turn" };
    }
    entry.turn = backend.stream(text, { images, files });
    const result = await resultOf(entry.turn);
    const answer = answerTo(result, entry.isCancelled);
    if (answer instanceof RequestError) throw answer;
    const words = result.status === "failed" ? result.error?.message : undefined;
    if (words === undefined) return answer;
    told.notice("warning", words);
    return { ...answer, _meta: { message: words } };
  }

  return {
    id,
    cwd,
    models,
    get isBusy() {
      return running.size > 0;
    },
    get efforts() {
      return effortsOf(settings(), models);
    },
    get state() {
      return sessionState(settings(), models);
    },
    replay() {
      const telling = tellHistory();
      replayed = telling.catch(() => undefined);
      return telling;
    },
    replayed: () => replayed,
    async introduce() {
      const [known] = await Promise.all([knownCommands(), told.measure()]);
      const availableCommands = known.map(({ name, description, hint }) => {
        return { name, description, ...(hint === undefined ? {} : { input: { hint } }) };
      });
      told.tell([{ sessionUpdate: "available_commands_update", availableCommands }]);
      for (const event of early.splice(0)) told.happened(event);
      if (first.title) told.tell([{ sessionUpdate: "session_info_update", title: shownTitle(first.title) }]);
    },
    async prompt(blocks, unwanted) {
      const entry: Running = { isCancelled: false, cancel: () => undefined };
      const gaveUp = new Promise<void>((resolve) => {
        entry.cancel = () => {
          if (entry.isCancelled) return;
          entry.isCancelled = true;
          if (entry.turn === undefined) return resolve();
          entry.turn.interrupt().catch(() => undefined);
          setTimeout(resolve, patienceMs).unref();
        };
      });
      running.add(entry);
      unwanted.addEventListener("abort", entry.cancel, { once: true });
      const ended = run(entry, blocks);
      ended.catch(() => undefined);
      try {
        const answer = await Promise.race([ended, gaveUp]);
        if (answer === undefined) giveUp(entry);
        return answer ?? cancelled;
      } catch (error) {
        if (entry.isCancelled) return cancelled;
        death = undefined;
        throw rpcError(error, id);
      } finally {
        unwanted.removeEventListener("abort", entry.cancel);
        running.delete(entry);
        if (running.size === 0) told.tell(translator.closeCalls());
        tellDeath();
      }
    },
    cancel() {
      for (const entry of running) entry.cancel();
    },
    async change(change) {
      try {
        await (await link.get()).updateSettings(change);
      } catch (error) {
        throw rpcError(error, id);
      }
      told.tellSettings();
    },
    async fork() {
      const copy = await (await link.get()).fork();
      await copy.close();
      return copy.id;
    },
    close() {
      for (const entry of running) entry.cancel();
      return link.close();
    },
  };
}
