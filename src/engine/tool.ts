import type { z } from "zod";
import type { Containment } from "./containment.ts";
import type { Answer, Interaction } from "./interaction.ts";
import type { ImageBlock, ToolCause, ToolResultBlock, ToolStatus } from "./message.ts";
import type { Access, Preview } from "./permission.ts";
import type { Host } from "./ports.ts";
import type { Mode } from "./settings.ts";

/** Groups tools for listings and for editors. */
export type ToolKind = "read" | "edit" | "execute" | "fetch" | "plan" | "ask";

/** What a tool may know before it is allowed to run. */
export interface ToolScope {
  readonly sessionId: string;
  /** Canonical. Relative paths of the model start here. */
  readonly cwd: string;
  /** Canonical: what `~` stands for in the model's paths. */
  readonly home: string;
  readonly host: Host;
}

/** What the model has seen of files in this session: a mark of the content, by canonical path. */
export interface SeenFiles {
  get(path: string): string | undefined;
  set(path: string, mark: string): void;
}

export interface ToolContext extends ToolScope {
  readonly callId: string;
  /** Aborted on interrupt and timeout; `run` then ends soon, with whatever it has. */
  readonly signal: AbortSignal;
  /** Of the session when the call began. */
  readonly mode: Mode;
  /** What a search through a folder above them must leave out. */
  readonly protectedPlaces: readonly string[];
  readonly seenFiles: SeenFiles;
  /** The walls that its command runs behind. */
  readonly walls?: Containment;
  /** Shows the last lines of a running tool. Cheap to call; the engine thins it out. */
  progress(text: string): void;
  /** Asks whoever is attached; `undefined` when nobody can answer. Never rejects: an interrupt answers `cancel`. */
  ask(interaction: Exclude<Interaction, { kind: "permission" }>, withinMs?: number): Promise<Answer | undefined>;
}

export interface ToolOutput {
  /** What clients read. The engine bounds it. */
  readonly text: string;
  /** What the model reads instead of `text`. The engine bounds it. */
  readonly forModel?: string;
  readonly status: ToolStatus;
  /** Set when a command ran to its end and exited non-zero. */
  readonly exitCode?: number;
  readonly media?: readonly ImageBlock[];
  /** Set by a tool that has written its whole output to a file already. */
  readonly fullTextPath?: string;
  readonly cause?: ToolCause;
  /** Ends the turn after this reply's calls: a plan nobody could approve, or a plan somebody turned down. */
  readonly endTurn?: { readonly reason: "planned"; readonly finalText: string } | { readonly reason: "cancelled" };
}

/** What a tool does. */
export interface ToolBody<Input = unknown> {
  readonly input: z.ZodType<Input>;
  /** What the call would do. Empty: nothing that needs a decision. May touch the file system only to resolve paths. Rejects only on a fault of its own. */
  access(input: Input, scope: ToolScope): Promise<readonly Access[]>;
  /** What an approver is shown. */
  preview?(input: Input, scope: ToolScope): Promise<Preview>;
  /** Never rejects for what the model or the machine did: that is a result with `failed`. */
  run(input: Input, context: ToolContext): Promise<ToolOutput>;
}

/** What is told of a tool. What it does is loaded with its first call: most runs use few tools, and some use none. */
export interface Tool {
  readonly name: string;
  readonly kind: ToolKind;
  /** One line for people. */
  readonly title: string;
  /** The model-facing text. */
  readonly description: string;
  /** Tools that it takes the place of, for models that prefer it. */
  readonly replaces?: readonly string[];
  /** The only mode in which the model is offered it. A call in another mode is refused with words. */
  readonly onlyIn?: Mode;
  /** True when calls may run beside others of the same reply. Only for tools that change nothing. */
  readonly concurrent: boolean;
  /** Who runs it, when that is not the engine. */
  readonly runBy?: "client";
  /** What of its latest call the model keeps word for word when that call leaves its view. */
  kept?(input: unknown, result: ToolResultBlock): string | undefined;
  /** JSON Schema of its arguments, as text, where it does not follow from what it takes. */
  readonly inputSchema?: string;
  load(): Promise<ToolBody>;
}

/** Checks the types of one tool and forgets its input type, so that tools can stand in one list. */
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
