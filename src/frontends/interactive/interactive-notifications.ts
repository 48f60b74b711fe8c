import type { EngineEvent, EventOf } from "../../engine/event.ts";
import { type EventHandlers, handleEvent, ignored } from "../../engine/event-handlers.ts";
import { answerLost } from "../../engine/log/repair-log.ts";
import type { ToolCallBlock, ToolResultBlock } from "../../engine/message.ts";
import { callsOf, textOf } from "../../engine/message.ts";
import {
  type AnswerEnd,
  type InteractiveNotification,
  type NotificationParams,
  refusedCode,
  sessionStatus,
  toolResultStatus,
} from "../../protocol/interactive.ts";
import { compact } from "../../text/text-cut.ts";

/** The receivers of a notification: every client, or only followers of a session that others also use. */
export interface Outgoing {
  readonly notification: InteractiveNotification;
  readonly to: "all" | "followers";
}

type EndOfTurn = Pick<EventOf<"turn.ended">, "reason" | "failure" | "cause" | "seq" | "turnId" | "untaken">;

interface TranslatorOptions {
  readonly sessionId: string;
  /** Replayed events come from the log, which has whole replies and no deltas. */
  readonly isPast: boolean;
  /** Whether the client runs the calls of a tool. */
  isClients(toolName: string): boolean;
}

interface Answer {
  readonly turnId: string;
  /** The message being answered; the last one if several are answered together. */
  messageId: string | undefined;
  readonly others: string[];
  /** Tokens of complete replies. */
  length: number;
  /** Tokens of the reply under way. */
  text: string;
  readonly calls: Map<string, ToolCallBlock>;
  /** Calls already sent, by their ids on this wire. */
  readonly told: Map<string, string>;
}

export type Translator = ReturnType<typeof createTranslator>;

/** Translates engine events into notifications. Holds what later events refer to. */
export function createTranslator({ sessionId, isPast, isClients }: TranslatorOptions) {
  let answer: Answer | undefined;
  let out: Outgoing[] = [];

  const tell = (notification: InteractiveNotification, to: Outgoing["to"] = "all"): void => {
    out.push({ notification, to });
  };
  const ids = (): Pick<NotificationParams<"ToolCallNotification">, "messageId" | "turnId"> => ({
    ...(answer?.messageId === undefined ? {} : { messageId: answer.messageId }),
    ...(answer === undefined ? {} : { turnId: answer.turnId }),
  });
  const chunkOf = (
    chunk: string,
    more: Partial<NotificationParams<"AIMessageChunkNotification">> & { readonly offset: number },
  ): InteractiveNotification => ({
    method: "AIMessageChunkNotification",
    params: { sessionId, chunk, isFinal: false, ...ids(), ...more },
  });
  const tellCall = (toolCallId: string, call: ToolCallBlock, seq: number, execution: "client" | "server"): void => {
    answer?.told.set(call.id, toolCallId);
    tell({
      method: "ToolCallNotification",
      params: {
        sessionId,
        toolCallId,
        toolName: call.name,
        arguments: call.input === undefined ? {} : call.input,
        ...ids(),
        seq,
        execution,
      },
    });
  };
  const warn = (message: string, data: NonNullable<NotificationParams<"ErrorNotification">["data"]>): void =>
    tell({ method: "ErrorNotification", params: { sessionId, code: refusedCode, message, data } });

  const endReply = ({ message, seq }: EventOf<"message.ended">): void => {
    if (answer === undefined) return;
    for (const call of callsOf(message)) answer.calls.set(call.id, call);
    const text = textOf(message.content);
    const offset = answer.length;
    if (isPast && text !== "") tell(chunkOf(text, { offset, snapshot: true, seq }));
    // Text that was not streamed is sent now, so that the chunks add up to the answer.
    const rest = isPast ? "" : text.slice(answer.text.length);
    if (rest !== "") tell(chunkOf(rest, { offset: offset + answer.text.length }));
    answer.length += Math.max(text.length, isPast ? 0 : answer.text.length);
    answer.text = "";
  };

  const endCall = ({ result, seq }: EventOf<"tool.ended">): void => {
    const call = answer?.calls.get(result.callId);
    const isByClient = isClients(result.name);
    let toolCallId = answer?.told.get(result.callId);
    if (toolCallId === undefined) {
      // It was refused or could not run.
      if (call === undefined || isByClient) return;
      toolCallId = `call-${seq}`;
      tellCall(toolCallId, call, seq, "server");
    }
    tell(
      {
        method: "ToolResultNotification",
        params: {
          sessionId,
          toolCallId,
          toolName: result.name,
          status: statusOf(result),
          result: result.text,
          ...ids(),
          seq,
        },
      },
      isByClient ? "followers" : "all",
    );
    answer?.told.delete(result.callId);
  };

  const endAnswer = (end: EndOfTurn): void => {
    const { failure, seq, turnId, untaken = [] } = end;
    const ended = answerEnd(end);
    const offset = (answer?.length ?? 0) + (answer?.text.length ?? 0);
    const code = failure === undefined || ended === "cancelled" ? {} : { code: failure.code };
    // A dead process loses text that it had not stored, so retract what clients were shown of it.
    const isCut = isPast && ended !== "completed" ? ({ snapshot: true } as const) : {};
    const tellEnd = (of: { readonly messageId?: string }, at: number): void => {
      tell(chunkOf("", { ...of, turnId, isFinal: true, offset: at, ...isCut, seq, reason: ended, ...code }));
      if (ended !== "timeout" && ended !== "error") return;
      const params = { sessionId, status: sessionStatus.error, reason: ended, ...of, ...code, errorId: turnId, seq };
      tell({ method: "SessionStatusNotification", params });
    };
    const { messageId } = ids();
    if (messageId !== undefined) tellEnd({ messageId }, offset);
    else if (untaken.length === 0) tellEnd({}, offset);
    // Every message gets an end, even if it shared an answer or its answer never began.
    for (const id of [...(answer?.others ?? []), ...untaken]) tellEnd({ messageId: id }, 0);
    answer = undefined;
  };

  const handlers: EventHandlers = {
    "session.opened": ignored,
    "session.updated": ignored,
    "session.titled": ignored,
    "prompt.accepted": ({ messageId, content, seq }) =>
      tell(
        { method: "UserMessageNotification", params: { sessionId, messageId, message: textOf(content), seq } },
        "followers",
      ),
    "prompt.discarded": ({ messageId, seq }) => {
      const params = { sessionId, chunk: "", isFinal: true, messageId, offset: 0, seq, reason: "cancelled" } as const;
      tell({ method: "AIMessageChunkNotification", params });
    },
    "prompt.queued": ignored,
    "turn.started": ({ turnId, seq }) => {
      // A damaged log can lack the previous turn's end.
      if (answer !== undefined) endAnswer({ reason: "failed", failure: answerLost, turnId: answer.turnId, seq });
      answer = { turnId, messageId: undefined, others: [], length: 0, text: "", calls: new Map(), told: new Map() };
    },
    "prompt.taken": ({ messageId }) => {
      if (answer?.messageId !== undefined) answer.others.push(answer.messageId);
      if (answer !== undefined) answer.messageId = messageId;
    },
    "model.called": ignored,
    "message.started": ignored,
    "message.delta": ({ kind, text }) => {
      if (answer === undefined || kind !== "text" || text === "") return;
      const offset = answer.length + answer.text.length;
      answer.text += text;
      tell(chunkOf(text, { offset }));
    },
    "message.checkpoint": () => compact(answer?.text ?? ""),
    "message.ended": endReply,
    "usage.updated": ignored,
    "request.opened": ({ requestId, interaction, seq }) => {
      if (interaction.kind === "tool") tellCall(requestId, interaction.call, seq, "client");
    },
    "request.closed": ignored,
    "tool.input": ignored,
    "tool.started": ({ callId, name, seq }) => {
      const call = answer?.calls.get(callId);
      if (call !== undefined && !isClients(name)) tellCall(`call-${seq}`, call, seq, "server");
    },
    "tool.progress": ignored,
    "tool.heartbeat": ignored,
    "tool.ended": endCall,
    "turn.ended": endAnswer,
    notice: ({ level, text }) => warn(text, { reason: "notice", level }),
    "retry.scheduled": ({ attempt, delayMs, failure, model }) => {
      const message = model === undefined ? "Calling the model again." : `Using the model ${model} instead.`;
      warn(message, {
        reason: "retry",
        attempt,
        delayMs,
        code: failure.code,
        ...(model === undefined ? {} : { model }),
      });
    },
    "compaction.started": ignored,
    "context.compacted": ({ tokensBefore, tokensAfter }) =>
      warn("The conversation was compacted.", { reason: "compacted", tokensBefore, tokensAfter }),
    "servers.changed": ignored,
    "sign-in.required": ignored,
    "sign-in.ended": ignored,
    "compaction.ended": ignored,
    "session.closed": ignored,
  };

  return {
    translate(event: EngineEvent): readonly Outgoing[] {
      out = [];
      handleEvent(handlers, event);
      return out;
    },
    /** How much of the reply under way was already sent. */
    goOnFrom(text: string) {
      if (answer !== undefined) answer.text = text;
    },
    /** The answer under way as sent so far, for clients that begin to listen now. */
    snapshot(): Outgoing | undefined {
      if (answer === undefined || answer.text === "") return undefined;
      return { notification: chunkOf(answer.text, { offset: answer.length, snapshot: true }), to: "all" };
    },
  };
}

function statusOf({ status }: ToolResultBlock): 0 | 1 {
  return status === "ok" ? toolResultStatus.ok : toolResultStatus.error;
}

/** An empty or unrecognised answer has its own code. A refusal is not a failure. */
function answerEnd({ reason, failure, cause }: EndOfTurn): AnswerEnd {
  // Either the server's own limit or the model's.
  if (failure?.code === "timeout" || failure?.cause === "timeout") return "timeout";
  if (failure?.code === "model_empty" || failure?.code === "no_model") return "completed";
  switch (reason) {
    case "completed":
    case "planned":
      return "completed";
    case "interrupted":
      return cause === "process_ended" ? "interrupted" : "cancelled";
    case "cancelled":
    case "denied":
      return "cancelled";
    default:
      return "error";
  }
}
