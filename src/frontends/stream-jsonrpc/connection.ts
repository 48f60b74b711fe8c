import { deferred } from "../../async/promises.ts";
import type { Engine } from "../../engine/engine.ts";
import { failureOf } from "../../engine/errors.ts";
import type { ClientEnvelope, ClientRequest } from "../../protocol/droid/envelope.ts";
import type { Frame } from "../../rpc/framing.ts";
import type { Transport } from "../../rpc/transport.ts";
import type { ConnectionOptions, Context } from "./context.ts";
import { decode } from "./decode.ts";
import { dialectOf } from "./dialect.ts";
import { createLines } from "./lines.ts";
import { handleRequest } from "./methods/methods.ts";
import { rejection } from "./rpc-failure.ts";
import { ownSessions, sharedSessions } from "./sessions.ts";

/** Limits for queued requests, and for messages read while the client does not read. */
const most = { requests: 64, characters: 64 * 1024 * 1024, unread: 64 };

/** They respond when a summary is written, or the user has signed in. */
const slowMethods: ReadonlySet<string> = new Set(["droid.compact_session", "droid.authenticate_mcp_server"]);

/** One client: handles its requests in order, and answers each exactly once. */
export class Connection {
  private readonly context: Context;
  /** The last compaction on request, with its response. */
  private compacting: Promise<void> = Promise.resolve();
  private handling: Promise<void> = Promise.resolve();
  private waiting = { requests: 0, characters: 0 };
  private unread = 0;
  private isClosing = false;
  private isWarned = false;
  private readonly faulted = deferred<never>();

  constructor(engine: Engine, transport: Transport, options: ConnectionOptions) {
    // `run` may not be waiting for it yet.
    this.faulted.promise.catch(() => undefined);
    this.context = {
      engine,
      fail: this.faulted.reject,
      sessions: options.shared === undefined ? ownSessions(engine, options.defaults) : sharedSessions(options.shared),
      transport,
      options,
      lines: createLines(),
      live: undefined,
      dialect: undefined,
      protocolVersion: undefined,
    };
  }

  /**
   * Resolves when the client has disconnected and its requests are done. Rejects with an internal error after leaving the
   * session.
   */
  async run(): Promise<void> {
    try {
      await Promise.race([this.serve(), this.faulted.promise]);
    } finally {
      await this.close();
    }
  }

  private async serve(): Promise<void> {
    const { transport } = this.context;
    for await (const frame of transport.incoming) {
      // A late request could open another session before this one's end was sent.
      if (this.isClosing) break;
      this.receive(frame);
      const { requests, characters } = this.waiting;
      if (requests >= most.requests || characters >= most.characters) await this.handling;
      await this.untilRead();
    }
    await this.handling;
    await this.context.live?.finish(this.compacting);
  }

  /** Ends the running turn and drops queued prompts. */
  async interrupt(): Promise<void> {
    await this.context.live?.session.interrupt();
  }

  /** Accepts nothing more, leaves the session or ends it, and resolves when that was sent. */
  async close(): Promise<void> {
    this.isClosing = true;
    // A session that is being opened must not be left behind.
    await this.handling;
    const { live } = this.context;
    this.context.live = undefined;
    await live
      ?.leave({ isLost: true })
      .catch((error: unknown) => this.context.options.log.warn(failureOf(error).message));
    await this.context.transport.drained();
  }

  private receive(frame: Frame): void {
    const { context } = this;
    const decoded = decode(frame);
    if ("failure" in decoded) {
      const line = context.lines.error(null, decoded.failure);
      this.inOrder(0, async () => context.transport.send(line));
      return;
    }
    const size = frame.type === "line" ? frame.text.length : 0;
    if (frame.type === "line" && frame.isMalformed === true) this.warnOfBytes();
    this.inOrder(size, () => this.take(decoded.message));
  }

  /** Clients rely on a response, so the line is decoded as far as possible. */
  private warnOfBytes(): void {
    if (this.isWarned) return;
    this.isWarned = true;
    const words = "A line from the client is not valid UTF-8; invalid bytes were replaced by \ufffd.";
    void this.context.options.log.warn(words);
  }

  /** Responses also keep their place: one sent after an interrupt must not overtake it. */
  private async take(message: ClientEnvelope): Promise<void> {
    const { context } = this;
    context.protocolVersion = message.factoryProtocolVersion ?? context.protocolVersion;
    // Client notifications have no effect.
    if (message.type === "response") context.live?.answer(message);
    if (message.type !== "request") return;
    const handled = this.handle(message);
    // Others must get through meanwhile, such as an interrupt, or the answer to a sign-in.
    if (!slowMethods.has(message.method)) return handled;
    const finished = handled.catch((error: unknown) => context.fail(error));
    if (message.method === "droid.compact_session") this.compacting = finished;
  }

  private inOrder(size: number, work: () => Promise<void>): void {
    this.waiting.requests += 1;
    this.waiting.characters += size;
    this.handling = this.handling
      .then(work)
      .catch((error: unknown) => this.context.fail(error))
      .finally(() => {
        this.waiting.requests -= 1;
        this.waiting.characters -= size;
      });
  }

  /** A client that does not read can still interrupt, but not fill the memory with responses. */
  private async untilRead(): Promise<void> {
    const room = this.context.transport.room();
    this.unread = room === undefined ? 0 : this.unread + 1;
    if (this.unread > most.unread) await room;
  }

  private async handle(request: ClientRequest): Promise<void> {
    const { context } = this;
    const { transport, lines } = context;
    try {
      const result = await handleRequest(request, context);
      if (result !== undefined) transport.send(lines.result(request.id, result));
    } catch (error) {
      const spoken = context.dialect ?? dialectOf(context, request.params);
      const { id, failure } = rejection(error, request.id, spoken);
      transport.send(lines.error(id, failure));
    }
  }
}
