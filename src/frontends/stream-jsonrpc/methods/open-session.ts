import type { NewSession } from "../../../engine/engine.ts";
import { AgentError, failureOf } from "../../../engine/errors.ts";
import type { SessionState } from "../../../engine/log/history.ts";
import { changeSettings } from "../../../engine/log/history.ts";
import { textOf } from "../../../engine/message.ts";
import type { RunOptions, SessionSettings } from "../../../engine/settings.ts";
import type { ClientRequest } from "../../../protocol/droid/envelope.ts";
import type { Notification } from "../../../protocol/droid/notifications.ts";
import type { InitializeParams, LoadParams } from "../../../protocol/droid/params.ts";
import type { GitRepo, InitializeResult, LoadResult } from "../../../protocol/droid/results.ts";
import { isRecord } from "../../../text/values.ts";
import { LiveSession } from "../attached-session.ts";
import type { Context } from "../context.ts";
import { type Dialect, dialectOf, vocabularyOf } from "../dialect.ts";
import { wireHistory, wireUsage } from "../notifications/wire-messages.ts";
import { permissionParams, questionParams } from "../requests/permission-request.ts";
import { BadRequest, valid } from "../rpc-failure.ts";
import type { Held } from "../sessions.ts";
import { engineSettings } from "./droid-settings.ts";
import { givenServers } from "./given-servers.ts";
import { availableModels } from "./listings.ts";
import { filtersIn, filterTools } from "./tool-filters.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Always creates an empty session, after ending what runs in this connection. */
export async function initializeSession(
  params: InitializeParams,
  context: Context,
  request: ClientRequest,
): Promise<InitializeResult> {
  const dialect = dialectFor(context, request);
  const { options } = context;
  const settings = firstSettings(params, context, dialect);
  const cwd = folderFor(params, context);
  const mcpServers = echoed(params);
  const run = {
    ...runFor(params, options.run),
    ...(params.skipPermissionsUnsafe === true ? { unsafe: true } : {}),
  };
  const wanted = params.sessionId === "" ? undefined : params.sessionId;
  const { held, models, gitRepo } = await withFacts(create(context, { cwd, settings, run }, wanted), context, cwd);
  const live = await switchTo(context, held, dialect, params);
  announce(live, context);
  if (params.modelId === undefined) await options.onDefaultModel?.();
  return {
    sessionId: live.session.id,
    session: { messages: [] },
    settings: live.shown(live.session.settings),
    availableModels: models,
    ...(gitRepo === undefined ? {} : { gitRepo }),
    ...(mcpServers === undefined ? {} : { mcpServers }),
  };
}

/** Opens a session as it was left, or joins it as it is now. */
export async function loadSession(params: LoadParams, context: Context, request: ClientRequest): Promise<undefined> {
  const { sessions, options } = context;
  const { sessionId } = params;
  const dialect = dialectToLoad(sessionId, context, request);
  const mcpServers = echoed(params);
  const run = runFor(params, options.run);
  let { live } = context;
  const isOther = live?.session.id !== sessionId || live.session.isClosed;
  let facts: Facts;
  if (live === undefined || isOther) {
    const held = await sessions.open(sessionId, run);
    facts = await withFacts(Promise.resolve(held), context, held.session.cwd);
    live = await switchTo(context, held, dialect, params);
    announce(live, context);
    live.tellNotices();
    if (held.wasOpen) warnOfServers(live, run);
    // The request can also set filters, which concern all clients.
    live.tellSettings();
  } else {
    sessions.readAgain();
    const { autoRejectPermissionRequests: isRejecting } = params;
    if (isRejecting !== undefined) live.setApprover(!isRejecting);
    filterTools(live.session, params, context.options.run);
    facts = await factsOf(context, live.session.cwd);
    live.tellSettings();
    warnOfServers(live, run);
  }
  const { models, gitRepo } = facts;
  const { told } = live;
  const result: LoadResult = {
    session: { messages: wireHistory(told.messages), ...(told.title === "" ? {} : { title: told.title }) },
    settings: live.shown(told.settings),
    availableModels: models,
    isAgentLoopInProgress: told.turn !== undefined,
    ...(gitRepo === undefined ? {} : { gitRepo }),
    cwd: told.cwd,
    tokenUsage: wireUsage(told.usage),
    ...pending(live),
    ...queued(told),
    ...(mcpServers === undefined ? {} : { mcpServers }),
  };
  // Must happen here: earlier lines are part of this result, later ones are not.
  context.transport.send(context.lines.result(request.id, result));
  if (isOther) live.tellUnderWay();
  return undefined;
}

interface Facts {
  readonly models: Awaited<ReturnType<typeof availableModels>>;
  readonly gitRepo: GitRepo | undefined;
}

async function factsOf({ sessions, options }: Context, cwd: string): Promise<Facts> {
  const [models, gitRepo] = await Promise.all([availableModels(sessions), options.repository(cwd)]);
  return { models, gitRepo };
}

/** Looks up facts while the session opens. Releases the session if that fails. */
async function withFacts(
  opening: Promise<Held>,
  context: Context,
  cwd: string,
): Promise<Facts & { readonly held: Held }> {
  try {
    const [held, facts] = await Promise.all([opening, factsOf(context, cwd)]);
    return { held, ...facts };
  } catch (error) {
    const held = await opening.catch(() => undefined);
    await held?.release();
    throw error;
  }
}

function dialectFor(context: Context, { params }: ClientRequest): Dialect {
  return context.dialect ?? dialectOf(context, params);
}

/** The early dialect needs UUIDs. A connection that did not start in it speaks the later one. */
function dialectToLoad(sessionId: string, context: Context, request: ClientRequest): Dialect {
  const dialect = dialectFor(context, request);
  if (dialect === "later" || uuid.test(sessionId)) return dialect;
  if (context.dialect === "early") throw new AgentError("session_not_found", sessionId);
  return "later";
}

/** The client's settings, then the command line's, then the defaults. */
function firstSettings(params: InitializeParams, { options }: Context, dialect: Dialect): SessionSettings {
  const { autonomy, spec, cwd: _, ...defaults } = options.defaults;
  // Later words for levels don't set a mode, but a client that names a level doesn't expect spec mode.
  const namesLevel = (params.autonomyLevel ?? params.autonomyMode) !== undefined;
  const isPlanning = spec ?? (autonomy === undefined && dialect === "early" && !namesLevel);
  const usual: SessionSettings = { ...defaults, autonomy: autonomy ?? "off", mode: isPlanning ? "spec" : "auto" };
  return changeSettings(
    usual,
    valid(() => engineSettings(params, dialect)),
  );
}

function folderFor({ cwd }: InitializeParams, { options }: Context): string {
  const path = cwd ?? options.defaults.cwd;
  if (path === undefined) throw new BadRequest("params", "cwd is required and must be a string");
  try {
    if (path === "") throw new AgentError("usage", "It is empty.");
    return options.folder(path);
  } catch (error) {
    throw new AgentError("usage", `The working directory (cwd) cannot be used. ${(error as Error).message}`);
  }
}

/** If the id is taken, the session gets another one, which the response contains. */
async function create({ sessions }: Context, options: NewSession, wanted: string | undefined): Promise<Held> {
  if (wanted === undefined) return sessions.create(options);
  try {
    return await sessions.create({ ...options, id: wanted });
  } catch (error) {
    const code = error instanceof AgentError ? error.code : undefined;
    if (code === "usage") throw new BadRequest("params", (error as AgentError).message);
    if (code !== "session_exists" && code !== "session_in_use") throw error;
    return sessions.create(options);
  }
}

/** Leaves or ends the previous session, and sends all of it, before anything about the new one. */
async function switchTo(
  context: Context,
  held: Held,
  dialect: Dialect,
  params: InitializeParams | LoadParams,
): Promise<LiveSession> {
  const { options, transport, lines, live: before } = context;
  context.live = undefined;
  // A log that cannot be released must not block the next session.
  await before?.leave().catch((error: unknown) => options.log.warn(failureOf(error).message));
  try {
    context.dialect = dialect;
    // Without filters from the client, the session's own apply.
    if (!held.wasOpen || Object.keys(filtersIn(params)).length > 0) filterTools(held.session, params, options.run);
    context.live = new LiveSession({
      held,
      dialect,
      vocabulary: vocabularyOf(dialect, context.protocolVersion),
      transport,
      lines,
      approve: params.autoRejectPermissionRequests !== true,
      onEvent: (event) => void options.log.event(event),
      onFault: context.fail,
    });
    return context.live;
  } catch (error) {
    await held.release();
    throw error;
  }
}

function announce(live: LiveSession, { transport, lines }: Context): void {
  const { session } = live;
  const news: Notification[] = [{ type: "settings_updated", settings: live.shown(session.settings) }];
  if (session.title !== "") news.push({ type: "session_title_updated", title: session.title });
  for (const notification of news) transport.send(lines.notification(notification));
  live.tellServers();
}

/** What the client wants for this process. Its servers join those of the command line. */
function runFor({ mcpServers = [], mcpOAuthCallbackUri }: InitializeParams | LoadParams, run: RunOptions): RunOptions {
  if (mcpOAuthCallbackUri !== undefined && !URL.canParse(mcpOAuthCallbackUri)) {
    throw new BadRequest("params", "mcpOAuthCallbackUri must be an address");
  }
  const { servers, unusableServers } = givenServers(mcpServers);
  const named = new Set([...servers, ...unusableServers].map(({ name }) => name));
  const others = run.servers?.filter(({ name }) => !named.has(name)) ?? [];
  return {
    ...run,
    ...(servers.length + others.length === 0 ? {} : { servers: [...others, ...servers] }),
    ...(unusableServers.length === 0 ? {} : { unusableServers }),
    ...(mcpOAuthCallbackUri === undefined ? {} : { signInCallback: mcpOAuthCallbackUri }),
  };
}

/** A session that is open already keeps its servers. */
function warnOfServers(live: LiveSession, { servers = [], unusableServers = [] }: RunOptions): void {
  const known = new Set(live.session.serverStates().map(({ name }) => name));
  const missed = [...servers, ...unusableServers].map(({ name }) => name).filter((name) => !known.has(name));
  if (missed.length === 0) return;
  live.warn(
    `The session is open already, so it did not get these MCP servers: ${missed.join(", ")}. ` +
      "They join it when it is opened again.",
  );
}

/** Checked before anything is done, because endless nesting could not be sent back. */
function echoed({ mcpServers }: Pick<InitializeParams, "mcpServers">): Record<string, unknown>[] | undefined {
  try {
    JSON.stringify(mcpServers);
  } catch {
    throw new BadRequest("params", "mcpServers is nested too deeply");
  }
  return mcpServers?.filter(isRecord).map(({ type: _, ...server }) => server);
}

/** Accepted prompts without a turn so far, including those of a process that died. */
function queued({ waiting }: SessionState): Pick<LoadResult, "queuedMessages"> {
  const queuedMessages = [...waiting].map(([messageId, { content }]) => {
    return { messageId, text: textOf(content), requestId: messageId };
  });
  return queuedMessages.length === 0 ? {} : { queuedMessages };
}

function pending(live: LiveSession): Pick<LoadResult, "pendingPermissions" | "pendingAskUserRequests"> {
  const open = [...live.told.openRequests];
  const pendingPermissions = open.flatMap(([requestId, interaction]) =>
    interaction.kind === "question" || interaction.kind === "tool"
      ? []
      : [{ requestId, ...permissionParams(interaction, live) }],
  );
  const pendingAskUserRequests = open.flatMap(([requestId, interaction]) =>
    interaction.kind === "question" ? [{ requestId, ...questionParams(interaction) }] : [],
  );
  return {
    ...(pendingPermissions.length === 0 ? {} : { pendingPermissions }),
    ...(pendingAskUserRequests.length === 0 ? {} : { pendingAskUserRequests }),
  };
}
