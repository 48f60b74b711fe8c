import type { Contained, Sandbox } from "./containment.ts";
import type { Failure } from "./errors.ts";
import type { DurableEvent } from "./event.ts";
import type { Files } from "./files.ts";
import type { Message, Proof, StopReason, Usage } from "./message.ts";
import type { PdfPart } from "./pdf-part.ts";
import type { Lookup, PermissionSituation, ProtectedPaths } from "./permission.ts";
import type { Mode, ReasoningEffort } from "./settings.ts";

/* ------------------------------------------------------------------ models */

export interface ModelInfo {
  readonly id: string;
  readonly provider: string;
  readonly displayName: string;
  /** Maximum tokens of a request and its reply together. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly reasoningEfforts: readonly ReasoningEffort[];
  readonly images: boolean;
  /** Whether it reads PDF files. */
  readonly documents?: boolean;
  /** Files are changed by patches instead of edits and whole texts. */
  readonly prefersPatch?: boolean;
  /** Set only by the user's configuration. */
  readonly prices?: Prices;
}

/** In dollars per million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, built on first use. */
  inputSchema(): Promise<unknown>;
}

export interface ModelRequest {
  readonly system: string;
  /** Marks real reminders, as opposed to text that only looks like one. The same for a whole conversation. */
  readonly mark: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly reasoningEffort: ReasoningEffort;
  /** Providers get this in `system`. */
  readonly mode: Mode;
  /** Groups requests with a common prefix. Providers get a hash of it. */
  readonly sessionId?: string;
  /** The call's purpose, if its reply does not continue the conversation. */
  readonly purpose?: "summary";
  /** The whole conversation, for rule-based models: `messages` can start in the middle of it. */
  past?(): readonly Message[];
}

export type ModelEvent =
  /** `block` separates consecutive blocks of one type; without it they are one. A proof can come without text. */
  | { readonly type: "text"; readonly text: string; readonly block?: string; readonly proof?: Proof }
  | { readonly type: "thinking"; readonly text: string; readonly block?: string; readonly proof?: Proof }
  /** A call's arguments as they stream. Optional: `tool_call` alone is enough. */
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string }
  /** A complete call. `inputText` is the model's JSON text. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly inputText: string;
      readonly proof?: Proof;
    }
  | { readonly type: "usage"; readonly usage: Usage }
  /** Part of the request could not be sent as requested. */
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly text: string }
  /** This attempt failed. Another follows after `delayMs`, without repeating shown text; `model`: by that model. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly failure: Failure;
      readonly model?: ModelInfo;
    }
  /** Last: the reply is complete. `understood: false`: a rule-based model did not understand the request. */
  | {
      readonly type: "end";
      readonly stop: Exclude<StopReason, "interrupted" | "failed">;
      readonly understood?: false;
    }
  /** Last: the reply failed. What came before it is kept. `maxRetries`: more would not help. */
  | {
      readonly type: "error";
      readonly failure: Failure;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      readonly maxRetries?: number;
    };

export interface ModelPort {
  readonly info: ModelInfo;
  /** It times out on its own when its server is silent. */
  readonly boundsSilence?: true;
  /**
   * Streams one reply. Never throws or rejects: faults are `error` events. The last event is `end` or `error`, except
   * after an abort. Calls `heard` for every sign of life of the server, such as a keep-alive.
   */
  stream(request: ModelRequest, signal: AbortSignal, heard?: () => void): AsyncIterable<ModelEvent>;
}

export interface ModelCatalog {
  /** The usable models, the default first. */
  list(): Promise<readonly ModelInfo[]>;
  /** Models that are known but unusable, and why: usually a missing key. */
  unusable(): Promise<readonly { readonly info: ModelInfo; readonly problem: string }[]>;
  /** Rejects with `model_unknown` or a configuration fault. Fallbacks must be among `allowed` (any, if absent). */
  resolve(id: string, allowed?: readonly string[]): Promise<ModelPort>;
}

/* ------------------------------------------------------------------- store */

export interface SessionInfo {
  readonly id: string;
  readonly title: string;
  readonly cwd: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly path: string;
  readonly bytes: number;
  /** Its owner, and the user's name according to the client. */
  readonly owner?: string;
  readonly userId?: string;
}

export interface SessionQuery {
  readonly cwd?: string;
  readonly owner?: string;
  readonly limit?: number;
  /** Called for each log found to be unreadable. */
  onUnreadable?(path: string): void;
}

/** Record numbers, inclusive. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** Damage to a log. */
export interface LogDamage {
  /** Unreadable lines: a torn last line, or damage. They were skipped. */
  readonly damagedLines: readonly number[];
  /** Gaps in the numbers beyond the damaged lines: lines were deleted. */
  readonly missingRecords: readonly SeqRange[];
}

export interface StoredLog extends LogDamage {
  readonly events: readonly DurableEvent[];
  /** The highest number in the log. Higher than the last event's if a later version wrote unknown events. */
  readonly lastSeq: number;
}

/** The right to write one session's log, held by one process at a time. */
export interface SessionLog {
  /**
   * Appends in order. Resolved events survive this process; with `sync`, also a power failure. Rejects with
   * `storage_failed`, `input_too_large`, `session_closed` or `session_in_use`, and then stores nothing of the batch.
   */
  append(events: readonly DurableEvent[], options?: { readonly sync?: boolean }): Promise<void>;
  /** If batching writes pays off: resolves at the end of this tick, when all its events are known. */
  gather?(): Promise<void>;
  /** Releases the log. Idempotent. */
  release(): Promise<void>;
}

export interface SessionStore {
  /** Starts a log with its first event. Rejects with `session_exists`. */
  create(first: DurableEvent): Promise<SessionLog>;
  /** Acquires the right to write. Rejects with `session_not_found` or `session_in_use`. Does not write to the log. */
  acquire(id: string): Promise<SessionLog>;
  /**
   * Never opens for writing. Rejects with `session_not_found`, or `storage_failed` without a readable first line.
   * `after`: returns only later events, and earlier damage may go unreported; `lastSeq` is still the whole log's.
   */
  read(id: string, after?: number): Promise<StoredLog>;
  /** Newest first, without unreadable sessions. */
  list(query?: SessionQuery): Promise<readonly SessionInfo[]>;
  info(id: string): Promise<SessionInfo>;
  /** Removes the log and its outputs. Rejects with `session_not_found` or `session_in_use`. */
  remove(id: string): Promise<void>;
}

/* -------------------------------------------------------------------- host */

export interface CommandSpec {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** Gets the whole output if it exceeds `keepBytes`. */
  readonly spoolPath: string;
  /** How much of the head and of the tail is kept in memory and returned, each. */
  readonly keepBytes: number;
  /** A command that cannot be contained like this does not run. Without this, it has all rights of the user. */
  readonly contained?: Contained;
  /** Called with the latest output, at most a few times per second. */
  onProgress(tail: string): void;
}

export interface CommandResult {
  readonly end:
    | { readonly type: "exit"; readonly code: number }
    | { readonly type: "signal"; readonly signal: string }
    | { readonly type: "timeout" }
    | { readonly type: "aborted" }
    | { readonly type: "unstartable"; readonly message: string };
  /** Standard output and error in order, complete or as head and tail. */
  readonly head: string;
  /** Empty if `head` is the whole output. */
  readonly tail: string;
  /** Number of bytes and lines skipped between head and tail. */
  readonly skippedBytes: number;
  readonly skippedLines: number;
  readonly totalBytes: number;
  /** A file with all of a longer output. */
  readonly fullTextPath?: string;
}

export interface Processes {
  /**
   * Runs a shell command in its own process group, with empty standard input and without keys in its environment.
   * However it ends, even if this process is killed, nothing it started survives. Never rejects.
   */
  run(spec: CommandSpec, signal: AbortSignal): Promise<CommandResult>;
  /** Starts a command that outlives the call and this process. Rejects if it cannot start. */
  startBackground(spec: {
    readonly command: string;
    readonly cwd: string;
    readonly outputPath: string;
    /** If set, it ends with the session. */
    readonly contained?: Contained;
  }): Promise<{ readonly pid: number }>;
}

export interface GrepQuery {
  readonly pattern: string;
  readonly path: string;
  readonly globs: readonly string[];
  readonly fileType?: string;
  readonly mode: "file_paths" | "content";
  readonly caseInsensitive: boolean;
  readonly fixedString: boolean;
  readonly multiline: boolean;
  readonly lineNumbers: boolean;
  readonly before: number;
  readonly after: number;
  /** Maximum number of lines or paths to return. */
  readonly limit: number;
}

export interface GlobQuery {
  readonly folder: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly limit: number;
}

export interface SearchResult {
  /** Paths relative to the searched folder, starting with `./`, sorted. Each is on one line: see `shownName`. */
  readonly lines: readonly string[];
  readonly truncated: boolean;
  /** Some files or folders were unreadable. */
  readonly unreadable?: true;
}

/** Searches files, respecting `.gitignore`. Rejects with a message if the pattern or path is invalid. */
export interface Search {
  grep(query: GrepQuery, signal: AbortSignal): Promise<SearchResult>;
  glob(query: GlobQuery, signal: AbortSignal): Promise<SearchResult>;
}

/** A server's response. */
export interface WebPage {
  /** Its address after redirects, without fragment. */
  readonly url: string;
  readonly status: number;
  /** As sent by the server; empty if absent. */
  readonly contentType: string;
  readonly body: Uint8Array;
  /** The body continues. */
  readonly truncated: boolean;
}

/** Other machines: public ones, and those that the user's configuration allows. */
export interface Web {
  /**
   * Fetches a page, with nothing of the user's in the request, and follows redirects. Resolves with any status. Rejects
   * with a message if the address is not allowed or the server does not answer. An abort closes the connection at once.
   */
  get(
    url: string,
    options: { readonly maxBytes: number; readonly accept: string },
    signal: AbortSignal,
  ): Promise<WebPage>;
}

/** Finds other paths that lead to protected places. Starts nothing, changes nothing, and never rejects. */
export interface Guards {
  /**
   * Where places lead through links on their way or inside them (two folders deep, a limited number, and not in
   * `programs`), if that is elsewhere; and the links that this depends on.
   */
  leadTo(places: ProtectedPaths): Promise<ProtectedPaths>;
  /** Places named by the environment: moved home folders, credentials, histories, start-up files, `PATH` folders. */
  fromEnvironment(places: ProtectedPaths, home: string): Promise<ProtectedPaths>;
  /** The links that an absolute path leads through, each as its canonical folder plus name, and then its target. */
  way(path: string): Promise<readonly string[]>;
  /**
   * For every repository in or around these canonical paths: its settings and hooks as `closed`; its own folders, and
   * others whose hooks it runs, as `kept`. With `below`, also for repositories in folders below, as far as a
   * few hundred folders reach.
   */
  repositories(paths: readonly string[], options?: { readonly below?: boolean }): Promise<ProtectedPaths>;
}

/** The machine, as seen by the engine and its tools. */
export interface Host {
  readonly files: Files;
  readonly processes: Processes;
  readonly sandbox: Sandbox;
  readonly search: Search;
  readonly web: Web;
  /** Answers a question that a decision depends on; `undefined` if unknown. Starts nothing and changes nothing. */
  lookUp(lookup: Lookup): Promise<readonly string[] | undefined>;
  readonly guards: Guards;
  /**
   * The text of an untrusted PDF, with limits on time, memory and length. Does not block other work. Throws only if
   * `signal` aborts, and then at once. Leaving the loop early cleans up.
   */
  pdfPages(bytes: Uint8Array, mostPages: number, signal: AbortSignal): AsyncIterable<PdfPart>;
  /** A fresh, canonical file path for a tool's whole output, which the session's own tools can read. */
  outputPath(sessionId: string, name: string): Promise<string>;
  /** Saves an approved plan for the user. Resolves with its canonical path. Rejects if it cannot be written. */
  savePlan(plan: { readonly title?: string; readonly text: string }): Promise<string>;
}

/** The model's context besides the prompt. Never rejects; slow or missing parts are dropped. */
export interface ContextSource {
  /** Environment, repository state and AGENTS.md instructions, as one text each. */
  reminders(cwd: string): Promise<readonly string[]>;
  /** Instructions of folders between `cwd` and a path below it, excluding `cwd`. */
  below?(cwd: string, path: string): Promise<readonly string[]>;
  /** The calls that run unasked, those that need permission, and who can grant it. Its first line never changes. */
  permissions?(situation: PermissionSituation): string;
}

/* --------------------------------------------------------------- time, ids */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only increase, for durations. */
  monotonic(): number;
  /** Calls back once after `ms`. The returned function cancels it. `background`: does not keep the process alive. */
  after(ms: number, callback: () => void, options?: { readonly background?: boolean }): () => void;
}

export interface Ids {
  /** A fresh UUID. */
  next(): string;
}
