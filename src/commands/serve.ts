import { join, resolve } from "node:path";
import { type Composition, compose } from "../compose.ts";
import { loadUserConfig } from "../config/load.ts";
import { interactiveSettings, serveSettings } from "../config/serve-settings.ts";
import { AgentError } from "../core/errors.ts";
import { processEnded } from "../core/history.ts";
import { SessionPool } from "../core/session-pool.ts";
import { exitCodes, signalCodes } from "../frontends/exit-codes.ts";
import type { ConnectionHandler, Io } from "../frontends/front-end.ts";
import { checkBinding } from "../frontends/http/access.ts";
import { createLog, type Log } from "../frontends/http/log.ts";
import { createMetrics } from "../frontends/http/metrics.ts";
import { createHttpServer } from "../frontends/http/server.ts";
import { tokenFile } from "../frontends/http/token-file.ts";
import { InteractiveConnection } from "../frontends/interactive/connection.ts";
import { InteractiveServer } from "../frontends/interactive/server.ts";
import { Connection } from "../frontends/stream-jsonrpc/connection.ts";
import { roleRules } from "../frontends/stream-jsonrpc/role-rules.ts";
import { createObserver } from "./serve-observer.ts";
import type { GivenServe } from "./serve-options.ts";
import { workingFolder } from "./working-folder.ts";

/** After the time for running turns: for what they have left to say. */
const lastWordsMs = 5_000;

/** `tinman serve`: until a signal asks it to end. */
export async function serve(given: GivenServe, io: Io): Promise<number> {
  const host = checkBinding({ host: given.host, allowRemote: given.allowRemote ?? false, auth: given.auth });
  const cwd = workingFolder(given.cwd ?? process.cwd());
  const log = createLog(io.stderr, given.logLevel);
  const metrics = createMetrics({ version: TINMAN_VERSION });
  const configFile = given.config === undefined ? undefined : resolve(given.config);
  const composition = await compose(process.env, {
    ...(configFile === undefined ? {} : { configFile }),
    observe: createObserver(metrics.meter, log),
  });
  const { engine, config, homes, clock, ids } = composition;
  const settings = serveSettings(config);
  const sessions = interactiveSettings(config);
  const { aiMs: ai, toolResultMs: toolResult, idleSessionMs: idleSession } = sessions.timeouts;
  const modelId = await modelOf(given, composition);
  const pool = new SessionPool(engine, {
    clock,
    idleMs: idleSession,
    onCreated: () => metrics.meter.sessionStarted(),
    onIdle: (session) => interactive.wasIdle(session),
  });
  const interactive = new InteractiveServer({
    engine,
    pool,
    clock,
    ids,
    log,
    options: {
      ...sessions,
      cwd,
      modelId,
      reasoningEffort: "none",
      timeouts: { ai, toolResult, idleSession },
      serverVersion: TINMAN_VERSION,
    },
  });
  metrics.meter.gauge("sessions", () => pool.all().length);
  metrics.meter.gauge("queued_messages", () => pool.all().reduce((sum, each) => sum + each.waiting().length, 0));
  const server = await createHttpServer({
    ...settings,
    host,
    port: given.port,
    auth: given.auth
      ? {
          tokenFile: tokenFile(homes.own),
          users: {
            file: configFile ?? join(homes.own, "config.yaml"),
            load: async () =>
              serveSettings(await loadUserConfig(homes.own, configFile === undefined ? {} : { file: configFile }))
                .users,
          },
        }
      : undefined,
    timeouts: { ...settings.timeouts, drainMs: settings.timeouts.drainMs + lastWordsMs },
    mounted: {
      "/ws": (socket, identity) => new InteractiveConnection(interactive, socket, identity),
      "/rpc": rpcHandler(composition, pool, { modelId, toolResultMs: toolResult }, log),
    },
    log,
    metrics,
  });
  await server.listen();
  const { url } = server.address();
  if (!given.auth)
    log.warn("auth.off", {
      message: "Nobody is asked for a token: every program on this machine may do everything here.",
    });
  log.info("server.started", {
    url,
    version: TINMAN_VERSION,
    tokenFile: given.auth ? tokenFile(homes.own) : undefined,
  });
  await io.stdout.write(`tinman serve: listening on ${url} - API ${url.replace("http", "ws")}/ws\n`);

  const ended = new AgentError("interrupted", processEnded.message);
  return new Promise((end) => {
    let isStopping = false;
    const stopListening = io.onSignal((signal) => {
      if (isStopping) {
        log.warn("server.stopped", { signal, message: "A second signal: what runs is not waited for." });
        end(signalCodes[signal]);
        return;
      }
      isStopping = true;
      log.info("server.stopping", { signal });
      interactive.drain();
      const lastTurns = within(settings.timeouts.drainMs, pool.idle()).then(() => pool.close(ended));
      void server
        .drain(lastTurns)
        .then(() => engine.close())
        .catch((error: unknown) => log.error("server.fault", { message: String(error) }))
        .finally(() => {
          stopListening();
          log.info("server.stopped");
          end(exitCodes.success);
        });
    });
  });
}

/** Rejects with `model_unknown`: better now than with the first session. */
async function modelOf(given: GivenServe, { engine, defaultModel, modelOverride }: Composition): Promise<string> {
  const modelId = modelOverride === undefined ? (given.model ?? defaultModel) : defaultModel;
  await engine.checkModels({ modelId });
  return modelId;
}

/** stream-jsonrpc, with sessions that several connections share. */
function rpcHandler(
  { engine, repositoryName }: Composition,
  pool: SessionPool,
  { modelId, toolResultMs }: { readonly modelId: string; readonly toolResultMs: number },
  log: Log,
): ConnectionHandler {
  return ({ transport }, { user, role }) => {
    const connection = new Connection(engine, transport, {
      defaults: { modelId, reasoningEffort: "none" },
      run: { toolResultMs },
      folder: workingFolder,
      repository: repositoryName,
      shared: {
        pool,
        owner: user,
        allows: ({ owner }) => role !== "user" || owner === user,
        refuse: roleRules(role, modelId),
        canAnswer: role !== "viewer",
      },
      log: { warn: async (message) => log.warn("rpc.warning", { user, message }), event: async () => undefined },
    });
    const served = connection.run();
    // What is wrong with one connection is no reason to end the others.
    served.catch((error: unknown) => log.error("rpc.fault", { user, message: String(error) }));
    return { drain: () => undefined, closed: () => served.catch(() => undefined) };
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  await Promise.race([
    work.catch(() => undefined),
    new Promise((resolve) => {
      timer = setTimeout(resolve, ms);
    }),
  ]);
  clearTimeout(timer);
}
