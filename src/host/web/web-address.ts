import type { LookupAddress } from "node:dns";
import { type AllowedHosts, plainHost } from "./allowed-hosts.ts";
import { type Block, type Interfaces, isPublicAddress, ownBlocks } from "./private-address.ts";

/** All addresses of a name, best first. */
export type LookUpAll = (name: string) => Promise<readonly LookupAddress[]>;

interface AddressSearch {
  readonly allowed: AllowedHosts;
  readonly lookUpAll: LookUpAll;
  /** Read for every request, because addresses change with networks. */
  readonly interfaces: () => Interfaces;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Whether a proxy is used, which can resolve names itself. */
  readonly hasProxy: boolean;
}

const mostAddresses = 4;

/**
 * The allowed addresses of a URL's server, in the order to try. `undefined`: wherever its name leads, if the user allowed it
 * by name. Rejects with a message if one of its addresses is not allowed, or none is found.
 */
export async function addressesOf(url: URL, search: AddressSearch): Promise<readonly (string | undefined)[]> {
  const { allowed, hasProxy } = search;
  const host = plainHost(url);
  const isAllowedByName = allowed.byName(url);
  if (isAllowedByName && hasProxy) return [undefined];
  if (!isAllowedByName && (host === "localhost" || host.endsWith(".localhost"))) throw notAllowed(url);
  const found = await lookUp(host, search);
  if (isAllowedByName) return inTurns(found);
  const own = ownAddresses(search);
  const refused = found.find(({ address }) => !allowed.byAddress(address, own));
  if (refused !== undefined) throw notAllowed(url, refused.address);
  return inTurns(found);
}

function ownAddresses({ interfaces }: AddressSearch): readonly Block[] {
  try {
    return ownBlocks(interfaces());
  } catch {
    const words = "This machine's own addresses are unknown, so no address can be checked.";
    throw new Error(`${words} The user can allow servers by name with fetch.allowPrivate in the configuration.`);
  }
}

function notAllowed(url: URL, address?: string): Error {
  const where = address === undefined || address === plainHost(url) ? "" : ` leads to ${address}, which`;
  const isPublic = address !== undefined && isPublicAddress(address);
  const what = isPublic ? "an address of this machine or of its own network" : "not a public address";
  const words = `${url.host}${where} is ${what}. This machine and private networks are off limits.`;
  return new Error(`${words} The user can allow it with fetch.allowPrivate in the configuration.`);
}

async function lookUp(host: string, search: AddressSearch): Promise<readonly LookupAddress[]> {
  const { lookUpAll, timeoutMs, signal } = search;
  let stop = (): void => undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new Error("No response in time."));
  });
  stopped.catch(() => undefined);
  const timer = setTimeout(stop, timeoutMs);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  try {
    const found = await Promise.race([lookUpAll(host), stopped]);
    if (found.length > 0) return found;
  } catch {
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  }
  throw new Error(`The name ${host} could not be looked up, so its addresses cannot be checked.`);
}

/** The first address, the first of the other family, then the rest, because one family may be unreachable. */
function inTurns(found: readonly LookupAddress[]): readonly string[] {
  const [first] = found;
  const other = found.find(({ family }) => family !== first?.family);
  const ordered = [first, other, ...found].flatMap((entry) => (entry === undefined ? [] : [entry.address]));
  return [...new Set(ordered)].slice(0, mostAddresses);
}
