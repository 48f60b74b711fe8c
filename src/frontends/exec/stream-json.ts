import type { EngineEvent, EventOf } from "../../engine/event.ts";
import { type EventHandlers, handleEvent, ignored } from "../../engine/event-handlers.ts";
import type { PromptBlock } from "../../engine/message.ts";
import { callsOf, textOf } from "../../engine/message.ts";
import type { ModelInfo } from "../../engine/ports.ts";
import type { Session } from "../../engine/session/session.ts";
import type { StreamJsonLine } from "../../protocol/stream-json.ts";
import { streamJsonVersion } from "../../protocol/stream-json-version.ts";
import { textStart } from "../../text/text-cut.ts";
import { retryText } from "./log.ts";
import { createServerWords } from "./server-words.ts";

export function initLine(session: Session, model: ModelInfo): StreamJsonLine {
  return {
    type: "system",
    subtype: "init",
    cwd: session.cwd,
    session_id: session.id,
    tools: session.toolSpecs(model).map(({ name }) => name),
    model: model.id,
    reasoning_effort: session.settings.reasoningEffort,
    autonomy: session.settings.autonomy,
    protocol_version: streamJsonVersion,
  };
}

/** Translates engine events into lines. Holds prompts that no turn has taken yet. */
export class StreamJsonTranslator {
  private readonly prompts = new Map<string, readonly PromptBlock[]>();
  private readonly serverWords = createServerWords();
  private readonly handlers: EventHandlers<readonly StreamJsonLine[]> = {
    "session.opened": ignored,
    "session.updated": ignored,
    "session.titled": ignored,
    "prompt.accepted": ({ messageId, content }) => {
      this.prompts.set(messageId, content);
      return [];
    },
    "prompt.discarded": ignored,
    "prompt.queued": ignored,
    "prompt.taken": (event) => {
      const text = textOf(this.prompts.get(event.messageId) ?? []);
      this.prompts.delete(event.messageId);
      return [{ type: "message", role: "user", id: event.messageId, text, ...endOf(event) }];
    },
    "turn.started": ignored,
    "turn.ended": ignored,
    "model.called": ignored,
    "message.started": ignored,
    "message.delta": ignored,
    "message.checkpoint": ignored,
    "message.ended": replyLines,
    "usage.updated": ignored,
    "retry.scheduled": (event) => [{ type: "notice", level: "warning", message: retryText(event), ...endOf(event) }],
    "compaction.started": ignored,
    "context.compacted": ignored,
    "servers.changed": (event) => {
      const message = this.serverWords.failed(event);
      return message === undefined ? [] : [{ type: "notice", level: "warning", message, ...endOf(event) }];
    },
    "sign-in.required": (event) => [
      { type: "notice", level: "warning", message: this.serverWords.signIn(event), ...endOf(event) },
    ],
    "sign-in.ended": ignored,
    "compaction.ended": ignored,
    notice: (event) => [{ type: "notice", level: event.level, message: event.text, ...endOf(event) }],
    "tool.input": ignored,
    "tool.started": ignored,
    "tool.progress": ignored,
    "tool.heartbeat": ignored,
    "tool.ended": resultLines,
    "request.opened": ignored,
    "request.closed": ignored,
    "session.closed": ignored,
  };

  constructor(waiting: readonly { readonly messageId: string; readonly content: readonly PromptBlock[] }[]) {
    for (const { messageId, content } of waiting) this.prompts.set(messageId, content);
  }

  translate(event: EngineEvent): readonly StreamJsonLine[] {
    return handleEvent(this.handlers, event) ?? [];
  }
}

/** Fields at the end of every line. */
function endOf({ at, sessionId }: EngineEvent): Pick<StreamJsonLine & { type: "message" }, "timestamp" | "session_id"> {
  return { timestamp: at, session_id: sessionId };
}

function replyLines(event: EventOf<"message.ended">): readonly StreamJsonLine[] {
  const { id, content } = event.message;
  const end = endOf(event);
  const thinking = content.flatMap((block) => (block.type === "thinking" && block.text !== "" ? [block.text] : []));
  const text = textOf(content);
  const lines: StreamJsonLine[] = [];
  if (thinking.length > 0) lines.push({ type: "reasoning", id, text: thinking.join("\n"), ...end });
  if (text !== "") lines.push({ type: "message", role: "assistant", id, text, ...end });
  for (const call of callsOf(event.message)) {
    const parameters = call.malformedInput ?? call.input;
    const names = { toolId: call.name, toolName: call.name };
    lines.push({ type: "tool_call", id: call.id, messageId: id, ...names, parameters, ...end });
  }
  return lines;
}

function resultLines(event: EventOf<"tool.ended">): readonly StreamJsonLine[] {
  const { callId, name, status, text } = event.result;
  const isError = status !== "ok";
  const head = { type: "tool_result", id: callId, messageId: event.messageId, toolId: name } as const;
  const line = { ...head, isError, value: text, ...endOf(event) };
  if (!isError) return [line];
  const message = textStart(text.replace(/^Error: /, ""), 2_000);
  return [{ ...line, error: { type: "tool_error", message } }];
}
