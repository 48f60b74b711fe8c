import type { Identity } from "../../access/identity.ts";
import type { RequestId } from "./request-id.ts";
import type { InteractiveServer, Seat } from "./server.ts";
import type { Client } from "./shared-session.ts";

/** The client behind a request, as the methods see it. */
export interface Caller extends Client {
  readonly identity: Identity;
  readonly server: InteractiveServer;
  respond(id: RequestId, result: unknown): void;
  fail(id: RequestId, error: unknown, method: string): void;
  /** The client's seat in a session. */
  seat(sessionId: string): Seat | undefined;
  /** Takes a seat; the hold of an earlier one in the same session is released. */
  sit(seat: Seat): void;
  /** Gives a seat up. */
  rise(seat: Seat): void;
}
