import type { EngineEvent, EventOf } from "../../../engine/event.ts";
import type { SessionState } from "../../../engine/log/history.ts";
import type { AssistantMessage } from "../../../engine/message.ts";
import { callsOf } from "../../../engine/message.ts";
import type { Outbox, Outgoing } from "../outbox.ts";
import { createStreamedCalls } from "./tool-input.ts";
import { toolUse, wireMessage } from "./wire-messages.ts";

const notRun = "Error: Tool was not run because the reply that called it broke off.";

type Delta = Pick<EventOf<"message.delta">, "messageId" | "block" | "kind" | "text" | "at">;

/** A reply as it streams: text in pieces, calls by argument, and then the whole message. */
export function createStreamedReply({ tell, enter, take }: Outbox) {
  const calls = createStreamedCalls();
  /** The block that is streaming. */
  let open: { messageId: string; block: number; kind: "text" | "thinking"; since: number } | undefined;

  /** The start of a call's arguments may have been missed, so calls are sent only when complete. */
  let isJoined = false;
  /** The message whose calls are streaming. */
  let replyId = "";

  const completeBlock = (at: number): void => {
    if (open === undefined) return;
    const { messageId, block: blockIndex, kind, since } = open;
    open = undefined;
    if (kind === "text") tell({ type: "assistant_text_complete", messageId, blockIndex });
    // The clock may have been set back.
    else tell({ type: "thinking_text_complete", messageId, blockIndex, durationMs: Math.max(0, at - since) });
  };

  /** Ends announced calls that are not part of the reply, because it broke off or restarted without them. */
  const endCalls = (kept: readonly string[] = []): void => {
    for (const toolUseId of calls.clear()) {
      if (kept.includes(toolUseId)) continue;
      tell({ type: "tool_result", toolUseId, messageId: replyId, content: notRun, isError: true });
    }
  };

  const delta = ({ messageId, block: blockIndex, kind, text: textDelta, at }: Delta): readonly Outgoing[] => {
    const type = kind === "text" ? "assistant_text_delta" : "thinking_text_delta";
    // Fast path for nearly all deltas.
    if (open?.block === blockIndex && open.messageId === messageId && open.kind === kind) {
      return [{ kind: "notification", notification: { type, messageId, blockIndex, textDelta } }];
    }
    completeBlock(at);
    enter("streaming_assistant_message");
    open = { messageId, block: blockIndex, kind, since: at };
    tell({ type, messageId, blockIndex, textDelta });
    return take();
  };

  return {
    delta,
    begin() {
      isJoined = false;
    },
    /** Sends the part of a reply in progress that has streamed so far. */
    join(partial: SessionState["partial"]): readonly Outgoing[] {
      isJoined = true;
      const { messageId, blocks, at } = partial ?? { messageId: "", blocks: [], at: 0 };
      return blocks.flatMap((one, block) => {
        if (one.type === "tool_call" || one.text === "") return [];
        return delta({ messageId, block, kind: one.type, text: one.text, at });
      });
    },
    toolInput({ messageId, callId, name, text, at }: EngineEvent & { readonly type: "tool.input" }) {
      completeBlock(at);
      if (isJoined) return;
      replyId = messageId;
      for (const use of calls.add(callId, name, text)) tell({ type: "tool_call", toolUse: use });
    },
    restart() {
      isJoined = false;
      calls.restart();
    },
    /** True unless the message is empty and so not part of the conversation. */
    end(message: AssistantMessage, parentId: string | undefined, at: number): boolean {
      completeBlock(at);
      isJoined = false;
      const uses = callsOf(message).map(toolUse);
      for (const use of uses) if (!calls.hasShown(use)) tell({ type: "tool_call", toolUse: use });
      if (message.content.length > 0) tell({ type: "create_message", message: wireMessage(message, parentId) });
      endCalls(uses.map(({ id }) => id));
      if (message.content.length === 0) return false;
      if (uses.length > 0) enter("executing_tool");
      return true;
    },
    /** Ends everything that is still open. */
    abandon(at: number) {
      completeBlock(at);
      endCalls();
    },
  };
}
