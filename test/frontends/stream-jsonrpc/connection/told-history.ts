import type { LinkedClient } from "../../../fakes/rpc/linked-client.ts";
import type { Notice, Received } from "../../../fakes/rpc/wire.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";

interface WireMessage {
  readonly id: string;
  readonly parentId: string;
  readonly role: string;
  readonly content: readonly Readonly<Record<string, unknown>>[];
}

export interface Link {
  readonly id: string;
  readonly role: string;
  readonly content: readonly object[];
}

export interface ComparedHistory {
  /** The conversation according to a session's notifications, from its start. */
  readonly told: readonly Link[];
  /** The conversation according to load_session, without reminders, which are not sent as notifications. */
  readonly loaded: readonly Link[];
  /** Each message's parent: in the notifications, where they name it, and in the history. */
  readonly toldParents: readonly (string | undefined)[];
  readonly loadedParents: readonly string[];
}

/** Loads the session, and compares the result with this client's notifications since `from`. */
export async function compareHistory(client: LinkedClient, sessionId: string, from = 0): Promise<ComparedHistory> {
  const history = createToldHistory();
  for (const notice of noticesIn(client.received.slice(from))) history.take(notice);
  const answer = await client.request("droid.load_session", { sessionId });
  return { ...history, ...loadedHistory(answer) };
}

/** The conversation according to notifications; grows with each one. */
export function createToldHistory(already: readonly Link[] = []): Pick<ComparedHistory, "told" | "toldParents"> & {
  take(notice: Notice): void;
} {
  const told: Link[] = [...already];
  const toldParents: (string | undefined)[] = already.map(() => undefined);
  const take = (notice: Notice): void => {
    if (notice.type === "create_message") {
      const { id, role, content, parentId } = notice.message as WireMessage;
      told.push({ id, role, content });
      toldParents.push(parentId);
    }
    if (notice.type !== "tool_result") return;
    const { toolUseId, messageId, content, isError } = notice;
    // A call that broke off while streaming gets a result but is not in the history. Models repeat ids, so count.
    if (count(told, "tool_use", "id", toolUseId) <= count(told, "tool_result", "toolUseId", toolUseId)) return;
    const block = { type: "tool_result", toolUseId, content, isError };
    const last = told.at(-1);
    if (last !== undefined && last.id === messageId) {
      told[told.length - 1] = { ...last, content: [...last.content, block] };
    } else {
      told.push({ id: String(messageId), role: "tool", content: [block] });
      toldParents.push(undefined);
    }
  };
  return { told, toldParents, take };
}

/** The conversation according to the response to load_session. */
export function loadedHistory(answer: Received): Pick<ComparedHistory, "loaded" | "loadedParents"> {
  const { messages } = (answer.result as { session: { messages: readonly WireMessage[] } }).session;
  return {
    loaded: messages.map(({ id, role, content }) => ({ id, role, content: content.filter(isNoReminder) })),
    loadedParents: messages.map(({ parentId }) => parentId),
  };
}

function count(history: readonly Link[], type: string, key: string, id: unknown): number {
  const blocks = history.flatMap(({ content }) => content as Readonly<Record<string, unknown>>[]);
  return blocks.filter((block) => block.type === type && block[key] === id).length;
}

function isNoReminder({ text }: Readonly<Record<string, unknown>>): boolean {
  return typeof text !== "string" || !text.startsWith("<system-reminder>");
}

/** A history must be a chain: each message names the one before it, and the first names the root. */
export function chainOf(history: readonly { readonly id: string }[]): string[] {
  return ["root", ...history.map(({ id }) => id)].slice(0, history.length);
}
