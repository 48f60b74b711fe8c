import { openPool, type Pool } from "./connect/pool.ts";
import { type Environment, type ProxyServer, readProxies } from "./connect/proxy.ts";
import { loadTrust, type Trust } from "./connect/trust.ts";

export interface NetworkOptions {
  /** A PEM file with additional certificates to trust. */
  readonly caFile?: string;
}

/** The process's network settings and connections, shared by all requests. Creating it loads and opens nothing. */
export interface Network {
  /** The proxy for this URL. Throws `NetworkError` if the configured one is unusable. */
  proxyFor(url: URL): ProxyServer | undefined;
  /** Internal to this folder. */
  pool(): Pool;
  /** Internal to this folder. */
  trust(): Promise<Trust>;
  /** Closes all connections, even those in use. The process can end without it. */
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
        // Retry next time: in a long-lived process, the file may appear later.
        trust = undefined;
        throw error;
      });
      return trust;
    },
    close: () => pool?.close(),
  };
}
