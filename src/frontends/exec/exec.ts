import type { Engine, ResumedSession } from "../../engine/engine.ts";
import { AgentError, failureOf } from "../../engine/errors.ts";
import type { EngineEvent } from "../../engine/event.ts";
import type { ServerState } from "../../engine/servers/server-state.ts";
import type { Session } from "../../engine/session/session.ts";
import { type RunOptions, type SessionSettings, type TurnLimits, unaskedModel } from "../../engine/settings.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { FrontEnd, Io } from "../front-end.ts";
import { onStop } from "../front-end.ts";
import type { Logger } from "./log.ts";
import { Progress } from "./progress.ts";
import type { OutputFormat } from "./report.ts";
import { printJson, printReport, reportFailure, reportOutcome } from "./report.ts";
import { initLine, StreamJsonTranslator } from "./stream-json.ts";

export interface ExecOptions {
  readonly prompt: string;
  readonly format: OutputFormat;
  /** Which conversation the prompt belongs to. */
  readonly from: { readonly type: "new" } | { readonly type: "continue" | "fork"; readonly id: string };
  /** Canonical. To continue a session: only if the user named one. */
  readonly cwd: string | undefined;
  /** For a new session, all of them; otherwise only those the user set. */
  readonly settings: SessionSettings;
  readonly changes: Partial<SessionSettings>;
  readonly run: RunOptions;
  readonly limits: TurnLimits;
  readonly timeoutMs?: number;
  /** Printed when the run uses the offline model unless the user asked for it. */
  readonly offlineNotice?: string;
  /** MCP servers without which the prompt must not run. */
  readonly requiredServers?: readonly string[];
  readonly log: Logger;
}

/** `tinman exec`: one prompt, one turn, one exit code, and no client to ask. */
export const runExec: FrontEnd<ExecOptions> = async (engine, io, options) => {
  const startedAt = process.uptime();
  const elapsed = (): number => Math.round((process.uptime() - startedAt) * 1_000);
  let signalCode: ExitCode | undefined;
  let session: Session | undefined;
  let model: string | undefined;
  const stopping = new AbortController();
  const stop = (code: ExitCode): void => {
    signalCode ??= code;
    stopping.abort();
    if (session !== undefined) interrupt(session);
  };
  const stopListening = onStop(io, stop);
  try {
    session = await openSession(engine, options);
    // An unknown model fails its turn, with the prompt in the conversation.
    model = await session.model().then(
      ({ id }) => id,
      () => undefined,
    );
    const isUnasked = unaskedModel(session.settings, options.run) !== undefined && model === "offline";
    if (isUnasked && options.offlineNotice !== undefined) await options.log.always(options.offlineNotice);
    const outcome = await runPrompt(session, io, options, stopping);
    await session.close();
    const report = reportOutcome(outcome, {
      sessionId: session.id,
      ...named(model),
      durationMs: elapsed(),
      signalCode,
    });
    await printReport(options.format, report, io, Date.now());
    // A signal can also arrive while a slow reader takes the last lines.
    return signalCode ?? report.exitCode;
  } catch (error) {
    await session?.close().catch(() => undefined);
    const report = reportFailure(failureOf(error), {
      durationMs: elapsed(),
      ...(session === undefined ? {} : { sessionId: session.id }),
      ...named(model),
    });
    await printReport(options.format, report, io, Date.now());
    return signalCode ?? report.exitCode;
  } finally {
    stopListening();
  }
};

function named(model: string | undefined): { readonly model?: string } {
  return model === undefined ? {} : { model };
}

async function openSession(engine: Engine, options: ExecOptions): Promise<Session> {
  const { from, run, cwd } = options;
  if (from.type === "new") return engine.create({ cwd: cwd ?? "", settings: options.settings, run });
  const resumed: ResumedSession = { changes: options.changes, run, ...(cwd === undefined ? {} : { cwd }) };
  const open = from.type === "continue" ? engine.resume(from.id, resumed) : engine.fork(from.id, resumed);
  return (await open).session;
}

async function runPrompt(session: Session, io: Io, options: ExecOptions, stopping: AbortController) {
  const attachment = session.attach({
    approve: false,
    answer: false,
    onDetach: "cancel",
    startsServers: options.requiredServers !== undefined,
  });
  const print = printer(session, io, options);
  const printed = (async () => {
    for await (const event of attachment.events()) await print.event(event);
  })();
  // Reported where it is awaited, below.
  printed.catch(() => undefined);
  let timedOut: AgentError | undefined;
  const stopTimer = startDeadline(options.timeoutMs, (cause) => {
    timedOut = cause;
    stopping.abort();
    interrupt(session, cause);
  });
  try {
    await print.start();
    if (options.requiredServers !== undefined) {
      await requireServers(session, options.requiredServers, stopping.signal);
      if (timedOut !== undefined) throw timedOut;
    }
    const handle = session.prompt([{ type: "text", text: options.prompt }], { limits: options.limits });
    // A signal that arrived while the session opened had nothing to interrupt.
    if (stopping.signal.aborted) interrupt(session, timedOut);
    return await handle.outcome;
  } finally {
    stopTimer();
    attachment.detach();
    await printed;
    await print.stop();
  }
}

/** Waits for the session's servers. Rejects with `server_missing` if one of these cannot be used. */
async function requireServers(session: Session, names: readonly string[], signal: AbortSignal): Promise<void> {
  await session.servers?.settled(signal);
  if (signal.aborted) return;
  const states = session.serverStates();
  for (const name of names) {
    const state = states.find((each) => each.name === name);
    if (state?.status === "connected") continue;
    throw new AgentError("server_missing", `The required MCP server ${name} ${whyMissing(state)}`);
  }
}

function whyMissing(state: ServerState | undefined): string {
  if (state === undefined) return "is not configured, or its entry cannot be used.";
  if (state.status === "disabled") return state.error === undefined ? "is disabled." : `is not used: ${state.error}`;
  if (state.status === "connecting") return "did not connect in time. To wait longer, use --mcp-wait.";
  return `failed${state.error === undefined ? "." : `: ${state.error}`}`;
}

function startDeadline(timeoutMs: number | undefined, stop: (cause: AgentError) => void): () => void {
  if (timeoutMs === undefined) return () => undefined;
  const timer = setTimeout(() => {
    stop(new AgentError("timeout", `Stopped by --timeout after ${timeoutMs / 1_000} s.`));
  }, timeoutMs);
  return () => clearTimeout(timer);
}

/** If the log cannot be written, the turn's end reports it. */
function interrupt(session: Session, cause?: AgentError): void {
  session.interrupt(cause).catch(() => undefined);
}

function printer(session: Session, io: Io, options: ExecOptions) {
  const translator = options.format === "stream-json" ? new StreamJsonTranslator(session.waiting()) : undefined;
  const progress = io.stderr.isTerminal && translator === undefined ? new Progress(io.stderr) : undefined;
  const line = (value: unknown): Promise<void> => printJson(value, io.stdout);
  const print = async (event: EngineEvent): Promise<void> => {
    progress?.show(event);
    await options.log.event(event);
    for (const value of translator?.translate(event) ?? []) await line(value);
  };
  return {
    async start(): Promise<void> {
      if (translator !== undefined) await line(initLine(session, await session.model()));
      for (const notice of session.notices()) await print(notice);
    },
    event: print,
    async stop(): Promise<void> {
      await progress?.stop();
    },
  };
}
