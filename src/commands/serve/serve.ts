import { resolve } from "node:path";
import { AccessControl } from "../../access/access-control.ts";
import { createReport } from "../../access/report.ts";
import { settlesWithin } from "../../async/promises.ts";
import { type Composition, compose } from "../../compose.ts";
import { interactiveSettings, serveSettings } from "../../config/serve/serve-settings.ts";
import { AgentError } from "../../engine/errors.ts";
import { processEnded } from "../../engine/log/history.ts";
import { SessionPool } from "../../engine/session/session-pool.ts";
import { type ExitCode, exitCodes, signalCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import { InteractiveConnection } from "../../frontends/interactive/connection.ts";
import { InteractiveServer } from "../../frontends/interactive/server.ts";
import { createLog, type Log } from "../../server/log.ts";
import { createMetrics } from "../../server/metrics.ts";
import { checkBinding } from "../../server/origin-check.ts";
import { createHttpServer } from "../../server/server.ts";
import { tokenFile } from "../../server/token-file.ts";
import { givenServers } from "../exec/given-servers.ts";
import { noticeOf, offlineServerNotice } from "../exec/offline-notice.ts";
import { workingFolder } from "../working-folder.ts";
import { createObserver } from "./serve-observer.ts";
import type { GivenServe } from "./serve-options.ts";
import { createRpcHandler } from "./serve-rpc.ts";
import { authOf } from "./serve-users.ts";
import { warmUp } from "./serve-warm-up.ts";

/** Time for last events, after the time for running turns. */
const lastWordsMs = 5_000;

/** `tinman serve`: runs until a signal stops it. */
export async function serve(given: GivenServe, io: Io): Promise<number> {
  const host = checkBinding({ host: given.host, allowRemote: given.allowRemote ?? false, auth: given.auth });
  const cwd = workingFolder(given.cwd);
  const configFile = given.config === undefined ? undefined : resolve(given.config);
  const log = createLog(io.stderr, given.logLevel);
  keepToTheLog(log);
  const metrics = createMetrics({ version: TINMAN_VERSION });
  const composition = await compose(process.env, {
    ...(configFile === undefined ? {} : { configFile }),
    observe: createObserver(metrics.meter, log),
    sandboxMode: given.sandbox,
  });
  const { engine, config, homes, clock, ids } = composition;
  const settings = serveSettings(config);
  await engine.checkSandbox();
  const { timeouts, autonomy, ...sessions } = interactiveSettings(config);
  const { aiMs: ai, toolResultMs: toolResult, idleSessionMs: idleSession } = timeouts;
  const modelId = await modelOf(given, composition);
  const notice = await offlineServerNotice(given, composition);
  const servers = await givenServers(given, async (message) => log.warn("mcp.config", { message }));
  const pool = new SessionPool(engine, {
    clock,
    idleMs: idleSession,
    onIdle: (session) => interactive.wasIdle(session),
  });
  metrics.meter.gauge("sessions", () => pool.all().length);
  metrics.meter.gauge("queued_messages", () => pool.all().reduce((sum, each) => sum + each.waiting().length, 0));
  const report = createReport(log, ids);
  const access = new AccessControl({
    engine,
    pool,
    clock,
    options: { modelId, autonomy, ownHome: homes.own, limits: sessions.limits },
    report,
  });
  const interactive = new InteractiveServer({
    engine,
    access,
    log,
    report,
    options: {
      ...sessions,
      cwd,
      reasoningEffort: "none",
      serverVersion: TINMAN_VERSION,
      timeouts: { ...(ai === undefined ? {} : { ai }), toolResult, idleSession },
      run: { ...(notice === undefined ? {} : { modelByDefault: notice, ...noticeOf(notice) }), ...servers },
    },
  });
  const rpc = createRpcHandler(composition, {
    access,
    run: { toolResultMs: toolResult, ...noticeOf(notice), ...servers },
    log,
  });
  const { drainMs } = settings.timeouts;
  const server = await createHttpServer({
    ...settings,
    host,
    port: given.port,
    auth: given.auth ? authOf(homes.own, configFile) : undefined,
    timeouts: { ...settings.timeouts, drainMs: drainMs + lastWordsMs },
    mounted: {
      "/ws": (socket, identity) => new InteractiveConnection(interactive, socket, identity),
      ...(settings.rpc === "nobody" ? {} : { "/rpc": rpc }),
    },
    needs: settings.rpc === "admins" ? { "/rpc": "host" } : {},
    onUserGone(who) {
      void access.revoke(who).then((failures) => {
        for (const error of failures) log.error("server.fault", { user: who.user, message: String(error) });
      });
    },
    log,
    metrics,
  });
  await server.listen();
  const { url } = server.address();
  tellStart(log, url, given.auth ? tokenFile(homes.own) : undefined);
  // Listen for signals now: a program that reads the line below may send one at once.
  const stopped = untilStopped(io, log, async () => {
    access.drain();
    const ended = new AgentError("interrupted", processEnded.message);
    await server.drain(settlesWithin(drainMs, pool.idle()).then(() => pool.close(ended)));
    await engine.close();
  });
  const warning = given.auth ? "" : " - NO TOKEN REQUIRED";
  await io.stdout.write(`tinman serve: listening on ${url} - API ${url.replace("http", "ws")}/ws${warning}\n`);
  if (notice !== undefined) log.warn("model.offline", { message: notice.text });
  warmUp(composition, cwd).catch(() => undefined);
  return stopped;
}

/** Sends Node's warnings to the log, and keeps SIGUSR1 from opening the debugger, which needs no token. */
function keepToTheLog(log: Log): void {
  process.removeAllListeners("warning");
  process.on("warning", ({ name, message }) => log.warn("process.warning", { name, message }));
  // A fault of one session must not end the others.
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => log.error("server.fault", { message: String(error) }));
  process.on("SIGUSR1", () => log.warn("process.warning", { message: "Ignored SIGUSR1." }));
}

/** Rejects with `model_unknown` at the start instead of with the first session. */
async function modelOf(given: GivenServe, { engine, defaultModel, modelOverride }: Composition): Promise<string> {
  const modelId = modelOverride === undefined ? (given.model ?? defaultModel) : defaultModel;
  await engine.checkModels({ modelId });
  return modelId;
}

function tellStart(log: Log, url: string, ownToken: string | undefined): void {
  if (ownToken === undefined) {
    const message = "No token is required: every program on this machine has full access.";
    log.warn("auth.off", { message });
  }
  log.info("server.started", { url, version: TINMAN_VERSION, tokenFile: ownToken });
}

/** Resolves with the exit code after an orderly stop, or at once with a second signal. */
function untilStopped(io: Io, log: Log, bringToEnd: () => Promise<void>): Promise<ExitCode> {
  return new Promise((end) => {
    let isStopping = false;
    const stopListening = io.onSignal((signal) => {
      if (isStopping) {
        log.warn("server.stopped", { signal, message: "Second signal: stopping without waiting for running turns." });
        end(signalCodes[signal]);
        return;
      }
      isStopping = true;
      log.info("server.stopping", { signal });
      void bringToEnd()
        .catch((error: unknown) => log.error("server.fault", { message: String(error) }))
        .finally(() => {
          stopListening();
          log.info("server.stopped");
          end(exitCodes.success);
        });
    });
  });
}
