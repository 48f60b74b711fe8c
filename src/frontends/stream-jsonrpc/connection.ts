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

/** So much may wait to be handled, and so often may a client speak that does not read, before nothing more is read of it. */
const most = { requests: 64, characters: 64 * 1024 * 1024, unread: 64 };

/** One client: its requests are handled one after the other, and each is answered exactly once. */
export class Connection {
  private readonly context: Context;
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
      hasProtocolVersion: false,
    };
  }

  /** Until the client sends no more, and what it asked for is done. Rejects with a fault of ours, after it has left the session. */
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
      // What comes now could open another session before the end of this one is told.
      if (this.isClosing) break;
      this.receive(frame);
      const { requests, characters } = this.waiting;
      if (requests >= most.requests || characters >= most.characters) await this.handling;
      await this.untilRead();
    }
    await this.handling;
    await this.context.live?.finish();
  }

  /** Ends what runs in the session that this client works with, and drops what waits there. */
  async interrupt(): Promise<void> {
    await this.context.live?.session.interrupt();
  }

  /** Takes nothing more on, leaves the session, or ends it when it is nobody else's, and waits until that is told. */
  async close(): Promise<void> {
    this.isClosing = true;
    // A session that is just being opened must not be left behind.
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

  /** Clients of the protocol rely on an answer, so that such a line is read as far as it can be. */
  private warnOfBytes(): void {
    if (this.isWarned) return;
    this.isWarned = true;
    const words = "A line of the client is not valid UTF-8: what could not be read is taken for \ufffd.";
    void this.context.options.log.warn(words);
  }

  /** Answers wait their turn too: one that was sent behind an interrupt must not come before it. */
  private async take(message: ClientEnvelope): Promise<void> {
    const { context } = this;
    if (message.factoryProtocolVersion !== undefined) context.hasProtocolVersion = true;
    // A client's notification asks for nothing.
    if (message.type === "response") context.live?.answer(message);
    if (message.type === "request") await this.handle(message);
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

  /** A client that does not read for a while can still interrupt, but not fill the memory with answers. */
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
      const { hasProtocolVersion, dialect } = context;
      const spoken = dialect ?? dialectOf({ hasProtocolVersion, params: request.params });
      const { id, failure } = rejection(error, request.id, spoken);
      transport.send(lines.error(id, failure));
    }
  }
}
