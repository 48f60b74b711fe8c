import { openPool, type Pool } from "./pool.ts";
import { type Environment, type ProxyServer, readProxies } from "./proxy.ts";
import { loadTrust, type Trust } from "./trust.ts";

export interface NetworkOptions {
  /** A PEM file with certificates to trust besides the usual ones. */
  readonly caFile?: string;
}

/** How this process reaches others: made once, given to every request. Making it loads and opens nothing. */
export interface Network {
  /** The proxy that requests for this address go through. Throws `NetworkError` when the one that is configured cannot be used. */
  proxyFor(url: URL): ProxyServer | undefined;
  /** For this folder: the connections kept open. */
  pool(): Pool;
  /** For this folder: whom TLS believes. */
  trust(): Promise<Trust>;
  /** Closes the connections kept open, those in use too. Never needed for the process to end. */
  close(): void;
}

export function createNetwork(env: Environment, options: NetworkOptions = {}): Network {
  let pool: Pool | undefined;
  let trust: Promise<Trust> | undefined;
  return {
    proxyFor: readProxies(env),
    pool: () => {
      pool ??= openPool();
      return pool;
    },
    trust: () => {
      trust ??= loadTrust(env, options.caFile).catch((error: unknown) => {
        // A long-lived process may be told of a file before the file is there.
        trust = undefined;
        throw error;
      });
      return trust;
    },
    close: () => pool?.close(),
  };
}
