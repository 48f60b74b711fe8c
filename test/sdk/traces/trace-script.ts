import type { PermissionAnswer, QuestionAnswer, SettingsChange } from "../../../src/sdk/api.ts";
import type { Received } from "../../fakes/rpc/wire.ts";
import type { Run } from "../../replay/trace.ts";
import { writesOf } from "../../replay/trace.ts";

interface Params extends Readonly<Record<string, unknown>> {}

export interface PromptParams extends Params {
  readonly text: string;
  readonly messageId: string;
  readonly images?: readonly Params[];
  readonly files?: readonly Params[];
}

/** The SDK user's action where the recorded client sent a line. */
export type Act =
  | { readonly type: "create"; readonly params: Params }
  | { readonly type: "resume"; readonly sessionId: string }
  | { readonly type: "prompt"; readonly params: PromptParams }
  | { readonly type: "interrupt" }
  | { readonly type: "settings"; readonly change: SettingsChange }
  | { readonly type: "rename"; readonly title: string }
  | { readonly type: "tools" }
  | { readonly type: "models" }
  | { readonly type: "call"; readonly method: string; readonly params: object }
  | { readonly type: "permission"; readonly requestId: string; readonly answer: PermissionAnswer }
  | { readonly type: "question"; readonly requestId: string; readonly answer: QuestionAnswer }
  | { readonly type: "nothing" };

/** The line that the SDK must send for it. */
export type Awaited =
  | { readonly method: string; readonly params: object }
  | { readonly requestId: string; readonly result: object };

/** `key` identifies a client line, because ids can repeat. Server lines answer that line, or name its id. */
export type Scene =
  | { readonly by: "client"; readonly key: number; readonly act: Act }
  | { readonly by: "sdk"; readonly key: number; readonly awaited: Awaited }
  | { readonly by: "server"; readonly message: Received; readonly answers?: number; readonly names?: number };

/** Cases in which the SDK cannot do what the recorded client did. */
export type Deviation =
  /** Skipped, but the server's lines for it are still played. */
  | "left out: a line that is no message"
  | "left out: an answer to nothing"
  | "left out: a notification"
  /** Done in another way. */
  | "opened beforehand"
  | "sent only when the one before has its answer"
  | "sent only when the turn before has ended"
  | "said into the turn that runs, by call()"
  | "sent with a right envelope"
  | "sent without what it has no option for"
  | "an answer that came too late is not sent";

/** The key of an opening without a line. */
export const beforehand = -1;

export interface Script {
  readonly scenes: readonly Scene[];
  readonly deviations: readonly Deviation[];
}

type Line = { readonly by: "client"; readonly text: string } | { readonly by: "server"; readonly message: Received };

/** A run for the SDK: all of the server's lines in order, with the SDK's actions in between. */
export function scriptOf(run: Run): Script {
  const lines = linesOf(run);
  const scenes: Scene[] = [];
  const deviations: Deviation[] = [];
  /** Requests of the client without a response, and those with one, by id. */
  const waiting: { readonly key: number; readonly id: unknown }[] = [];
  const answered = new Map<unknown, number>();
  /** Lines to send later, by the line before which they come. */
  const later = new Map<number, Scene[]>();
  const moved = new Set<number>();
  const asked = new Set<string>();
  let turn: { readonly key: number } | undefined;
  let isOpen = false;

  function open(key: number, message: Received): Scene[] {
    isOpen = true;
    const { method, params = {} } = message;
    if (method === "droid.load_session") {
      return sends(key, { type: "resume", sessionId: String(params.sessionId) }, { method, params });
    }
    const awaited = { method: "droid.initialize_session", params: { ...params, machineId: "tinman-sdk" } };
    return sends(key, { type: "create", params }, awaited);
  }

  function openBeforehand(): void {
    const at = lines.findIndex((line) => line.by === "client" && isMethod(line.text, "droid.initialize_session"));
    const line = lines[at];
    const request = line?.by === "client" ? messageIn(line.text) : undefined;
    const response = lines.find((one) => one.by === "server" && one.message.id === request?.id);
    if (request === undefined || response?.by !== "server") throw new Error("No session is opened.");
    scenes.push(...open(beforehand, request), { by: "server", message: response.message, answers: beforehand });
    deviations.push("opened beforehand");
  }

  function request(at: number, message: Received & { readonly method: string }): void {
    const own = turn === undefined ? undefined : ownTurnAfter(lines, at);
    const isIntoTurn = turn !== undefined && own === undefined;
    const { act, awaited } = isPrompt(message) && !isIntoTurn ? promptOf(message, at) : requestOf(message, isIntoTurn);
    if (!isRightEnvelope(message)) deviations.push("sent with a right envelope");
    if (isPrompt(message) && isIntoTurn) deviations.push("said into the turn that runs, by call()");
    if (isShortened(message, awaited.params)) deviations.push("sent without what it has no option for");
    const isWaiting = waiting.length > 0 && act.type !== "interrupt";
    scenes.push({ by: "client", key: at, act });
    waiting.push({ key: at, id: message.id });
    const arrival: Scene = { by: "sdk", key: at, awaited };
    const response = lines.findIndex(
      (line, index) => index > at && line.by === "server" && line.message.id === message.id,
    );
    if (act.type === "prompt" && own !== undefined) {
      deviations.push("sent only when the turn before has ended");
      const answer = lines[response];
      if (answer?.by !== "server") throw new Error("A prompt has no answer.");
      moved.add(response);
      later.set(own, [arrival, { by: "server", message: answer.message, answers: at }]);
      waiting.pop();
      answered.set(message.id, at);
    } else if (isWaiting) {
      deviations.push("sent only when the one before has its answer");
      // After the response to the previous one, which has the same id.
      later.set(response + 1, [arrival]);
    } else {
      scenes.push(arrival);
    }
    if (act.type === "prompt") turn ??= { key: at };
  }

  function leaveOut(at: number, what: "a line that is no message" | "an answer to nothing" | "a notification"): void {
    scenes.push({ by: "client", key: at, act: { type: "nothing" } });
    deviations.push(`left out: ${what}`);
  }

  function response(at: number, message: Received): void {
    const requestId = String(message.id);
    const act = answerIn(message, requestId);
    if (act === undefined || !asked.has(requestId)) {
      leaveOut(at, "an answer to nothing");
      return;
    }
    scenes.push({ by: "client", key: at, act });
    if (isResolvedBefore(lines, at, requestId)) deviations.push("an answer that came too late is not sent");
    else scenes.push({ by: "sdk", key: at, awaited: { requestId, result: message.result ?? {} } });
  }

  function server(message: Received): void {
    if (message.method === "droid.session_notification") {
      if (isState(message, "idle")) turn = undefined;
      const names = answered.get(message.params?.notification?.requestId);
      scenes.push({ by: "server", message, ...(names !== undefined && { names }) });
    } else if (message.method !== undefined) {
      asked.add(String(message.id));
      scenes.push({ by: "server", message });
    } else {
      const index = message.id === null ? waiting.length - 1 : waiting.findIndex(({ id }) => id === message.id);
      const [request] = index === -1 ? [] : waiting.splice(index, 1);
      const key = request?.key ?? answered.get(message.id);
      if (request !== undefined && message.id !== null) answered.set(message.id, request.key);
      if (message.error !== undefined && key === turn?.key) turn = undefined;
      scenes.push({ by: "server", message, ...(message.id !== null && key !== undefined && { answers: key }) });
    }
  }

  for (const [at, line] of lines.entries()) {
    scenes.push(...(later.get(at) ?? []));
    if (line.by === "server") {
      if (!moved.has(at)) server(line.message);
    } else {
      const message = messageIn(line.text);
      if (!isOpen && message?.method !== undefined && openers.has(message.method)) {
        scenes.push(...open(at, message));
        waiting.push({ key: at, id: message.id });
        continue;
      }
      if (!isOpen) openBeforehand();
      if (message === undefined) leaveOut(at, "a line that is no message");
      else if (message.type === "notification") leaveOut(at, "a notification");
      else if (message.type === "response") response(at, message);
      else if (typeof message.method === "string") request(at, { ...message, method: message.method });
      else leaveOut(at, "a line that is no message");
    }
  }
  return { scenes, deviations };
}

const openers = new Set(["droid.initialize_session", "droid.load_session"]);

function sends(key: number, act: Act, awaited: Awaited): Scene[] {
  return [
    { by: "client", key, act },
    { by: "sdk", key, awaited },
  ];
}

/** The client's lines as the server read them, whatever the writes were. */
function linesOf({ steps }: Run): readonly Line[] {
  const lines: Line[] = [];
  let rest = Buffer.alloc(0);
  const flush = (texts: readonly string[]): void => {
    for (const text of texts) if (text.trim() !== "") lines.push({ by: "client", text });
  };
  for (const step of steps) {
    if (step.by === "server") {
      lines.push(step);
    } else if (step.by === "client") {
      rest = Buffer.concat([rest, ...writesOf(step.sent)]);
      const end = rest.lastIndexOf("\n") + 1;
      flush(rest.subarray(0, end).toString().split("\n"));
      rest = rest.subarray(end);
    } else if (step.event === "end of input") {
      // The SDK cannot end its input earlier; the server's remaining lines are still played.
      flush([rest.toString()]);
    }
  }
  return lines;
}

function messageIn(line: string): Received | undefined {
  try {
    const value: unknown = JSON.parse(line.replace(/^\uFEFF/, ""));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Received) : undefined;
  } catch {
    return undefined;
  }
}

const isMethod = (line: string, method: string): boolean => messageIn(line)?.method === method;

export function isState({ params }: Received, state: string): boolean {
  const notification = params?.notification;
  return notification?.type === "droid_working_state_changed" && notification.newState === state;
}

function isRightEnvelope(message: Received): boolean {
  const { jsonrpc, factoryApiVersion, type, id, params, method } = message;
  const isObject = typeof params === "object" && params !== null && !Array.isArray(params);
  return (
    jsonrpc === "2.0" &&
    factoryApiVersion === "1.0.0" &&
    type === "request" &&
    typeof id === "string" &&
    id !== "" &&
    isObject &&
    method?.includes(".") === true
  );
}

const isShortened = ({ params = {} }: Received, sent: object): boolean =>
  Object.keys(params ?? {}).some((key) => !(key in sent));

const settingKeys = new Set([
  ...["modelId", "reasoningEffort", "interactionMode", "autonomyLevel", "specModeModelId", "specModeReasoningEffort"],
  ...["enabledToolIds", "disabledToolIds"],
]);

/** Values that the SDK's types allow a caller to send. */
function isSettingsChange(params: Params): boolean {
  const { interactionMode = "auto", autonomyLevel = "off", modelId = "" } = params;
  return (
    Object.keys(params).every((key) => settingKeys.has(key)) &&
    ["auto", "spec"].includes(String(interactionMode)) &&
    ["off", "low", "medium", "high"].includes(String(autonomyLevel)) &&
    typeof modelId === "string"
  );
}

interface Request {
  readonly act: Act;
  readonly awaited: { readonly method: string; readonly params: object };
}

const isPrompt = ({ method, params }: Received): boolean =>
  method === "droid.add_user_message" && typeof params?.text === "string";

function promptOf({ method = "", params = {} }: Received, at: number): Request {
  const { text, messageId = `prompt-${at}`, images, files } = params as Partial<PromptParams>;
  const sent = { text: String(text), messageId, ...(images && { images }), ...(files && { files }) };
  return { act: { type: "prompt", params: sent }, awaited: { method, params: sent } };
}

/** The SDK's own function for a request, if it sends the same; else `call`. */
function requestOf({ method: given, params }: Received & { readonly method: string }, isInTurn: boolean): Request {
  const method = given.includes(".") ? given : `droid.${given}`;
  const whole = params ?? {};
  const awaited = { method, params: whole };
  const isBare = Object.keys(whole).length === 0 && !Array.isArray(whole);
  if (method === "droid.interrupt_session" && isInTurn) return { act: { type: "interrupt" }, awaited };
  if (method === "droid.update_session_settings" && isSettingsChange(whole)) {
    return { act: { type: "settings", change: whole as SettingsChange }, awaited };
  }
  if (method === "droid.rename_session") return { act: { type: "rename", title: String(whole.title) }, awaited };
  if (method === "droid.list_tools" && isBare) return { act: { type: "tools" }, awaited };
  if (method === "droid.list_models" && isBare) return { act: { type: "models" }, awaited };
  return { act: { type: "call", method: given, params: whole }, awaited };
}

/** The line after which a prompt of a busy session gets its own turn, if any. */
function ownTurnAfter(lines: readonly Line[], at: number): number | undefined {
  const line = lines[at];
  const text = line?.by === "client" ? messageIn(line.text)?.params?.text : undefined;
  let begin: number | undefined;
  let isIdle = false;
  for (const [index, each] of lines.entries()) {
    if (index <= at || each.by !== "server") continue;
    if (isState(each.message, "idle")) isIdle = true;
    else if (isIdle && isState(each.message, "streaming_assistant_message")) {
      begin = index;
      isIdle = false;
    }
    const { role, content } = messageOf(each.message);
    if (role === "user" && content?.[0]?.text === text) return begin;
  }
  return undefined;
}

interface RawMessage {
  readonly id?: string;
  readonly role?: string;
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
}

export function messageOf({ params }: Received): RawMessage {
  return params?.notification?.type === "create_message" ? (params.notification.message as RawMessage) : {};
}

function isResolvedBefore(lines: readonly Line[], at: number, requestId: string): boolean {
  return lines.slice(0, at).some((line) => {
    const notification = line.by === "server" ? line.message.params?.notification : undefined;
    return notification?.type === "permission_resolved" && notification.requestId === requestId;
  });
}

function answerIn({ result = {} }: Received, requestId: string): Act | undefined {
  const { selectedOption, cancelled, answers } = result;
  if (typeof selectedOption === "string") return { type: "permission", requestId, answer: selectedOption };
  if (typeof cancelled !== "boolean") return undefined;
  const given = (answers as readonly { readonly answer: string }[]).map(({ answer }) => answer);
  return { type: "question", requestId, answer: cancelled ? undefined : given };
}
