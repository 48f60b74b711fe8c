/** Shared by both levels of an SDK: requests with a time limit, and handlers for the program's requests. */
import type { Exit, Notice, Received, Wire } from "./wire.ts";
import { noticesIn } from "./wire.ts";

export type Payload = Readonly<Record<string, unknown>>;

export interface PermissionRequest extends Payload {
  readonly toolUses: readonly {
    readonly toolUse: { readonly id: string; readonly name: string; readonly input: Payload };
    readonly confirmationType: string;
    readonly details: Payload;
  }[];
  readonly options: readonly { readonly label: string; readonly value: string }[];
}

export interface AskUserRequest extends Payload {
  readonly toolCallId: string;
  readonly questions: readonly {
    readonly index: number;
    readonly topic: string;
    readonly question: string;
    readonly options: readonly string[];
  }[];
}

/** Returns the chosen option, or a whole result. */
export type PermissionHandler = (request: PermissionRequest) => string | Payload | Promise<string | Payload>;
/** Returns one answer for each question, or undefined for "cancelled". */
export type QuestionHandler = (
  request: AskUserRequest,
) => readonly string[] | undefined | Promise<readonly string[] | undefined>;

export interface Handlers {
  permission?: PermissionHandler | undefined;
  question?: QuestionHandler | undefined;
}

export type SdkErrorKind = "protocol" | "session-not-found" | "invalid-working-directory" | "unsupported" | "rpc";

export class SdkError extends Error {
  readonly kind: SdkErrorKind;
  readonly code: number | undefined;

  constructor(kind: SdkErrorKind, message: string, code?: number) {
    super(message);
    this.name = "SdkError";
    this.kind = kind;
    this.code = code;
  }
}

/** One turn as seen by a client. */
export interface SdkTurn {
  readonly outcome: "success" | "interrupted" | "error_during_execution" | "error_structured_output";
  readonly text: string;
  readonly notices: readonly Notice[];
  /** From the first `error`. */
  readonly error?: string;
  /** From `agent_turn_completed`; only the high level uses it. */
  readonly usage?: Payload;
}

/** A client with one level's behaviour. */
export interface SdkClient {
  readonly level: "low" | "high";
  readonly wire: Wire;
  readonly handlers: Handlers;
  sessionId(): string;
  /** As the client keeps them: the response, and later changes. */
  settings(): Payload;
  open(params?: Payload): Promise<Payload>;
  resume(sessionId: string, params?: Payload): Promise<Payload>;
  turn(text: string, params?: Payload): Promise<SdkTurn>;
  interrupt(): Promise<void>;
  update(params: Payload): Promise<void>;
  /** The copy is the current session afterwards. */
  fork(title?: string): Promise<string>;
  call(method: string, params?: Payload): Promise<Payload>;
  close(): Promise<Exit>;
}

export interface ClientOptions {
  readonly cwd: string;
  /** Limit for one request; the SDKs wait for 30 seconds. */
  readonly timeoutMs?: number;
}

/** The result, or the SDK's exception. */
export async function call(wire: Wire, method: string, params: Payload, timeoutMs = 10_000): Promise<Payload> {
  const { result, error } = await wire.request(method, params, { patienceMs: timeoutMs });
  if (result !== undefined) return result;
  if (error === undefined) throw new SdkError("protocol", `${method} was answered with neither a result nor an error`);
  throw new SdkError(kindOf(method, error), error.message, error.code);
}

function kindOf(method: string, { code, message }: { code: number; message: string }): SdkErrorKind {
  if (code === -32004 && method === "droid.load_session") return "session-not-found";
  if (code === -32601 && method === "droid.list_models") return "unsupported";
  const aboutFolder = /cwd|working directory/i.test(message);
  if (code === -32602 && method === "droid.initialize_session" && aboutFolder) return "invalid-working-directory";
  return "rpc";
}

/** Calls `handle` for every request from the program, until the returned function is called. */
export function onServerRequest(wire: Wire, handle: (request: Received) => Promise<void>): () => void {
  return wire.subscribe((message) => {
    if (message.type === "request") void handle(message);
  });
}

/** A handler's decision as the result to send. Without a handler: no. */
export async function decide(request: Received, handlers: Handlers): Promise<Payload> {
  if (request.method === "droid.ask_user") {
    const asked = request.params as AskUserRequest;
    const answers = await handlers.question?.(asked);
    if (answers === undefined) return { cancelled: true, answers: [] };
    return {
      cancelled: false,
      answers: asked.questions.map(({ index, question }, at) => ({ index, question, answer: answers[at] ?? "" })),
    };
  }
  const chosen = (await handlers.permission?.(request.params as PermissionRequest)) ?? "cancel";
  return typeof chosen === "string" ? { selectedOption: chosen } : chosen;
}

/** The text of the assistant's last message, or of the deltas without one. */
export function textOf(notices: readonly Notice[]): string {
  const last = notices
    .filter(({ type }) => type === "create_message")
    .map(({ message }) => message as { role: string; content: readonly { type: string; text?: string }[] })
    .findLast(({ role }) => role === "assistant");
  if (last !== undefined) return last.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return notices
    .filter(({ type }) => type === "assistant_text_delta")
    .map(({ textDelta }) => textDelta)
    .join("");
}

export function firstError(notices: readonly Notice[]): string | undefined {
  const found = notices.find(({ type }) => type === "error");
  return found === undefined ? undefined : String(found.message);
}

/** The notifications from a position on, up to and including the message `last`. */
export function noticesUpTo(wire: Wire, from: number, last: Received): readonly Notice[] {
  return noticesIn(wire.received.slice(from, wire.received.indexOf(last, from) + 1));
}

/** The settings as a client keeps them: null removes one. */
export function merged(settings: Payload, changes: Payload): Payload {
  return Object.fromEntries(Object.entries({ ...settings, ...changes }).filter(([, value]) => value !== null));
}
