import type { ToolSource } from "../calls/tool-source.ts";
import type { Answer, Interaction } from "../interaction.ts";
import type { AccessClass } from "../permission.ts";

/** How a server is reached. */
export type ServerKind = "stdio" | "http" | "sse";

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

/** A tool of a server, for listings. `name` is the server's own. */
export interface ServerToolInfo {
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  readonly isEnabled: boolean;
  /** The server's own word. */
  readonly isReadOnly?: boolean;
  readonly inputSchema?: unknown;
}

/** A prompt that a server offers to people. */
export interface ServerPrompt {
  readonly server: string;
  readonly name: string;
  readonly description?: string;
  readonly arguments: readonly { readonly name: string; readonly description?: string; readonly required: boolean }[];
}

export interface ServerOAuth {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly resource?: string | false;
  readonly issuer?: string;
  readonly clientMetadataUrl?: string;
  readonly callbackPort?: number;
  readonly authMethod?: "none" | "client_secret_basic" | "client_secret_post";
}

/** How a server is started or reached. */
export type ServerEntry = (
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** It runs in the sandbox. */
      readonly contained?: boolean;
    }
  | {
      readonly kind: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** `false`: never sign in. */
      readonly oauth?: ServerOAuth | false;
    }
) & {
  /** Configured, but not used until enabled. */
  readonly isDisabled?: boolean;
  /** Classes by the server's tool name. They replace our own judgement. */
  readonly tools?: Readonly<Record<string, AccessClass>>;
  /** The server may ask the session's model. */
  readonly sampling?: boolean;
};

export interface NamedServer {
  readonly name: string;
  readonly entry: ServerEntry;
}

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

/** The servers of one session, and their tools. */
export interface ToolServers extends ToolSource {
  states(): readonly ServerState[];
  /** Also the tools that are switched off. */
  inventory(): readonly ServerToolInfo[];
  prompts(): readonly ServerPrompt[];
  /** The text of a prompt. Rejects with `usage` or `server_failed`. */
  promptText(server: string, name: string, values: Readonly<Record<string, string>>): Promise<string>;
  /** Resolves when no server is connecting, at the limit for waiting, or on an abort. Never rejects. */
  settled(signal: AbortSignal): Promise<void>;
  /** Stores a server in the user's configuration, and connects to it. Rejects with `usage`. */
  add(server: NamedServer): Promise<void>;
  /** False if the user's configuration has no such server. */
  remove(name: string): Promise<boolean>;
  setEnabled(name: string, isEnabled: boolean): Promise<boolean>;
  setToolEnabled(server: string, tool: string, isEnabled: boolean): Promise<boolean>;
  /** Starts a sign-in. Resolves when it has ended; `undefined` for an unknown server. */
  signIn(name: string): Promise<SignInOutcome | undefined>;
  /** The user's answer to a sign-in. False if none with this state is waiting. */
  finishSignIn(
    name: string,
    state: string,
    answer: { readonly code: string } | { readonly error: string; readonly description?: string },
  ): Promise<boolean>;
  /** False for an unknown server. */
  cancelSignIn(name: string): Promise<boolean>;
  /** Signs out. False for an unknown server. */
  forgetTokens(name: string): Promise<boolean>;
  /** Ends all connections and programs. Idempotent. */
  close(): Promise<void>;
}

export interface ServersOfSession {
  readonly sessionId: string;
  readonly cwd: string;
  /** Named by the client, for this session. */
  readonly given: readonly NamedServer[];
  /** Where the browser goes after a sign-in. Default: a port of this machine. */
  readonly callbackUri?: string;
  /** Never throws. */
  tell(event: ServerEventBody): void;
  /** Asks the attached clients; `undefined` if none can answer. */
  ask(interaction: Interaction & { kind: "question" }, signal: AbortSignal): Promise<Answer | undefined>;
}

/** Opens the servers of a session. Returns at once: connecting goes on in the background. Never throws. */
export type OpenServers = (session: ServersOfSession) => ToolServers;
