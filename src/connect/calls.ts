/** A tool call that the server expects a result for. */
export interface Call {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly arguments: unknown;
  readonly messageId: string | undefined;
  /** Aborted when the result is no longer awaited. */
  readonly over: AbortSignal;
}

export type OpenCalls = ReturnType<typeof createOpenCalls>;

/** The calls that wait for a result, oldest first. */
export function createOpenCalls() {
  const open = new Map<string, { readonly call: Call; readonly over: AbortController }>();
  const seen = new Set<string>();
  const ours = new Set<string>();
  return {
    /** Undefined if the call was added before. */
    add(given: Omit<Call, "over">): Call | undefined {
      if (seen.has(given.toolCallId)) return undefined;
      seen.add(given.toolCallId);
      const over = new AbortController();
      const call = { ...given, over: over.signal };
      open.set(call.toolCallId, { call, over });
      return call;
    },
    /** The call is being answered here. False if it was not open. */
    close(toolCallId: string): boolean {
      if (!open.delete(toolCallId)) return false;
      ours.add(toolCallId);
      return true;
    },
    /** Another client has answered it. */
    end(toolCallId: string) {
      open.get(toolCallId)?.over.abort();
      open.delete(toolCallId);
    },
    isOurs: (toolCallId: string) => ours.has(toolCallId),
    isOpen: (toolCallId: string) => open.has(toolCallId),
    /** Ends the calls of a message, or all. */
    drop(messageId?: string) {
      for (const [id, { call, over }] of open) {
        if (messageId !== undefined && call.messageId !== undefined && call.messageId !== messageId) continue;
        open.delete(id);
        over.abort();
      }
    },
    ids: () => [...open.keys()],
  };
}
