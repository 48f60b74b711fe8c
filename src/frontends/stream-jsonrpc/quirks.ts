import { AgentError } from "../../engine/errors.ts";
import type { RpcError } from "../../protocol/droid/envelope.ts";
import type { Notification } from "../../protocol/droid/notifications.ts";
import type { WireSettings } from "../../protocol/droid/settings.ts";
import { notificationMethod } from "../../protocol/droid/version.ts";
import type { Frame } from "../../rpc/framing.ts";
import type { Transport } from "../../rpc/transport.ts";
import { fieldsOf, parsedJson, recordOf } from "../../text/values.ts";

/** An outgoing message. */
interface Message extends Readonly<Record<string, unknown>> {
  readonly type: "notification" | "request" | "response";
  readonly id?: string | null;
  readonly result?: object;
  readonly error?: RpcError;
  readonly params?: { readonly notification?: Notification };
}

/** Replaces a message; strings are sent as raw lines. `asked`: methods by the id of their pending request. */
type Quirk = (message: Message, asked: ReadonlyMap<string, string>) => readonly (Message | string)[];

/** Faults seen in backends of this protocol, each with its own state, in order of application. */
const quirks = {
  "silent-cancel": silentCancel,
  "no-turn-end": () => (message) => (noticeOf(message)?.type === "agent_turn_completed" ? [] : [message]),
  "usage-after-idle": () => laterThanIdle(({ type }) => type === "session_token_usage_changed"),
  "early-idle": () => laterThanIdle(isFinalReply, signsOfMore),
  "restart-deltas": restartDeltas,
  "repeated-tool-calls": repeatedToolCalls,
  "late-settings": () => lateSettings,
  duplicates: () => (message) => (isTwofold(noticeOf(message)) ? [message, message] : [message]),
  "unknown-types": () => unknownTypes,
  "second-answer": () => secondAnswer,
  "null-ids": () => nullIds,
  "stray-lines": strayLines,
} as const satisfies Readonly<Record<string, () => Quirk>>;

type QuirkName = keyof typeof quirks;

const allNames = Object.keys(quirks) as readonly QuirkName[];

export type Quirks = ReturnType<typeof createQuirks>;

/** Throws `usage` for an unknown name. */
export function createQuirks(wanted: readonly string[]) {
  const unknown = wanted.find((name) => !Object.hasOwn(quirks, name));
  if (unknown !== undefined) {
    throw new AgentError("usage", `Unknown quirk ${JSON.stringify(unknown)}. Available: ${allNames.join(", ")}.`);
  }
  const names = allNames.filter((name) => wanted.includes(name));
  return {
    /** Each once, in the order of application. */
    names,
    /** The same transport, with faults in what is sent. */
    over: (transport: Transport) => withQuirks(transport, names),
  };
}

function withQuirks(transport: Transport, names: readonly QuirkName[]): Transport {
  const chosen = names.map((name): Quirk => quirks[name]());
  const asked = new Map<string, string>();
  return {
    ...transport,
    incoming: watched(transport.incoming, (frame) => noteRequest(frame, asked)),
    send(line) {
      const message = JSON.parse(line) as Message;
      let sent: readonly (Message | string)[] = [message];
      for (const quirk of chosen) {
        sent = sent.flatMap((each) => (typeof each === "string" ? [each] : quirk(each, asked)));
      }
      if (message.type === "response") asked.delete(answeredId(message));
      for (const each of sent) transport.send(typeof each === "string" ? each : JSON.stringify(each));
    },
  };
}

function answeredId({ id, error }: Message): string {
  return String(id ?? recordOf(error?.data)?.requestId);
}

function watched(incoming: AsyncIterable<Frame>, look: (frame: Frame) => void): AsyncIterable<Frame> {
  return {
    [Symbol.asyncIterator]() {
      const frames = incoming[Symbol.asyncIterator]();
      return {
        async next() {
          const step = await frames.next();
          if (step.done !== true) look(step.value);
          return step;
        },
      };
    },
  };
}

function noteRequest(frame: Frame, asked: Map<string, string>): void {
  if (frame.type !== "line") return;
  const { type, id, method } = fieldsOf(parsedJson(frame.text));
  if (type === "request" && typeof id === "string" && typeof method === "string") asked.set(id, method);
}

function noticeOf({ params }: Message): Notification | undefined {
  return params?.notification;
}

function isIdle(notice: Notification | undefined): boolean {
  return notice?.type === "droid_working_state_changed" && notice.newState === "idle";
}

/** An assistant's message without calls, which can end the turn. */
function isFinalReply(notice: Notification | undefined): boolean {
  if (notice?.type !== "create_message" || notice.message.role !== "assistant") return false;
  return notice.message.content.every(({ type }) => type !== "tool_use");
}

function isTwofold(notice: Notification | undefined): boolean {
  const { type } = notice ?? {};
  return type === "create_message" || type === "tool_result" || type === "droid_working_state_changed";
}

const signsOfMore = ["thinking_text_delta", "assistant_text_delta", "tool_call", "create_message"];

/**
 * Holds back the last message that `isHeld` matches until the turn is idle, or until one of `ends` shows that the turn
 * continues.
 */
function laterThanIdle(isHeld: (notice: Notification) => boolean, ends: readonly string[] = []): Quirk {
  let held: readonly Message[] = [];
  const release = (): readonly Message[] => {
    const released = held;
    held = [];
    return released;
  };
  return (message) => {
    const notice = noticeOf(message);
    if (notice === undefined) return [message];
    if (isIdle(notice)) return [message, ...release()];
    const before = ends.includes(notice.type) ? release() : [];
    if (!isHeld(notice)) return [...before, message];
    held = [message];
    return before;
  };
}

/** Whether a reply was cut off is known only at the turn's end, so everything from the reply on waits for it. */
function silentCancel(): Quirk {
  let held: Message[] = [];
  return (message) => {
    const notice = noticeOf(message);
    if (held.length === 0 && !isFinalReply(notice)) return [message];
    held.push(message);
    if (held.length === 1 || notice === undefined) return [];
    if (notice.type === "session_token_usage_changed" || notice.type === "queued_messages_discarded") return [];
    const isCut = notice.type === "agent_turn_completed" && notice.reason === "cancelled";
    const released = isCut ? held.slice(1) : held;
    held = [];
    return released;
  };
}

/** The retry itself is not sent: clients see only its deltas. */
function restartDeltas(): Quirk {
  let deltas: Message[] = [];
  return (message) => {
    const { type } = noticeOf(message) ?? {};
    if (type === "llm_retry") return deltas;
    if (type === "create_message") deltas = [];
    if (type === "assistant_text_delta" || type === "thinking_text_delta") deltas.push(message);
    return [message];
  };
}

function repeatedToolCalls(): Quirk {
  const announced = new Map<string, Message>();
  return (message) => {
    const notice = noticeOf(message);
    if (notice?.type === "tool_call") announced.set(notice.toolUse.id, message);
    if (notice?.type !== "tool_result") return [message];
    const again = announced.get(notice.toolUseId);
    announced.delete(notice.toolUseId);
    return again === undefined ? [message] : [again, message];
  };
}

/** While a session opens, its settings arrive early, once without the requested ones and then twice. */
const lateSettings: Quirk = (message, asked) => {
  const notice = noticeOf(message);
  const isOpening = [...asked.values()].some((method) => /^droid\.(initialize|load)_session$/.test(method));
  if (notice?.type === "mcp_status_changed") return [message, message];
  if (notice?.type !== "settings_updated" || !isOpening) return [message];
  const settings = withoutLevel(notice.settings as WireSettings);
  return [{ ...message, params: { notification: { ...notice, settings } } }, message, message];
};

function withoutLevel(settings: WireSettings): WireSettings {
  if (!("interactionMode" in settings)) return { ...settings, autonomyLevel: "normal" };
  return { ...settings, interactionMode: "auto", autonomyLevel: "off", autonomyMode: "normal" };
}

const addition = { quirk: { note: "an unknown field", list: [null, 1, "two"] } };

/** Adds unknown fields to every message, and an unknown type and method before each state. */
const unknownTypes: Quirk = (message) => {
  const { params, result } = message;
  const notice = noticeOf(message);
  const more: Message = {
    ...message,
    ...(result === undefined ? {} : { result: { ...result, ...addition } }),
    ...(notice === undefined ? {} : { params: { ...params, notification: { ...notice, ...addition } } }),
    ...addition,
  };
  if (notice?.type !== "droid_working_state_changed") return [more];
  const { jsonrpc, factoryApiVersion, factoryProtocolVersion } = message;
  const unknown = { jsonrpc, type: "notification", factoryApiVersion, factoryProtocolVersion } as const;
  const strange: Message[] = [
    { ...unknown, method: notificationMethod, params: { notification: { type: "quirk_of_the_day" } as never } },
    { ...unknown, method: "droid.quirk_notification", params: {} },
  ];
  return [...strange, more];
};

const secondAnswer: Quirk = (message, asked) => {
  const { error, ...rest } = message;
  const isPrompt = asked.get(String(message.id)) === "droid.add_user_message";
  return error === undefined || !isPrompt ? [message] : [{ ...rest, result: {} }, message];
};

const nullIds: Quirk = (message) => {
  if (message.error === undefined) return [message];
  const { code, message: text } = message.error;
  return [{ ...message, id: null, error: { code, message: text } }];
};

const strays = [
  "Debugger attached.",
  '{"level":"warn","msg":"this line was cut of',
  "\u001b[33mwarning\u001b[39m something was printed where only messages belong",
];

/** Before the first message, and before every fourth after it. */
function strayLines(): Quirk {
  let count = 0;
  return (message) => {
    const turn = count % 4 === 0 ? strays[(count / 4) % strays.length] : undefined;
    count += 1;
    return turn === undefined ? [message] : [turn, message];
  };
}
