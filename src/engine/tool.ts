import type { z } from "zod";
import type { Containment } from "./containment.ts";
import type { Answer, Interaction } from "./interaction.ts";
import type { ImageBlock, ToolCause, ToolResultBlock, ToolStatus } from "./message.ts";
import type { Access, Preview } from "./permission.ts";
import type { Host } from "./ports.ts";
import type { Mode } from "./settings.ts";

/** Groups tools for listings and editors. */
export type ToolKind = "read" | "edit" | "execute" | "fetch" | "plan" | "ask";

/** The information that a tool has before it is allowed to run. */
export interface ToolScope {
  readonly sessionId: string;
  /** Canonical. Relative paths start here. */
  readonly cwd: string;
  /** Canonical: the meaning of `~` in the model's paths. */
  readonly home: string;
  readonly host: Host;
}

/** Files that the model has seen in this session: a content mark by canonical path. */
export interface SeenFiles {
  get(path: string): string | undefined;
  set(path: string, mark: string): void;
}

/** What a tool knows once its call was decided on. */
export interface DecidedScope extends ToolScope {
  /** The accesses that were decided on. */
  readonly accesses: readonly Access[];
}

export interface ToolContext extends DecidedScope {
  readonly callId: string;
  /** Aborts on interrupt and timeout; `run` then ends soon, with its partial result. */
  readonly signal: AbortSignal;
  /** The session's mode when the call began. */
  readonly mode: Mode;
  /** Paths that a search through a parent folder must skip. */
  readonly protectedPlaces: readonly string[];
  readonly seenFiles: SeenFiles;
  /** The walls that its command runs behind. */
  readonly walls?: Containment;
  /** Shows the last lines of a running tool. Cheap to call, because the engine throttles it. */
  progress(text: string): void;
  /** Asks the attached clients; `undefined` if none can answer. Never rejects: an interrupt answers `cancel`. */
  ask(interaction: Exclude<Interaction, { kind: "permission" }>, withinMs?: number): Promise<Answer | undefined>;
}

export interface ToolOutput {
  /** Text for clients. The engine limits its length. */
  readonly text: string;
  /** Text for the model instead of `text`. The engine limits its length. */
  readonly forModel?: string;
  readonly status: ToolStatus;
  /** Set if a command completed and exited non-zero. */
  readonly exitCode?: number;
  readonly media?: readonly ImageBlock[];
  /** Set by a tool that has already written its whole output to a file. */
  readonly fullTextPath?: string;
  readonly cause?: ToolCause;
  /** Ends the turn after this reply's calls: a plan was rejected, or had no approver. */
  readonly endTurn?: { readonly reason: "planned"; readonly finalText: string } | { readonly reason: "cancelled" };
}

/** A tool's behaviour. */
export interface ToolBody<Input = unknown> {
  readonly input: z.ZodType<Input>;
  /**
   * The accesses that the call would make; empty if it needs no decision. May touch the file system only to resolve
   * paths. Rejects only for its own faults.
   */
  access(input: Input, scope: ToolScope): Promise<readonly Access[]>;
  /** The call's preview for an approver. */
  preview?(input: Input, scope: DecidedScope): Promise<Preview>;
  /** Never rejects for errors of the model or the machine: those are results with `failed`. */
  run(input: Input, context: ToolContext): Promise<ToolOutput>;
}

/** A tool's description. Its body loads with its first call, because most runs use few tools. */
export interface Tool {
  readonly name: string;
  readonly kind: ToolKind;
  /** One line for people. */
  readonly title: string;
  /** The model-facing text. */
  readonly description: string;
  /** Tools that it replaces, for models that prefer it. */
  readonly replaces?: readonly string[];
  /** The only mode in which it is offered. Calls in another mode are refused with a message. */
  readonly onlyIn?: Mode;
  /** True if calls can run in parallel with others of the same reply. Only for read-only tools. */
  readonly concurrent: boolean;
  /** Who runs it, if not the engine. */
  readonly runBy?: "client";
  /** The text of its latest call that the model keeps when that call leaves its view. */
  kept?(input: unknown, result: ToolResultBlock): string | undefined;
  /** JSON Schema of its arguments, as text, if it does not follow from the input's type. */
  readonly inputSchema?: string;
  load(): Promise<ToolBody>;
}

/** Checks the types of one tool and erases its input type, so that tools fit into one list. */
export function defineTool<Input>(body: ToolBody<Input>): ToolBody {
  return body as unknown as ToolBody;
}

export function succeeded(text: string, cause?: ToolCause): ToolOutput {
  return { text, status: "ok", ...(cause === undefined ? {} : { cause }) };
}

/** Failures begin with `Error: ` on every wire. */
export function failed(message: string, cause?: ToolCause): ToolOutput {
  return { text: `Error: ${message}`, status: "failed", ...(cause === undefined ? {} : { cause }) };
}
