import type { EngineParts } from "./engine-parts.ts";
import { AgentError } from "./errors.ts";
import type { DurableBody, DurableEvent, SettingsChanges } from "./event.ts";
import { forkedRecord } from "./log/forked-records.ts";
import type { SessionState } from "./log/history.ts";
import { closingEvents, foldLog } from "./log/history.ts";
import { readRepaired } from "./log/repair-log.ts";
import type { LogDamage, ModelCatalog, ModelInfo, SessionInfo, SessionQuery } from "./ports.ts";
import { Session } from "./session/session.ts";
import type { RunOptions, SessionSettings } from "./settings.ts";
import { definite } from "./settings-changes.ts";
import type { Tool } from "./tool.ts";

export interface NewSession {
  /** Canonical and existing. */
  readonly cwd: string;
  readonly settings: SessionSettings;
  /** Default: a fresh UUID. */
  readonly id?: string;
  readonly run?: RunOptions;
}

export interface ResumedSession {
  /** Settings to change before anything runs. */
  readonly changes?: SettingsChanges;
  /** The workspace's new path, if it moved. */
  readonly cwd?: string;
  readonly run?: RunOptions;
  /**
   * Also open it if its model is unknown or its folder is gone: the conversation is still readable, and settings can
   * change.
   */
  readonly toRead?: boolean;
  /** If it rejects the session's stored settings, the session counts as not found. */
  allows?(settings: SessionSettings): boolean;
}

/** A reopened session, with the damage found in its log. */
interface Resumed {
  readonly session: Session;
  readonly damage: LogDamage;
}

const noDamage: LogDamage = { damagedLines: [], missingRecords: [] };

/** Creates, resumes, forks and lists sessions. One engine per process. */
export class Engine {
  private readonly parts: EngineParts;
  private readonly open = new Set<Session>();

  constructor(parts: EngineParts) {
    this.parts = parts;
  }

  /** The current tools. */
  get tools(): readonly Tool[] {
    return this.parts.tools.list();
  }

  /** Rejects with `model_unknown` before anything is written. */
  async create(options: NewSession): Promise<Session> {
    await this.checkModels(options.settings);
    await this.checkSandbox(options.settings, options.run);
    const { cwd, settings } = options;
    return this.start({ type: "session.opened", cwd, settings }, options.id, options.run);
  }

  /** Loads a session and becomes its writer. Nothing is written until something happens. */
  async resume(id: string, options: ResumedSession = {}): Promise<Resumed> {
    const log = await this.parts.store.acquire(id).catch(async (error: unknown) => {
      // Don't reveal that a session is in use to callers who can't see it.
      if (options.allows !== undefined) checkAllowed(foldLog((await this.parts.store.read(id)).events), options);
      throw error;
    });
    try {
      const { events, lastSeq, ...damage } = await readRepaired(this.parts.store, id);
      const state = foldLog(events, lastSeq);
      checkAllowed(state, options);
      if (options.toRead !== true) await this.checkFolder(options.cwd ?? state.cwd);
      const session = new Session(this.parts, log, state, options.run ?? {}, {
        owed: [...closingEvents(state, this.parts.ids), ...moved(state.cwd, options.cwd)],
        damage,
      });
      if (options.toRead !== true) {
        await this.checkModels({ ...session.settings, ...definite(options.changes ?? {}) });
      }
      await this.checkSandbox(session.settings, options.run);
      if (options.changes !== undefined) await session.update(options.changes);
      this.keep(session);
      for (const notice of session.notices()) this.parts.observe?.(notice);
      return { session, damage };
    } catch (error) {
      await log.release();
      throw error;
    }
  }

  /** Creates a session that starts with another one's conversation. The other log is only read. */
  async fork(
    id: string,
    options: ResumedSession & { readonly atSeq?: number; readonly title?: string } = {},
  ): Promise<Resumed> {
    const { events, lastSeq: _, ...damage } = await readRepaired(this.parts.store, id);
    const kept = events.filter((event) => event.seq <= (options.atSeq ?? Number.POSITIVE_INFINITY));
    const source = foldLog(kept);
    checkAllowed(source, options);
    const settings = { ...source.settings, ...definite(options.changes ?? {}) };
    if (options.toRead !== true) {
      await this.checkModels(settings);
      await this.checkFolder(options.cwd ?? source.cwd);
    }
    await this.checkSandbox(settings, options.run);
    const opened = {
      type: "session.opened",
      cwd: options.cwd ?? source.cwd,
      settings,
      forkOf: {
        sessionId: id,
        seq: source.seq,
        ...(source.origins.length === 0 ? {} : { before: source.origins }),
      },
    } as const;
    const copied = kept.flatMap((event) => forkedRecord(event, source.waiting) ?? []);
    const session = await this.start(opened, undefined, options.run, { copied, damage });
    try {
      if (options.title !== undefined) await session.rename(options.title);
    } catch (error) {
      // The caller never receives this session, so close it here.
      await session.close().catch(() => undefined);
      throw error;
    }
    return { session, damage };
  }

  list(query?: SessionQuery): Promise<readonly SessionInfo[]> {
    return this.parts.store.list(query);
  }

  models(): Promise<readonly ModelInfo[]> {
    return this.parts.models.list();
  }

  unusableModels(): ReturnType<ModelCatalog["unusable"]> {
    return this.parts.models.unusable();
  }

  /** Rejects with `model_unknown`. */
  async model(id: string): Promise<ModelInfo> {
    return (await this.parts.models.resolve(id)).info;
  }

  /** Whether a model times out on its own when its server is silent. Rejects with `model_unknown`. */
  async boundsSilence(id: string): Promise<boolean> {
    return (await this.parts.models.resolve(id)).boundsSilence === true;
  }

  /** Sessions open in this process, or being closed. */
  sessions(): readonly Session[] {
    return [...this.open];
  }

  /** Closes every session open in this process. */
  async close(): Promise<void> {
    await Promise.all([...this.open].map((session) => session.close()));
  }

  private keep(session: Session): void {
    this.open.add(session);
    void session.ended.then(() => this.open.delete(session));
  }

  private async start(
    opened: DurableBody & { type: "session.opened" },
    id: string | undefined,
    run: RunOptions | undefined,
    { copied = [], damage = noDamage }: { readonly copied?: readonly DurableEvent[]; readonly damage?: LogDamage } = {},
  ): Promise<Session> {
    const sessionId = id ?? this.parts.ids.next();
    const first: DurableEvent = { at: this.parts.clock.now(), sessionId, seq: 1, ...opened };
    const log = await this.parts.store.create(first);
    try {
      const events = copied.map((event, index) => ({ ...event, sessionId, seq: index + 2 }));
      for (let from = 0; from < events.length; from += 200) await log.append(events.slice(from, from + 200));
      const state = foldLog([first, ...events]);
      const owed = closingEvents(state, this.parts.ids);
      const session = new Session(this.parts, log, state, run ?? {}, { owed, damage });
      this.keep(session);
      for (const event of [first, ...session.notices()]) this.parts.observe?.(event);
      return session;
    } catch (error) {
      await log.release().catch(() => undefined);
      // A copy of half a conversation must not look like a session.
      await this.parts.store.remove(sessionId).catch(() => undefined);
      throw error;
    }
  }

  private async checkFolder(cwd: string): Promise<void> {
    const found = await this.parts.host.files.stat(cwd).catch(() => undefined);
    if (found?.kind === "directory") return;
    throw new AgentError("usage", `The session's folder ${cwd} no longer exists. Continue in another one with --cwd.`);
  }

  /** Rejects with `sandbox_unavailable` if commands here must be contained and cannot be. */
  async checkSandbox({ clientRunsTools }: Partial<SessionSettings> = {}, run: RunOptions = {}): Promise<void> {
    if (this.parts.sandbox?.mode !== "required" || clientRunsTools === true) return;
    if (run.unsafe === true) {
      const message = "The sandbox is required, and --skip-permissions-unsafe runs commands outside it. Choose one.";
      throw new AgentError("usage", message);
    }
    const status = await this.parts.host.sandbox.status();
    if (status.works) return;
    const message = `The sandbox is required, and does not work here. ${status.why} ${status.advice}`.trimEnd();
    throw new AgentError("sandbox_unavailable", message);
  }

  /** Rejects with `model_unknown`, or the fault in a model's configuration. */
  async checkModels(settings: Partial<Pick<SessionSettings, "modelId" | "specModelId">>): Promise<void> {
    if (settings.modelId !== undefined) await this.parts.models.resolve(settings.modelId);
    if (settings.specModelId !== undefined) await this.parts.models.resolve(settings.specModelId);
  }
}

function checkAllowed({ id, settings }: SessionState, { allows }: ResumedSession): void {
  if (allows?.(settings) === false) throw new AgentError("session_not_found", `Session ${id} not found.`);
}

function moved(from: string, to: string | undefined): readonly DurableBody[] {
  return to === undefined || to === from ? [] : [{ type: "session.updated", changes: {}, cwd: to }];
}
