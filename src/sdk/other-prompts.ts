import { forgetOldest } from "./forget-oldest.ts";
import { type Given, recordOf, textOf } from "./wire.ts";

/** Prompts that were given up, or never were turns of ours, and may be run all the same: their turns are nobody's. */
export interface OtherPrompts {
  /** By the id of its message, or of its request. */
  note(name: string | undefined): void;
  /** Whether this is said within the turn of one of them, while the running prompt of ours waits behind it. */
  has(notification: Given, running: RunningPrompt): boolean;
}

export interface RunningPrompt {
  readonly id: string;
  /** Of the request that it went out with. */
  readonly requestId: string | undefined;
  isPromptSeen: boolean;
  /** What was seen of its turn until now was not of it. */
  begin(): void;
}

const mostRemembered = 64;

export function createOtherPrompts(): OtherPrompts {
  const names = new Set<string>();
  let isAtWork = false;

  return {
    note(name) {
      if (name !== undefined) names.add(name);
      forgetOldest(names, mostRemembered);
    },
    has(notification, running) {
      const { id, role } = recordOf(notification.message);
      const { requestId, turnId } = notification;
      const isPrompt = notification.type === "create_message" && role === "user";
      const isOfRequest = isPrompt && requestId !== undefined && requestId === running.requestId;
      const isOwn = id === running.id || turnId === running.id || isOfRequest;
      running.isPromptSeen ||= isOwn;
      // One that is said into our turn is part of it.
      if (isPrompt && !running.isPromptSeen) {
        isAtWork ||= [id, requestId].some((name) => names.has(textOf(name) ?? ""));
      }
      if (!isAtWork) return false;
      if (isOwn || isIdle(notification) || notification.type === "agent_turn_completed") {
        isAtWork = false;
        running.begin();
      }
      return !isOwn;
    },
  };
}

export function isIdle({ type, newState }: Given): boolean {
  return type === "droid_working_state_changed" && newState === "idle";
}
