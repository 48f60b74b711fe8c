import { networkInterfaces } from "node:os";
import type { Web, WebPage } from "../../engine/ports.ts";
import type { Timeouts } from "../../net/http/http-request.ts";
import { type HttpResponse, request } from "../../net/http/request.ts";
import type { Network } from "../../net/network.ts";
import { NetworkError, type NetworkErrorKind } from "../../net/network-error.ts";
import { type AllowedHosts, createAllowedHosts } from "./allowed-hosts.ts";
import type { Interfaces } from "./private-address.ts";
import { addressesOf, type LookUpAll } from "./web-address.ts";

export interface WebOptions {
  readonly network: Network;
  /** Allowed servers with private addresses: see `createAllowedHosts`. */
  readonly allowPrivate?: readonly string[];
  readonly lookUpAll?: LookUpAll;
  readonly interfaces?: () => Interfaces;
  readonly timeouts?: WebTimeouts;
}

interface WebTimeouts extends Timeouts {
  /** From the first lookup to the last byte, including redirects. */
  readonly overallMs: number;
}

const defaultTimeouts: WebTimeouts = { connectMs: 10_000, firstByteMs: 20_000, idleMs: 20_000, overallMs: 60_000 };
const mostRedirects = 5;
const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Failures after which another address of the server can be tried: nothing was sent yet. */
const beforeAsking: ReadonlySet<NetworkErrorKind> = new Set(["refused", "unreachable", "connect_timeout"]);

interface Trip {
  readonly network: Network;
  readonly allowed: AllowedHosts;
  readonly lookUpAll: LookUpAll;
  readonly interfaces: () => Interfaces;
  readonly timeouts: WebTimeouts;
  readonly accept: string;
  readonly signal: AbortSignal;
}

/**
 * Fetches pages. Resolves a name once, checks its addresses and connects to those, which prevents DNS rebinding. Every
 * redirect starts over.
 */
export function createWeb(options: WebOptions): Web {
  const { network, timeouts = defaultTimeouts, lookUpAll = systemLookUp, interfaces = networkInterfaces } = options;
  const allowed = createAllowedHosts(options.allowPrivate ?? []);
  return {
    async get(url, { maxBytes, accept }, signal) {
      const stop = new AbortController();
      const onAbort = (): void => stop.abort();
      signal.addEventListener("abort", onAbort, { once: true });
      if (signal.aborted) stop.abort();
      let isLate = false;
      const timer = setTimeout(() => {
        isLate = true;
        stop.abort();
      }, timeouts.overallMs);
      try {
        const trip = { network, allowed, lookUpAll, interfaces, timeouts, accept, signal: stop.signal };
        const { response, at } = await follow(new URL(url), trip);
        return await readPage(response, at, maxBytes);
      } catch (error) {
        if (isLate) throw new Error(`The page was not complete after ${timeouts.overallMs / 1000} seconds.`);
        throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
    },
  };
}

async function systemLookUp(name: string): ReturnType<LookUpAll> {
  const { lookup } = await import("node:dns/promises");
  return lookup(name, { all: true, verbatim: true });
}

async function follow(start: URL, trip: Trip): Promise<{ readonly response: HttpResponse; readonly at: URL }> {
  const fault = faultOf(start);
  if (fault !== undefined) throw new Error(`This is ${fault}.`);
  let at = withoutFragment(start);
  for (let count = 0; ; count += 1) {
    const response = await ask(at, trip);
    const { location } = response.headers;
    if (!redirects.has(response.status) || location === undefined) return { response, at };
    response.close();
    if (count === mostRedirects)
      throw new Error(`More than ${mostRedirects} redirects; the last one came from ${shown(at)}.`);
    at = redirected(at, location);
  }
}

function redirected(from: URL, location: string): URL {
  if (!URL.canParse(location, from.href)) throw new Error(`${shown(from)} redirects to an invalid address.`);
  const to = new URL(location, from.href);
  const fault = faultOf(to);
  if (fault !== undefined) throw new Error(`${shown(from)} redirects to ${fault}.`);
  if (from.protocol === "https:" && to.protocol === "http:")
    throw new Error(`${shown(from)} redirects from https to http (${shown(to)}), which is not followed.`);
  return withoutFragment(to);
}

function faultOf({ protocol, username, password }: URL): string | undefined {
  if (protocol !== "http:" && protocol !== "https:")
    return `an address with the scheme ${protocol}; only https: and http: are supported`;
  return username === "" && password === ""
    ? undefined
    : "an address with a user name or password, which are never sent";
}

function withoutFragment(url: URL): URL {
  const plain = new URL(url);
  plain.hash = "";
  return plain;
}

/** For messages: no query, no credentials. */
function shown({ origin, pathname }: URL): string {
  return `${origin}${pathname.length > 200 ? `${pathname.slice(0, 200)}…` : pathname}`;
}

async function ask(url: URL, trip: Trip): Promise<HttpResponse> {
  const { network, timeouts, signal } = trip;
  const hasProxy = network.proxyFor(url) !== undefined;
  const addresses = await addressesOf(url, { ...trip, hasProxy, timeoutMs: timeouts.connectMs });
  const headers = {
    "user-agent": `tinman/${TINMAN_VERSION}`,
    accept: trip.accept,
    "accept-encoding": "gzip, deflate, br",
  };
  let last: unknown;
  for (const address of addresses) {
    try {
      const pinned = address === undefined ? {} : { address };
      return await request({ url, method: "GET", headers, signal, timeouts, network, ...pinned });
    } catch (error) {
      last = error;
      if (!(error instanceof NetworkError)) break;
      if (error.kind === "proxy" && address !== undefined) throw new Error(`${error.message} ${byAddress}`);
      if (!beforeAsking.has(error.kind)) break;
    }
  }
  throw last;
}

const byAddress =
  "It was given the checked address instead of the name. If it accepts only names, the user can allow this one with fetch.allowPrivate in the configuration.";

async function readPage(response: HttpResponse, at: URL, maxBytes: number): Promise<WebPage> {
  // Join the pieces: one-byte pieces would take a hundred times their size.
  let body = Buffer.alloc(0);
  let size = 0;
  let truncated = false;
  for await (const piece of response.body) {
    truncated = size + piece.length > maxBytes;
    const taken = truncated ? piece.subarray(0, maxBytes - size) : piece;
    if (size + taken.length > body.length) {
      const larger = Buffer.alloc(Math.min(maxBytes, Math.max(65_536, (size + taken.length) * 2)));
      body.copy(larger);
      body = larger;
    }
    body.set(taken, size);
    size += taken.length;
    if (truncated) break;
  }
  return {
    url: at.href,
    status: response.status,
    contentType: response.headers["content-type"] ?? "",
    body: body.subarray(0, size),
    truncated,
  };
}
