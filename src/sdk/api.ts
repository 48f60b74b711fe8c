import type { outcomes } from "../protocol/droid/words.ts";
import type { Transport } from "../rpc/transport.ts";
import type {
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

/* What a caller gives and gets, apart from data: that is in types.ts. */

/** A connection that the SDK may use and end. */
export interface Connection extends Transport {
  /** Ends it, by force if need be. Resolves when nothing is left of it: no process, no socket. */
  close(): Promise<void>;
  /** Resolves, never rejects, with the words for why nothing more will come. */
  readonly ended: Promise<ConnectionEnd>;
}

export interface ConnectionEnd {
  /** One sentence. */
  readonly reason: string;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  /** The end of what the process wrote to stderr. */
  readonly stderr?: string;
}

/**
 * Opens one. Called again for a fork, which is a session of its own. The signal is aborted when the connection is not wanted
 * any more before it is there: because opening was given up, or took too long.
 */
export type Connect = (signal?: AbortSignal) => Promise<Connection>;

export interface Timeouts {
  /** For the answer to a request; 30 s. */
  readonly request?: number;
  /** For the connection, and then for the answer that opens a session; 60 s. */
  readonly open?: number;
  /** From the acceptance of a prompt to the first sign of its turn; 120 s. */
  readonly begin?: number;
  /** For a whole turn; none. */
  readonly turn?: number;
  /** For how long a turn may be without any event, unless a handler is being asked; none. */
  readonly silence?: number;
  /** How long a final message is waited for after the backend has said that it is idle; 250 ms, and 0 is not at all. */
  readonly grace?: number;
}

export interface HandlerContext {
  /** Aborted when the answer is of no use any more: it was given elsewhere, or the turn has ended. */
  readonly signal: AbortSignal;
}

export interface PermissionRequest extends HandlerContext {
  readonly id: string;
  /** All that would be allowed by one answer. */
  readonly calls: readonly PermissionCall[];
  readonly options: readonly PermissionOption[];
}

/** Of an option: those that are known, for completion, or any other. */
type OptionValue = (typeof outcomes)[number] | (string & {});

/** The value of an option that was offered. With anything else the answer is `cancel`. */
export type PermissionAnswer = OptionValue | { readonly option: OptionValue; readonly comment?: string };

export interface PlanRequest extends HandlerContext {
  readonly id: string;
  readonly plan: string;
  readonly title?: string;
  /** Names of the alternatives, where the plan has several. */
  readonly alternatives: readonly string[];
  readonly options: readonly PermissionOption[];
}

export interface QuestionRequest extends HandlerContext {
  readonly id: string;
  readonly questions: readonly Question[];
}

/** An answer for each question in its order, or `undefined` for none at all. */
export type QuestionAnswer = readonly (string | readonly string[])[] | undefined;

type Awaitable<T> = T | Promise<T>;

export interface Handlers {
  /** Without it every request is answered `cancel`. */
  readonly onPermission?: (request: PermissionRequest) => Awaitable<PermissionAnswer>;
  /** A plan that wants to be approved. Without it, `onPermission` is asked. */
  readonly onPlan?: (request: PlanRequest) => Awaitable<PermissionAnswer>;
  /** Without it every question is answered as cancelled. */
  readonly onQuestion?: (request: QuestionRequest) => Awaitable<QuestionAnswer>;
  /**
   * Every event of the session, within turns and between them. A fork has the same handlers: the id says whose event it is;
   * there is none while a new session is being opened.
   */
  readonly onEvent?: (event: TurnEvent, sessionId: string | undefined) => void;
  /** What was passed over or repaired, in words for a log: stray lines, answers to nothing, handlers that threw. */
  readonly onWarning?: (warning: string) => void;
}

/** What a session can be told; names and values are those of the protocol. */
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

/** What a backend is asked to connect to beside its own; whether it did, it tells by `mcp_status_changed`. */
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
    };

export interface CommonOptions extends Handlers {
  /** How to reach the backend; else the program that `executable` names is started. */
  readonly connect?: Connect;
  readonly timeouts?: Timeouts;
  /** Of a prompt while a turn runs: it waits for that turn's end (the default), or is refused. */
  readonly whenBusy?: "queue" | "refuse";
  readonly mcpServers?: readonly McpServer[];
  /** Gives up opening. A session that is open is not touched by it. */
  readonly signal?: AbortSignal;
}

export interface CreateOptions extends CommonOptions, SettingsChange {
  /** The folder to work in; else that of this process. */
  readonly cwd?: string;
  /** A wish; `session.id` says what it became. */
  readonly sessionId?: string;
  /** Text that replaces the backend's own system prompt, or is added to it. */
  readonly systemPrompt?: string | { readonly append: string };
  readonly tags?: readonly { readonly name: string; readonly metadata?: Readonly<Record<string, string>> }[];
}

/** Settings are changed as soon as the session is loaded. */
export interface ResumeOptions extends CommonOptions, SettingsChange {}

export interface PromptOptions {
  /** Of the prompt's message, and so of the turn; else a new UUID. */
  readonly id?: string;
  /** Interrupts the turn, or takes the prompt out of the queue. */
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
 * One prompt and what comes of it. It runs whether anybody looks or not. Whoever iterates gets every event, and holds the
 * backend up while not asking for the next, unless something waits for the turn's end: its `result`, or a prompt behind it.
 * Leaving the loop early interrupts the turn. To begin late is no loss, unless more than 16 MiB have come by then, or `result`
 * was asked for before: then the events may be gone, and to iterate is an error.
 */
export interface Turn extends AsyncIterable<TurnEvent> {
  readonly id: string;
  /**
   * Rejects when the turn has no end: the backend died, a time ran out, it was aborted. What went wrong within the turn is in
   * its `status`. To ask for it lets the turn run on without anybody iterating.
   */
  readonly result: Promise<TurnResult>;
  interrupt(): Promise<void>;
}

/** The turn of a session of its own. */
export interface Query extends Turn {
  /** To resume it by; there is none before the session is open. */
  readonly sessionId: string | undefined;
}

export interface Session {
  readonly id: string;
  readonly cwd: string | undefined;
  readonly title: string | undefined;
  readonly settings: Settings;
  /** Of the whole session, as far as the backend has told. */
  readonly usage: TokenUsage | undefined;
  /** What was there when the session was resumed. */
  readonly history: readonly Message[];
  /** Whether a turn runs or waits. */
  readonly isBusy: boolean;
  /** Resolves when the connection has ended, however that came about. */
  readonly ended: Promise<ConnectionEnd>;

  stream(prompt: string, options?: PromptOptions): Turn;
  send(prompt: string, options?: PromptOptions): Promise<TurnResult>;
  /** Without effect when nothing runs. */
  interrupt(options?: CallOptions): Promise<void>;
  updateSettings(change: SettingsChange, options?: CallOptions): Promise<Settings>;
  rename(title: string, options?: CallOptions): Promise<void>;
  /** A copy of the conversation so far, as a session of its own, over a connection of its own. */
  fork(options?: CallOptions & { readonly title?: string }): Promise<Session>;
  /** Those that can be used; with `includeDisabled` also the others, each with what it lacks. */
  models(options?: CallOptions & { readonly includeDisabled?: boolean }): Promise<readonly ModelInfo[]>;
  tools(options?: CallOptions): Promise<readonly ToolInfo[]>;
  /** Any method of the protocol, `droid.` included or not. Its result is what the backend sent. */
  call(method: string, params?: object, options?: CallOptions): Promise<unknown>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}
