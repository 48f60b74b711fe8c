import type { Message } from "../../engine/message.ts";
import { callsOf } from "../../engine/message.ts";

/** `call_<n>`: deterministic, and new in this conversation. `ahead`: earlier calls of the same reply. */
export function nextCallId(messages: readonly Message[], ahead = 0): string {
  let last = 0;
  let count = 0;
  for (const message of messages) {
    if (message.role !== "assistant") continue;
    for (const call of callsOf(message)) {
      count += 1;
      const number = /^call_(\d{1,9})$/.exec(call.id)?.[1];
      if (number !== undefined) last = Math.max(last, Number(number));
    }
  }
  return `call_${Math.max(last, count) + 1 + ahead}`;
}
