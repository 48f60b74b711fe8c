import { createLinkedPair, type LinkedEnd } from "../../rpc/transport.ts";
import type { Connection } from "../api.ts";
import { watchIncoming } from "./watched-incoming.ts";

/** A connection to a backend in this process, and the backend's end of it. */
export function linkedConnection(options?: { readonly maxWaiting?: number }): readonly [Connection, LinkedEnd] {
  const [near, far] = createLinkedPair(options);
  const { incoming, over, giveUp } = watchIncoming(near.incoming);
  let isClosed = false;
  const connection: Connection = {
    ...near,
    incoming,
    ended: over.then(() => ({
      reason: isClosed ? "The connection was closed." : "The other side has ended the connection.",
    })),
    async close() {
      isClosed = true;
      near.close();
      giveUp();
    },
  };
  return [connection, far];
}
