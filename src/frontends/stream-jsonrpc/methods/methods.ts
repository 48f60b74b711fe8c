import { sizeOf } from "../../../engine/session/prompt-queue.ts";
import { check } from "../../../protocol/check.ts";
import type { ClientRequest } from "../../../protocol/droid/envelope.ts";
import type { ClientMethod, ParamsOf } from "../../../protocol/droid/params.ts";
import { clientParams } from "../../../protocol/droid/params.ts";
import type { ResultOf } from "../../../protocol/droid/results.ts";
import { textStart } from "../../../text/text-cut.ts";
import { fieldsOf } from "../../../text/values.ts";
import type { LiveSession } from "../attached-session.ts";
import type { Context } from "../context.ts";
import { BadRequest, NoSession, valid } from "../rpc-failure.ts";
import { engineSettings } from "./droid-settings.ts";
import { contextBreakdown, contextStats, listCommands, listModels, listTools } from "./listings.ts";
import { mcpHandlers } from "./mcp.ts";
import { modelsIn, needsOf } from "./needs.ts";
import { initializeSession, loadSession } from "./open-session.ts";
import { promptBlocks } from "./prompt-blocks.ts";
import { filterTools } from "./tool-filters.ts";

/** Responds, or returns `undefined` if the response goes out with an event. */
type Handler<M extends ClientMethod> = (
  params: ParamsOf<M>,
  context: Context,
  request: ClientRequest,
) => Promise<ResultOf<M> | undefined>;

const handlers: { readonly [M in ClientMethod]: Handler<M> } = {
  "droid.initialize_session": initializeSession,
  "droid.load_session": loadSession,

  async "droid.add_user_message"(params, context, request) {
    const live = liveOf(context);
    const content = promptBlocks(params);
    const { messageId } = params;
    const origin = {
      requestId: request.id,
      traceparent: traceparentOf(request),
      ...(messageId === undefined || messageId === "" ? {} : { clientMessageId: messageId }),
    };
    const ended = context.sessions.admit(live.session, sizeOf(content));
    try {
      await live.prompt(content, origin, ended);
      return undefined;
    } catch (error) {
      ended();
      throw error;
    }
  },

  async "droid.update_session_settings"(params, context) {
    const live = liveOf(context);
    const changes = valid(() => engineSettings(params, live.dialect));
    context.sessions.checkChanges(live.session, changes);
    const { modelId, specModelId } = changes;
    await context.engine.checkModels({
      ...(typeof modelId === "string" ? { modelId } : {}),
      ...(typeof specModelId === "string" ? { specModelId } : {}),
    });
    filterTools(live.session, params, context.options.run);
    await live.session.update(changes);
    await live.caughtUp();
    live.tellSettings();
    return {};
  },

  async "droid.interrupt_session"(_, context, request) {
    const { live } = context;
    // Without a session nothing runs, and a client that gives up early must not get an error.
    if (live === undefined) return {};
    // Responds first, because ending a process takes a while.
    context.transport.send(context.lines.result(request.id, {}));
    live.interrupt().catch((error: unknown) => context.options.log.warn(String(error)));
    return undefined;
  },

  async "droid.close_session"(_, context) {
    const live = liveOf(context);
    context.live = undefined;
    await live.close();
    return {};
  },

  async "droid.rename_session"({ title }, context) {
    const live = liveOf(context);
    await live.session.rename(title);
    await live.caughtUp();
    return { success: true };
  },

  async "droid.fork_session"({ title, tags }, context) {
    const live = liveOf(context);
    const { session } = live;
    // The client loads the copy to continue in it, so it always knows its session.
    const newSessionId = await context.sessions.fork(session, {
      title: title?.trim() ? title : `[Fork] ${session.title}`,
      ...(tags === undefined ? {} : { changes: valid(() => engineSettings({ tags }, live.dialect)) }),
    });
    return { newSessionId };
  },

  async "droid.compact_session"({ customInstructions }, context) {
    const live = liveOf(context);
    const { removed: removedCount } = await live.session.compact(customInstructions);
    await live.caughtUp();
    return { newSessionId: live.session.id, removedCount };
  },

  "droid.get_context_stats": async (_, context) => contextStats(liveOf(context).session),
  "droid.get_context_breakdown": async (_, context) => contextBreakdown(liveOf(context).session),
  "droid.list_tools": listTools,
  "droid.list_models": listModels,
  "droid.list_skills": async () => ({ skills: [] }),
  "droid.list_commands": listCommands,
  ...mcpHandlers,
};

/** Rejects with the error for the client. */
export async function handleRequest(request: ClientRequest, context: Context): Promise<object | undefined> {
  if (!Object.hasOwn(handlers, request.method)) {
    throw new BadRequest("method", `Unknown method ${JSON.stringify(textStart(request.method, 200))}`);
  }
  const method = request.method as ClientMethod;
  const params = check(clientParams[method], request.params);
  if (!params.ok) throw new BadRequest("params", `${method}: ${params.problem}`);
  context.sessions.check(needsOf(method, params.value), modelsIn(params.value));
  const handler = handlers[method] as Handler<ClientMethod>;
  return handler(params.value, context, request);
}

function liveOf(context: Context): LiveSession {
  // Another client may have ended a shared session.
  if (context.live === undefined || context.live.session.isClosed) throw new NoSession();
  return context.live;
}

function traceparentOf({ _meta }: ClientRequest): unknown {
  return fieldsOf(_meta).traceparent;
}
