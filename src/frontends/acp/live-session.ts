import { type ContentBlock, type PromptResponse, RequestError } from "@agentclientprotocol/sdk";
import type { Handlers, Session, SettingsChange, Turn } from "../../sdk/api.ts";
import type { ModelInfo, TurnEvent, TurnResult } from "../../sdk/types.ts";
import type { Client } from "./client.ts";
import { mcpFailures } from "./mcp-servers.ts";
import { effortsOf, type SessionState, sessionState } from "./modes.ts";
import { askForPlan, askPermission } from "./permissions.ts";
import { promptInput } from "./prompt-input.ts";
import { askQuestions } from "./questions.ts";
import { replay } from "./replay.ts";
import { badParams, failed, rpcError } from "./rpc-errors.ts";
import { createSessionNews, type SessionNews } from "./session-news.ts";
import { advertised, findCommand, type SlashCommand } from "./slash-commands.ts";
import { answerTo } from "./stop-reason.ts";
import { createTranslator } from "./translate.ts";

/** How long a turn may go on after it was cancelled. */
const patienceMs = 3_000;

/** A session that a client works with, whatever stands behind it. What is rejected is what the client is told. */
export interface LiveSession {
  readonly id: string;
  readonly isBusy: boolean;
  readonly models: readonly ModelInfo[];
  readonly efforts: readonly string[];
  readonly state: SessionState;
  /** Tells the conversation so far. */
  replay(): Promise<void>;
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
  open(handlers: Handlers, again: string | undefined): Promise<Session>;
  /** Of a session that was opened and cannot be used. */
  discard(id: string): Promise<void>;
  /** Words for people, never for the wire. */
  warn(words: string): void;
}

/** A prompt and what became of it. */
interface Running {
  turn?: Turn;
  isCancelled: boolean;
  cancel(): void;
}

export async function openLive({ client, cwd, open, discard, warn }: LiveParts): Promise<LiveSession> {
  const translator = createTranslator(cwd);
  const running = new Set<Running>();
  let id = "";
  let news: SessionNews | undefined;
  let session: Session | undefined;
  let commands: readonly SlashCommand[] = [];
  let closing: Promise<void> | undefined;
  /** Its copy speaks to the same handlers as long as it is open. */
  let isCopied = false;
  /** Of servers that the client wants and the backend cannot have. */
  const refusals: string[] = [];

  const asking = {
    client,
    translator,
    get sessionId() {
      return id;
    },
  };
  const handlers: Handlers = {
    onPermission: (request) => askPermission(request, asking),
    onPlan: (request) => askForPlan(request, asking),
    onQuestion: (request) => askQuestions(request, asking),
    onEvent: (event: TurnEvent) => {
      if (isCopied) return;
      news?.happened(event);
      const isStatus = event.type === "other" && event.name === "mcp_status_changed";
      if (news === undefined && isStatus) refusals.push(...mcpFailures(event.given));
    },
    onWarning: warn,
  };

  async function connect(): Promise<Session> {
    const opened = await open(handlers, id === "" ? undefined : id);
    session = opened;
    void opened.ended.then(({ reason }) => {
      if (session !== opened) return;
      session = undefined;
      if (closing === undefined && running.size === 0)
        news?.notice("error", `${reason} The next prompt starts it again.`);
    });
    return opened;
  }

  async function alive(): Promise<Session> {
    if (closing !== undefined) throw failed("The session was closed.");
    return session ?? (await connect());
  }

  /** It does not end what it was told to end. The next prompt starts it again. */
  function giveUp(): void {
    const dropped = session;
    session = undefined;
    void dropped?.close().catch((error: unknown) => warn(String(error)));
  }

  const first = await connect();
  if (refusals.length > 0) {
    closing = first.close();
    await closing;
    await discard(first.id);
    throw badParams(refusals.join(" "));
  }
  const models = await first.models().catch(() => []);
  const settings = () => (session ?? first).settings;
  id = first.id;
  const told = createSessionNews({
    sessionId: id,
    client,
    translator,
    models,
    session: () => session,
    isTurnRunning: () => running.size > 0,
    warn,
  });
  news = told;

  async function runCommand(backend: Session, command: SlashCommand, rest: string): Promise<void> {
    const text = (await command.run?.({ session: backend, models, cwd, id }, rest)) ?? "";
    told.tell([{ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }]);
  }

  /** Events are told as they happen; here the backend is only kept from running far ahead of the client. */
  async function resultOf(turn: Turn): Promise<TurnResult> {
    for await (const _ of turn) await told.room();
    return turn.result;
  }

  async function run(entry: Running, blocks: readonly ContentBlock[], gaveUp: Promise<void>): Promise<PromptResponse> {
    const { text, images, files } = promptInput(blocks);
    const backend = await alive();
    const command = findCommand(commands, text);
    if (command?.run !== undefined) {
      await runCommand(backend, command, command.rest);
      return { stopReason: "end_turn" };
    }
    if (entry.isCancelled) return { stopReason: "cancelled" };
    entry.turn = backend.stream(text, { images, files });
    const ended = resultOf(entry.turn);
    ended.catch(() => undefined);
    const result = await Promise.race([ended, gaveUp]);
    if (result === undefined) {
      giveUp();
      return { stopReason: "cancelled" };
    }
    const answer = answerTo(result, entry.isCancelled);
    if (answer instanceof RequestError) throw answer;
    const words = result.status === "failed" ? result.error?.message : undefined;
    if (words === undefined) return answer;
    told.notice("warning", words);
    return { ...answer, _meta: { message: words } };
  }

  return {
    id,
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
    async replay() {
      for (const update of replay(first.history, translator)) {
        told.tell([update]);
        await told.room();
      }
    },
    async introduce() {
      commands = await advertised(first);
      const availableCommands = commands.map(({ name, description, hint }) => {
        return { name, description, ...(hint === undefined ? {} : { input: { hint } }) };
      });
      told.tell([{ sessionUpdate: "available_commands_update", availableCommands }]);
      if (first.title) told.tell([{ sessionUpdate: "session_info_update", title: first.title }]);
      await told.measure();
    },
    async prompt(blocks, signal) {
      const entry: Running = { isCancelled: false, cancel: () => undefined };
      const gaveUp = new Promise<void>((resolve) => {
        entry.cancel = () => {
          if (entry.isCancelled) return;
          entry.isCancelled = true;
          entry.turn?.interrupt().catch(() => undefined);
          setTimeout(resolve, patienceMs).unref();
        };
      });
      running.add(entry);
      signal.addEventListener("abort", entry.cancel, { once: true });
      try {
        return await run(entry, blocks, gaveUp);
      } catch (error) {
        if (entry.isCancelled) return { stopReason: "cancelled" };
        throw rpcError(error, id);
      } finally {
        signal.removeEventListener("abort", entry.cancel);
        running.delete(entry);
        if (running.size === 0) told.tell(translator.closeCalls());
      }
    },
    cancel() {
      for (const entry of running) entry.cancel();
    },
    async change(change) {
      try {
        await (await alive()).updateSettings(change);
      } catch (error) {
        throw rpcError(error, id);
      }
      told.tellSettings();
    },
    async fork() {
      const source = await alive();
      isCopied = true;
      try {
        const copy = await source.fork();
        await copy.close();
        return copy.id;
      } finally {
        isCopied = false;
      }
    },
    close() {
      closing ??= (async () => {
        for (const entry of running) entry.cancel();
        await session?.close();
      })();
      return closing;
    },
  };
}
