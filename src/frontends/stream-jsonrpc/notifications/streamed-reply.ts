import type { EngineEvent, EventOf } from "../../../engine/event.ts";
import type { SessionState } from "../../../engine/log/history.ts";
import type { AssistantMessage } from "../../../engine/message.ts";
import { callsOf } from "../../../engine/message.ts";
import type { Outbox, Outgoing } from "../outbox.ts";
import { createStreamedCalls } from "./tool-input.ts";
import { toolUse, wireMessage } from "./wire-messages.ts";

const notRun = "Error: Tool was not run because the reply that called it broke off.";

type Delta = Pick<EventOf<"message.delta">, "messageId" | "block" | "kind" | "text" | "at">;

/** The reply that is coming in: its text piece by piece, its calls argument by argument, and then the whole of it. */
export function createStreamedReply({ tell, enter, take }: Outbox) {
  const calls = createStreamedCalls();
  /** The block whose text is coming in. */
  let open: { messageId: string; block: number; kind: "text" | "thinking"; since: number } | undefined;

  /** The beginning of a call's arguments may have been missed: such a call is told when it is whole. */
  let isJoined = false;
  /** The message whose calls are coming in. */
  let replyId = "";

  const completeBlock = (at: number): void => {
    if (open === undefined) return;
    const { messageId, block: blockIndex, kind, since } = open;
    open = undefined;
    if (kind === "text") tell({ type: "assistant_text_complete", messageId, blockIndex });
    // The time of day may have been set back meanwhile.
    else tell({ type: "thinking_text_complete", messageId, blockIndex, durationMs: Math.max(0, at - since) });
  };

  /** Calls that were announced and are not part of the reply get their end: it broke off, or began again without them. */
  const endCalls = (kept: readonly string[] = []): void => {
    for (const toolUseId of calls.clear()) {
      if (kept.includes(toolUseId)) continue;
      tell({ type: "tool_result", toolUseId, messageId: replyId, content: notRun, isError: true });
    }
  };

  const delta = ({ messageId, block: blockIndex, kind, text: textDelta, at }: Delta): readonly Outgoing[] => {
    const type = kind === "text" ? "assistant_text_delta" : "thinking_text_delta";
    // There is one for every piece of an answer: nearly all of them take this short way.
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
    /** The model is asked for a reply. */
    begin() {
      isJoined = false;
    },
    /** Of a reply that is coming in already: what came of it. */
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
    /** The model is asked anew. */
    restart() {
      isJoined = false;
      calls.restart();
    },
    /** True when the message is part of the conversation: nothing came of an empty one. */
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
    /** Whatever was open is not coming any more. */
    abandon(at: number) {
      completeBlock(at);
      endCalls();
    },
  };
}
