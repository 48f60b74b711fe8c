import { type ErrorCode, errorCodes } from "../engine/errors.ts";
import { createGate } from "../rpc/gate.ts";
import { textStart } from "../text/text-cut.ts";
import { createAnswerText } from "./answer-text.ts";
import { type Call, createOpenCalls, type OpenCalls } from "./calls.ts";
import type { Params } from "./link.ts";
import type { Screen } from "./screen.ts";

/** A message of ours that has no complete answer yet. */
export interface Outgoing {
  readonly message: string;
  messageId?: string;
  /** The connection was lost before the server confirmed the message. */
  isInDoubt: boolean;
  ended(reason: string): void;
}

/** The session's state as reported by the server. */
export interface SessionState {
  readonly calls: OpenCalls;
  readonly outgoing: Set<Outgoing>;
  sessionId: string | undefined;
  /** The highest sequence number seen. */
  lastSeq: number | undefined;
  /** Starts over with another session. */
  begin(sessionId: string): void;
  /** Applies what `resumeSession` returned about answers of other clients or of an earlier connection. */
  resumed(result: Params): void;
  /** The replay is complete. */
  caughtUp(): void;
  sawSeq(seq: unknown): void;
  notification(method: string, params: Params): void;
  isRunning(): boolean;
  /** Resolves when no answer is running or pending. */
  settled(): Promise<void>;
  /** The session has ended, and its answers with it. */
  over(): void;
}

export interface StateEvents {
  /** A call for this client to answer. */
  call(call: Call): void;
  /** The session itself failed: `timeout` or `error`. */
  fault(reason: string): void;
}

const longestShown = 4_000;
const printedAnew = "The answer printed above was wrong. The server's version:";
const nothingKept = "The answer printed above was wrong: the server has none.";

export function createSessionState(screen: Screen, events: StateEvents): SessionState {
  const answers = new Map<string, ReturnType<typeof createAnswerText>>();
  const outgoing = new Set<Outgoing>();
  const calls = createOpenCalls();
  const idle = createGate();
  /** Unanswered messages of other connections. */
  const others = new Set<string>();
  let isOtherRunning = false;
  /** Everything up to this number is replayed. */
  let resumedAt = 0;
  /** Replayed calls: only the end of the replay shows which of them are still open. */
  let replayed: Call[] = [];

  const isRunning = (): boolean => outgoing.size > 0 || answers.size > 0 || others.size > 0 || isOtherRunning;
  const isPast = (seq: unknown): boolean => typeof seq === "number" && seq <= resumedAt;
  const looked = (): void => {
    if (!isRunning()) idle.open();
  };

  function chunk(params: Params): void {
    const { messageId, chunk: text, offset, isFinal, seq } = params;
    const key = textOf(messageId ?? params.turnId);
    const take = answers.get(key) ?? createAnswerText();
    answers.set(key, take);
    const step = take({
      chunk: textOf(text),
      isFinal: isFinal === true,
      ...(typeof offset === "number" && { offset }),
      isSnapshot: params.snapshot === true,
    });
    if (step.missing > 0) screen.show(`${step.missing} characters of the answer are missing.`);
    if (step.startsOver) {
      screen.endAnswer();
      screen.show(step.print === "" ? nothingKept : printedAnew);
    }
    screen.answer(step.print);
    if (isFinal === true) ended(key, messageId, endOf(params), seq);
  }

  function ended(key: string, messageId: unknown, { why, words }: AnswerEnd, seq: unknown): void {
    answers.delete(key);
    calls.drop(typeof messageId === "string" ? messageId : undefined);
    // A replayed old answer doesn't concern the running one.
    if (!isPast(seq)) isOtherRunning = false;
    others.delete(textOf(messageId));
    // A server that names no message answers in order.
    const [oldest] = outgoing;
    const mine = typeof messageId === "string" ? [...outgoing].find((one) => one.messageId === messageId) : oldest;
    if (mine !== undefined) outgoing.delete(mine);
    screen.endAnswer();
    if (words !== undefined) screen.show(words);
    mine?.ended(why);
    looked();
  }

  function toolCall(params: Params): void {
    const { toolCallId, toolName, execution, messageId } = params;
    screen.breakAnswer();
    const words = `${textOf(toolName)} ${cut(JSON.stringify(params.arguments) ?? "")}`;
    if (execution === "server") {
      screen.show(`The server runs ${words}`);
      return;
    }
    const call = calls.add({
      toolCallId: textOf(toolCallId),
      toolName: textOf(toolName),
      arguments: params.arguments,
      messageId: typeof messageId === "string" ? messageId : undefined,
    });
    if (call === undefined) return;
    screen.show(`Tool call ${call.toolCallId}: ${words}`);
    if (isPast(params.seq)) replayed.push(call);
    else events.call(call);
  }

  function status({ sessionId, status: number, reason, seq }: Params): void {
    const why = typeof reason === "string" ? reason : "";
    const word = { 0: "starting", 1: "active", 2: "stopped", 3: "error" }[Number(number)] ?? `status ${number}`;
    screen.show(`Session ${textOf(sessionId)}: ${word}${why === "" ? "" : `, ${why}`}`);
    if (isPast(seq)) return;
    if (number === 3) events.fault(why);
    if (number === 2) state.over();
  }

  function userMessage({ messageId, message }: Params): void {
    const mine = [...outgoing].find(
      (one) => one.isInDoubt && one.messageId === undefined && one.message === message && typeof messageId === "string",
    );
    if (mine !== undefined) mine.messageId = textOf(messageId);
    else screen.show(`> ${cut(textOf(message))}`);
  }

  function toolResult({ toolCallId, toolName, status: number, result }: Params): void {
    screen.breakAnswer();
    if (calls.isOurs(textOf(toolCallId))) return;
    calls.end(textOf(toolCallId));
    screen.show(`${textOf(toolName)} ${number === 1 ? "failed" : "gave"}: ${cut(textOf(result))}`);
  }

  const readers: Readonly<Record<string, (params: Params) => void>> = {
    AIMessageChunkNotification: chunk,
    ToolCallNotification: toolCall,
    SessionStatusNotification: status,
    UserMessageNotification: userMessage,
    ToolResultNotification: toolResult,
    ErrorNotification: ({ message }) => screen.show(`The server says: ${textOf(message)}`),
  };

  const state: SessionState = {
    calls,
    outgoing,
    sessionId: undefined,
    lastSeq: undefined,
    begin(sessionId) {
      state.over();
      resumedAt = 0;
      replayed = [];
      state.sessionId = sessionId;
      state.lastSeq = undefined;
      answers.clear();
    },
    resumed({ seq, running, waiting }) {
      resumedAt = typeof seq === "number" ? seq : 0;
      isOtherRunning = running === true && outgoing.size === 0;
      const own = [...outgoing].map(({ messageId }) => messageId);
      for (const id of Array.isArray(waiting) ? waiting : []) if (!own.includes(id)) others.add(String(id));
    },
    caughtUp() {
      const still = replayed.filter(({ toolCallId }) => calls.isOpen(toolCallId));
      replayed = [];
      for (const call of still) events.call(call);
    },
    sawSeq(seq) {
      if (typeof seq === "number" && seq > (state.lastSeq ?? 0)) state.lastSeq = seq;
    },
    notification(method, params) {
      if (params.sessionId !== undefined && params.sessionId !== state.sessionId) return;
      readers[method]?.(params);
      state.sawSeq(params.seq);
    },
    isRunning,
    async settled() {
      while (isRunning()) await idle.wait();
    },
    over() {
      calls.drop();
      others.clear();
      isOtherRunning = false;
      if (answers.size > 0) screen.endAnswer();
      answers.clear();
      state.sessionId = undefined;
      for (const one of outgoing) one.ended("stopped");
      outgoing.clear();
      looked();
    },
  };
  return state;
}

interface AnswerEnd {
  readonly why: string;
  readonly words: string | undefined;
}

/** A completed answer with a code has no text: the model said nothing, or did not understand. */
function endOf({ reason, code }: Params): AnswerEnd {
  const why = typeof reason === "string" ? reason : "completed";
  if (why !== "completed") return { why, words: `The answer ended: ${why}.` };
  if (typeof code !== "string") return { why, words: undefined };
  return { why: code, words: isErrorCode(code) ? `${errorCodes[code]} (${code})` : `The answer ended: ${code}.` };
}

function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(errorCodes, code);
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

function cut(text: string): string {
  return text.length > longestShown ? `${textStart(text, longestShown)}… (${text.length} characters)` : text;
}
