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
  room(): Promise<void> | undefined;
  /** Disconnects a client that is too far behind. It can reconnect. */
  giveUp(): void;
  /** Disconnects a client that missed frames because of an internal error. It can reconnect. */
  fault(): void;
  readonly isGone: boolean;
}

/** Limit for what happens during a client's replay, in characters. */
const mostHeld = 16 * 1024 * 1024;
/** Characters of the past kept for a slow client; the rest is read again when it gets there. */
const mostAtOnce = 4 * 1024 * 1024;

interface Listener {
  /** It has resumed the session, and also sees what others do in it. */
  isFollower: boolean;
  /** Events during its replay. */
  held: string[] | undefined;
  heldCharacters: number;
}

/** A past event as frames. */
interface Past {
  readonly seq: number;
  readonly frames: readonly string[];
}

interface Origin {
  readonly client: Client;
  readonly requestId: RequestId;
}

/** A session of `/ws`: sends everything that happens, in order, to all its listeners. */
export class LiveSession {
  readonly session: Session;
  private readonly attachment: Attachment;
  private readonly translator: Translator;
  private readonly listeners = new Map<Client, Listener>();
  private readonly origins = new Map<string, Origin>();
  private readonly unanswered = new Set<string>();
  /** The seq of the last event that was sent. */
  private told: number;
  /** The replay that is being read. */
  private reading:
    | { readonly from: number; readonly upTo: number; readonly past: Promise<readonly Past[]> }
    | undefined;
  private isEndedAsAsked = false;
  /** Resolves when the session is closed and everything was sent. */
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

  /** If an answer is under way, takes it up where it is. `report` is called with internal errors. */
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

  /** It takes no more messages. */
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

  /**
   * Sends a message. Its response goes out with the event that announces it to all clients. `ended` is called when it has
   * its answer. Rejects if it was not accepted.
   */
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

  /** False if no such call waits for a result. */
  provide(toolCallId: string, text: string, isError: boolean): boolean {
    if (this.session.openRequests().get(toolCallId)?.kind !== "tool") return false;
    return this.attachment.answer(toolCallId, { kind: "result", text, ...(isError ? { isError } : {}) });
  }

  /** Stops the answer and drops queued messages. */
  async cancel(): Promise<void> {
    await this.session.interrupt();
  }

  /** A client ends the session. Listeners are notified last. */
  endAsAsked(): void {
    this.isEndedAsAsked = true;
  }

  /**
   * Replays to a client everything after a seq: the state by `answer`, past events, the text of the answer under way, then
   * what follows. If it rejects, the client listens as before.
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
      // Its request was already answered: it reconnects and resumes at its last seq.
      this.listeners.delete(client);
      client.giveUp();
      return;
    }
    await sendInTime(client, last);
    for (const frame of held) client.send(frame);
    listener.held = undefined;
  }

  /** Clients that resume at the same time share one reading, unless one needs more of the log. */
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

  /** Disconnects this session's clients: they reconnect and read on from the log. */
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
    // In order of `seq`: after the events that the client has not received yet.
    const held = this.listeners.get(origin.client)?.held;
    if (held === undefined) origin.client.send(frame);
    else held.push(frame);
    return origin;
  }

  /** `from` caused it, and is skipped if only followers are notified. */
  private tell({ notification, to }: Outgoing, from?: Client): void {
    // Created once, and only if there is a listener.
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

  /** Undefined as long as one client keeps up: the others are disconnected when they fall too far behind. */
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

/** A part of the past, and the number of frames after it. */
interface Portion {
  readonly frames: readonly string[];
  /** The seq of its last event. */
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

/** Keeps only the frames: the log takes several times the memory. */
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
