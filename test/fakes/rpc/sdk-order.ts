/**
 * Rules for the order of messages on every connection. No SDK drops repeated messages, and each stops listening at its
 * own last message.
 */
import type { Received } from "./wire.ts";

interface Block {
  readonly type: string;
  readonly id?: string;
  readonly text?: string;
  readonly thinking?: string;
}

interface Said {
  readonly id: string;
  readonly role: string;
  readonly content: readonly Block[];
}

const opening = ["droid.initialize_session", "droid.load_session"];
const opened = (method: string | undefined): boolean => method !== undefined && opening.includes(method);

export function orderFaults(
  received: readonly Received[],
  sent: readonly Readonly<Record<string, unknown>>[],
): readonly string[] {
  const faults: string[] = [];
  const methodOf = new Map(sent.map(({ id, method }) => [id, method as string | undefined]));
  const once = new Set<string>();
  const asked = new Set<string>();
  const calls = new Set<unknown>();
  const deltas = new Map<string, string>();
  let state = "idle";
  let settings = "";
  let usageTold = true;
  let lastType = "";

  const onlyOnce = (what: string): void => {
    if (once.has(what)) faults.push(`twice: ${what}`);
    once.add(what);
  };
  const finished = ({ id, role, content }: Said): void => {
    onlyOnce(`create_message ${id}`);
    for (const block of content) if (block.type === "tool_use") calls.add(block.id);
    if (role !== "assistant") return;
    usageTold = false;
    for (const [index, block] of content.entries()) {
      const whole = block.text ?? block.thinking;
      const streamed = deltas.get(`${id} ${index}`);
      if (streamed !== undefined && streamed !== whole)
        faults.push(`deltas of ${id} say ${JSON.stringify(streamed)}, the message ${JSON.stringify(whole)}`);
    }
  };

  for (const { type, id, params } of received) {
    if (type === "response") {
      if (id !== null && !duplicatesOf(sent, id)) onlyOnce(`response ${id}`);
      if (opened(methodOf.get(id))) settings = "";
      continue;
    }
    if (type === "request") {
      onlyOnce(`request ${id}`);
      asked.add(String(id));
      if (state !== "waiting_for_tool_confirmation") faults.push(`request ${id} in the state ${state}`);
      continue;
    }
    const notice = params?.notification;
    if (notice === undefined) continue;
    switch (notice.type) {
      case "droid_working_state_changed":
        if (notice.newState === state) faults.push(`the state is ${state} twice in a row`);
        if (notice.newState === "idle" && lastType !== "agent_turn_completed")
          faults.push(`idle comes after ${lastType}, not after agent_turn_completed`);
        state = String(notice.newState);
        break;
      case "create_message":
        finished(notice.message as Said);
        break;
      case "assistant_text_delta":
      case "thinking_text_delta": {
        const place = `${notice.messageId} ${notice.blockIndex}`;
        if (once.has(`create_message ${notice.messageId}`)) faults.push(`a delta after its message: ${place}`);
        deltas.set(place, (deltas.get(place) ?? "") + String(notice.textDelta));
        break;
      }
      case "tool_call":
        calls.add((notice.toolUse as Block).id);
        break;
      case "tool_result":
        onlyOnce(`tool_result ${notice.messageId} ${notice.toolUseId}`);
        if (!calls.has(notice.toolUseId)) faults.push(`a result of an unknown call: ${notice.toolUseId}`);
        break;
      case "permission_resolved":
        onlyOnce(`permission_resolved ${notice.requestId}`);
        if (!asked.has(String(notice.requestId))) faults.push(`nothing was asked as ${notice.requestId}`);
        break;
      case "settings_updated": {
        const next = JSON.stringify(notice.settings);
        if (next === settings) faults.push(`settings_updated without a change: ${next}`);
        settings = next;
        break;
      }
      case "session_token_usage_changed":
        usageTold = true;
        break;
      case "agent_turn_completed":
        if (!usageTold) faults.push("a turn ended before its tokens were reported");
        onlyOnce(`agent_turn_completed ${notice.turnId}`);
        break;
    }
    lastType = notice.type;
  }
  return faults;
}

/** A client that uses an id twice gets two responses. */
function duplicatesOf(sent: readonly Readonly<Record<string, unknown>>[], id: unknown): boolean {
  return sent.filter((message) => message.type === "request" && message.id === id).length > 1;
}

/** The requests without a response. */
export function unanswered(
  received: readonly Received[],
  sent: readonly Readonly<Record<string, unknown>>[],
): readonly unknown[] {
  const answered = new Set(received.filter(({ type }) => type === "response").map(({ id }) => id));
  return sent.filter(({ type, id }) => type === "request" && !answered.has(id as string)).map(({ method }) => method);
}
