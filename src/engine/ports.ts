import type { Contained, Sandbox } from "./containment.ts";
import type { Failure } from "./errors.ts";
import type { DurableEvent } from "./event.ts";
import type { Files } from "./files.ts";
import type { Message, Proof, StopReason, Usage } from "./message.ts";
import type { Lookup, ProtectedPaths } from "./permission.ts";
import type { Autonomy, Mode, ReasoningEffort, RunOptions } from "./settings.ts";

/* ------------------------------------------------------------------ models */

export interface ModelInfo {
  readonly id: string;
  readonly provider: string;
  readonly displayName: string;
  /** Tokens that a request and its answer may have together. */
  readonly contextWindow: number;
  readonly maxOutputTokens: number;
  readonly reasoningEfforts: readonly ReasoningEffort[];
  readonly images: boolean;
  /** Whether it reads PDF files. */
  readonly documents?: boolean;
  /** Files are changed by patches instead of whole texts and replacements. */
  readonly prefersPatch?: boolean;
  /** Only what the user's configuration says. */
  readonly prices?: Prices;
}

/** In dollars for a million tokens. */
export interface Prices {
  readonly input: number;
  readonly output: number;
  readonly cacheRead?: number;
  readonly cacheWrite?: number;
}

export interface ToolSpec {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments; built when asked for. */
  inputSchema(): Promise<unknown>;
}

export interface ModelRequest {
  readonly system: string;
  /** By which the model knows reminders from text that only looks like one. The same in all requests of a conversation. */
  readonly mark: string;
  readonly messages: readonly Message[];
  readonly tools: readonly ToolSpec[];
  readonly reasoningEffort: ReasoningEffort;
  /** Providers are told in `system`. */
  readonly mode: Mode;
  /** Groups requests that begin alike. Providers get a hash of it. */
  readonly sessionId?: string;
  /** Why it is asked, when the conversation does not go on with the answer. */
  readonly purpose?: "summary";
  /** The whole conversation, for models of rules: `messages` may begin in the middle of it. */
  past?(): readonly Message[];
}

export type ModelEvent =
  /** `block` tells blocks of one type apart that follow each other; without it they are one. A proof may come with no text. */
  | { readonly type: "text"; readonly text: string; readonly block?: string; readonly proof?: Proof }
  | { readonly type: "thinking"; readonly text: string; readonly block?: string; readonly proof?: Proof }
  /** Arguments of a call as they come in. Optional: `tool_call` alone is enough. */
  | { readonly type: "tool_input"; readonly id: string; readonly name: string; readonly text: string }
  /** A whole call. `inputText` is the model's JSON text. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly inputText: string;
      readonly proof?: Proof;
    }
  | { readonly type: "usage"; readonly usage: Usage }
  /** Something that the request asked for is not as it was asked for. */
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly text: string }
  /** This attempt failed; another follows after `delayMs`, and repeats no text that was shown. `model`: another one makes it. */
  | {
      readonly type: "retry";
      readonly attempt: number;
      readonly delayMs: number;
      readonly failure: Failure;
      readonly model?: ModelInfo;
    }
  /** Last: the reply is whole. `understood: false` comes from a model of rules that had none for the request. */
  | {
      readonly type: "end";
      readonly stop: Exclude<StopReason, "interrupted" | "failed">;
      readonly understood?: false;
    }
  /** Last: the reply failed. What came before it stands. `maxRetries`: more than these would not help. */
  | {
      readonly type: "error";
      readonly failure: Failure;
      readonly retryable: boolean;
      readonly retryAfterMs?: number;
      readonly maxRetries?: number;
    };

export interface ModelPort {
  readonly info: ModelInfo;
  /** It fails by itself when its server is silent for too long. */
  readonly boundsSilence?: true;
  /**
   * One reply. Never throws or rejects: a fault is an `error` event. The last event is `end` or `error`, unless `signal`
   * is aborted: then it ends soon, with or without one. `heard` is called for every sign of life of a server, such as a
   * keep-alive that becomes no event.
   */
  stream(request: ModelRequest, signal: AbortSignal, heard?: () => void): AsyncIterable<ModelEvent>;
}

export interface ModelCatalog {
  /** What can be chosen here, the default first. */
  list(): Promise<readonly ModelInfo[]>;
  /** What is known by name and cannot be chosen, and why: for most of them a key is missing. */
  unusable(): Promise<readonly { readonly info: ModelInfo; readonly problem: string }[]>;
  /**
   * Rejects with `model_unknown`, or with what is wrong with its configuration. What answers can be another model while this
   * one is unavailable: one of `allowed`, or any without it.
   */
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
  /** Whose it is, and who the client said that its user is. */
  readonly owner?: string;
  readonly userId?: string;
}

export interface SessionQuery {
  readonly cwd?: string;
  readonly owner?: string;
  readonly limit?: number;
  /** Called for each log that was looked at and cannot be read. */
  onUnreadable?(path: string): void;
}

/** Numbers of records, both ends included. */
export interface SeqRange {
  readonly from: number;
  readonly to: number;
}

/** What a log has lost. */
export interface LogDamage {
  /** Lines that could not be read: a torn last line, or damage. They were skipped. */
  readonly damagedLines: readonly number[];
  /** Gaps in the numbers that damaged lines do not explain: lines were deleted. */
  readonly missingRecords: readonly SeqRange[];
}

export interface StoredLog extends LogDamage {
  readonly events: readonly DurableEvent[];
  /** The highest number in the log. More than the last event's when a later version wrote events unknown here. */
  readonly lastSeq: number;
}

/** The right to write one session's log. One process at a time has it. */
export interface SessionLog {
  /**
   * Appends in order; the numbers follow the last ones. Resolved means written to the file: it survives the death of this
   * process. With `sync` it is also forced to the disk. Rejects with `storage_failed`, `input_too_large`, `session_closed`
   * or `session_in_use`; nothing of the batch is then part of the log.
   */
  append(events: readonly DurableEvent[], options?: { readonly sync?: boolean }): Promise<void>;
  /** Where one write of much costs less than many: resolves at the end of this moment, when all that happens in it is known. */
  gather?(): Promise<void>;
  /** Gives the right back. Safe to call twice. */
  release(): Promise<void>;
}

export interface SessionStore {
  /** Starts a log with its first event. Rejects with `session_exists`. */
  create(first: DurableEvent): Promise<SessionLog>;
  /** Takes the right to write. Rejects with `session_not_found` or `session_in_use`. Does not write to the log. */
  acquire(id: string): Promise<SessionLog>;
  /**
   * Never opens for writing. Rejects with `session_not_found`, or `storage_failed` when not even its first line can be read.
   * With `after`, only the events behind that number; `lastSeq` is the whole log's. It is for callers that know the log up to
   * there to be whole: what is before it may not be looked at, nor may its damage be told.
   */
  read(id: string, after?: number): Promise<StoredLog>;
  /** Newest first. Sessions that cannot be read are left out. */
  list(query?: SessionQuery): Promise<readonly SessionInfo[]>;
  info(id: string): Promise<SessionInfo>;
  /** Removes the log and what belongs to it. Rejects with `session_not_found` or `session_in_use`. */
  remove(id: string): Promise<void>;
}

/* -------------------------------------------------------------------- host */

export interface CommandSpec {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  /** The whole output goes here once it is more than `keepBytes`. */
  readonly spoolPath: string;
  /** How much of the head and of the tail is kept in memory and returned, each. */
  readonly keepBytes: number;
  /** A command that cannot be contained like this does not run. Without this, it has all rights of the user. */
  readonly contained?: Contained;
  /** Called with the latest output, a few times a second at most. */
  onProgress(tail: string): void;
}

export interface CommandResult {
  readonly end:
    | { readonly type: "exit"; readonly code: number }
    | { readonly type: "signal"; readonly signal: string }
    | { readonly type: "timeout" }
    | { readonly type: "aborted" }
    | { readonly type: "unstartable"; readonly message: string };
  /** Standard output and error as they came, whole or as head and tail. */
  readonly head: string;
  /** Empty when `head` is the whole output. */
  readonly tail: string;
  /** How many bytes and lines stand between head and tail. */
  readonly skippedBytes: number;
  readonly skippedLines: number;
  readonly totalBytes: number;
  /** A file with all of it, for a longer output. */
  readonly fullTextPath?: string;
}

export interface Processes {
  /**
   * Runs a shell command in a process group of its own with empty standard input and no keys in its environment. However
   * it ends, and also when this process is killed, nothing that it started is left. Never rejects.
   */
  run(spec: CommandSpec, signal: AbortSignal): Promise<CommandResult>;
  /** Starts a command that outlives the call and this process. Rejects when it cannot be started. */
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
  /** Lines (or paths) to return at most. */
  readonly limit: number;
}

export interface GlobQuery {
  readonly folder: string;
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly limit: number;
}

export interface SearchResult {
  /** Paths are relative to the searched folder and begin with `./`; sorted. Each is on one line: see `shownName`. */
  readonly lines: readonly string[];
  readonly truncated: boolean;
  /** Some files or folders could not be read. */
  readonly unreadable?: true;
}

/** Looks through files as `.gitignore` says. Rejects with words when the pattern or path is wrong. */
export interface Search {
  grep(query: GrepQuery, signal: AbortSignal): Promise<SearchResult>;
  glob(query: GlobQuery, signal: AbortSignal): Promise<SearchResult>;
}

/** What a server answered. */
export interface WebPage {
  /** Where it came from, after redirects, without fragment. */
  readonly url: string;
  readonly status: number;
  /** As the server wrote it; empty when it did not. */
  readonly contentType: string;
  readonly body: Uint8Array;
  /** The body goes on. */
  readonly truncated: boolean;
}

/** Other machines, as far as they may be asked: public ones, and what the user's configuration allows. */
export interface Web {
  /**
   * Asks for a page, with nothing in the request that is the user's, and follows redirects. Resolves whatever the status.
   * Rejects with words when the address is not allowed or the server does not answer; an abort closes the connection at once.
   */
  get(
    url: string,
    options: { readonly maxBytes: number; readonly accept: string },
    signal: AbortSignal,
  ): Promise<WebPage>;
}

/** What comes of reading a PDF: `opened`, then its pages from the first on, and when it was not read to its end, why. */
export type PdfPart =
  | { readonly type: "opened"; readonly pages: number }
  | {
      readonly type: "page";
      /** Empty when there is none. */
      readonly text: string;
      /** Text up to here was left out because it needs a table of characters that is not in the file. */
      readonly lacksTables: boolean;
    }
  /** Last: what comes now is broken, or all of it needs a password. */
  | { readonly type: "failed"; readonly encrypted: boolean; readonly message: string }
  /** Last: what comes now takes more than it may. */
  | { readonly type: "exceeded"; readonly bound: PdfBound; readonly limit: number };

export type PdfBound = "milliseconds" | "memoryBytes" | "textBytes";

/** Finds by which other names protected places can be reached. Starts nothing, changes nothing, and never rejects. */
export interface Guards {
  /**
   * Where places lead by links on their way, or in them (two folders deep, and not in very many files; not in those of
   * `programs`), as far as that is elsewhere; and the links on which that depends.
   */
  leadTo(places: ProtectedPaths): Promise<ProtectedPaths>;
  /**
   * The places that the user's environment names: where variables move those of the home, files with credentials, histories
   * and start-up files, and the folders of the `PATH` that the user can write to.
   */
  fromEnvironment(places: ProtectedPaths, home: string): Promise<ProtectedPaths>;
  /** The links that an absolute path leads through, each by its canonical folder and its own name, and then where it leads. */
  way(path: string): Promise<readonly string[]>;
  /**
   * Of every repository in or around these canonical paths: its settings and hooks as `closed`; its own folders, and others
   * whose hooks it runs, as `kept`. With `below` also of those in the folders right below.
   */
  repositories(paths: readonly string[], options?: { readonly below?: boolean }): Promise<ProtectedPaths>;
}

/** The machine, as the engine and its tools see it. */
export interface Host {
  readonly files: Files;
  readonly processes: Processes;
  readonly sandbox: Sandbox;
  readonly search: Search;
  readonly web: Web;
  /** Answers what a decision about a command depends on; `undefined` when it cannot be told. Starts nothing, changes nothing. */
  lookUp(lookup: Lookup): Promise<readonly string[] | undefined>;
  readonly guards: Guards;
  /**
   * The text of a PDF, whose bytes nobody vouches for: bounded in time, memory and length, and nothing else waits for it.
   * Throws only when `signal` is aborted, and then at once. Whoever stops asking early leaves nothing running either.
   */
  pdfPages(bytes: Uint8Array, mostPages: number, signal: AbortSignal): AsyncIterable<PdfPart>;
  /** A fresh, canonical file path for a tool's whole output, readable by the session's own tools. */
  outputPath(sessionId: string, name: string): Promise<string>;
  /** Keeps an approved plan as a file of the user's; resolves with its canonical path. Rejects when it cannot be written. */
  savePlan(plan: { readonly title?: string; readonly text: string }): Promise<string>;
}

/** What the model is told beside the user's words. Never rejects; slow or missing parts are left out. */
export interface ContextSource {
  /** Environment, repository state and the instructions of AGENTS.md files, as one text each. */
  reminders(cwd: string): Promise<readonly string[]>;
  /** The instructions of folders between `cwd` and a path below it, without those of `cwd`. */
  below?(cwd: string, path: string): Promise<readonly string[]>;
  /** What the model may do unasked, what needs a permission and who can give one. Its first line is always the same. */
  permissions?(situation: PermissionSituation): string;
}

export interface PermissionSituation extends Pick<RunOptions, "unsafe" | "onDenied"> {
  readonly autonomy: Autonomy;
  readonly mode: Mode;
  readonly cwd: string;
  /** Somebody can give a permission. */
  readonly canAsk: boolean;
  /** Commands run in a sandbox. */
  readonly contained: boolean;
}

/* --------------------------------------------------------------- time, ids */

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only go forward, for durations. */
  monotonic(): number;
  /** Calls back once after `ms`; the returned function cancels it. `background`: a process that waits for this alone ends. */
  after(ms: number, callback: () => void, options?: { readonly background?: boolean }): () => void;
}

export interface Ids {
  /** A fresh UUID. */
  next(): string;
}
