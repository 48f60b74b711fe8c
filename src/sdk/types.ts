/* Written by `npm run schema` from src/protocol/sdk-types.ts. */

export interface TokenUsage {
  /** Excludes tokens read from or written to a cache. */
  readonly inputTokens: number;
  /** Includes thinkingTokens. */
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
  /** Empty if the model's arguments are not a JSON object. */
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
      /** The provider's signature; empty without one. */
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
  /** A block of an unknown kind, unchanged. */
  | { readonly type: "other"; readonly given: unknown };

export interface Message {
  readonly id: string;
  readonly role: "user" | "assistant" | "tool" | "system";
  readonly content: readonly Block[];
  /** Milliseconds since 1970. */
  readonly createdAt?: number;
  readonly parentId?: string;
  /** The audience, if the backend reports it. llm_only is not for people. */
  readonly visibility?: string;
}

export interface Settings {
  readonly modelId: string;
  readonly reasoningEffort?: string;
  /** auto, spec, or another mode of the backend. */
  readonly interactionMode: string;
  /** What runs without asking. Older names are translated. */
  readonly autonomyLevel: "off" | "low" | "medium" | "high";
  readonly specModeModelId?: string;
  readonly specModeReasoningEffort?: string;
  /** Whether commands run in a sandbox, if the backend reports it. */
  readonly sandbox?: { readonly enabled: boolean; readonly mode?: string };
}

export interface McpServerState {
  readonly name: string;
  /** stdio, http or sse. */
  readonly type: string;
  /** user: configured. project: from the repository. dynamic: named by a client. */
  readonly source: string;
  /** connecting, connected, failed, disabled or disconnected. */
  readonly status: string;
  /** Why it failed: one sentence. */
  readonly error?: string;
  /** While it is connected. */
  readonly toolCount?: number;
  /** If it offers prompts, and the backend reports it. */
  readonly promptCount?: number;
  readonly isSignedIn?: boolean;
  readonly needsSignIn?: boolean;
  /** A sign-in that waits for the user. */
  readonly signIn?: { readonly url: string; readonly message: string; readonly state: string };
}

export interface McpTool {
  readonly server: string;
  /** The server's own name for it. The model calls <server>___<tool>. */
  readonly name: string;
  readonly description: string;
  readonly isEnabled: boolean;
  /** The server's own word. */
  readonly isReadOnly?: boolean;
  readonly inputSchema?: unknown;
}

export interface TurnError {
  readonly message: string;
  /** The backend's error type. */
  readonly type?: string;
  /** The backend's error code, more specific than type. */
  readonly code?: string;
}

export interface TurnResult {
  /** interrupted includes turns that the backend stopped because a permission was refused. */
  readonly status: "completed" | "interrupted" | "failed";
  /** The backend's reason, or else the status. */
  readonly reason: string;
  /** Text of the last reply that has any. */
  readonly text: string;
  /** The id sent with the prompt. */
  readonly turnId: string;
  /** Usage of this turn, if the backend reports it. */
  readonly usage?: TokenUsage;
  readonly error?: TurnError;
}

export type TurnEvent =
  /** A delta. A message's text is all its deltas since its last text_reset. */
  | { readonly type: "text"; readonly messageId: string; readonly text: string }
  /** Discard this message's text so far: the backend started over. */
  | { readonly type: "text_reset"; readonly messageId: string }
  | { readonly type: "thinking"; readonly messageId: string; readonly text: string }
  /** A complete message. Sent once, and again only if the backend changes it. */
  | {
      readonly type: "message";
      readonly message: Message;
      /** Text of its text blocks. */
      readonly text: string;
    }
  /** A call whose input is still streaming, with the keys complete so far. */
  | {
      readonly type: "tool_input";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
    }
  /** Sent once per call, with its complete input. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly messageId?: string;
    }
  | {
      readonly type: "tool_progress";
      /** The call's id. */
      readonly id: string;
      readonly name?: string;
      readonly text: string;
    }
  /** Sent once per call. */
  | {
      readonly type: "tool_result";
      /** The call's id. */
      readonly id: string;
      /** The tool's name, if its call was seen. */
      readonly name?: string;
      readonly content: string | readonly (TextBlock | ImageBlock)[];
      /** Text of its content. */
      readonly text: string;
      readonly isError: boolean;
    }
  /** The state has changed. */
  | { readonly type: "state"; readonly state: string }
  | {
      readonly type: "usage";
      /** The session's total so far. */
      readonly usage: TokenUsage;
      /** Usage of the last model call, if the backend reports it. */
      readonly lastCall?: TokenUsage;
    }
  | { readonly type: "settings"; readonly settings: Settings }
  | { readonly type: "title"; readonly title: string }
  | { readonly type: "retry"; readonly attempt: number; readonly reason: string }
  /** Information for people. It ends nothing. */
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly message: string }
  /** All MCP servers, when one has changed. */
  | { readonly type: "mcp_servers"; readonly servers: readonly McpServerState[] }
  /** An MCP server needs the user to sign in at the URL. The turn goes on without it. */
  | {
      readonly type: "sign_in_required";
      readonly server: string;
      readonly url: string;
      readonly message: string;
      /** Names the sign-in, if the backend has several. */
      readonly state?: string;
    }
  | {
      readonly type: "sign_in_ended";
      readonly server: string;
      /** success, cancelled or failed. */
      readonly outcome: string;
      readonly message: string;
    }
  /** An error. The end event says whether the turn failed. */
  | { readonly type: "error"; readonly error: TurnError }
  /** An unknown event, unchanged. */
  | { readonly type: "other"; readonly name: string; readonly given: unknown }
  /** The last event of a turn. */
  | { readonly type: "end"; readonly result: TurnResult };

export type StreamJsonEvent =
  | {
      readonly type: "session";
      readonly sessionId: string;
      readonly cwd?: string;
      readonly model?: string;
      readonly tools: readonly string[];
    }
  /** A complete message. Sent once, and again only if the backend changes it. */
  | {
      readonly type: "message";
      readonly message: Message;
      /** Text of its text blocks. */
      readonly text: string;
    }
  | { readonly type: "thinking"; readonly messageId: string; readonly text: string }
  /** Sent once per call, with its complete input. */
  | {
      readonly type: "tool_call";
      readonly id: string;
      readonly name: string;
      readonly input: Readonly<Record<string, unknown>>;
      readonly messageId?: string;
    }
  /** Sent once per call. */
  | {
      readonly type: "tool_result";
      /** The call's id. */
      readonly id: string;
      /** The tool's name, if its call was seen. */
      readonly name?: string;
      readonly content: string | readonly (TextBlock | ImageBlock)[];
      /** Text of its content. */
      readonly text: string;
      readonly isError: boolean;
    }
  /** Information for people. It ends nothing. */
  | { readonly type: "notice"; readonly level: "info" | "warning"; readonly message: string }
  /** An error. The end event says whether the turn failed. */
  | { readonly type: "error"; readonly error: TurnError }
  /** An unknown event, unchanged. */
  | { readonly type: "other"; readonly name: string; readonly given: unknown }
  /** The last event of a run. */
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
        /** The command line. For other tools: the name, the resolved paths, and the input. */
        readonly fullCommand: string;
        /** Same as fullCommand, because backends shorten it and an approver must see all of it. */
        readonly command: string;
        readonly extractedCommands: readonly string[];
        readonly impactLevel: "low" | "medium" | "high";
        /** One sentence: what the call does, and so why it needs permission. */
        readonly riskLevelReason?: string;
        /** Present if commands run in a sandbox here: whether this one does. false: it runs with all rights. */
        readonly contained?: boolean;
      }
    | {
        readonly type: "create";
        readonly filePath: string;
        readonly fileName: string;
        readonly content: string;
        /** The content that would be overwritten. */
        readonly oldContent?: string;
      }
    | {
        readonly type: "edit";
        readonly filePath: string;
        readonly fileName: string;
        /** The whole file before; absent if it does not exist. */
        readonly oldContent?: string;
        /** The whole file after; absent if the change does not apply. */
        readonly newContent?: string;
      }
    | {
        readonly type: "apply_patch";
        readonly filePath: string;
        readonly fileName: string;
        readonly patchContent: string;
        /** The whole file before; absent if it does not exist. */
        readonly oldContent?: string;
        /** The whole file after; absent if the change does not apply. */
        readonly newContent?: string;
        /** All files of the patch. The fields beside it describe the first. */
        readonly files?: readonly {
          readonly filePath: string;
          readonly fileName: string;
          readonly change: "add" | "update" | "delete";
          readonly movedTo?: string;
          /** The whole file before; absent if it does not exist. */
          readonly oldContent?: string;
          /** The whole file after; absent if the change does not apply. */
          readonly newContent?: string;
        }[];
      }
    | {
        readonly type: "exit_spec_mode";
        readonly plan: string;
        readonly title?: string;
        readonly optionNames?: readonly string[];
      }
    /** A call asks to leave the sandbox. With fullCommand if it is a command. */
    | {
        readonly type: "sandbox_violation";
        readonly violatingToolName: string;
        /** What the call would reach: a command, a path, or an address. */
        readonly target: string;
        /** read, write, network or tool. */
        readonly operationType?: string;
        /** filesystem-read, filesystem-write, network or tool. */
        readonly violationType?: string;
        readonly reason: string;
        /** not-allowed or deny-list. */
        readonly violationReason?: string;
        readonly isOrgDeny?: boolean;
        /** The command line. For other tools: the name, the resolved paths, and the input. */
        readonly fullCommand?: string;
        /** Same as fullCommand, because backends shorten it and an approver must see all of it. */
        readonly command?: string;
        readonly extractedCommands?: readonly string[];
        readonly impactLevel?: "low" | "medium" | "high";
        /** One sentence: what the call does, and so why it needs permission. */
        readonly riskLevelReason?: string;
        /** Present if commands run in a sandbox here: whether this one does. false: it runs with all rights. */
        readonly contained?: boolean;
      }
    | {
        readonly type: "mcp_tool";
        readonly toolName: string;
        readonly impactLevel?: string;
        readonly serverName?: string;
        /** The server's own name for the tool. */
        readonly actualToolName?: string;
        /** One sentence: what the call does, and so why it needs permission. */
        readonly riskLevelReason?: string;
      }
    /** Details of an unknown kind, or without a required field. */
    | { readonly type: "other"; readonly name: string; readonly given: unknown };
}

export interface PermissionOption {
  /** The value to answer with. */
  readonly value: string;
  /** Text for people. */
  readonly label: string;
}

export interface Question {
  /** From 1. */
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
  /** The name that the model uses. */
  readonly name: string;
  readonly description: string;
  readonly category?: string;
  /** Whether it is currently offered to the model. Its calls can still need permission. */
  readonly isAllowed: boolean;
}

export interface SessionSummary {
  readonly id: string;
  readonly title: string;
  readonly cwd?: string;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Path of its log. */
  readonly path: string;
  /** The program that wrote it and can resume it. */
  readonly backend: "tinman" | "droid";
}
