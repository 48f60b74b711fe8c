import type { outcomes } from "../protocol/droid/words.ts";
import type { Transport } from "../rpc/transport.ts";
import type {
  McpServerState,
  McpTool,
  Message,
  ModelInfo,
  PermissionCall,
  PermissionOption,
  Question,
  Settings,
  TokenUsage,
  ToolInfo,
  TurnEvent,
  TurnResult,
} from "./types.ts";

/** The API's functions and options. Its data types are in types.ts. */

/** A connection to a backend, which the SDK uses and closes. */
export interface Connection extends Transport {
  /** Closes it, by force if necessary. Resolves when no process or socket is left. */
  close(): Promise<void>;
  /** Resolves, never rejects, when nothing more will come, with the reason. */
  readonly ended: Promise<ConnectionEnd>;
}

export interface ConnectionEnd {
  /** One sentence. */
  readonly reason: string;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  /** The end of the process's stderr. */
  readonly stderr?: string;
}

/**
 * Opens a connection. Called again for a fork. The signal aborts when the connection is no longer wanted before it is open.
 */
export type Connect = (signal?: AbortSignal) => Promise<Connection>;

export interface Timeouts {
  /** For the response to a request. Default: 30 s. */
  readonly request?: number;
  /** For the connection, and again for the session to open. Default: 60 s. */
  readonly open?: number;
  /** From the acceptance of a prompt to the first sign of its turn. Default: 120 s. */
  readonly begin?: number;
  /** For a whole turn. Default: no limit. */
  readonly turn?: number;
  /** Between two events of a turn, except while a handler is asked. Default: no limit. */
  readonly silence?: number;
  /** How long to wait for a final message after the backend is idle. Default: 250 ms; 0 means don't wait. */
  readonly grace?: number;
}

export interface HandlerContext {
  /** Aborts when the answer is no longer needed, because it was given elsewhere or the turn ended. */
  readonly signal: AbortSignal;
}

export interface PermissionRequest extends HandlerContext {
  readonly id: string;
  /** All calls that one answer allows. */
  readonly calls: readonly PermissionCall[];
  readonly options: readonly PermissionOption[];
}

/** An option's value: the known ones, for completion, or any other. */
type OptionValue = (typeof outcomes)[number] | (string & {});

/** The value of an offered option. Anything else counts as `cancel`. */
export type PermissionAnswer = OptionValue | { readonly option: OptionValue; readonly comment?: string };

export interface PlanRequest extends HandlerContext {
  readonly id: string;
  readonly plan: string;
  readonly title?: string;
  /** Names of the alternatives, if the plan has several. */
  readonly alternatives: readonly string[];
  readonly options: readonly PermissionOption[];
}

export interface QuestionRequest extends HandlerContext {
  readonly id: string;
  readonly questions: readonly Question[];
}

/** One answer per question, in order, or undefined for none. */
export type QuestionAnswer = readonly (string | readonly string[])[] | undefined;

type Awaitable<T> = T | Promise<T>;

export interface Handlers {
  /** Default: every request is answered with `cancel`. */
  readonly onPermission?: (request: PermissionRequest) => Awaitable<PermissionAnswer>;
  /** Approves a plan. Default: `onPermission` is asked. */
  readonly onPlan?: (request: PlanRequest) => Awaitable<PermissionAnswer>;
  /** Default: every question is answered as cancelled. */
  readonly onQuestion?: (request: QuestionRequest) => Awaitable<QuestionAnswer>;
  /**
   * Called with every event of the session, within turns and between them. Forks share it, and the id distinguishes them; it
   * is undefined while a new session is being opened.
   */
  readonly onEvent?: (event: TurnEvent, sessionId: string | undefined) => void;
  /**
   * Called when something was skipped or repaired, with text for a log: malformed lines, unexpected responses, failed handlers.
   */
  readonly onWarning?: (warning: string) => void;
}

/** Settings of a session, named as in the protocol. */
export interface SettingsChange {
  readonly modelId?: string;
  readonly reasoningEffort?: string;
  readonly interactionMode?: "auto" | "spec";
  readonly autonomyLevel?: "off" | "low" | "medium" | "high";
  readonly specModeModelId?: string | null;
  readonly specModeReasoningEffort?: string | null;
  readonly enabledToolIds?: readonly string[];
  readonly disabledToolIds?: readonly string[];
}

/** An MCP server that the backend should connect to. The event `mcp_servers` has the outcome. */
export type McpServer =
  | {
      readonly name: string;
      readonly type: "stdio";
      readonly command: string;
      readonly args?: readonly string[];
      readonly env?: Readonly<Record<string, string>>;
    }
  | {
      readonly name: string;
      readonly type: "http" | "sse";
      readonly url: string;
      readonly headers?: Readonly<Record<string, string>>;
      /** `false`: never sign in. */
      readonly oauth?: McpOAuth | false;
    };

export interface McpOAuth {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly resource?: string | false;
  readonly authorizationServerIssuer?: string;
  readonly clientMetadataUrl?: string;
  readonly callbackPort?: number;
  readonly tokenEndpointAuthMethod?: "none" | "client_secret_basic" | "client_secret_post";
}

export interface CommonOptions extends Handlers {
  /** How to reach the backend. Default: starts the program named by `executable`. */
  readonly connect?: Connect;
  readonly timeouts?: Timeouts;
  /** A prompt's behaviour while a turn runs: wait for its end (the default), or fail. */
  readonly whenBusy?: "queue" | "refuse";
  readonly mcpServers?: readonly McpServer[];
  /** Where a browser goes after a sign-in at an MCP server. Default: a port of the backend's machine. */
  readonly mcpOAuthCallbackUri?: string;
  /** Gives up opening. No effect on an open session. */
  readonly signal?: AbortSignal;
}

export interface CreateOptions extends CommonOptions, SettingsChange {
  /** The working directory. Default: this process's. */
  readonly cwd?: string;
  /** A suggestion; `session.id` has the actual one. */
  readonly sessionId?: string;
  /** Text that replaces the backend's system prompt, or is appended to it. */
  readonly systemPrompt?: string | { readonly append: string };
  readonly tags?: readonly { readonly name: string; readonly metadata?: Readonly<Record<string, string>> }[];
}

/** The settings are changed once the session is loaded. */
export interface ResumeOptions extends CommonOptions, SettingsChange {}

export interface PromptOptions {
  /** Id of the prompt's message and its turn. Default: a new UUID. */
  readonly id?: string;
  /** Interrupts the turn, or removes the prompt from the queue. */
  readonly signal?: AbortSignal;
  readonly images?: readonly { readonly mediaType: string; readonly data: string }[];
  readonly files?: readonly {
    readonly mediaType: "application/pdf" | "text/plain";
    readonly data: string;
    readonly name?: string;
  }[];
}

export interface CallOptions {
  readonly signal?: AbortSignal;
}

/**
 * A prompt and its turn, which runs even without an iterator. Iterating yields every event, with back-pressure on the
 * backend unless its `result` or a later prompt waits for the turn's end. Leaving the loop early interrupts the turn. A
 * late start loses nothing, unless more than 16 MiB came before or `result` was used first: then iterating can throw.
 */
export interface Turn extends AsyncIterable<TurnEvent> {
  readonly id: string;
  /**
   * Rejects if the turn has no end: the backend died, a time limit passed, or it was aborted. `status` has failures
   * within the turn. Using it lets the turn run without an iterator.
   */
  readonly result: Promise<TurnResult>;
  interrupt(): Promise<void>;
}

/** A turn in its own session. */
export interface Query extends Turn {
  /** Undefined until the session is open. */
  readonly sessionId: string | undefined;
}

/** The answer to a sign-in, from the address that the browser went back to. */
export type SignInAnswer =
  | { readonly state: string; readonly code: string }
  | { readonly state: string; readonly error: string; readonly errorDescription?: string };

/** The MCP servers of a session. Unknown names reject with a RequestError. */
export interface McpAccess {
  servers(options?: CallOptions): Promise<readonly McpServerState[]>;
  /** Also those that are switched off. */
  tools(options?: CallOptions): Promise<readonly McpTool[]>;
  /** Stores it in the user's configuration, and connects. */
  add(server: McpServer, options?: CallOptions): Promise<void>;
  /** Removes it from the user's configuration. */
  remove(server: string, options?: CallOptions): Promise<void>;
  enable(server: string, options?: CallOptions): Promise<void>;
  disable(server: string, options?: CallOptions): Promise<void>;
  enableTool(server: string, tool: string, options?: CallOptions): Promise<void>;
  disableTool(server: string, tool: string, options?: CallOptions): Promise<void>;
  /** Resolves when the sign-in has ended: true if it succeeded. The event `sign_in_required` has the link. */
  signIn(server: string, options?: CallOptions): Promise<boolean>;
  /** False if no such sign-in is waiting. */
  answerSignIn(server: string, answer: SignInAnswer, options?: CallOptions): Promise<boolean>;
  cancelSignIn(server: string, options?: CallOptions): Promise<void>;
  signOut(server: string, options?: CallOptions): Promise<void>;
}

export interface Session {
  readonly id: string;
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  readonly settings: Settings;
  /** Of the whole session, if the backend has reported it. */
  readonly usage: TokenUsage | undefined;
  /** Messages from before the session was resumed. */
  readonly history: readonly Message[];
  /** Whether a turn runs or is queued. */
  readonly isBusy: boolean;
  /** Resolves when the connection has ended for any reason. */
  readonly ended: Promise<ConnectionEnd>;

  stream(prompt: string, options?: PromptOptions): Turn;
  send(prompt: string, options?: PromptOptions): Promise<TurnResult>;
  /** No effect if nothing runs. */
  interrupt(options?: CallOptions): Promise<void>;
  updateSettings(change: SettingsChange, options?: CallOptions): Promise<Settings>;
  rename(title: string, options?: CallOptions): Promise<void>;
  /** A copy of the conversation so far, as another session over another connection. */
  fork(options?: CallOptions & { readonly title?: string }): Promise<Session>;
  /** The usable models; with `includeDisabled` also the others, each with its missing requirement. */
  models(options?: CallOptions & { readonly includeDisabled?: boolean }): Promise<readonly ModelInfo[]>;
  tools(options?: CallOptions): Promise<readonly ToolInfo[]>;
  readonly mcp: McpAccess;
  /** Calls any method of the protocol, with or without `droid.`, and returns the backend's result. */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
