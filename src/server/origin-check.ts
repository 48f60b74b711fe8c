import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import { AgentError } from "../engine/errors.ts";

interface Binding {
  readonly host: string;
  readonly allowRemote: boolean;
  readonly auth: boolean;
}

/**
 * The address to listen on. Throws `usage` for an address that other machines can reach, unless `allowRemote` is set and
 * tokens are required.
 */
export function checkBinding({ host, allowRemote, auth }: Binding): string {
  if (!auth && allowRemote) {
    throw new AgentError("usage", "--no-auth cannot be combined with --allow-remote, because anyone could connect.");
  }
  // Not resolved, because the resolver could give any address.
  if (host === "localhost") return "127.0.0.1";
  const address = host.replace(/^\[(.*)\]$/, "$1");
  if (isLoopback(address)) return address;
  if (!allowRemote) {
    throw new AgentError(
      "usage",
      `${host === "" ? "An empty --host" : `--host ${host}`} is reachable from other machines. Add --allow-remote to allow that.`,
    );
  }
  return address;
}

function isLoopback(address: string): boolean {
  return isIP(address) === 4 ? address.startsWith("127.") : address === "::1";
}

/** All values of a header: Node's `headers` keeps only the first of some. */
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
 * A page can point its own name at this machine (DNS rebinding), and any page can open a WebSocket to it. But neither
 * can choose the `Host` and `Origin` that its browser sends.
 */
export function createAccess(options: {
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
    // Addresses change, so they are looked up for each request.
    const isAddress = name.startsWith("[") || isIP(name) === 4;
    return isWildcard && isAddress && [...ownAddresses()].some((address) => asHost(address.toLowerCase()) === name);
  }

  return {
    /** The client's name for this server, lower case with port; undefined if it is not allowed. */
    host(rawHeaders: readonly string[]): string | undefined {
      const [host, another] = valuesOf(rawHeaders, "host");
      const lower = host?.toLowerCase() ?? "";
      const name = another === undefined ? hostForm.exec(lower)?.[1] : undefined;
      return name !== undefined && isKnown(name) ? lower : undefined;
    },
    /** Whether the request comes from an allowed page, or from no page at all. */
    mayAsk(rawHeaders: readonly string[], host: string): boolean {
      const [origin, another] = valuesOf(rawHeaders, "origin");
      if (origin === undefined) return true;
      if (another !== undefined) return false;
      return origin === `http://${host}` || origin === `https://${host}` || origins.has(origin);
    },
  };
}

export function asHost(address: string): string {
  return address.includes(":") ? `[${address}]` : address;
}

function addressesHere(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
}
