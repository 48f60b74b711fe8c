import type { ToolSource } from "../calls/tool-source.ts";
import type { Answer, Interaction } from "../interaction.ts";
import type { NamedServer } from "./server-entry.ts";
import type { ServerEventBody, ServerState, SignInOutcome } from "./server-state.ts";

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

/** The servers of one session, and their tools. */
export interface ToolServers extends ToolSource {
  states(): readonly ServerState[];
  /** Also the tools that are switched off. */
  inventory(): readonly ServerToolInfo[];
  prompts(): readonly ServerPrompt[];
  /** Resolves when the prompts of all connected servers are known: they are read after the tools. Never rejects. */
  promptsKnown(): Promise<void>;
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
  /** An attached client can ask the user. */
  canAsk(): boolean;
  /** Asks the attached clients; `undefined` if none can answer. */
  ask(interaction: Interaction & { kind: "question" }, signal: AbortSignal): Promise<Answer | undefined>;
}

/** Opens the servers of a session. Returns at once: connecting goes on in the background. Never throws. */
export type OpenServers = (session: ServersOfSession) => ToolServers;
