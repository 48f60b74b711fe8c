import {
  type AgentApp,
  type AgentCapabilities,
  agent,
  type ClientCapabilities,
  type Implementation,
  type InitializeResponse,
  methods,
  PROTOCOL_VERSION,
} from "@agentclientprotocol/sdk";
import { legacyMethods, newSessionParams, oldSessionParams, setModelParams } from "../../protocol/acp.ts";
import type { SettingsChange } from "../../sdk/api.ts";
import type { Backend } from "./backend.ts";
import { changeToMode, modeNames, optionIds, type SessionState } from "./modes.ts";
import { authRequired, badParams, rpcError } from "./rpc-errors.ts";
import type { EditorSession } from "./session/editor-session.ts";
import type { Sessions } from "./session/sessions.ts";

const authMethod = {
  id: "environment",
  name: "Keys from the environment",
  description: "Set the key of your model's provider in the environment or in config.yaml, and start again.",
} as const;

interface AgentParts {
  readonly backend: Backend;
  readonly sessions: Sessions;
  readonly info: Implementation;
  saidHello(capabilities: ClientCapabilities): void;
  warn(words: string): void;
}

/** The methods of ACP. Exactly those with a handler here are advertised. */
export function createAgent(parts: AgentParts): AgentApp {
  const { backend, sessions } = parts;
  const app = agent({ name: parts.info.name });
  const { session: on } = methods.agent;
  const has = {
    list: backend.list !== undefined,
    delete: backend.remove !== undefined,
  };

  /** The response comes first, then everything else about the session. */
  function opened(session: EditorSession): SessionState {
    setImmediate(() => session.introduce().catch((error: unknown) => parts.warn(String(error))));
    return session.state;
  }

  app
    .onRequest(methods.agent.initialize, ({ params }) => {
      parts.saidHello(params.clientCapabilities ?? {});
      setImmediate(() => backend.prepare());
      return hello(parts.info, has);
    })
    .onRequest(methods.agent.authenticate, async ({ params }) => {
      if (params.methodId !== authMethod.id)
        throw badParams(`Unknown authentication method ${JSON.stringify(params.methodId)}.`);
      await backend.authenticate().catch((error: unknown) => {
        throw authRequired(rpcError(error).message);
      });
      return {};
    })
    .onRequest(on.new, newSessionParams, async ({ params, signal }) => {
      const session = await sessions.create(params, signal);
      return { sessionId: session.id, ...opened(session) };
    })
    .onRequest(on.load, oldSessionParams, async ({ params: { sessionId, ...wanted }, signal }) => {
      const session = await sessions.open(sessionId, wanted, signal);
      await session.replay();
      return opened(session);
    })
    .onRequest(on.resume, oldSessionParams, async ({ params: { sessionId, ...wanted }, signal }) =>
      opened(await sessions.open(sessionId, wanted, signal)),
    )
    .onRequest("session/fork", oldSessionParams, async ({ params: { sessionId, ...wanted }, signal }) => {
      const session = await sessions.fork(sessionId, wanted, signal);
      return { sessionId: session.id, ...opened(session) };
    })
    .onRequest(on.close, async ({ params }) => {
      await sessions.close(params.sessionId);
      return {};
    })
    .onRequest(on.prompt, ({ params, signal }) => sessions.of(params.sessionId).prompt(params.prompt, signal))
    .onNotification(on.cancel, ({ params }) => sessions.cancel(params.sessionId))
    .onRequest(on.setMode, async ({ params: { sessionId, modeId } }) => {
      const session = sessions.of(sessionId);
      await session.change(toMode(modeId));
      return {};
    })
    .onRequest(on.setConfigOption, async ({ params }) => {
      const session = sessions.of(params.sessionId);
      await session.change(toOption(session, params.configId, params.value));
      return { configOptions: session.state.configOptions };
    })
    .onRequest(legacyMethods.setModel, setModelParams, async ({ params }) => {
      const session = sessions.of(params.sessionId);
      await session.change(toModel(session, params.modelId));
      return {};
    });
  if (has.list) app.onRequest(on.list, ({ params }) => sessions.list(params));
  if (has.delete) {
    app.onRequest(on.delete, async ({ params }) => {
      await sessions.remove(params.sessionId);
      return {};
    });
  }
  return app;
}

function hello(
  agentInfo: Implementation,
  has: { readonly list: boolean; readonly delete: boolean },
): InitializeResponse {
  const agentCapabilities: AgentCapabilities = {
    loadSession: true,
    promptCapabilities: { image: true, audio: false, embeddedContext: true },
    mcpCapabilities: { http: true, sse: true },
    sessionCapabilities: {
      ...(has.list ? { list: {} } : {}),
      ...(has.delete ? { delete: {} } : {}),
      resume: {},
      close: {},
      ...{ fork: {} },
    },
  };
  // The only supported version. A client of another one disconnects.
  return { protocolVersion: PROTOCOL_VERSION, agentInfo, agentCapabilities, authMethods: [authMethod] };
}

function toMode(id: string): SettingsChange {
  const change = changeToMode(id);
  if (change === undefined) throw badParams(`Unknown mode ${JSON.stringify(id)}. Available: ${modeNames()}.`);
  return change;
}

function toModel({ models }: EditorSession, modelId: string): SettingsChange {
  if (models.length > 0 && !models.some(({ id, disabled }) => id === modelId && !disabled)) {
    throw badParams(`Unknown model ${JSON.stringify(modelId)}. Available: ${models.map(({ id }) => id).join(", ")}.`);
  }
  return { modelId };
}

function toOption(session: EditorSession, id: string, value: unknown): SettingsChange {
  if (typeof value !== "string") throw badParams(`The value of ${id} must be a string.`);
  switch (id) {
    case optionIds.mode:
      return toMode(value);
    case optionIds.model:
      return toModel(session, value);
    case optionIds.effort: {
      const known = session.efforts;
      if (!known.includes(value))
        throw badParams(`Unknown effort ${JSON.stringify(value)}. Available: ${known.join(", ")}.`);
      return { reasoningEffort: value };
    }
    default:
      throw badParams(`Unknown option ${JSON.stringify(id)}. Available: ${Object.values(optionIds).join(", ")}.`);
  }
}
