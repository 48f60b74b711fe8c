import type { AssistantMessage } from "../core/message.ts";
import type { ModelEvent } from "../core/ports.ts";
import { httpFailure } from "./http-failure.ts";
import { defaultLongestPauseMs } from "./retry.ts";
import type { ScriptReply } from "./script-format.ts";
import { listOf } from "./script-template.ts";

/** How a reply ends, after whatever it said. */
export function lastEvent(reply: ScriptReply): Extract<ModelEvent, { type: "end" | "error" }> {
  const { error } = reply;
  if (error === undefined) {
    return { type: "end", stop: reply.stop ?? (reply.tool_calls === undefined ? "end" : "tool_calls") };
  }
  if (typeof error === "object") {
    return httpFailure(
      error.status,
      error.message ?? `The model answered with HTTP status ${error.status}.`,
      error.retry_after_ms,
    );
  }
  const message = error === "cut" ? "The model's answer was cut off." : "The connection to the model failed.";
  return { type: "error", failure: { code: "model_failed", message, cause: "network" }, retryable: true };
}

/** Whether a reply leaves a message in the conversation, also when it fails. */
export function leavesMessage(reply: ScriptReply): boolean {
  const hasCalls = reply.error === undefined && reply.tool_calls !== undefined;
  return hasCalls || reply.reasoning !== undefined || hasText(reply);
}

/** Whether the model is asked once more after this reply, as far as it depends on the reply. */
export function isTriedAgain(reply: ScriptReply, attempt: number): boolean {
  const last = lastEvent(reply);
  if (last.type === "error") return last.retryable && (last.retryAfterMs ?? 0) <= defaultLongestPauseMs;
  return attempt === 1 && last.stop === "end" && !hasText(reply);
}

function hasText(reply: ScriptReply): boolean {
  return reply.repeat_text !== undefined || listOf(reply.text).some((chunk) => chunk !== "");
}

/** How many characters of text and thoughts a reply shows. */
export function shownBy(reply: ScriptReply, fill: (text: string) => string): number {
  const { text: repeated = "", times = 0 } = reply.repeat_text ?? {};
  const chunks = [...listOf(reply.reasoning), ...listOf(reply.text)];
  return chunks.reduce((sum, chunk) => sum + fill(chunk).length, fill(repeated).length * times);
}

export function shownIn(message: AssistantMessage): number {
  return message.content.reduce((sum, block) => sum + (block.type === "tool_call" ? 0 : block.text.length), 0);
}

/**
 * Whether a message that was seen must have gone on after one of the replies that it was made of. `shown` is what that reply
 * and those before it said. What an interrupted message does not show, nobody can tell.
 */
export function wentOn(seen: AssistantMessage, reply: ScriptReply, attempt: number, shown: number): boolean {
  switch (seen.stop) {
    case "interrupted":
      return shown < shownIn(seen);
    case "failed":
      return shown <= shownIn(seen) && isTriedAgain(reply, attempt);
    default:
      return reply.error !== undefined || isTriedAgain(reply, attempt) || !leavesMessage(reply);
  }
}
