/** An SDK's low level: a turn ends at "idle" after "busy", and closing means closing the pipe. */
import type { Bench } from "../../e2e/tinman.ts";
import type { ClientOptions, Handlers, Payload, SdkClient } from "./sdk-connection.ts";
import { call, decide, firstError, merged, noticesUpTo, onServerRequest, textOf } from "./sdk-connection.ts";
import type { Received, WireOptions } from "./wire.ts";
import { openWire } from "./wire.ts";

export function openLowClient(bench: Bench, options: ClientOptions & WireOptions): SdkClient {
  const { cwd, timeoutMs, ...wireOptions } = options;
  const wire = openWire(bench, { cwd, protocolVersion: "1.62.0", ...wireOptions });
  const handlers: Handlers = {};
  let sessionId = "";
  let settings: Payload = {};

  onServerRequest(wire, async (request) => {
    try {
      wire.answer(request, await decide(request, handlers));
    } catch (error) {
      const what = request.method === "droid.ask_user" ? "ask-user" : "permission";
      const exceptionType = error instanceof Error ? error.name : typeof error;
      wire.answerError(request, {
        code: -32603,
        message: `Failed to handle ${what} request`,
        data: { exceptionType },
      });
    }
  });
  wire.subscribe(({ params }) => {
    if (params?.notification?.type === "settings_updated")
      settings = merged(settings, params.notification.settings as Payload);
  });
  const ask = (method: string, params: Payload = {}): Promise<Payload> => call(wire, method, params, timeoutMs);
  const resume = async (id: string, params: Payload = {}): Promise<Payload> => {
    const result = await ask("droid.load_session", { sessionId: id, ...params });
    sessionId = id;
    settings = result.settings as Payload;
    return result;
  };

  return {
    level: "low",
    wire,
    handlers,
    sessionId: () => sessionId,
    settings: () => settings,
    open: async (params = {}) => {
      const result = await ask("droid.initialize_session", { machineId: "test-machine", cwd, ...params });
      sessionId = String(result.sessionId);
      settings = result.settings as Payload;
      return result;
    },
    resume,
    turn: async (text, params = {}) => {
      const from = wire.received.length;
      await ask("droid.add_user_message", { text, ...params });
      const last = await wire.waitFor(idleAfterBusy(), "idle after a busy state", from);
      const notices = noticesUpTo(wire, from, last);
      const error = firstError(notices);
      const said = { text: textOf(notices), notices };
      return error === undefined
        ? { outcome: "success", ...said }
        : { outcome: "error_during_execution", ...said, error };
    },
    interrupt: async () => {
      await ask("droid.interrupt_session");
    },
    update: async (params) => {
      await ask("droid.update_session_settings", params);
    },
    fork: async (title) => {
      const { newSessionId } = await ask("droid.fork_session", title === undefined ? {} : { title });
      await resume(String(newSessionId));
      return String(newSessionId);
    },
    call: ask,
    close: () => {
      wire.eof();
      wire.kill("SIGTERM");
      return wire.exit();
    },
  };
}

/** An idle before any activity belongs to something else. */
function idleAfterBusy(): (message: Received) => boolean {
  let busy = false;
  return ({ params }) => {
    const notice = params?.notification;
    if (notice?.type !== "droid_working_state_changed") return false;
    if (notice.newState !== "idle") busy = true;
    return busy && notice.newState === "idle";
  };
}
