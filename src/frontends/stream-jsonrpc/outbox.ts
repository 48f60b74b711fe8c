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

export type Outbox = ReturnType<typeof createOutbox>;

/** Collects what one event sends, in order. */
export function createOutbox() {
  let sent: Outgoing[] = [];
  let state: WorkingState | undefined;
  return {
    tell(notification: Notification) {
      sent.push({ kind: "notification", notification });
    },
    ask(request: Omit<Outgoing & { kind: "request" }, "kind">) {
      sent.push({ kind: "request", ...request });
    },
    /** Skips a repeated state. */
    enter(newState: WorkingState) {
      if (newState === state) return;
      state = newState;
      sent.push({ kind: "notification", notification: { type: "droid_working_state_changed", newState } });
    },
    /** Takes what was collected since the last call. */
    take(): readonly Outgoing[] {
      const taken = sent;
      sent = [];
      return taken;
    },
  };
}
