import { onAbort } from "../../async/on-abort.ts";
import { settlesWithin } from "../../async/promises.ts";
import type { CommonOptions, Connect, Connection } from "../api.ts";
import { checkConnection } from "../check-options.ts";
import { TimeoutError } from "../errors.ts";
import { defaultLimits } from "./limits.ts";

/** How long an abandoned attempt has to clean up. */
const letGoMs = 1_000;

/**
 * Opens a connection, until the signal aborts or `timeouts.open` has passed; `connect` sees both through its signal. A
 * connection that comes too late is closed.
 */
export async function connected(connect: Connect, { signal, timeouts }: CommonOptions): Promise<Connection> {
  signal?.throwIfAborted();
  const givenUp = new AbortController();
  const ms = timeouts?.open ?? defaultLimits.open;
  const late = (): void => givenUp.abort(new TimeoutError(`No connection within ${ms} ms.`));
  const timer = ms > 0 ? setTimeout(late, ms) : undefined;
  const unheard = onAbort(signal, () => givenUp.abort(signal?.reason));
  const connecting = (async () => connect(givenUp.signal))();
  try {
    const connection: unknown = await Promise.race([connecting, rejectedBy(givenUp.signal)]);
    givenUp.signal.throwIfAborted();
    checkConnection(connection);
    return connection;
  } catch (error) {
    if (!givenUp.signal.aborted) throw error;
    const closed = connecting.then((connection) => connection.close()).catch(() => {});
    await settlesWithin(letGoMs, closed);
    throw givenUp.signal.reason;
  } finally {
    clearTimeout(timer);
    unheard();
  }
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
