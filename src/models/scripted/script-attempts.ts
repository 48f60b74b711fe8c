import type { AssistantMessage } from "../../engine/message.ts";
import type { ModelEvent } from "../../engine/ports.ts";
import { httpFailure } from "../calls/http-failure.ts";
import type { PatienceOptions } from "../patience.ts";
import type { ScriptReply } from "./script-format.ts";
import { listOf } from "./script-template.ts";

/** Fixed, because a resumed script must reconstruct how often it was called before. */
export const scriptPatience = { maxRetries: 3, patienceMs: 90_000 } as const satisfies PatienceOptions;
export const maxAttempts = scriptPatience.maxRetries + 1;

/** The event that ends a reply. */
export function lastEvent(reply: ScriptReply): Extract<ModelEvent, { type: "end" | "error" }> {
  const { error } = reply;
  if (error === undefined) {
    return { type: "end", stop: reply.stop ?? (reply.tool_calls === undefined ? "end" : "tool_calls") };
  }
  if (typeof error === "object") {
    return httpFailure(
      error.status,
      error.message ?? `The model returned HTTP status ${error.status}.`,
      error.retry_after_ms,
    );
  }
  const message = error === "cut" ? "The model's reply was cut off." : "The connection to the model failed.";
  return { type: "error", failure: { code: "model_failed", message, cause: "network" }, retryable: true };
}

/** Whether a reply, even a failed one, adds a message to the conversation. */
export function leavesMessage(reply: ScriptReply): boolean {
  const hasCalls = reply.error === undefined && reply.tool_calls !== undefined;
  return hasCalls || reply.reasoning !== undefined || hasText(reply);
}

/** Whether `withRetries` retries after this reply, given attempts are left. */
export function isRetried(reply: ScriptReply, attempt: number): boolean {
  const last = lastEvent(reply);
  if (last.type === "error") return last.retryable && (last.retryAfterMs ?? 0) <= scriptPatience.patienceMs;
  return attempt === 1 && last.stop === "end" && !hasText(reply);
}

function hasText(reply: ScriptReply): boolean {
  return reply.repeat_text !== undefined || listOf(reply.text).some((chunk) => chunk !== "");
}

/** Characters of text and thinking that a reply shows. */
export function shownBy(reply: ScriptReply, fill: (text: string) => string): number {
  const { text: repeated = "", times = 0 } = reply.repeat_text ?? {};
  const chunks = [...listOf(reply.reasoning), ...listOf(reply.text)];
  return chunks.reduce((sum, chunk) => sum + fill(chunk).length, fill(repeated).length * times);
}

export function shownIn(message: AssistantMessage): number {
  return message.content.reduce((sum, block) => sum + (block.type === "tool_call" ? 0 : block.text.length), 0);
}

/**
 * Whether a message in the log must have used another reply after this one. `shown` counts the characters of all replies up to
 * this one. For interrupted messages this is a lower bound: replies that showed nothing left no trace.
 */
export function wentOn(seen: AssistantMessage, reply: ScriptReply, attempt: number, shown: number): boolean {
  switch (seen.stop) {
    case "interrupted":
      return shown < shownIn(seen);
    case "failed":
      return shown <= shownIn(seen) && isRetried(reply, attempt);
    default:
      return reply.error !== undefined || isRetried(reply, attempt) || !leavesMessage(reply);
  }
}
