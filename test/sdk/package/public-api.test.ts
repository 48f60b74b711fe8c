import { fileURLToPath } from "node:url";
import ts from "typescript";
import { expect, expectTypeOf, test } from "vitest";
import type { outcomes } from "../../../src/protocol/droid/words.ts";
import * as fromBrowser from "../../../src/sdk/browser.ts";
import type {
  CallOptions,
  CommonOptions,
  Connect,
  Connection,
  ConnectionEnd,
  CreateOptions,
  HandlerContext,
  Handlers,
  LinkedEnd,
  McpAccess,
  McpServer,
  McpServerState,
  McpTool,
  Message,
  ModelInfo,
  PermissionAnswer,
  PermissionCall,
  PermissionOption,
  PermissionRequest,
  PlanRequest,
  PromptOptions,
  Query,
  Question,
  QuestionAnswer,
  QuestionRequest,
  ResumeOptions,
  Session,
  SessionOptions,
  Settings,
  SettingsChange,
  SignInAnswer,
  SpawnOptions,
  Timeouts,
  TokenUsage,
  ToolInfo,
  Turn,
  TurnEvent,
  TurnResult,
  WebSocketLike,
  WebSocketOptions,
} from "../../../src/sdk/node.ts";
import * as fromNode from "../../../src/sdk/node.ts";

/*
 * The public API: a change here belongs in the changelog. The data is fixed by its schema; see
 * test/protocol/schemas.test.ts.
 */

const values = {
  everywhere: [
    "BackendGoneError",
    "BusyError",
    "ClosedError",
    "RequestError",
    "SdkError",
    "SessionNotFoundError",
    "TimeoutError",
    "createSession",
    "linkedConnection",
    "query",
    "readStreamJson",
    "resumeSession",
    "webSocketConnection",
  ],
  inNodeOnly: ["listSessions", "spawnBackend"],
};

const types = {
  everywhere: [
    "Block",
    "CallOptions",
    "CommonOptions",
    "Connect",
    "Connection",
    "ConnectionEnd",
    "CreateOptions",
    "Frame",
    "HandlerContext",
    "Handlers",
    "McpAccess",
    "McpOAuth",
    "McpServer",
    "McpServerState",
    "McpTool",
    "ImageBlock",
    "LinkedEnd",
    "Message",
    "ModelInfo",
    "PermissionAnswer",
    "PermissionCall",
    "PermissionOption",
    "PermissionRequest",
    "PlanRequest",
    "PromptOptions",
    "Query",
    "Question",
    "QuestionAnswer",
    "QuestionRequest",
    "ReadStreamJsonOptions",
    "ResumeOptions",
    "Session",
    "SessionSummary",
    "Settings",
    "SettingsChange",
    "SignInAnswer",
    "StreamJsonEvent",
    "StreamJsonSource",
    "TextBlock",
    "Timeouts",
    "TokenUsage",
    "ToolInfo",
    "ToolUseBlock",
    "Transport",
    "Turn",
    "TurnError",
    "TurnEvent",
    "TurnResult",
    "WebSocketLike",
    "WebSocketOptions",
  ],
  inNodeOnly: ["ListSessionsOptions", "SessionOptions", "SpawnOptions"],
};

test("each entry exports these names", () => {
  expect(Object.keys(fromBrowser).sort()).toEqual(values.everywhere);
  expect(Object.keys(fromNode).sort()).toEqual([...values.everywhere, ...values.inNodeOnly].sort());
});

test.each([
  ["browser.ts", [...values.everywhere, ...types.everywhere]],
  ["node.ts", [...values.everywhere, ...types.everywhere, ...values.inNodeOnly, ...types.inNodeOnly]],
])("%s exports these names, those of types included", (file, names) => {
  const path = fileURLToPath(new URL(`../../../src/sdk/${file}`, import.meta.url));
  const program = ts.createProgram([path], {
    ...{ module: ts.ModuleKind.ESNext, moduleResolution: ts.ModuleResolutionKind.Bundler },
    ...{ allowImportingTsExtensions: true, noEmit: true, noLib: true, types: [] },
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(path);
  const entry = source && checker.getSymbolAtLocation(source);
  const exported = entry ? checker.getExportsOfModule(entry).map(({ name }) => name) : [];
  expect(exported.sort()).toEqual([...names].sort());
});

test("a session", () => {
  expectTypeOf<Session>().toEqualTypeOf<{
    readonly id: string;
    readonly cwd: string | undefined;
    readonly title: string | undefined;
    readonly settings: Settings;
    readonly usage: TokenUsage | undefined;
    readonly history: readonly Message[];
    readonly isBusy: boolean;
    readonly ended: Promise<ConnectionEnd>;
    stream(prompt: string, options?: PromptOptions): Turn;
    send(prompt: string, options?: PromptOptions): Promise<TurnResult>;
    interrupt(options?: CallOptions): Promise<void>;
    updateSettings(change: SettingsChange, options?: CallOptions): Promise<Settings>;
    rename(title: string, options?: CallOptions): Promise<void>;
    fork(options?: CallOptions & { readonly title?: string }): Promise<Session>;
    models(options?: CallOptions & { readonly includeDisabled?: boolean }): Promise<readonly ModelInfo[]>;
    tools(options?: CallOptions): Promise<readonly ToolInfo[]>;
    readonly mcp: McpAccess;
    call(method: string, params?: object, options?: CallOptions): Promise<unknown>;
    close(): Promise<void>;
    [Symbol.asyncDispose](): Promise<void>;
  }>();
  expectTypeOf<CallOptions>().toEqualTypeOf<{ readonly signal?: AbortSignal }>();
});

test("the MCP servers of a session", () => {
  type OfServer<Result> = (server: string, options?: CallOptions) => Promise<Result>;
  type OfTool = (server: string, tool: string, options?: CallOptions) => Promise<void>;
  expectTypeOf<McpAccess>().toEqualTypeOf<{
    servers(options?: CallOptions): Promise<readonly McpServerState[]>;
    tools(options?: CallOptions): Promise<readonly McpTool[]>;
    add(server: McpServer, options?: CallOptions): Promise<void>;
    remove: OfServer<void>;
    enable: OfServer<void>;
    disable: OfServer<void>;
    enableTool: OfTool;
    disableTool: OfTool;
    signIn: OfServer<boolean>;
    answerSignIn(server: string, answer: SignInAnswer, options?: CallOptions): Promise<boolean>;
    cancelSignIn: OfServer<void>;
    signOut: OfServer<void>;
  }>();
});

test("a turn", () => {
  expectTypeOf<Turn>().toExtend<AsyncIterable<TurnEvent>>();
  expectTypeOf<Omit<Turn, typeof Symbol.asyncIterator>>().toEqualTypeOf<{
    readonly id: string;
    readonly result: Promise<TurnResult>;
    interrupt: () => Promise<void>;
  }>();
  expectTypeOf<Query>().toExtend<Turn>();
  expectTypeOf<ReturnType<typeof fromNode.query>>().toEqualTypeOf<Query>();
  expectTypeOf<Omit<Query, keyof Turn>>().toEqualTypeOf<{ readonly sessionId: string | undefined }>();
  expectTypeOf<PromptOptions>().toEqualTypeOf<{
    readonly id?: string;
    readonly signal?: AbortSignal;
    readonly images?: readonly { readonly mediaType: string; readonly data: string }[];
    readonly files?: readonly {
      readonly mediaType: "application/pdf" | "text/plain";
      readonly data: string;
      readonly name?: string;
    }[];
  }>();
});

test("the options of a session", () => {
  expectTypeOf<Omit<CommonOptions, keyof Handlers>>().toEqualTypeOf<{
    readonly connect?: Connect;
    readonly timeouts?: Timeouts;
    readonly whenBusy?: "queue" | "refuse";
    readonly mcpServers?: readonly McpServer[];
    readonly mcpOAuthCallbackUri?: string;
    readonly signal?: AbortSignal;
  }>();
  expectTypeOf<McpServer["type"]>().toEqualTypeOf<"stdio" | "http" | "sse">();
  expectTypeOf<Timeouts>().toEqualTypeOf<{
    readonly [K in "request" | "open" | "begin" | "turn" | "silence" | "grace"]?: number;
  }>();
  expectTypeOf<SettingsChange>().toEqualTypeOf<{
    readonly modelId?: string;
    readonly reasoningEffort?: string;
    readonly interactionMode?: "auto" | "spec";
    readonly autonomyLevel?: "off" | "low" | "medium" | "high";
    readonly specModeModelId?: string | null;
    readonly specModeReasoningEffort?: string | null;
    readonly enabledToolIds?: readonly string[];
    readonly disabledToolIds?: readonly string[];
  }>();
  expectTypeOf<ResumeOptions>().toExtend<CommonOptions & SettingsChange>();
  expectTypeOf<keyof ResumeOptions>().toEqualTypeOf<keyof CommonOptions | keyof SettingsChange>();
  expectTypeOf<CreateOptions>().toExtend<CommonOptions & SettingsChange>();
  expectTypeOf<Omit<CreateOptions, keyof CommonOptions | keyof SettingsChange>>().toEqualTypeOf<{
    readonly cwd?: string;
    readonly sessionId?: string;
    readonly systemPrompt?: string | { readonly append: string };
    readonly tags?: readonly { readonly name: string; readonly metadata?: Readonly<Record<string, string>> }[];
  }>();
});

test("all options of Node's entry have one name", () => {
  expectTypeOf<Parameters<typeof fromNode.createSession>[0]>().toEqualTypeOf<SessionOptions | undefined>();
  expectTypeOf<SessionOptions>().toExtend<CreateOptions & SpawnOptions>();
  expectTypeOf<keyof SessionOptions>().toEqualTypeOf<keyof CreateOptions | keyof SpawnOptions>();
});

test("the handlers", () => {
  expectTypeOf<Handlers>().toEqualTypeOf<{
    readonly onPermission?: (request: PermissionRequest) => PermissionAnswer | Promise<PermissionAnswer>;
    readonly onPlan?: (request: PlanRequest) => PermissionAnswer | Promise<PermissionAnswer>;
    readonly onQuestion?: (request: QuestionRequest) => QuestionAnswer | Promise<QuestionAnswer>;
    readonly onEvent?: (event: TurnEvent, sessionId: string | undefined) => void;
    readonly onWarning?: (warning: string) => void;
  }>();
  expectTypeOf<HandlerContext>().toEqualTypeOf<{ readonly signal: AbortSignal }>();
  expectTypeOf<PermissionRequest>().toEqualTypeOf<{
    readonly signal: AbortSignal;
    readonly id: string;
    readonly calls: readonly PermissionCall[];
    readonly options: readonly PermissionOption[];
  }>();
  expectTypeOf<PlanRequest>().toEqualTypeOf<{
    readonly signal: AbortSignal;
    readonly id: string;
    readonly plan: string;
    readonly title?: string;
    readonly alternatives: readonly string[];
    readonly options: readonly PermissionOption[];
  }>();
  expectTypeOf<QuestionRequest>().toEqualTypeOf<{
    readonly signal: AbortSignal;
    readonly id: string;
    readonly questions: readonly Question[];
  }>();
  type Known = (typeof outcomes)[number];
  expectTypeOf<Exclude<PermissionAnswer, string>>().toExtend<{ readonly option: string; readonly comment?: string }>();
  expectTypeOf<string | { readonly option: string; readonly comment?: string }>().toExtend<PermissionAnswer>();
  // Not absorbed by `string`, so editors can suggest them.
  expectTypeOf<Extract<PermissionAnswer, Known>>().toEqualTypeOf<Known>();
  expectTypeOf<QuestionAnswer>().toEqualTypeOf<readonly (string | readonly string[])[] | undefined>();
});

test("parts of a connection", () => {
  expectTypeOf<SpawnOptions>().toEqualTypeOf<{
    readonly executable?: "tinman" | "droid" | (string & {});
    readonly args?: readonly string[];
    readonly command?: string;
    readonly cwd?: string;
    readonly env?: Readonly<Record<string, string | undefined>>;
    readonly stderrBytes?: number;
    readonly maxLineBytes?: number;
  }>();
  expectTypeOf<WebSocketOptions>().toEqualTypeOf<{
    readonly protocols?: string | readonly string[];
    readonly maxLineBytes?: number;
    readonly openMs?: number;
    readonly WebSocket?: new (url: string | URL, protocols?: string | string[]) => WebSocketLike;
  }>();
  expectTypeOf<ReturnType<typeof fromNode.linkedConnection>>().toEqualTypeOf<readonly [Connection, LinkedEnd]>();
});

test("a caller's own connection", () => {
  expectTypeOf<Connect>().toEqualTypeOf<(signal?: AbortSignal) => Promise<Connection>>();
  expectTypeOf<Connection>().toEqualTypeOf<{
    readonly incoming: AsyncIterable<
      | { readonly type: "line"; readonly text: string; readonly isMalformed?: true }
      | { readonly type: "too_long"; readonly bytes: number }
    >;
    send(line: string): void;
    room(): Promise<void> | undefined;
    drained(): Promise<void>;
    readonly gone: AbortSignal;
    close(): Promise<void>;
    readonly ended: Promise<ConnectionEnd>;
  }>();
  expectTypeOf<ConnectionEnd>().toEqualTypeOf<{
    readonly reason: string;
    readonly exitCode?: number | null;
    readonly signal?: string | null;
    readonly stderr?: string;
  }>();
});

test("the errors", () => {
  const { SdkError, ...others } = fromNode;
  const request = new fromNode.RequestError("droid.x", { code: -32602, message: "No." });
  expectTypeOf(request.code).toEqualTypeOf<number>();
  expectTypeOf(request.data).toEqualTypeOf<unknown>();
  expectTypeOf<fromNode.BackendGoneError>().toExtend<{
    readonly exitCode: number | null | undefined;
    readonly signal: string | null | undefined;
    readonly stderr: string;
  }>();
  expect(new fromNode.SessionNotFoundError("droid.x", { code: -32004, message: "No." })).toBeInstanceOf(
    fromNode.RequestError,
  );
  const errors = Object.entries(others).filter(([name]) => name.endsWith("Error"));
  expect(errors.filter(([, error]) => !(error.prototype instanceof SdkError)).map(([name]) => name)).toEqual([]);
});
