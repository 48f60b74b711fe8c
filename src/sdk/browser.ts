import type { Connect, CreateOptions, PromptOptions, Query, ResumeOptions, Session } from "./api.ts";
import { checkOptions, checkText } from "./check-options.ts";
import { createOver, queryOver, resumeOver } from "./open.ts";

/** The exports of `tinman/sdk/browser`: everything that needs no processes and no files. */

export type { Frame } from "../rpc/framing.ts";
export type { LinkedEnd, Transport } from "../rpc/transport.ts";
export type {
  CallOptions,
  CommonOptions,
  Connect,
  Connection,
  ConnectionEnd,
  CreateOptions,
  HandlerContext,
  Handlers,
  McpAccess,
  McpOAuth,
  McpServer,
  PermissionAnswer,
  PermissionRequest,
  PlanRequest,
  PromptOptions,
  Query,
  QuestionAnswer,
  QuestionRequest,
  ResumeOptions,
  Session,
  SettingsChange,
  SignInAnswer,
  Timeouts,
  Turn,
} from "./api.ts";
export { linkedConnection } from "./connection/linked.ts";
export type { WebSocketLike } from "./connection/socket-connection.ts";
export { type WebSocketOptions, webSocketConnection } from "./connection/web-socket.ts";
export {
  BackendGoneError,
  BusyError,
  ClosedError,
  RequestError,
  SdkError,
  SessionNotFoundError,
  TimeoutError,
} from "./errors.ts";
export { type ReadStreamJsonOptions, readStreamJson, type StreamJsonSource } from "./stream-json/stream-json.ts";
export type {
  Block,
  ImageBlock,
  McpServerState,
  McpTool,
  Message,
  ModelInfo,
  PermissionCall,
  PermissionOption,
  Question,
  SessionSummary,
  Settings,
  StreamJsonEvent,
  TextBlock,
  TokenUsage,
  ToolInfo,
  ToolUseBlock,
  TurnError,
  TurnEvent,
  TurnResult,
} from "./types.ts";

interface Connected {
  readonly connect: Connect;
}

export async function createSession(options: CreateOptions & Connected): Promise<Session> {
  checkOptions("createSession", options, { needsConnect: true });
  return createOver(options.connect, options);
}

/** Reopens a session as it was left. */
export async function resumeSession(id: string, options: ResumeOptions & Connected): Promise<Session> {
  checkText("The id of a session", id);
  checkOptions("resumeSession", options, { needsConnect: true });
  return resumeOver(options.connect, id, options);
}

/** Runs one prompt in its own session. */
export function query(prompt: string, options: CreateOptions & Connected & PromptOptions): Query {
  checkOptions("query", options, { needsConnect: true });
  return queryOver(() => createSession(options), prompt, options);
}
