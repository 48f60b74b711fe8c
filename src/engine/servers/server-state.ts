import type { ServerKind } from "./server-entry.ts";

export type ServerStatus = "connecting" | "connected" | "disconnected" | "failed" | "disabled";

/** Who named the server: the user's configuration, the repository (and the user trusts it), or the client. */
export type ServerSource = "user" | "project" | "client";

export interface ServerState {
  readonly name: string;
  readonly status: ServerStatus;
  readonly source: ServerSource;
  readonly kind: ServerKind;
  /** Why it failed: one sentence. */
  readonly error?: string;
  /** Present while it is connected. */
  readonly toolCount?: number;
  /** Present once it is known to offer prompts. */
  readonly promptCount?: number;
  /** Of servers that are reached over HTTP. */
  readonly hasTokens?: boolean;
  /** It works only after a sign-in. */
  readonly needsSignIn?: boolean;
  /** A sign-in that waits for the user. */
  readonly signIn?: PendingSignIn;
}

export interface PendingSignIn {
  readonly url: string;
  readonly message: string;
  /** Ties the answer to this sign-in. */
  readonly state: string;
}

export type SignInOutcome = "success" | "cancelled" | "failed";

/** What servers tell a session. Published as live events. */
export type ServerEventBody =
  /** The state of the server `changed`, or its tools, changed. `servers`: all of them. */
  | { readonly type: "servers.changed"; readonly servers: readonly ServerState[]; readonly changed: string }
  /** A server needs the user to sign in at `url`. */
  | {
      readonly type: "sign-in.required";
      readonly server: string;
      readonly url: string;
      readonly message: string;
      readonly state: string;
    }
  | {
      readonly type: "sign-in.ended";
      readonly server: string;
      readonly outcome: SignInOutcome;
      readonly message: string;
    }
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly text: string };
