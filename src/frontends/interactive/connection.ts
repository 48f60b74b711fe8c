import { checkCan } from "../../access/capability.ts";
import type { Identity } from "../../access/identity.ts";
import { check } from "../../protocol/check.ts";
import {
  type InteractiveMethod,
  type InteractiveParams,
  interactiveParams,
  refusedCode,
  rpcErrors,
  sessionStatus,
} from "../../protocol/interactive.ts";
import type { ServedSocket } from "../../rpc/web-socket.ts";
import type { ServedConnection } from "../front-end.ts";
import type { Caller } from "./caller.ts";
import { decode, type Request } from "./decode.ts";
import { badParams, Refusal, refusalOf } from "./failures.ts";
import { errorFrame, notificationFrame, resultFrame } from "./frames.ts";
import { type Handler, handlers, needs } from "./methods.ts";
import type { RequestId } from "./request-id.ts";
import type { InteractiveServer, Seat } from "./server.ts";

const internalError = 1011;
const tryAgainLater = 1013;

/** One client of `/ws`. Takes its requests in order and answers each exactly once. */
export class InteractiveConnection implements Caller, ServedConnection {
  readonly server: InteractiveServer;
  readonly identity: Identity;
  private readonly socket: ServedSocket;
  private readonly seats = new Map<string, Seat>();
  private readonly served: Promise<void>;

  constructor(server: InteractiveServer, socket: ServedSocket, identity: Identity) {
    this.server = server;
    this.socket = socket;
    this.identity = identity;
    this.served = this.serve();
  }

  send(frame: string): void {
    this.socket.transport.send(frame);
  }

  room(): Promise<void> | undefined {
    return this.socket.transport.room();
  }

  giveUp(): void {
    this.socket.close(tryAgainLater, "too far behind");
  }

  get isGone(): boolean {
    return this.socket.transport.gone.aborted;
  }

  fault(): void {
    this.socket.close(internalError, "internal error");
  }

  respond(id: RequestId, result: unknown): void {
    this.send(resultFrame(id, result));
  }

  fail(id: RequestId, error: unknown, method: string): void {
    const refusal = refusalOf(error);
    if (refusal !== undefined) {
      this.send(errorFrame(id, refusal.error));
      return;
    }
    const errorId = this.server.report(error, { method, user: this.identity.user });
    this.send(errorFrame(id, { ...rpcErrors.internal, data: { errorId } }));
  }

  drain(): void {
    const params = { code: refusedCode, message: "The server is stopping.", data: { reason: "draining" } };
    this.send(notificationFrame({ method: "ErrorNotification", params }));
  }

  closed(): Promise<void> {
    return this.served;
  }

  seat(sessionId: string): Seat | undefined {
    const seat = this.seats.get(sessionId);
    return seat === undefined || seat.live.isEnding ? undefined : seat;
  }

  sit(seat: Seat): void {
    const { id } = seat.live.session;
    const before = this.seats.get(id);
    this.seats.set(id, seat);
    before?.hold.release();
    // Otherwise a long-lived connection would remember every session it started.
    const forget = (): void => void (this.seats.get(id) === seat && this.seats.delete(id));
    seat.live.ended.then(forget, forget);
  }

  rise({ live, hold }: Seat): void {
    const { id } = live.session;
    if (this.seats.get(id)?.hold === hold) this.seats.delete(id);
    live.leave(this);
    hold.release();
  }

  private async serve(): Promise<void> {
    const { transport } = this.socket;
    for await (const frame of transport.incoming) {
      if (frame.type === "line") await this.take(frame.text);
      const room = transport.room();
      if (room !== undefined) await room;
    }
    for (const seat of [...this.seats.values()]) this.rise(seat);
  }

  private async take(text: string): Promise<void> {
    const decoded = decode(text);
    if (decoded.kind === "bad") this.send(errorFrame(decoded.id, decoded.refusal.error));
    if (decoded.kind !== "request") return;
    const { request } = decoded;
    try {
      await this.handle(request);
    } catch (error) {
      this.fail(request.id, error, request.method);
    }
  }

  /** Resolves when the next request can be taken. Rejects with the failure to send. */
  private async handle(request: Request): Promise<void> {
    if (!Object.hasOwn(handlers, request.method)) throw new Refusal(rpcErrors.method);
    const method = request.method as InteractiveMethod;
    // Don't replay a long history to a client that is gone.
    if (this.isGone && needs[method] === "read") return;
    checkCan(this.identity, needs[method], method);
    const checked = check(interactiveParams[method], request.params);
    if (!checked.ok) {
      this.fail(request.id, badParams("params", checked.problem), method);
      if (method === "sendUserMessage") this.tellBadMessage(request.params);
      return;
    }
    const handler = handlers[method] as Handler<InteractiveMethod>;
    await handler(checked.value as InteractiveParams<InteractiveMethod>, request.id, this);
  }

  /** Clients of this API also expect a status notification for an invalid message. */
  private tellBadMessage(params: unknown): void {
    const { sessionId } = (params ?? {}) as { readonly sessionId?: unknown };
    if (typeof sessionId !== "string" || this.seat(sessionId) === undefined) return;
    const reason = `Error: ${rpcErrors.params.message}`;
    const status = { sessionId, status: sessionStatus.error, reason };
    this.send(notificationFrame({ method: "SessionStatusNotification", params: status }));
  }
}
