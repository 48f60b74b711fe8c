import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  methods,
  type PermissionOption,
  type SessionUpdate,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";

/** The editor on the other side: what it is told, and what it can be asked. */
export interface Client {
  readonly capabilities: ClientCapabilities;
  /** Resolves, never rejects, when there is room for more. */
  update(sessionId: string, update: SessionUpdate): Promise<void>;
  /** The id of the option that was chosen; `undefined` when none was. Rejects when it cannot be asked. */
  choose(
    sessionId: string,
    toolCall: ToolCallUpdate,
    options: readonly PermissionOption[],
    signal: AbortSignal,
  ): Promise<string | undefined>;
  elicit(request: CreateElicitationRequest, signal: AbortSignal): Promise<CreateElicitationResponse>;
}

/** What it is capable of is known once it has said hello. */
export function createClient(context: AgentContext, capabilities: ClientCapabilities): Client {
  return {
    capabilities,
    update: (sessionId, update) =>
      context.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined),
    async choose(sessionId, toolCall, options, signal) {
      const { outcome } = await context.request(
        methods.client.session.requestPermission,
        { sessionId, toolCall, options: [...options] },
        { cancellationSignal: signal },
      );
      return outcome.outcome === "selected" ? outcome.optionId : undefined;
    },
    elicit: (request, signal) =>
      context.request(methods.client.elicitation.create, request, { cancellationSignal: signal }),
  };
}
