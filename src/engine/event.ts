import type { Failure } from "./errors.ts";
import type { Answer, Interaction } from "./interaction.ts";
import type { AssistantMessage, PromptBlock, ToolResultBlock, Usage, UserMessage } from "./message.ts";
import type { SessionSettings } from "./settings.ts";

/** How a turn can end. Front ends derive stop reasons and exit codes from it. */
export type EndReason =
  /** The model had nothing more to do. */
  | "completed"
  /** In spec mode with nobody to approve it: the plan is the answer. */
  | "planned"
  /** Somebody interrupted it, or its process ended. */
  | "interrupted"
  /** A call was above the level and nobody could be asked. */
  | "denied"
  /** Somebody was asked and said no. */
  | "cancelled"
  /** Model calls, tokens or time are used up. */
  | "limit"
  /** The answer was cut at the model's output limit, again and again. */
  | "length"
  /** The conversation no longer fits the model's window. */
  | "context_full"
  /** The model, or its provider, declined to answer. */
  | "refused"
  | "failed";

/** What ended a turn, where its reason does not tell. `process_ended`: an interrupt that nobody asked for. */
export type EndCause = "process_ended";

/** What a notice is about, for readers that treat it in a way of its own. */
export type NoticeCode = "unasked_model";

/** A tool result as the model reads it from now on. */
export interface ShortenedResult {
  /** Of the message that the result is in: providers use the same call id again in another reply. */
  readonly messageId: string;
  readonly callId: string;
  readonly text: string;
}

/** Why the model's view was made smaller: it would not fit the window, its provider said so, or somebody asked for it. */
export type CompactionTrigger = "window" | "provider" | "user";

/** Events that change what the session is. They are stored before anybody is told, and numbered densely by `seq`. */
export type DurableBody =
  /** First of every log. */
  | {
      readonly type: "session.opened";
      readonly cwd: string;
      readonly settings: SessionSettings;
      /** Where a fork came from; `before`: where that came from, the nearest first. */
      readonly forkOf?: { readonly sessionId: string; readonly seq: number; readonly before?: readonly string[] };
    }
  /** Settings changed; only the changed keys, `null` for a removed one. `cwd` when the workspace moved. */
  | { readonly type: "session.updated"; readonly changes: SettingsChanges; readonly cwd?: string }
  | { readonly type: "session.titled"; readonly title: string }
  /** A prompt was taken in. It is not part of the conversation until `prompt.taken`. */
  | { readonly type: "prompt.accepted"; readonly messageId: string; readonly content: readonly PromptBlock[] }
  /** A waiting prompt will not be run: an interrupt dropped it. */
  | { readonly type: "prompt.discarded"; readonly messageId: string }
  /** A turn began. Exactly one `turn.ended` follows. `prompts`: those that it is for; logs of older versions do not say. */
  | {
      readonly type: "turn.started";
      readonly turnId: string;
      readonly model: string;
      readonly prompts?: readonly string[];
    }
  /** A prompt joined the conversation, with what the engine tells the model beside it. */
  | { readonly type: "prompt.taken"; readonly messageId: string; readonly reminders: readonly string[] }
  /** Streamed text kept for the case that the reply is never finished. `from` is its offset in the block. */
  | {
      readonly type: "message.checkpoint";
      readonly messageId: string;
      readonly block: number;
      readonly kind: "text" | "thinking";
      readonly from: number;
      readonly text: string;
    }
  /** The model's reply is whole, or as whole as it will be (`stop` says which). Replaces its checkpoints. */
  | { readonly type: "message.ended"; readonly message: AssistantMessage }
  /**
   * Tokens of one model call, and of the session so far. `cost` is the call's, in dollars, where its prices are known.
   * `purpose` is absent for the calls that the conversation is made of.
   */
  | {
      readonly type: "usage.updated";
      readonly call: Usage;
      readonly total: Usage;
      readonly cost?: number;
      readonly purpose?: "summary";
    }
  /** The model reads less of the conversation from here on. The conversation itself stays as it is. */
  | {
      readonly type: "context.compacted";
      readonly trigger: CompactionTrigger;
      readonly results: readonly ShortenedResult[];
      /** User messages whose images and files the model no longer sees. */
      readonly media: readonly string[];
      /** What stands for the messages up to and including `through`, and how many these are. */
      readonly summary?: { readonly message: UserMessage; readonly through: string; readonly removed: number };
      /** Some of what is kept word for word was cut. */
      readonly isShortened?: boolean;
      /** Estimates of the whole request. */
      readonly tokensBefore: number;
      readonly tokensAfter: number;
    }
  /** A tool begins to run. If no `tool.ended` follows, it was cut off and is never run again by itself. */
  | { readonly type: "tool.started"; readonly callId: string; readonly name: string }
  /**
   * A call has its result; in the order of the reply's calls. `messageId` is shared by all results of one reply. `created`,
   * `moved` and `wrote`: see `FileChanges`; `seen`: see
   * `SeenFiles`; absent when there are none.
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
  /** Somebody attached is asked. Exactly one `request.closed` follows. */
  | { readonly type: "request.opened"; readonly requestId: string; readonly interaction: Interaction }
  /** The answer that won, or why there is none. `changes` are the settings that changed with it. */
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
      /** Prompts that it was for and failed before it could take up. They have ended with it, and are not run any more. */
      readonly untaken?: readonly string[];
      /** Prompts that it took up while it ran. */
      readonly joined?: readonly string[];
    };

/** Events of the moment: useful while they happen, rebuilt from durable ones afterwards. */
export type LiveBody =
  /** Accepted while a turn runs; `position` 1 is next. */
  | { readonly type: "prompt.queued"; readonly messageId: string; readonly position: number }
  /** The model is asked for its next reply. */
  | { readonly type: "model.called"; readonly messageId: string; readonly model: string }
  /** The model begins to answer. */
  | { readonly type: "message.started"; readonly messageId: string }
  /** Streamed text. `offset` is where it belongs in its block. */
  | {
      readonly type: "message.delta";
      readonly messageId: string;
      readonly block: number;
      readonly kind: "text" | "thinking";
      readonly offset: number;
      readonly text: string;
    }
  /** A call's arguments are coming in. `text` is what was added. */
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
  /** A model call failed and is tried again after `delayMs`; by the fallback `model`, if there is one. */
  | {
      readonly type: "retry.scheduled";
      readonly attempt: number;
      readonly delayMs: number;
      readonly failure: Failure;
      readonly model?: string;
    }
  /** Room is being made in the model's view: a summary takes a while. */
  | { readonly type: "compaction.started"; readonly trigger: CompactionTrigger }
  /** `context.compacted` came before it when there was anything to gain. */
  | { readonly type: "compaction.ended" }
  /** Something a person may want to know: a damaged log line, a clamped setting. */
  | {
      readonly type: "notice";
      readonly level: "info" | "warning";
      readonly text: string;
      readonly code?: NoticeCode;
    }
  /** Nothing follows. */
  | { readonly type: "session.closed" };

export type SettingsChanges = { readonly [K in keyof SessionSettings]?: SessionSettings[K] | null };

interface Envelope {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly sessionId: string;
  readonly turnId?: string;
}

export type DurableEvent = Envelope & { readonly seq: number } & DurableBody;
export type LiveEvent = Envelope & { readonly seq?: never } & LiveBody;
export type EngineEvent = DurableEvent | LiveEvent;
export type EventBody = DurableBody | LiveBody;

export type EventType = EventBody["type"];
export type EventOf<Type extends EventType> = EngineEvent & { readonly type: Type };

/** Whether an event is stored. A new event does not compile without an entry here. */
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
  notice: false,
  "session.closed": false,
};

export function isDurable(body: EventBody): body is DurableBody {
  return isStored[body.type];
}
