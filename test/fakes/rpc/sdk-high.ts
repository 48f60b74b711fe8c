/** An SDK's high level: turns with their own ids, everything validated, a session that is closed. */
import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import type { Bench } from "../../e2e/tinman.ts";
import type { ClientOptions, Handlers, Payload, PermissionRequest, SdkClient, SdkTurn } from "./sdk-connection.ts";
import { call, decide, firstError, merged, noticesUpTo, onServerRequest, SdkError, textOf } from "./sdk-connection.ts";
import { strict } from "./sdk-strict.ts";
import type { Notice, Received, WireOptions } from "./wire.ts";
import { openWire } from "./wire.ts";

const sdkTag = { name: "sdk", metadata: { language: "typescript", version: "0.0.0" } };

export function openHighClient(bench: Bench, options: ClientOptions & WireOptions): SdkClient {
  const { cwd, timeoutMs, ...wireOptions } = options;
  const wire = openWire(bench, { cwd, protocolVersion: "1.1.0", ...wireOptions });
  const handlers: Handlers = {};
  let sessionId = "";
  let settings: Payload = {};
  let restrictToolIds: unknown;

  onServerRequest(wire, async (request) => {
    wire.answer(request, await decided(request, handlers));
  });
  wire.subscribe(({ params }) => {
    if (params?.notification?.type === "settings_updated")
      settings = merged(settings, params.notification.settings as Payload);
  });
  const ask = async (method: string, params: Payload = {}): Promise<Payload> => {
    const result = await call(wire, method, params, timeoutMs);
    const [fault] = strict.result(method, result);
    if (fault !== undefined) throw new SdkError("protocol", fault);
    return result;
  };
  const resume = async (id: string, params: Payload = {}): Promise<Payload> => {
    const result = await ask("droid.load_session", { sessionId: id, ...params });
    sessionId = id;
    settings = result.settings as Payload;
    return result;
  };

  return {
    level: "high",
    wire,
    handlers,
    sessionId: () => sessionId,
    settings: () => settings,
    open: async ({ tags = [], ...params } = {}) => {
      const all = [...(tags as readonly Payload[]), sdkTag];
      const start = { machineId: "default", cwd: resolve(cwd), ...params, tags: all };
      const result = await ask("droid.initialize_session", start);
      sessionId = String(result.sessionId);
      settings = result.settings as Payload;
      restrictToolIds = params.restrictToolIds;
      if (params.systemPrompt !== undefined && settings.systemPrompt === undefined)
        throw new SdkError("unsupported", "The program does not support custom system prompts.");
      return result;
    },
    resume,
    turn: async (text, params = {}) => {
      const turnId = randomUUID();
      const from = wire.received.length;
      await ask("droid.add_user_message", { messageId: turnId, text, ...params });
      const last = await wire.waitFor(endOf(turnId), `agent_turn_completed of ${turnId}`, from);
      const ending = last.params?.notification;
      const fault = ending === undefined ? "no notification" : faultIn(ending);
      if (ending === undefined || fault !== undefined) throw new SdkError("protocol", String(fault));
      return turnOf(noticesUpTo(wire, from, last), ending);
    },
    interrupt: async () => {
      await ask("droid.interrupt_session");
    },
    update: async (params) => {
      await ask("droid.update_session_settings", params);
    },
    fork: async (title) => {
      const old = sessionId;
      const { newSessionId } = await ask("droid.fork_session", {
        ...(title === undefined ? {} : { title }),
        tags: [sdkTag],
      });
      const id = String(newSessionId);
      try {
        await resume(id);
        if (restrictToolIds !== undefined) await ask("droid.update_session_settings", { restrictToolIds });
      } catch (error) {
        await resume(old);
        throw error;
      }
      return id;
    },
    call: ask,
    close: async () => {
      await ask("droid.close_session", { reason: "other" });
      wire.kill("SIGTERM");
      const exit = await wire.exit();
      wire.eof();
      return exit;
    },
  };
}

/** Never an error: anything unclear or not offered means no. */
async function decided(request: Received, handlers: Handlers): Promise<Payload> {
  const no = request.method === "droid.ask_user" ? { cancelled: true, answers: [] } : { selectedOption: "cancel" };
  if (strict.serverRequest(request).length > 0) return no;
  try {
    const result = await decide(request, handlers);
    if (request.method === "droid.ask_user") return result;
    const { options } = request.params as PermissionRequest;
    return options.some(({ value }) => value === result.selectedOption) ? result : no;
  } catch {
    return no;
  }
}

/** The end of this turn, or a message that makes continuing impossible. */
function endOf(turnId: string): (message: Received) => boolean {
  return ({ params }) => {
    const notice = params?.notification;
    if (notice === undefined) return false;
    return faultIn(notice) !== undefined || (notice.type === "agent_turn_completed" && notice.turnId === turnId);
  };
}

function faultIn(notice: Notice): string | undefined {
  if (notice.type === "agent_turn_completed" && notice.turnId === undefined) return "a turn ended without its turnId";
  return strict.notice(notice)[0];
}

function turnOf(notices: readonly Notice[], { reason, tokenUsage }: Notice): SdkTurn {
  const said = { text: textOf(notices), notices, usage: tokenUsage as Payload };
  if (reason === "completed" || reason === "spec_handoff") return { outcome: "success", ...said };
  if (reason === "cancelled" || reason === "permission_rejected") return { outcome: "interrupted", ...said };
  const structured = String(reason).startsWith("structured_output_");
  const error = firstError(notices) ?? String(reason);
  return { outcome: structured ? "error_structured_output" : "error_during_execution", ...said, error };
}
