import type { EngineEvent } from "../../engine/event.ts";
import { textOf } from "../../engine/message.ts";
import type { Attachment } from "../../engine/session/attachment.ts";
import type { Session } from "../../engine/session/session.ts";
import type { InteractiveNotification, InteractiveResult, ToolExecution } from "../../protocol/interactive.ts";
import { messageStatus, sessionStatus } from "../../protocol/interactive.ts";
import { notificationFrame, resultFrame } from "./frames.ts";
import { createTranslator, type Outgoing, type Translator } from "./interactive-notifications.ts";
import type { RequestId } from "./request-id.ts";

/** One connection, as a session sees it. */
export interface Client {
  /** Sends one frame, after all before it. */
  send(frame: string): void;
  /** `undefined` while it keeps up. */
  room(): Promise<void> | undefined;
  /** It is so far behind that it is given up; it may come back. */
  giveUp(): void;
  /** Our own fault: what it was sent is incomplete, so it is closed and can come back. */
  fault(): void;
  /** Nobody is there any more. */
  readonly isGone: boolean;
}

/** Characters that may happen while a client is still being told the past. */
const mostHeld = 16 * 1024 * 1024;
/** Characters of the past that are kept for a client which takes its time; the rest is read again when it has come so far. */
const mostAtOnce = 4 * 1024 * 1024;

interface Listener {
  /** It took the session up again, and is told what others do in it, too. */
  isFollower: boolean;
  /** What happens while it is still being told what happened before. */
  held: string[] | undefined;
  heldCharacters: number;
}

/** An event that is over, as it is told. */
interface Past {
  readonly seq: number;
  readonly frames: readonly string[];
}

interface Origin {
  readonly client: Client;
  readonly requestId: RequestId;
}

/** A session of `/ws`: what happens in it goes to everybody who listens, in the order in which it happens. */
export class LiveSession {
  readonly session: Session;
  private readonly attachment: Attachment;
  private readonly translator: Translator;
  private readonly listeners = new Map<Client, Listener>();
  private readonly origins = new Map<string, Origin>();
  /** Messages whose answer has not ended. */
  private readonly unanswered = new Set<string>();
  /** The number of the last event that was told. */
  private told: number;
  /** What is just being read for those who come back. */
  private reading:
    | { readonly from: number; readonly upTo: number; readonly past: Promise<readonly Past[]> }
    | undefined;
  private isEndedAsAsked = false;
  /** Resolves when the session is closed and all of it was told. */
  readonly ended: Promise<void>;

  private constructor(
    session: Session,
    attachment: Attachment,
    translator: Translator,
    told: number,
    report: (error: unknown) => void,
  ) {
    this.session = session;
    this.attachment = attachment;
    this.translator = translator;
    this.told = told;
    this.ended = this.pump().catch((error: unknown) => this.fail(error, report));
  }

  /** Of one that is in the middle of an answer already, as far as that has come. `report` is called with a fault of ours. */
  static async over(session: Session, report: (error: unknown) => void): Promise<LiveSession> {
    const attachment = session.attach({ approve: false, answer: false, runTools: true, onDetach: "keep" });
    const { turn, seq, partial } = session.snapshot();
    const translator = translatorFor(session, false);
    try {
      for (const event of turn === undefined ? [] : await session.past(session.readFrom(seq))) {
        if (event.seq <= seq) translator.translate(event);
      }
    } catch (error) {
      attachment.detach();
      throw error;
    }
    translator.goOnFrom(textOf(partial?.blocks ?? []));
    return new LiveSession(session, attachment, translator, seq, report);
  }

  /** It takes nothing more in. */
  get isEnding(): boolean {
    return this.isEndedAsAsked || this.session.isClosed;
  }

  get toolExecution(): ToolExecution {
    return this.session.settings.clientRunsTools === true ? "client" : "server";
  }

  get unansweredCount(): number {
    return this.unanswered.size;
  }

  isHeardBy(client: Client): boolean {
    return this.listeners.has(client);
  }

  listen(client: Client): void {
    if (!this.listeners.has(client))
      this.listeners.set(client, { isFollower: false, held: undefined, heldCharacters: 0 });
  }

  leave(client: Client): void {
    this.listeners.delete(client);
  }

  /** Takes a message in; `ended` is called when it has had its answer. It is answered in the moment in which everybody is told of it. Rejects when it was not taken. */
  async send(message: string, sender: Client, requestId: RequestId, ended: () => void): Promise<void> {
    const handle = this.session.prompt([{ type: "text", text: message }]);
    this.origins.set(handle.messageId, { client: sender, requestId });
    this.unanswered.add(handle.messageId);
    const forget = (): void => {
      this.unanswered.delete(handle.messageId);
      ended();
    };
    handle.outcome.then(forget, forget);
    try {
      await handle.accepted;
    } catch (error) {
      this.origins.delete(handle.messageId);
      throw error;
    }
  }

  /** False when no such call waits for a result. */
  provide(toolCallId: string, text: string, isError: boolean): boolean {
    if (this.session.openRequests().get(toolCallId)?.kind !== "tool") return false;
    return this.attachment.answer(toolCallId, { kind: "result", text, ...(isError ? { isError } : {}) });
  }

  /** Stops the answer and drops the messages behind it. */
  async cancel(): Promise<void> {
    await this.session.interrupt();
  }

  /** A client has asked for its end: its listeners are told that last. */
  endAsAsked(): void {
    this.isEndedAsAsked = true;
  }

  /**
   * Tells a client everything after a number: first `answer` with the state, then what happened, then the text of the answer
   * that is being written, then what happens from here on. When it rejects, the client hears as much as it did before.
   */
  async catchUp(
    client: Client,
    afterSeq: number,
    answer: (state: Omit<InteractiveResult<"resumeSession">, "status">) => void,
  ): Promise<void> {
    const before = this.listeners.get(client);
    const held: string[] = [];
    const listener: Listener = { isFollower: true, held, heldCharacters: 0 };
    this.listeners.set(client, listener);
    const upTo = this.told;
    const snapshot = this.translator.snapshot();
    const state = {
      sessionId: this.session.id,
      seq: upTo,
      running: this.session.isWorking,
      waiting: this.session.waiting().map(({ messageId }) => messageId),
      toolExecution: this.toolExecution,
    };
    let portion: Portion;
    try {
      portion = portionOf(await this.past(afterSeq, upTo), afterSeq);
    } catch (error) {
      if (before === undefined) this.listeners.delete(client);
      else Object.assign(listener, before);
      if (before !== undefined) for (const frame of held) client.send(frame);
      throw error;
    }
    const notices = this.session.notices().flatMap((notice) => this.translator.translate(notice).map(frameOf));
    const last = snapshot === undefined ? [] : [frameOf(snapshot)];
    answer({ ...state, replayed: notices.length + portion.frames.length + portion.left + last.length });
    await sendInTime(client, notices);
    await sendInTime(client, portion.frames);
    try {
      while (portion.left > 0 && !client.isGone) {
        portion = portionOf(await this.past(portion.upTo, upTo), portion.upTo);
        await sendInTime(client, portion.frames);
      }
    } catch {
      // Its request is answered already: it comes back, and goes on from the last number that it has.
      this.listeners.delete(client);
      client.giveUp();
      return;
    }
    await sendInTime(client, last);
    for (const frame of held) client.send(frame);
    listener.held = undefined;
  }

  /** Clients that come in the same moment share one reading, unless one of them needs more of the log. */
  private past(afterSeq: number, upTo: number): Promise<readonly Past[]> {
    const from = this.session.readFrom(afterSeq);
    if (this.reading?.upTo === upTo && this.reading.from <= from) return this.reading.past;
    const past = pastOf(this.session, from, upTo);
    const reading = { from, upTo, past };
    this.reading = reading;
    const forget = (): void => {
      if (this.reading === reading) this.reading = undefined;
    };
    past.then(forget, forget);
    return past;
  }

  private async pump(): Promise<void> {
    for await (const event of this.attachment.events()) {
      const origin = event.type === "prompt.accepted" ? this.acknowledge(event) : undefined;
      for (const outgoing of this.translator.translate(event)) this.tell(outgoing, origin?.client);
      if (event.seq !== undefined) this.told = event.seq;
      const room = this.room();
      if (room !== undefined) await room;
    }
    if (this.isEndedAsAsked) {
      const params = { sessionId: this.session.id, status: sessionStatus.stopped, reason: "completed" };
      this.tell({ notification: { method: "SessionStatusNotification", params }, to: "all" });
    }
    this.listeners.clear();
  }

  /** Only this session's clients are concerned: they come back, and read on from the log. */
  private fail(error: unknown, report: (error: unknown) => void): void {
    this.attachment.detach();
    const clients = [...this.listeners.keys()];
    this.listeners.clear();
    report(error);
    for (const client of clients) client.fault();
  }

  private acknowledge({ messageId, seq }: EngineEvent & { type: "prompt.accepted" }): Origin | undefined {
    const origin = this.origins.get(messageId);
    this.origins.delete(messageId);
    if (origin === undefined) return undefined;
    const frame = resultFrame(origin.requestId, { messageId, status: messageStatus.ok, seq });
    // Numbers rise: not before what happened earlier, and the client is still to be told.
    const held = this.listeners.get(origin.client)?.held;
    if (held === undefined) origin.client.send(frame);
    else held.push(frame);
    return origin;
  }

  /** `from` has caused it, and knows. */
  private tell({ notification, to }: Outgoing, from?: Client): void {
    // Made once, and only for somebody.
    let frame: string | undefined;
    for (const [client, listener] of this.listeners) {
      if (to === "followers" && (!listener.isFollower || client === from)) continue;
      frame ??= notificationFrame(notification);
      if (listener.held === undefined) client.send(frame);
      else this.hold(client, listener, frame);
    }
  }

  private hold(client: Client, listener: Listener, frame: string): void {
    listener.held?.push(frame);
    listener.heldCharacters += frame.length;
    if (listener.heldCharacters <= mostHeld) return;
    listener.held?.splice(0);
    this.listeners.delete(client);
    client.giveUp();
  }

  /** As long as one of them keeps up: the others are cut off when too much waits for them, and hold nobody up until then. */
  private room(): Promise<unknown> | undefined {
    const waits: Promise<void>[] = [];
    for (const client of this.listeners.keys()) {
      const wait = client.room();
      if (wait === undefined) return undefined;
      waits.push(wait);
    }
    return waits.length === 0 ? undefined : Promise.race(waits);
  }
}

/** A part of the past, and how many frames come after it. */
interface Portion {
  readonly frames: readonly string[];
  /** The number of its last event. */
  readonly upTo: number;
  readonly left: number;
}

function portionOf(past: readonly Past[], afterSeq: number): Portion {
  const frames: string[] = [];
  let [upTo, characters, left] = [afterSeq, 0, 0];
  for (const event of past) {
    if (event.seq <= afterSeq) continue;
    if (characters >= mostAtOnce) {
      left += event.frames.length;
      continue;
    }
    upTo = event.seq;
    for (const frame of event.frames) {
      frames.push(frame);
      characters += frame.length;
    }
  }
  return { frames, upTo, left };
}

async function sendInTime(client: Client, frames: readonly string[]): Promise<void> {
  for (const frame of frames) {
    const room = client.room();
    if (room !== undefined) await room;
    client.send(frame);
  }
}

/** Holds on to nothing but the frames: a log takes several times as much. */
async function pastOf(session: Session, from: number, upTo: number): Promise<readonly Past[]> {
  const translator = translatorFor(session, true);
  const past: Past[] = [];
  for (const event of await session.past(from)) {
    if (event.seq > upTo) break;
    const frames = translator.translate(event).map(frameOf);
    if (frames.length > 0) past.push({ seq: event.seq, frames });
  }
  return past;
}

function frameOf({ notification }: { readonly notification: InteractiveNotification }): string {
  return notificationFrame(notification);
}

function translatorFor(session: Session, isPast: boolean): Translator {
  const { clientTools = [], clientRunsTools = false } = session.settings;
  const brought = new Set(clientTools.map(({ name }) => name));
  const isClients = (name: string): boolean => clientRunsTools || brought.has(name);
  return createTranslator({ sessionId: session.id, isPast, isClients });
}
