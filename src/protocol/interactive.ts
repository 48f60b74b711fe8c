import { z } from "zod";

/*
 * The interactive WebSocket API: JSON-RPC 2.0, one object per text frame. Members marked as additions are not in the original
 * specification. Older clients don't send them and ignore them.
 */

export const jsonRpcVersion = "2.0";

/** The version of `/ws` in `capabilities`. Raised for incompatible changes. */
export const interactiveVersion = 1;

export const sessionStatus = { starting: 0, active: 1, stopped: 2, error: 3 } as const;
export const messageStatus = { ok: 0, error: 1 } as const;
export const toolResultStatus = { ok: 0, error: 1 } as const;

/** The messages are fixed; `data` has the details. */
export const rpcErrors = {
  parse: { code: -32700, message: "Parse error" },
  request: { code: -32600, message: "Invalid Request" },
  method: { code: -32601, message: "Method not found" },
  params: { code: -32602, message: "Invalid params" },
  internal: { code: -32603, message: "Internal error" },
} as const;

/** Refused because of a limit, a role, or the server's state. `data.reason` says which. */
export const refusedCode = -32000;

export const toolExecutions = ["client", "server"] as const;
export type ToolExecution = (typeof toolExecutions)[number];

const toolName = z.string().regex(/^[A-Za-z0-9_-]{1,64}$/, "must be 1 to 64 letters, digits, _ or -");

const declaredTool = z.looseObject({
  name: toolName,
  description: z.string().optional(),
  /** JSON Schema of its arguments. */
  inputSchema: z.record(z.string(), z.unknown()).optional(),
});

/** `null` counts as absent. */
const text = (maxLength: number) => z.string().max(maxLength).nullish();

/** Stored with each session and shown in lists. */
const maxUserId = 256;

const sessionParams = z.looseObject({
  language: text(200),
  model: text(200),
  context: text(100_000),
  /** Addition: tools that the client runs. */
  tools: z.array(declaredTool).max(128).nullish(),
  /** Addition: who runs the built-in tools, if the server lets clients choose. */
  toolExecution: z.enum(toolExecutions).nullish(),
});

const ofSession = { sessionId: z.string() };

export const interactiveParams = {
  startSession: z.looseObject({
    userId: z.string().max(maxUserId),
    sessionParams: sessionParams.nullish(),
  }),
  sendUserMessage: z.looseObject({ ...ofSession, message: z.string() }),
  provideToolResult: z.looseObject({
    ...ofSession,
    toolCallId: z.string(),
    result: z.string(),
    /** Addition: the tool failed, and the result says why. */
    isError: z.boolean().optional(),
  }),
  stopSession: z.looseObject(ofSession),
  echo: z.unknown().optional(),
  /** All following methods are additions. */
  cancel: z.looseObject(ofSession),
  /**
   * An `afterSeq` beyond the log's end is valid and replays nothing. The lower `seq` in the result means that the log has lost
   * records, so the client should start over from 0.
   */
  resumeSession: z.looseObject({ ...ofSession, afterSeq: z.int().min(0).optional() }),
  listSessions: z.looseObject({ limit: z.int().min(1).max(1_000).optional() }).optional(),
  capabilities: z.looseObject({}).optional(),
} as const;

export type InteractiveMethod = keyof typeof interactiveParams;
export type InteractiveParams<M extends InteractiveMethod> = z.infer<(typeof interactiveParams)[M]>;
export type SessionParams = z.infer<typeof sessionParams>;

const status = z.union([z.literal(0), z.literal(1), z.literal(2), z.literal(3)]);
const flag01 = z.union([z.literal(0), z.literal(1)]);
const seq = z.int().min(1);

/** How an answer ended. An addition to its last chunk. */
export const answerEnds = ["completed", "cancelled", "interrupted", "timeout", "error"] as const;
export type AnswerEnd = (typeof answerEnds)[number];

export const interactiveResults = {
  startSession: z.strictObject({ sessionId: z.string(), status: z.literal(1) }),
  sendUserMessage: z.strictObject({ messageId: z.string(), status: flag01, seq }),
  provideToolResult: z.strictObject({ status: flag01 }),
  stopSession: z.strictObject({ status: z.literal(2) }),
  echo: z.unknown(),
  cancel: z.strictObject({ status: z.literal(1), cancelled: z.int().min(0) }),
  resumeSession: z.strictObject({
    sessionId: z.string(),
    status: z.literal(1),
    /** Everything up to this seq is replayed right after this result, as far as requested. */
    seq,
    /** Number of notifications in the replay. Later ones are new. */
    replayed: z.int().min(0),
    /** Whether an answer is being written. */
    running: z.boolean(),
    /** Accepted messages whose answer has not started. */
    waiting: z.array(z.string()),
    toolExecution: z.enum(toolExecutions),
  }),
  listSessions: z.strictObject({
    sessions: z.array(
      z.strictObject({
        sessionId: z.string(),
        title: z.string(),
        /** 1: open in this server. 2: not open; `resumeSession` opens it. */
        status,
        userId: z.string().optional(),
        /** Its owner, for callers who can see other users' sessions. */
        user: z.string().optional(),
        /** ISO 8601. */
        createdAt: z.string(),
        updatedAt: z.string(),
      }),
    ),
  }),
  capabilities: z.strictObject({
    protocol: z.literal("interactive"),
    version: z.int(),
    server: z.strictObject({ name: z.string(), version: z.string() }),
    user: z.string(),
    role: z.string(),
    methods: z.array(z.string()),
    notifications: z.array(z.string()),
    toolExecution: z.strictObject({ default: z.enum(toolExecutions), choices: z.array(z.enum(toolExecutions)) }),
    defaultModel: z.string(),
    models: z.array(z.strictObject({ id: z.string(), name: z.string() })),
    /** Milliseconds. */
    timeouts: z.record(z.string(), z.number()),
    limits: z.record(z.string(), z.number()),
  }),
} as const;

export type InteractiveResult<M extends InteractiveMethod> = z.infer<(typeof interactiveResults)[M]>;

/** Additions to all notifications of an answer. */
const ofAnswer = { messageId: z.string().optional(), turnId: z.string().optional() };

export const interactiveNotifications = {
  AIMessageChunkNotification: z.strictObject({
    ...ofSession,
    chunk: z.string(),
    isFinal: z.boolean(),
    ...ofAnswer,
    /** The chunk's position in the answer, in UTF-16 units. */
    offset: z.int().min(0),
    /** The chunk replaces everything from `offset` on. Only after `resumeSession`. */
    snapshot: z.literal(true).optional(),
    /** Only in the last chunk. */
    seq: seq.optional(),
    reason: z.enum(answerEnds).optional(),
    code: z.string().optional(),
  }),
  SessionStatusNotification: z.strictObject({
    ...ofSession,
    status,
    reason: z.string().optional(),
    messageId: z.string().optional(),
    seq: seq.optional(),
    /** A code of docs/errors.md. */
    code: z.string().optional(),
    /** Id of the failure in the server's log. */
    errorId: z.string().optional(),
  }),
  ToolCallNotification: z.strictObject({
    ...ofSession,
    toolCallId: z.string(),
    toolName: z.string(),
    /** Any JSON value, but nearly always an object. */
    arguments: z.unknown(),
    ...ofAnswer,
    seq,
    /** `server`: for information only; no result is expected. */
    execution: z.enum(toolExecutions),
  }),
  ErrorNotification: z.strictObject({
    sessionId: z.string().optional(),
    code: z.int(),
    message: z.string(),
    data: z.looseObject({ reason: z.string() }).optional(),
  }),
  /** Addition: sent to the session's other clients. */
  UserMessageNotification: z.strictObject({ ...ofSession, messageId: z.string(), message: z.string(), seq }),
  ToolResultNotification: z.strictObject({
    ...ofSession,
    toolCallId: z.string(),
    toolName: z.string(),
    status: flag01,
    result: z.string(),
    ...ofAnswer,
    seq,
  }),
} as const;

export type NotificationName = keyof typeof interactiveNotifications;
export type NotificationParams<N extends NotificationName> = z.infer<(typeof interactiveNotifications)[N]>;

/** A notification from the translator. */
export type InteractiveNotification = {
  readonly [N in NotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[NotificationName];
