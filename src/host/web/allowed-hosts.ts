import { addressBytes, type Block, isInBlock, isPublicAddress, leadsInto, parseBlock } from "./private-address.ts";

/** Which servers may be asked for something: every public one, and those private ones that the user's configuration names. */
export interface AllowedHosts {
  /** Allowed whatever its addresses are, by its host as it is written. */
  byName(url: URL): boolean;
  /** Allowed whatever name led there. `own`: this machine and its neighbours, which count as private. */
  byAddress(address: string, own: readonly Block[]): boolean;
}

interface Entry {
  readonly host: string;
  readonly port: string | undefined;
}

/**
 * `entries`: host names, addresses, either with `:port`, blocks of addresses (`10.0.0.0/8`), or `*`. Others match nothing.
 * A name or an address stands for itself, as it is written: anybody can point a name of theirs at an address, and who is
 * asked about that name does not see where it leads. A block stands for a network and all names that lead into it.
 */
export function createAllowedHosts(entries: readonly string[]): AllowedHosts {
  const all = entries.includes("*");
  const named = entries.flatMap(parseEntry);
  const ranges = entries.flatMap((entry) => (entry.includes("/") ? (parseBlock(entry.trim()) ?? []) : []));
  return {
    byName(url) {
      const host = plainHost(url);
      return all || named.some((entry) => entry.host === host && (entry.port ?? portOf(url)) === portOf(url));
    },
    byAddress(address, own) {
      if (all || (isPublicAddress(address) && !leadsInto(address, own))) return true;
      const bytes = addressBytes(address);
      return bytes !== undefined && ranges.some((range) => isInBlock(bytes, range));
    },
  };
}

/** As names are compared: no brackets around an address, no dot at the end. */
export function plainHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function portOf(url: URL): string {
  return url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
}

/** By way of a URL, so that spellings are evened out as they are in the addresses that are asked for. */
function parseEntry(entry: string): readonly Entry[] {
  const text = entry.trim();
  const whole = addressBytes(text)?.length === 16 ? `[${text}]` : text;
  const port = /^(?:\[[^\]]*\]|[^:[\]]*):(\d{1,5})$/.exec(whole)?.[1];
  const start = `http://${port === undefined ? whole : whole.slice(0, -port.length - 1)}`;
  if (!URL.canParse(start)) return [];
  const url = new URL(start);
  const isHostAlone = url.href === `http://${url.host}/` && url.port === "";
  return isHostAlone ? [{ host: plainHost(url), port }] : [];
}
