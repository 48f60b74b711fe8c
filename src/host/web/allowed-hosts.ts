import { addressBytes, type Block, isInBlock, isPublicAddress, leadsInto, parseBlock } from "./private-address.ts";

/** Which servers can be fetched from: all public ones, and the private ones in the user's configuration. */
export interface AllowedHosts {
  /** Allowed by its written host, whatever its addresses. */
  byName(url: URL): boolean;
  /** Allowed by its address, whatever its name. `own`: this machine and its neighbours, which count as private. */
  byAddress(address: string, own: readonly Block[]): boolean;
}

interface Entry {
  readonly host: string;
  readonly port: string | undefined;
}

/**
 * `entries`: names and addresses (optionally with `:port`), blocks, or `*`. Names and addresses match only as written,
 * because anyone can point a name at an address. Blocks also match names that lead into them.
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

/** For comparison: without brackets around an address or a final dot. */
export function plainHost(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "").replace(/\.$/, "");
}

function portOf(url: URL): string {
  return url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
}

/** Parsed as a URL, so that spellings are normalised as in requested addresses. */
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
