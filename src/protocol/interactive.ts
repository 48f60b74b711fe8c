import { z } from "zod";

/*
 * The interactive WebSocket API: JSON-RPC 2.0, one object in each text frame. Members marked as additions are not part of the
 * document that clients were written from; such clients send none of them and ignore those that they get.
 */

export const jsonRpcVersion = "2.0";

/** Of `/ws`, as `capabilities` tells it. Raised when something that was there changes its meaning. */
export const interactiveVersion = 1;

export const sessionStatus = { starting: 0, active: 1, stopped: 2, error: 3 } as const;
export const messageStatus = { ok: 0, error: 1 } as const;
export const toolResultStatus = { ok: 0, error: 1 } as const;

/** The texts are fixed; what is wrong in this case stands in `data`. */
export const rpcErrors = {
  parse: { code: -32700, message: "Parse error" },
  request: { code: -32600, message: "Invalid Request" },
  method: { code: -32601, message: "Method not found" },
  params: { code: -32602, message: "Invalid params" },
  internal: { code: -32603, message: "Internal error" },
} as const;

/** A limit, a role, or the server's state stands against it; `data.reason` says which. */
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

/** `null` is the same as nothing. */
const text = (most: number) => z.string().max(most).nullish();

/** What is kept for each session, and told of it in lists. */
const maxUserId = 256;

const sessionParams = z.looseObject({
  language: text(200),
  model: text(200),
  context: text(100_000),
  /** Addition: tools that the client brings, and runs. */
  tools: z.array(declaredTool).max(128).nullish(),
  /** Addition: who runs the built-in tools, where the server lets clients choose. */
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
  /** Additions, all that follow. */
  cancel: z.looseObject(ofSession),
  /**
   * A number beyond the last one is no fault: nothing is told again, and `seq` of the answer, which is lower, says that the
   * client has seen what the log has lost, and should begin anew with 0.
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

/** How an answer ended: addition to its last chunk. */
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
    /** Everything up to this number is told right after this answer, as far as it was asked for. */
    seq,
    /** So many notifications follow that tell it; those behind them are new. */
    replayed: z.int().min(0),
    /** An answer is being written. */
    running: z.boolean(),
    /** Messages that were accepted and that no answer has been begun for. */
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
        /** Whose it is; for those who see other people's, too. */
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

/** Additions of everything that belongs to an answer. */
const ofAnswer = { messageId: z.string().optional(), turnId: z.string().optional() };

export const interactiveNotifications = {
  AIMessageChunkNotification: z.strictObject({
    ...ofSession,
    chunk: z.string(),
    isFinal: z.boolean(),
    ...ofAnswer,
    /** Where the chunk stands in the answer, counted in UTF-16 units. */
    offset: z.int().min(0),
    /** The chunk takes the place of everything from `offset` on. Only after `resumeSession`. */
    snapshot: z.literal(true).optional(),
    /** Of the last one. */
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
    /** What kind of failure it was: a code of docs/errors.md. */
    code: z.string().optional(),
    /** By which the failure is found in the server's log. */
    errorId: z.string().optional(),
  }),
  ToolCallNotification: z.strictObject({
    ...ofSession,
    toolCallId: z.string(),
    toolName: z.string(),
    /** Any JSON value; an object as good as always. */
    arguments: z.unknown(),
    ...ofAnswer,
    seq,
    /** `server`: for information, nobody waits for a result. */
    execution: z.enum(toolExecutions),
  }),
  ErrorNotification: z.strictObject({
    sessionId: z.string().optional(),
    code: z.int(),
    message: z.string(),
    data: z.looseObject({ reason: z.string() }).optional(),
  }),
  /** Additions: told to those who did not send it. */
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

/** A notification as the translator makes it. */
export type InteractiveNotification = {
  readonly [N in NotificationName]: { readonly method: N; readonly params: NotificationParams<N> };
}[NotificationName];
