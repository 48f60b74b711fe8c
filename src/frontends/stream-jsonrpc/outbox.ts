import type { Notification } from "../../protocol/droid/notifications.ts";
import type { AskUserParams, RequestPermissionParams, ServerMethod } from "../../protocol/droid/server-requests.ts";
import type { WorkingState } from "../../protocol/droid/words.ts";

export type Outgoing =
  | { readonly kind: "notification"; readonly notification: Notification }
  | {
      readonly kind: "request";
      readonly id: string;
      readonly method: ServerMethod;
      readonly params: RequestPermissionParams | AskUserParams;
    };

/** What one event gives to send, in order. */
export interface Outbox {
  tell(notification: Notification): void;
  ask(request: Omit<Outgoing & { kind: "request" }, "kind">): void;
  /** The same state is never told twice in a row. */
  enter(state: WorkingState): void;
  /** What was collected since the last time. */
  take(): readonly Outgoing[];
}

export function createOutbox(): Outbox {
  let sent: Outgoing[] = [];
  let state: WorkingState | undefined;
  return {
    tell(notification) {
      sent.push({ kind: "notification", notification });
    },
    ask(request) {
      sent.push({ kind: "request", ...request });
    },
    enter(newState) {
      if (newState === state) return;
      state = newState;
      sent.push({ kind: "notification", notification: { type: "droid_working_state_changed", newState } });
    },
    take() {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}
