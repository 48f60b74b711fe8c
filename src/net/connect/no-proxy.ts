import { BlockList, isIP } from "node:net";

/** Whether a host (without brackets) and port bypass the proxy. */
export type Exempt = (host: string, port: number) => boolean;

interface Entry {
  /** Also matches its subdomains. */
  readonly name: string;
  readonly port: number | undefined;
}

/**
 * Reads `NO_PROXY`: addresses, names (with subdomains; also `.name` or `*.name`), either with `:port`, CIDR blocks, or `*`,
 * separated by commas or spaces. Blocks match only addresses in the URL, because names are not resolved here.
 */
export function readNoProxy(text: string): Exempt {
  const words = text.toLowerCase().split(/[\s,]+/);
  if (words.includes("*")) return () => true;
  const blocks = new BlockList();
  const entries: Entry[] = [];
  for (const word of words) {
    if (word === "" || addBlock(blocks, word)) continue;
    const entry = readEntry(word);
    if (entry !== undefined) entries.push(entry);
  }
  return (host, port) => {
    const name = withoutFinalDot(host.toLowerCase());
    const family = isIP(name);
    if (family !== 0 && blocks.check(name, family === 6 ? "ipv6" : "ipv4")) return true;
    return entries.some((entry) => matches(entry, name, port));
  };
}

/**
 * Whether a host is this machine. It always bypasses the proxy, which would look for the server on its own machine. Local
 * models must work behind a company's proxy.
 */
export function isThisMachine(host: string): boolean {
  const name = withoutFinalDot(host.toLowerCase());
  if (name === "localhost" || name.endsWith(".localhost") || name === "::1") return true;
  return isIP(name) === 4 && name.startsWith("127.");
}

function matches(entry: Entry, name: string, port: number): boolean {
  if (entry.port !== undefined && entry.port !== port) return false;
  return name === entry.name || (isIP(entry.name) === 0 && name.endsWith(`.${entry.name}`));
}

function addBlock(blocks: BlockList, word: string): boolean {
  const [, network = "", bits = ""] = /^\[?([0-9a-f.:]+)\]?\/(\d{1,3})$/.exec(word) ?? [];
  const family = isIP(network);
  if (family === 0 || Number(bits) > (family === 6 ? 128 : 32)) return false;
  blocks.addSubnet(network, Number(bits), family === 6 ? "ipv6" : "ipv4");
  return true;
}

function readEntry(word: string): Entry | undefined {
  const bare = word.replace(/^\*?\./, "");
  if (isIP(bare) === 6) return { name: canonicalIpv6(bare), port: undefined };
  const [, bracketed, plain, port] = /^(?:\[([0-9a-f.:]+)\]|([^:[\]/]+))(?::(\d{1,5}))?$/.exec(bare) ?? [];
  const name = bracketed === undefined ? withoutFinalDot(plain ?? "") : canonicalIpv6(bracketed);
  if (name === "") return undefined;
  return { name, port: port === undefined ? undefined : Number(port) };
}

/** The address as the URL parser spells it. */
function canonicalIpv6(address: string): string {
  return isIP(address) === 6 && !address.includes("%") ? new URL(`http://[${address}]`).hostname.slice(1, -1) : "";
}

function withoutFinalDot(name: string): string {
  return name.endsWith(".") ? name.slice(0, -1) : name;
}
