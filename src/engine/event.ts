import type { Failure } from "./errors.ts";
import type { Answer, Interaction } from "./interaction.ts";
import type { AssistantMessage, PromptBlock, ToolResultBlock, Usage, UserMessage } from "./message.ts";
import type { ServerEventBody } from "./servers/server-state.ts";
import type { SessionSettings } from "./settings.ts";

/** How a turn can end. Front ends derive stop reasons and exit codes from it. */
export type EndReason =
  /** The model had nothing more to do. */
  | "completed"
  /** In spec mode without an approver: the plan is the answer. */
  | "planned"
  /** It was interrupted, or its process ended. */
  | "interrupted"
  /** A call was above the level, and no client could be asked. */
  | "denied"
  /** The user was asked and said no. */
  | "cancelled"
  /** The limit of model calls, tokens or time was reached. */
  | "limit"
  /** The answer was truncated at the model's output limit, repeatedly. */
  | "length"
  /** The conversation no longer fits the model's window. */
  | "context_full"
  /** The model, or its provider, declined to answer. */
  | "refused"
  | "failed";

/** The cause of a turn's end, where its reason leaves that open. `process_ended`: an interrupt without a request. */
export type EndCause = "process_ended";

/** A notice's subject, for readers that treat it specially. */
type NoticeCode = "unasked_model";

/** A tool result as the model reads it from now on. */
export interface ShortenedResult {
  /** Id of the result's message: providers reuse call ids in other replies. */
  readonly messageId: string;
  readonly callId: string;
  readonly text: string;
}

/** Why the model's view was reduced: it exceeded the window, the provider said so, or the user asked for it. */
export type CompactionTrigger = "window" | "provider" | "user";

/** Events that change the session. They are stored before they are published, and numbered densely by `seq`. */
export type DurableBody =
  /** First in every log. */
  | {
      readonly type: "session.opened";
      readonly cwd: string;
      readonly settings: SessionSettings;
      /** The session it was forked from. `before`: that session's own origins, nearest first. */
      readonly forkOf?: { readonly sessionId: string; readonly seq: number; readonly before?: readonly string[] };
    }
  /** Settings changed: only the changed keys, `null` for a removed one. `cwd` if the workspace moved. */
  | { readonly type: "session.updated"; readonly changes: SettingsChanges; readonly cwd?: string }
  | { readonly type: "session.titled"; readonly title: string }
  /** A prompt was accepted. It joins the conversation with `prompt.taken`. */
  | { readonly type: "prompt.accepted"; readonly messageId: string; readonly content: readonly PromptBlock[] }
  /** An interrupt dropped a waiting prompt, so it will not run. */
  | { readonly type: "prompt.discarded"; readonly messageId: string }
  /** A turn began. Exactly one `turn.ended` follows. `prompts`: the ones it serves; absent in older logs. */
  | {
      readonly type: "turn.started";
      readonly turnId: string;
      readonly model: string;
      readonly prompts?: readonly string[];
    }
  /** A prompt joined the conversation, together with the engine's reminders. */
  | { readonly type: "prompt.taken"; readonly messageId: string; readonly reminders: readonly string[] }
  /** Streamed text, saved in case the reply is never completed. `from` is its offset in the block. */
  | {
      readonly type: "message.checkpoint";
      readonly messageId: string;
      readonly block: number;
      readonly kind: "text" | "thinking";
      readonly from: number;
      readonly text: string;
    }
  /** The model's reply is complete, or as complete as it will be (see `stop`). Replaces its checkpoints. */
  | { readonly type: "message.ended"; readonly message: AssistantMessage }
  /**
   * Tokens of one model call, and of the session so far. `cost` is the call's, in dollars, if prices are known.
   * `purpose` is absent for the conversation's own calls.
   */
  | {
      readonly type: "usage.updated";
      readonly call: Usage;
      readonly total: Usage;
      readonly cost?: number;
      readonly purpose?: "summary";
    }
  /** The model reads less of the conversation from here on. The conversation itself is unchanged. */
  | {
      readonly type: "context.compacted";
      readonly trigger: CompactionTrigger;
      readonly results: readonly ShortenedResult[];
      /** User messages whose images and files are no longer sent to the model. */
      readonly media: readonly string[];
      /** The replacement of the messages up to and including `through`, and their number. */
      readonly summary?: { readonly message: UserMessage; readonly through: string; readonly removed: number };
      /** Part of the text kept verbatim was cut. */
      readonly isShortened?: boolean;
      /** Estimates for the whole request. */
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    }
  /** A tool starts. Without a `tool.ended`, it was cut off, and is never rerun automatically. */
  | { readonly type: "tool.started"; readonly callId: string; readonly name: string }
  /**
   * A call has its result, in the order of the reply's calls. `messageId` is shared by all results of one reply.
   * `created`, `moved` and `wrote`: see `FileChanges`; `seen`: see `SeenFiles`; absent if empty.
   */
  | {
      readonly type: "tool.ended";
      readonly messageId: string;
      readonly result: ToolResultBlock;
      readonly created?: readonly string[];
      readonly moved?: readonly string[];
      readonly seen?: Readonly<Record<string, string>>;
      readonly wrote?: readonly string[];
    }
  /** Attached clients are asked. Exactly one `request.closed` follows. */
  | { readonly type: "request.opened"; readonly requestId: string; readonly interaction: Interaction }
  /** The winning answer, or why there is none. `changes`: settings that changed with it. */
  | {
      readonly type: "request.closed";
      readonly requestId: string;
      readonly answer: Answer;
      readonly changes?: SettingsChanges;
    }
  | {
      readonly type: "turn.ended";
      readonly turnId: string;
      readonly reason: EndReason;
      readonly failure?: Failure;
      readonly cause?: EndCause;
      readonly usage: Usage;
      readonly durationMs: number;
      /** Prompts for this turn that it could not take up before it failed. They ended with it and are not run again. */
      readonly untaken?: readonly string[];
      /** Prompts that it took up while it ran. */
      readonly joined?: readonly string[];
    };

/** Live events: useful while they happen, and later reconstructed from durable ones. */
export type LiveBody =
  /** Accepted while a turn is running; `position` 1 is next. */
  | { readonly type: "prompt.queued"; readonly messageId: string; readonly position: number }
  /** The model is called for its next reply. */
  | { readonly type: "model.called"; readonly messageId: string; readonly model: string }
  /** The model begins to reply. */
  | { readonly type: "message.started"; readonly messageId: string }
  /** Streamed text. `offset`: its position in the block. */
  | {
      readonly type: "message.delta";
      readonly messageId: string;
      readonly block: number;
      readonly kind: "text" | "thinking";
      readonly offset: number;
      readonly text: string;
    }
  /** A call's arguments are streaming. `text` is the new part. */
  | {
      readonly type: "tool.input";
      readonly messageId: string;
      readonly callId: string;
      readonly name: string;
      readonly text: string;
    }
  /** The last lines of a running tool. */
  | { readonly type: "tool.progress"; readonly callId: string; readonly name: string; readonly text: string }
  /** A tool is still running and silent. */
  | { readonly type: "tool.heartbeat"; readonly callId: string; readonly name: string; readonly elapsedMs: number }
  /** A model call failed and is retried after `delayMs`; with `model`, by that fallback. */
  | {
      readonly type: "retry.scheduled";
      readonly attempt: number;
      readonly delayMs: number;
      readonly failure: Failure;
      readonly model?: string;
    }
  /** Compaction began. A summary takes a while. */
  | { readonly type: "compaction.started"; readonly trigger: CompactionTrigger }
  /** Preceded by `context.compacted` if there was anything to gain. */
  | { readonly type: "compaction.ended" }
  | Exclude<ServerEventBody, { type: "notice" }>
  /** Information for people, such as a damaged log line or a clamped setting. */
  | {
      readonly type: "notice";
      readonly level: "info" | "warning";
      readonly text: string;
      readonly code?: NoticeCode;
    }
  /** The last event. */
  | { readonly type: "session.closed" };

export type SettingsChanges = { readonly [K in keyof SessionSettings]?: SessionSettings[K] | null };

interface Envelope {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly sessionId: string;
  readonly turnId?: string;
}

export type DurableEvent = Envelope & { readonly seq: number } & DurableBody;
type LiveEvent = Envelope & { readonly seq?: never } & LiveBody;
export type EngineEvent = DurableEvent | LiveEvent;
export type EventBody = DurableBody | LiveBody;

export type EventType = EventBody["type"];
export type EventOf<Type extends EventType> = EngineEvent & { readonly type: Type };

/** Whether an event is stored. A new event compiles only with an entry here. */
export const isStored: { readonly [Type in EventType]: Type extends DurableBody["type"] ? true : false } = {
  "session.opened": true,
  "session.updated": true,
  "session.titled": true,
  "prompt.accepted": true,
  "prompt.discarded": true,
  "turn.started": true,
  "prompt.taken": true,
  "message.checkpoint": true,
  "message.ended": true,
  "usage.updated": true,
  "context.compacted": true,
  "tool.started": true,
  "tool.ended": true,
  "request.opened": true,
  "request.closed": true,
  "turn.ended": true,
  "prompt.queued": false,
  "model.called": false,
  "message.started": false,
  "message.delta": false,
  "tool.input": false,
  "tool.progress": false,
  "tool.heartbeat": false,
  "retry.scheduled": false,
  "compaction.started": false,
  "compaction.ended": false,
  "servers.changed": false,
  "sign-in.required": false,
  "sign-in.ended": false,
  notice: false,
  "session.closed": false,
};

export function isDurable(body: EventBody): body is DurableBody {
  return isStored[body.type];
}
