import { isIP } from "node:net";
import { visible } from "../check/visible.ts";

/**
 * Why a text is not an entry of `fetch.allowPrivate`: host names and addresses, optionally with `:port`, blocks, and `*`. An
 * entry that matches nothing would have no effect, contrary to the user's intent.
 */
export function privateHostFault(text: string): string | undefined {
  const entry = text.trim();
  if (entry === "*") return undefined;
  const fault = (why: string): string => `${visible(text)} ${why}`;
  if (entry.includes("://")) return fault("is a URL. Write only its host");
  const [start = "", ...rest] = entry.split("/");
  if (rest.length > 0) {
    if (isIP(start) === 0) return fault("has a path. Write only the host");
    const most = isIP(start) === 4 ? 32 : 128;
    const isBlock = rest.length === 1 && /^\d{1,3}$/.test(rest[0] ?? "") && Number(rest[0]) <= most;
    return isBlock ? undefined : fault(`is not a valid block: its prefix length must be a number up to ${most}`);
  }
  return isHost(entry) ? undefined : fault("is not a host, an address, a block of addresses or *");
}

function isHost(entry: string): boolean {
  if (isIP(entry) === 6) return !entry.includes("%");
  const [, host = "", port = "1"] = /^(\[[^\]]*\]|[^:[\]]+)(?::(\d{1,5}))?$/.exec(entry) ?? [];
  if (host === "" || Number(port) < 1 || Number(port) > 65_535 || !URL.canParse(`http://${host}`)) return false;
  const { hostname, href } = new URL(`http://${host}`);
  return href === `http://${hostname}/` && (hostname.startsWith("[") || /^[a-z0-9._-]+$/.test(hostname));
}
