import type { Engine } from "../../core/engine.ts";
import { AgentError, failureOf, UnreadableLogError } from "../../core/errors.ts";
import type { Clock, Ids } from "../../core/ports.ts";
import { isForeignScript } from "../../core/script-model.ts";
import type { Session } from "../../core/session.ts";
import type { Hold, SessionPool } from "../../core/session-pool.ts";
import {
  type Autonomy,
  autonomyLevels,
  type ClientTool,
  type RunOptions,
  type SessionSettings,
} from "../../core/settings.ts";
import type { SessionParams, ToolExecution } from "../../protocol/interactive.ts";
import type { Identity } from "../front-end.ts";
import { createBudget } from "./budget.ts";
import { badParams, refused, unusable } from "./failures.ts";
import { LiveSession } from "./live-session.ts";
import { type InteractiveOptions, ownSilenceMs, type ServerLog } from "./options.ts";
import { createRate, type Rate } from "./rates.ts";

export interface InteractiveParts {
  readonly engine: Engine;
  readonly pool: SessionPool;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: ServerLog;
  readonly options: InteractiveOptions;
}

/** A connection's part in a session. */
export interface Seat {
  readonly live: LiveSession;
  readonly hold: Hold;
}

/** Of what a session's tools are told to be. */
const maxToolCharacters = 200_000;
/** Of what all open sessions of one user were started with. */
const maxKeptCharacters = 64_000_000;
/** Of all messages of one user that have no answer yet. */
const maxWaitingCharacters = 32_000_000;

/** What the connections of `/ws` share: the sessions, and how often each user may do something. */
export class InteractiveServer {
  readonly options: InteractiveOptions;
  readonly engine: Engine;
  readonly log: ServerLog;
  /** Of those that somebody of `/ws` works with, or did a while ago. */
  private readonly live = new Map<Session, Promise<LiveSession>>();
  private readonly pool: SessionPool;
  private readonly ids: Ids;
  private readonly sessionRate: Rate;
  private readonly messageRate: Rate;
  private readonly waiting = createBudget(maxWaitingCharacters, (held) =>
    refused("queue_full", `${held} characters of yours are waiting already; wait for an answer.`),
  );
  private readonly kept = createBudget(maxKeptCharacters, (held) =>
    refused("too_many_sessions", `Your open sessions were started with ${held} characters; stop one first.`),
  );
  isDraining = false;

  constructor({ engine, pool, clock, ids, log, options }: InteractiveParts) {
    this.engine = engine;
    this.pool = pool;
    this.ids = ids;
    this.log = log;
    this.options = options;
    this.sessionRate = createRate(options.limits.sessionsPerMinute, clock);
    this.messageRate = createRate(options.limits.messagesPerMinute, clock);
  }

  /** Nothing new is begun any more. */
  drain(): void {
    this.isDraining = true;
  }

  checkOpen(): void {
    if (this.isDraining) throw refused("draining", "The server is stopping.");
  }

  /** Rejects with what the client is told. */
  async start(userId: string, params: SessionParams, identity: Identity): Promise<Seat> {
    this.checkOpen();
    const execution = this.executionFor(params);
    await this.checkModel(params.model ?? "", identity);
    this.countSession(identity.user);
    const settings = this.settingsFor(userId, params, identity, execution);
    const giveBack = this.kept.take(
      identity.user,
      sizeOf(settings.clientTools) + (settings.appendSystemPrompt?.length ?? 0),
    );
    const { cwd } = this.options;
    const hold = await this.pool.create({ cwd, settings, run: this.runOptions() }).catch((error: unknown) => {
      giveBack();
      throw this.modelRefusal(error, identity) ?? error;
    });
    void hold.session.ended.then(giveBack);
    const seat = await this.seatOver(hold);
    this.log.info("session.started", { sessionId: hold.session.id, user: identity.user, userId, execution });
    return seat;
  }

  /** One that is open, or was left. Rejects with `session_not_found`, also for somebody else's. */
  async resume(sessionId: string, identity: Identity): Promise<Seat> {
    this.checkOpen();
    this.countOpening(identity.user);
    const allows = (settings: SessionSettings): boolean => isAllowed(identity, settings, "read");
    for (;;) {
      if (!this.isOpen(sessionId)) this.checkRoomFor(identity.user);
      const run = this.runOptions();
      const opening = this.pool.open(sessionId, { toRead: true, run, allows, openedFor: identity.user });
      const hold = await opening.catch((error: unknown) => {
        throw this.readRefusal(error, sessionId, identity) ?? error;
      });
      await this.lower(hold, identity);
      const seat = await this.seatOver(hold);
      // Somebody may have ended it meanwhile: then it is opened anew.
      if (!seat.live.session.isClosed) return seat;
      seat.hold.release();
    }
  }

  /** Whether the session goes on for this client. */
  mayWork({ live }: Seat, identity: Identity): boolean {
    return isAllowed(identity, live.session.settings, "use") && this.runsTools(live);
  }

  /** Throws where the server would run the tools of a session, and does not do so any more. */
  checkExecution(live: LiveSession): void {
    if (this.runsTools(live)) return;
    throw refused("tool_execution", "This server runs no tools for its clients, and this session needs it.");
  }

  /** One's own that is open. */
  async join(sessionId: string, identity: Identity): Promise<Seat | undefined> {
    const session = this.pool.get(sessionId);
    if (session === undefined || !isAllowed(identity, session.settings, "use")) return undefined;
    return this.seatOver(await this.pool.open(sessionId));
  }

  /** Ends a session for everybody. Without effect when there is none that is open and one's own. */
  async stop(sessionId: string, identity: Identity): Promise<void> {
    const session = this.pool.get(sessionId);
    if (session === undefined || !isAllowed(identity, session.settings, "use")) return;
    const live = await this.live.get(session);
    live?.endAsAsked();
    await this.pool.end(sessionId);
    await live?.ended;
    this.log.info("session.ended", { sessionId, user: identity.user, status: 2, reason: "completed" });
  }

  /** A session is closed because nobody has come back to it. */
  wasIdle(session: Session): void {
    const { owner: user } = session.settings;
    this.log.info("session.ended", { sessionId: session.id, user, status: 2, reason: "disconnected" });
  }

  /** Throws when the user has, or starts, too many sessions. */
  countSession(user: string): void {
    this.checkRoomFor(user);
    this.countOpening(user);
  }

  /** Throws when the user opens or copies too many. To read a long log is as much work as to begin one. */
  countOpening(user: string): void {
    limited(this.sessionRate.take(user), "sessions", this.options.limits.sessionsPerMinute);
  }

  /** Throws when the user sends too much. */
  countMessage(user: string): void {
    limited(this.messageRate.take(user), "messages", this.options.limits.messagesPerMinute);
  }

  /** Takes up a place for a text that waits. Throws when too much of the user waits; the returned function gives it back. */
  reserve(user: string, characters: number): () => void {
    return this.waiting.take(user, characters);
  }

  /** A token was taken back: nothing goes on that its user has asked for, and their sessions are opened anew by the next role. */
  async stopWorkOf(user: string): Promise<void> {
    const own = this.pool.all().filter(({ settings }) => settings.owner === user);
    // Each on its own: a session whose log cannot be read, or is still being read, holds up none of the others.
    const others = [...this.live.values()].map(async (opening) => {
      const live = await opening;
      if (live.worksFor(user)) await live.session.interrupt();
    });
    const ended = await Promise.allSettled([...own.map(({ id }) => this.pool.end(id)), ...others]);
    for (const each of ended) {
      if (each.status === "rejected") this.report(each.reason, { method: "stopWorkOf", user });
    }
  }

  isOpen(sessionId: string): boolean {
    return this.pool.get(sessionId) !== undefined;
  }

  /** Puts a failure into the log under an id, which is all that a client gets to know of it. */
  report(error: unknown, context: Readonly<Record<string, unknown>>): string {
    const errorId = this.ids.next();
    const { code, message } = failureOf(error);
    this.log.error("request.failed", { errorId, code, message, ...context });
    return errorId;
  }

  /** The hold is given back when nothing comes of it. */
  private async seatOver(hold: Hold): Promise<Seat> {
    try {
      return { live: await this.liveOver(hold.session), hold };
    } catch (error) {
      hold.release();
      throw error;
    }
  }

  /** By the session itself and not by its id: one that was ended, and is still being told of, may be open again already. */
  private liveOver(session: Session): Promise<LiveSession> {
    const known = this.live.get(session);
    if (known !== undefined) return known;
    const opened = LiveSession.over(session, (error) => this.report(error, { sessionId: session.id }));
    this.live.set(session, opened);
    const forget = (): void => void this.live.delete(session);
    opened.then((live) => live.ended).then(forget, forget);
    return opened;
  }

  /** A level that was once given comes back, but not above what the server gives now; nor does a script for whom it is not. */
  private async lower({ session, release, wasOpen }: Hold, { role }: Identity): Promise<void> {
    const { autonomy, modelId } = this.options;
    const { settings } = session;
    const isForeign = role === "user" && isForeignScript(settings.modelId, modelId);
    const changes = {
      ...(!wasOpen && isAbove(settings.autonomy, autonomy) ? { autonomy } : {}),
      ...(isForeign ? { modelId } : {}),
    };
    if (Object.keys(changes).length === 0) return;
    await session.update(changes).catch((error: unknown) => {
      release();
      throw error;
    });
  }

  private checkRoomFor(user: string): void {
    const { openSessions } = this.options.limits;
    if (this.pool.countOf(user) < openSessions) return;
    throw refused("too_many_sessions", `As many sessions are open as may, which is ${openSessions}; stop one first.`);
  }

  private runsTools({ toolExecution }: LiveSession): boolean {
    const { toolExecution: usual, toolExecutionChoices: choices } = this.options;
    return toolExecution === "client" || toolExecution === usual || choices.includes(toolExecution);
  }

  private executionFor({ toolExecution: wanted }: SessionParams): ToolExecution {
    const { toolExecution: usual, toolExecutionChoices: choices } = this.options;
    if (wanted === undefined || wanted === null || wanted === usual) return usual;
    if (choices.includes(wanted)) return wanted;
    throw unusable("tool_execution", `This server does not let clients choose who runs the tools; it is ${usual}.`);
  }

  private settingsFor(
    userId: string,
    { language, model, context, tools }: SessionParams,
    { user }: Identity,
    execution: ToolExecution,
  ): SessionSettings {
    const { modelId, reasoningEffort, autonomy } = this.options;
    const told = [
      ...(language ? [`Answer in this language, whatever language the user writes in: ${language}`] : []),
      ...(context ? [`What the client says about this session:\n\n${context}`] : []),
    ];
    const names = new Set(tools?.map(({ name }) => name));
    if (names.size !== (tools?.length ?? 0)) throw badParams("tools", "Two tools have the same name.");
    const clientTools = tools?.map(({ name, description = "", inputSchema = { type: "object" } }) => {
      return { name, description, inputSchema: JSON.stringify(inputSchema) };
    });
    if (sizeOf(clientTools) > maxToolCharacters) {
      throw badParams(
        "tools",
        `The tools take ${sizeOf(clientTools)} characters; at most ${maxToolCharacters} may be.`,
      );
    }
    return {
      modelId: model || modelId,
      ...(model === "offline" ? { isModelNamed: true } : {}),
      reasoningEffort,
      autonomy,
      mode: "auto",
      owner: user,
      userId,
      ...(told.length === 0 ? {} : { appendSystemPrompt: told.join("\n\n") }),
      ...(clientTools === undefined || clientTools.length === 0 ? {} : { clientTools }),
      ...(execution === "client" ? { clientRunsTools: true } : {}),
    };
  }

  private runOptions(): RunOptions {
    const { timeouts, limits, run } = this.options;
    return {
      ...run,
      onDenied: "continue",
      modelSilence: {
        ms: timeouts.ai ?? ownSilenceMs,
        isChosen: timeouts.ai !== undefined,
        key: "interactive.timeouts.ai",
      },
      toolResultMs: timeouts.toolResult,
      maxWaiting: limits.queuedMessages + 1,
    };
  }

  private async checkModel(model: string, { role }: Identity): Promise<void> {
    if (role === "admin" || !isForeignScript(model, this.options.modelId)) return;
    const known = (await this.engine.models()).map(({ id }) => id).join(", ");
    throw unusable("model_unknown", `Unknown model ${JSON.stringify(model)}. Known models: ${known}.`);
  }

  private readRefusal(error: unknown, sessionId: string, { user }: Identity): Error | undefined {
    if (!(error instanceof UnreadableLogError)) return undefined;
    const errorId = this.report(error, { method: "resumeSession", sessionId, user });
    const words =
      "This session cannot be read: its log is damaged, or a later version wrote it. The server's log says more.";
    return refused("session_unreadable", words, { errorId });
  }

  private modelRefusal(error: unknown, { user }: Identity): Error | undefined {
    if (!(error instanceof AgentError)) return undefined;
    if (error.code === "model_unknown") return unusable("model_unknown", error.message);
    if (error.code !== "script_invalid" && error.code !== "config_invalid") return undefined;
    const errorId = this.report(error, { method: "startSession", user });
    return unusable("model_unusable", "this model cannot be used here; the server's log says why", { errorId });
  }
}

/** Looking is for admins and viewers, too; using for admins. */
export function isAllowed({ user, role }: Identity, { owner }: SessionSettings, to: "read" | "use"): boolean {
  if (role === "admin") return true;
  return role === "viewer" ? to === "read" : owner === user;
}

function isAbove(level: Autonomy, most: Autonomy): boolean {
  return autonomyLevels.indexOf(level) > autonomyLevels.indexOf(most);
}

function sizeOf(tools: readonly ClientTool[] = []): number {
  return tools.reduce((sum, tool) => sum + tool.name.length + tool.description.length + tool.inputSchema.length, 0);
}

function limited(waitMs: number | undefined, what: string, perMinute: number): void {
  if (waitMs === undefined) return;
  const words = `More than ${perMinute} ${what} in a minute; try again in ${Math.ceil(waitMs / 1_000)} s.`;
  throw refused("rate_limited", words, { limit: what, retryAfterMs: waitMs });
}
