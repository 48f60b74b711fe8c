import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { AgentError } from "../engine/errors.ts";

/** Where to listen, and whether tokens are asked for. */
export interface Binding {
  readonly host: string;
  readonly allowRemote: boolean;
  readonly auth: boolean;
}

/**
 * The address to listen on. Throws `usage` for one that others than this machine can reach, unless that was asked for; and
 * never without tokens.
 */
export function checkBinding({ host, allowRemote, auth }: Binding): string {
  if (!auth && allowRemote) {
    throw new AgentError("usage", "--no-auth lets everybody in, so it cannot be used together with --allow-remote.");
  }
  // A name is as good as whoever answers for it, so this one is not looked up.
  if (host === "localhost") return "127.0.0.1";
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (isLoopback(address)) return address;
  if (!allowRemote) {
    throw new AgentError(
      "usage",
      `${host === "" ? "An empty --host" : `--host ${host}`} can be reached from other machines. Add --allow-remote if that is what you want.`,
    );
  }
  return address;
}

function isLoopback(address: string): boolean {
  return isIP(address) === 4 ? address.startsWith("127.") : address === "::1";
}

/** All values of a header, as they were sent: `headers` of Node keeps only the first of some. */
export function valuesOf(rawHeaders: readonly string[], name: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === name) values.push(rawHeaders[at + 1] ?? "");
  }
  return values;
}

const hostForm = /^(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/;
const wildcards: ReadonlySet<string> = new Set(["0.0.0.0", "::", ""]);

export type Access = ReturnType<typeof createAccess>;

/**
 * A page can have its own name lead to this machine (DNS rebinding), and any page can open a WebSocket to it. What neither
 * can do is choose the `Host` and the `Origin` that its browser sends.
 */
export function createAccess(options: {
  /** The address that the server listens on. */
  readonly boundTo: string;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly ownAddresses?: () => Iterable<string>;
}) {
  const { boundTo, ownAddresses = addressesHere } = options;
  const isWildcard = wildcards.has(boundTo);
  const names = new Set(["localhost", "127.0.0.1", "[::1]", ...options.hosts]);
  if (!isWildcard) names.add(asHost(boundTo.toLowerCase()));
  const origins = new Set(options.origins);

  function isKnown(name: string): boolean {
    if (names.has(name)) return true;
    // Addresses come and go, so they are looked at when one is named.
    const isAddress = name.startsWith("[") || isIP(name) === 4;
    return isWildcard && isAddress && [...ownAddresses()].some((address) => asHost(address.toLowerCase()) === name);
  }

  return {
    /** What the client calls this server, in small letters and with its port; `undefined` when it may not be called so. */
    host(rawHeaders: readonly string[]): string | undefined {
      const [host, another] = valuesOf(rawHeaders, "host");
      const lower = host?.toLowerCase() ?? "";
      const name = another === undefined ? hostForm.exec(lower)?.[1] : undefined;
      return name !== undefined && isKnown(name) ? lower : undefined;
    },
    /** Whether a page of this origin may ask, or it is no page that asks. */
    mayAsk(rawHeaders: readonly string[], host: string): boolean {
      const [origin, another] = valuesOf(rawHeaders, "origin");
      if (origin === undefined) return true;
      if (another !== undefined) return false;
      return origin === `http://${host}` || origin === `https://${host}` || origins.has(origin);
    },
  };
}

/** An address as it stands in a URL. */
export function asHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

function addressesHere(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
