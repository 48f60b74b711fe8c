import type { EngineEvent } from "../../core/event.ts";
import type { PromptBlock } from "../../core/message.ts";
import { callsOf, textOf } from "../../core/message.ts";
import type { ModelInfo } from "../../core/ports.ts";
import type { Session } from "../../core/session.ts";
import { textStart } from "../../core/text-cut.ts";
import type { StreamJsonLine } from "../../protocol/stream-json.ts";
import { streamJsonVersion } from "../../protocol/stream-json-version.ts";

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

/** Engine events -> lines. Holds the prompts that are not part of the conversation yet; does no I/O and decides nothing. */
export class StreamJsonTranslator {
  private readonly prompts = new Map<string, readonly PromptBlock[]>();

  constructor(waiting: readonly { readonly messageId: string; readonly content: readonly PromptBlock[] }[]) {
    for (const { messageId, content } of waiting) this.prompts.set(messageId, content);
  }

  translate(event: EngineEvent): readonly StreamJsonLine[] {
    const end = { timestamp: event.at, session_id: event.sessionId };
    switch (event.type) {
      case "prompt.accepted":
        this.prompts.set(event.messageId, event.content);
        return [];
      case "prompt.taken": {
        const text = textOf(this.prompts.get(event.messageId) ?? []);
        this.prompts.delete(event.messageId);
        return [{ type: "message", role: "user", id: event.messageId, text, ...end }];
      }
      case "message.ended": {
        const { id, content } = event.message;
        const thinking = content.flatMap((block) =>
          block.type === "thinking" && block.text !== "" ? [block.text] : [],
        );
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
      case "notice":
        return [{ type: "notice", level: event.level, message: event.text, ...end }];
      case "tool.ended": {
        const { callId, name, status, text } = event.result;
        const isError = status !== "ok";
        const head = { type: "tool_result", id: callId, messageId: event.messageId, toolId: name } as const;
        const line = { ...head, isError, value: text, ...end };
        if (!isError) return [line];
        const message = textStart(text.replace(/^Error: /, ""), 2_000);
        return [{ ...line, error: { type: "tool_error", message } }];
      }
      default:
        return [];
    }
  }
}
