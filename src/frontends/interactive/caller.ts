import type { Identity } from "../../access/identity.ts";
import type { RequestId } from "./request-id.ts";
import type { InteractiveServer, Seat } from "./server.ts";
import type { Client } from "./shared-session.ts";

/** The client that a request comes from, as the methods see it. */
export interface Caller extends Client {
  readonly identity: Identity;
  readonly server: InteractiveServer;
  respond(id: RequestId, result: unknown): void;
  fail(id: RequestId, error: unknown, method: string): void;
  /** One of the sessions that it takes part in. */
  seat(sessionId: string): Seat | undefined;
  /** It takes part in a session; the hold of one that it has already is given back. */
  sit(seat: Seat): void;
  /** It takes no part in it any more. */
  rise(seat: Seat): void;
}
