import { type Capability, can, seesAll } from "../../access/capability.ts";
import type {
  InteractiveMethod,
  InteractiveParams,
  InteractiveResult,
  NotificationName,
} from "../../protocol/interactive.ts";
import {
  interactiveNotifications,
  interactiveParams,
  interactiveVersion,
  sessionStatus,
  toolResultStatus,
} from "../../protocol/interactive.ts";
import { fieldsOf, isRecord } from "../../text/values.ts";
import type { Caller } from "./caller.ts";
import { unknownSession, unusable } from "./failures.ts";
import { notificationFrame } from "./frames.ts";
import { checkExecutable, isExecutable, ownSilenceMs } from "./options.ts";
import type { RequestId } from "./request-id.ts";
import type { Seat } from "./server.ts";

/** Answers, or arranges for a later answer. Resolves when the next request can be taken. Rejects with a failure. */
export type Handler<M extends InteractiveMethod> = (
  params: InteractiveParams<M>,
  id: RequestId,
  connection: Caller,
) => Promise<void>;

export const needs: { readonly [M in InteractiveMethod]: Capability } = {
  startSession: "create",
  sendUserMessage: "use",
  provideToolResult: "use",
  stopSession: "use",
  cancel: "use",
  resumeSession: "read",
  listSessions: "read",
  capabilities: "read",
  echo: "read",
};

export const handlers: { readonly [M in InteractiveMethod]: Handler<M> } = {
  async startSession({ userId, sessionParams }, id, connection) {
    const seat = await connection.server.start(userId, sessionParams ?? {}, connection.identity);
    const { live } = seat;
    const sessionId = live.session.id;
    connection.sit(seat);
    live.listen(connection);
    connection.respond(id, { sessionId, status: sessionStatus.active });
    const params = { sessionId, status: sessionStatus.active, reason: "started", seq: 1 };
    connection.send(notificationFrame({ method: "SessionStatusNotification", params }));
  },

  async sendUserMessage({ sessionId, message }, id, connection) {
    const { server, identity } = connection;
    const { live } = await seatOf(sessionId, connection);
    checkExecutable(live.toolExecution, server.options);
    const { queuedMessages } = server.options.limits;
    const ended = server.access.admit(live.session, message.length, identity, queuedMessages);
    // Answered by its event, while further requests are taken.
    live.send(message, connection, id, ended).catch((error: unknown) => connection.fail(id, error, "sendUserMessage"));
  },

  async provideToolResult({ sessionId, toolCallId, result, isError }, id, connection) {
    const { live } = await seatOf(sessionId, connection);
    if (!live.provide(toolCallId, result, isError === true)) {
      const words = "no tool call with this id is waiting for a result: unknown id, already answered, or timed out";
      throw unusable("unexpected_tool_result", words);
    }
    connection.respond(id, { status: toolResultStatus.ok });
  },

  async stopSession({ sessionId }, id, connection) {
    const { server, identity } = connection;
    connection.respond(id, { status: sessionStatus.stopped });
    // Answered when it has ended, while further requests are taken.
    server
      .stop(sessionId, identity)
      .catch((error: unknown) => server.report(error, { method: "stopSession", sessionId }));
  },

  async echo(params, id, connection) {
    const { message } = fieldsOf(params);
    connection.respond(id, isRecord(params) && "message" in params ? message : (params ?? {}));
  },

  async cancel({ sessionId }, id, connection) {
    const { live } = await seatOf(sessionId, connection);
    connection.respond(id, { status: sessionStatus.active, cancelled: live.unansweredCount });
    live.cancel().catch((error: unknown) => connection.server.report(error, { method: "cancel", sessionId }));
  },

  async resumeSession({ sessionId, afterSeq }, id, connection) {
    const { server, identity } = connection;
    const seat = await server.resume(sessionId, identity);
    connection.sit(seat);
    try {
      await seat.live.catchUp(connection, afterSeq ?? 0, (state) =>
        connection.respond(id, { ...state, status: sessionStatus.active }),
      );
    } catch (error) {
      if (!seat.live.isHeardBy(connection)) connection.rise(seat);
      throw error;
    }
    // Answers prompts that an earlier server process accepted but never took up.
    const { session, toolExecution } = seat.live;
    const canWork = server.access.canUse(session, identity) && isExecutable(toolExecution, server.options);
    if (canWork) session.takeUpWaiting();
  },

  async listSessions(params, id, connection) {
    const { identity, server } = connection;
    const { access } = server;
    const limit = params?.limit ?? 50;
    const infos = await access.list(identity, limit);
    const sessions = infos.slice(0, limit).map(({ id: sessionId, title, owner, userId, createdAt, updatedAt }) => ({
      sessionId,
      title,
      status: access.isOpen(sessionId) ? sessionStatus.active : sessionStatus.stopped,
      ...(userId === undefined ? {} : { userId }),
      ...(owner === undefined || !seesAll(identity) ? {} : { user: owner }),
      createdAt: new Date(createdAt).toISOString(),
      updatedAt: new Date(updatedAt).toISOString(),
    }));
    connection.respond(id, { sessions });
  },

  async capabilities(_, id, connection) {
    const { server, identity } = connection;
    const { toolExecution, toolExecutionChoices, timeouts, limits, serverVersion } = server.options;
    const { modelId } = server.access.defaults(identity);
    const choices = [...new Set([toolExecution, ...toolExecutionChoices])];
    const ai = (await server.engine.boundsSilence(modelId).catch(() => false)) ? undefined : ownSilenceMs;
    const models = (await server.access.models(identity)).map((model) => ({ id: model.id, name: model.displayName }));
    const result: InteractiveResult<"capabilities"> = {
      protocol: "interactive",
      version: interactiveVersion,
      server: { name: "tinman", version: serverVersion },
      user: identity.user,
      role: identity.role,
      methods: (Object.keys(interactiveParams) as InteractiveMethod[]).filter((name) => can(identity, needs[name])),
      notifications: Object.keys(interactiveNotifications) as NotificationName[],
      toolExecution: { default: toolExecution, choices },
      defaultModel: modelId,
      models,
      timeouts: { ...(ai === undefined ? {} : { ai }), ...timeouts },
      limits: { ...limits },
    };
    connection.respond(id, result);
  },
};

/** A session this connection takes part in, joining if needed. A user's own open session needs no resume. */
async function seatOf(sessionId: string, connection: Caller): Promise<Seat> {
  const { server, identity } = connection;
  const known = connection.seat(sessionId);
  if (known !== undefined) return known;
  const seat = await server.join(sessionId, identity);
  if (seat === undefined) throw unknownSession();
  connection.sit(seat);
  seat.live.listen(connection);
  return seat;
}
