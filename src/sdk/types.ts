/* Written by `npm run schema` from src/protocol/sdk-types.ts. */

export interface TokenUsage {
  /** Without what was read from or written to a cache. */
  readonly inputTokens: number;
  /** With what was thought. */
  readonly outputTokens: number;
  readonly cacheCreationTokens: number;
  readonly cacheReadTokens: number;
  /** Part of outputTokens. */
  readonly thinkingTokens: number;
}

export interface TextBlock {
  readonly type: "text";
  readonly text: string;
}

export interface ImageBlock {
  readonly type: "image";
  readonly source: {
    readonly type: "base64";
    readonly mediaType: "image/jpeg" | "image/png" | "image/gif" | "image/webp";
    readonly data: string;
  };
}

export interface ToolUseBlock {
  readonly type: "tool_use";
  readonly id: string;
  readonly name: string;
  /** Empty when the model's arguments are no JSON object. */
  readonly input: Readonly<Record<string, unknown>>;
}

export type Block =
  | TextBlock
  | ImageBlock
  | {
      readonly type: "document";
      readonly source:
        | {
            readonly type: "base64";
            readonly mediaType: "application/pdf";
            readonly data: string;
            readonly name?: string;
          }
        | { readonly type: "text"; readonly mediaType: "text/plain"; readonly data: string; readonly name?: string };
    }
  | {
      readonly type: "thinking";
      readonly thinking: string;
      /** The provider's; empty when it gave none. */
      readonly signature: string;
    }
  | { readonly type: "redacted_thinking"; readonly data: string }
  | ToolUseBlock
  | {
      readonly type: "tool_result";
      readonly toolUseId: string;
      readonly content: string | readonly (TextBlock | ImageBlock)[];
      readonly isError: boolean;
    }
  /** A block of a kind that this version does not know, as it came. */
  | { readonly type: "other"; readonly given: unknown };

export interface Message {
  readonly id: string;
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly content: readonly Block[];
  /** Milliseconds since 1970. */
  readonly createdAt?: number;
  readonly parentId?: string;
  /** Whom it is for, where the backend says so; llm_only is not for people. */
  readonly visibility?: string;
}

export interface Settings {
  readonly modelId: string;
  readonly reasoningEffort?: string;
  /** auto, spec, or a mode of the backend's own. */
  readonly interactionMode: string;
  /** What may happen without a question; of older words, what they mean. */
  readonly autonomyLevel: "off" | "low" | "medium" | "high";
  readonly specModeModelId?: string;
  readonly specModeReasoningEffort?: string;
}

export interface TurnError {
  readonly message: string;
  /** The backend's name for the kind of error. */
  readonly type?: string;
  /** Its name for this very error, which says more. */
  readonly code?: string;
}

export interface TurnResult {
  /** interrupted also when a permission was refused and the backend stopped for it. */
  readonly status: "completed" | "interrupted" | "failed";
  /** The backend's own word where it gave one; else the status. */
  readonly reason: string;
  /** Of the last reply that has any. */
  readonly text: string;
  /** The id that was sent with the prompt. */
  readonly turnId: string;
  /** Of this turn; only from backends that count by turn. */
  readonly usage?: TokenUsage;
  readonly error?: TurnError;
}

export type TurnEvent =
  /** A piece of a reply. All pieces of a message since its last text_reset are its text. */
  | { readonly type: "text"; readonly messageId: string; readonly text: string }
  /** What was shown of this message does not count: the backend began again. */
  | { readonly type: "text_reset"; readonly messageId: string }
  | { readonly type: "thinking"; readonly messageId: string; readonly text: string }
  /** A whole message, once each; again only when the backend changed it. */
  | {
      readonly type: "message";
      readonly message: Message;
      /** Of its text blocks. */
      readonly text: string;
    }
  /** A call whose input is still being written: the keys that are there so far. */
  | {
      readonly type: "tool_input";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    }
  /** Once for each call, with its whole input. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly messageId?: string;
    }
  | {
      readonly type: "tool_progress";
      /** Of the call. */
      readonly id: string;
      readonly name?: string;
      readonly text: string;
    }
  /** Once for each call. */
  | {
      readonly type: "tool_result";
      /** Of the call. */
      readonly id: string;
      /** Of the tool, where its call was seen. */
      readonly name?: string;
      readonly content: string | readonly (TextBlock | ImageBlock)[];
      /** Of its content. */
      readonly text: string;
      readonly isError: boolean;
    }
  /** When it changes. */
  | { readonly type: "state"; readonly state: string }
  | {
      readonly type: "usage";
      /** Of the session so far. */
      readonly usage: TokenUsage;
      /** Of the last model call, where the backend tells. */
      readonly lastCall?: TokenUsage;
    }
  | { readonly type: "settings"; readonly settings: Settings }
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "retry"; readonly attempt: number; readonly reason: string }
  /** Something people should know; nothing ends because of it. */
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly message: string }
  /** Something went wrong; whether the turn failed, its end says. */
  | { readonly type: "error"; readonly error: TurnError }
  /** Anything that this version does not know, as it came. */
  | { readonly type: "other"; readonly name: string; readonly given: unknown }
  /** The last one of a turn. */
  | { readonly type: "end"; readonly result: TurnResult };

export type StreamJsonEvent =
  | {
      readonly type: "session";
      readonly sessionId: string;
      readonly cwd?: string;
      readonly model?: string;
      readonly tools: readonly string[];
    }
  /** A whole message, once each; again only when the backend changed it. */
  | {
      readonly type: "message";
      readonly message: Message;
      /** Of its text blocks. */
      readonly text: string;
    }
  | { readonly type: "thinking"; readonly messageId: string; readonly text: string }
  /** Once for each call, with its whole input. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly messageId?: string;
    }
  /** Once for each call. */
  | {
      readonly type: "tool_result";
      /** Of the call. */
      readonly id: string;
      /** Of the tool, where its call was seen. */
      readonly name?: string;
      readonly content: string | readonly (TextBlock | ImageBlock)[];
      /** Of its content. */
      readonly text: string;
      readonly isError: boolean;
    }
  /** Something people should know; nothing ends because of it. */
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly message: string }
  /** Something went wrong; whether the turn failed, its end says. */
  | { readonly type: "error"; readonly error: TurnError }
  /** Anything that this version does not know, as it came. */
  | { readonly type: "other"; readonly name: string; readonly given: unknown }
  /** The run's last line. */
  | {
      readonly type: "end";
      readonly status: "completed" | "failed";
      readonly reason: string;
      readonly text: string;
      readonly sessionId: string;
      readonly model?: string;
      readonly durationMs?: number;
      readonly usage?: TokenUsage;
      readonly error?: TurnError;
    };

export interface PermissionCall {
  readonly id: string;
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly details:
    | {
        readonly type: "exec";
        /** The command line; of a tool that is no shell, its name, the paths that it really touches, and its input. */
        readonly fullCommand: string;
        /** The same: backends shorten it here, and an approver must see all of it. */
        readonly command: string;
        readonly extractedCommands: readonly string[];
        readonly impactLevel: "low" | "medium" | "high";
        /** One sentence: what the call does, and so why it is asked about. */
        readonly riskLevelReason?: string;
      }
    | {
        readonly type: "create";
        readonly filePath: string;
        readonly fileName: string;
        readonly content: string;
        /** What would be overwritten. */
        readonly oldContent?: string;
      }
    | {
        readonly type: "edit";
        readonly filePath: string;
        readonly fileName: string;
        /** The whole file before; absent when there is none. */
        readonly oldContent?: string;
        /** The whole file after; absent when the change does not fit. */
        readonly newContent?: string;
      }
    | {
        readonly type: "apply_patch";
        readonly filePath: string;
        readonly fileName: string;
        readonly patchContent: string;
        /** The whole file before; absent when there is none. */
        readonly oldContent?: string;
        /** The whole file after; absent when the change does not fit. */
        readonly newContent?: string;
        /** Every file of the patch; the fields beside it are of the first. */
        readonly files?: readonly {
          readonly filePath: string;
          readonly fileName: string;
          readonly change: "add" | "update" | "delete";
          readonly movedTo?: string;
          /** The whole file before; absent when there is none. */
          readonly oldContent?: string;
          /** The whole file after; absent when the change does not fit. */
          readonly newContent?: string;
        }[];
      }
    | {
        readonly type: "exit_spec_mode";
        readonly plan: string;
        readonly title?: string;
        readonly optionNames?: readonly string[];
      }
    | {
        readonly type: "mcp_tool";
        readonly toolName: string;
        readonly impactLevel?: string;
        readonly serverName?: string;
      }
    /** Of a kind that this version does not know, or that lacks what its kind must have. */
    | { readonly type: "other"; readonly name: string; readonly given: unknown };
}

export interface PermissionOption {
  /** What to answer. */
  readonly value: string;
  /** For people. */
  readonly label: string;
}

export interface Question {
  /** Counts from 1. */
  readonly index: number;
  readonly topic: string;
  readonly question: string;
  readonly options: readonly string[];
  readonly multiSelect?: boolean;
}

export interface ModelInfo {
  readonly id: string;
  readonly displayName: string;
  readonly provider?: string;
  readonly reasoningEfforts: readonly string[];
  readonly defaultReasoningEffort?: string;
  readonly isCustom: boolean;
  readonly disabled: boolean;
  readonly disabledReason?: string;
}

export interface ToolInfo {
  readonly id: string;
  /** The name that the model calls it by. */
  readonly name: string;
  readonly description: string;
  readonly category?: string;
  /** Whether the model is offered it at present. What it does with it may still be asked about. */
  readonly isAllowed: boolean;
}

export interface SessionSummary {
  readonly id: string;
  readonly title: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Of its log. */
  readonly path: string;
  /** Who wrote it, and can resume it. */
  readonly backend: "tinman" | "droid";
}
