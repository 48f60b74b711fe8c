import {
  type AgentContext,
  type ClientCapabilities,
  type CreateElicitationRequest,
  methods,
  type PermissionOption,
  type SessionUpdate,
  type ToolCallUpdate,
} from "@agentclientprotocol/sdk";

export type Client = ReturnType<typeof createClient>;

/** The editor. Its capabilities are known after `initialize`. */
export function createClient(context: AgentContext, capabilities: ClientCapabilities) {
  return {
    capabilities,
    /** Resolves, never rejects, when the client has room for more. */
    update: (sessionId: string, update: SessionUpdate) =>
      context.notify(methods.client.session.update, { sessionId, update }).catch(() => undefined),
    /** The id of the chosen option, or undefined. Rejects if the client cannot be asked. */
    async choose(
      sessionId: string,
      toolCall: ToolCallUpdate,
      options: readonly PermissionOption[],
      signal: AbortSignal,
    ): Promise<string | undefined> {
      const { outcome } = await context.request(
        methods.client.session.requestPermission,
        { sessionId, toolCall, options: [...options] },
        { cancellationSignal: signal },
      );
      return outcome.outcome === "selected" ? outcome.optionId : undefined;
    },
    /** The user no longer needs the address of an elicitation. */
    completed: (elicitationId: string) =>
      void context.notify(methods.client.elicitation.complete, { elicitationId }).catch(() => undefined),
    elicit: (request: CreateElicitationRequest, signal: AbortSignal) =>
      context.request(methods.client.elicitation.create, request, { cancellationSignal: signal }),
  };
}
