import { isIPv4, isIPv6 } from "node:net";

/** Addresses with a common prefix. */
export interface Block {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** The 4 or 16 bytes of an address; `undefined` if malformed. Ignores a zone (`%eth0`). */
export function addressBytes(text: string): readonly number[] | undefined {
  if (isIPv4(text)) return text.split(".").map(Number);
  if (!isIPv6(text)) return undefined;
  const [address = ""] = text.split("%");
  const [left = "", right] = address.split("::");
  const head = groupBytes(left);
  if (right === undefined) return head;
  const tail = groupBytes(right);
  return [...head, ...Array<number>(16 - head.length - tail.length).fill(0), ...tail];
}

function groupBytes(text: string): readonly number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (group.includes(".")) return group.split(".").map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** `10.0.0.0/8`, `fd00::/8`, or a single address. */
export function parseBlock(text: string): Block | undefined {
  const [address = "", length, ...more] = text.split("/");
  const bytes = addressBytes(address);
  if (bytes === undefined || more.length > 0) return undefined;
  if (length === undefined) return { bytes, bits: bytes.length * 8 };
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN;
  return bits <= bytes.length * 8 ? { bytes, bits } : undefined;
}

export function isInBlock(bytes: readonly number[], block: Block): boolean {
  if (bytes.length !== block.bytes.length) return false;
  return block.bytes.every((byte, index) => {
    const counted = Math.min(8, Math.max(0, block.bits - index * 8));
    return ((byte ^ (bytes[index] ?? 0)) & (0xff00 >> counted) & 0xff) === 0;
  });
}

function blocks(list: string): readonly Block[] {
  return list.split(" ").flatMap((text) => parseBlock(text) ?? []);
}

/** Includes metadata servers: 169.254.0.0/16 in most clouds, and 168.63.129.16 in Azure, although it looks public. */
const notPublicV4 = blocks(
  "0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 192.88.99.0/24 " +
    "192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4 168.63.129.16/32",
);

/** The globally assigned addresses. All others are local, reserved or unspecified. */
const givenOutV6 = blocks("2000::/3");

/** Exceptions for protocols (including Teredo), documentation, and 6to4, which can lead to any IPv4 address. */
const notPublicV6 = blocks("2001::/23 2001:db8::/32 2002::/16 3fff::/20");

/** IPv6 addresses that lead to the IPv4 address in their last four bytes: mapped, and NAT64. */
const wrapsV4 = blocks("::ffff:0:0/96 64:ff9b::/96");

/** The wrapped IPv4 address, if any, or the address itself. */
function unwrapped(bytes: readonly number[]): readonly number[] {
  return wrapsV4.some((block) => isInBlock(bytes, block)) ? bytes.slice(12) : bytes;
}

/** An address that is reachable from the internet. False if malformed. */
export function isPublicAddress(address: string): boolean {
  const bytes = addressBytes(address);
  if (bytes === undefined) return false;
  const target = unwrapped(bytes);
  const isIn = (block: Block): boolean => isInBlock(target, block);
  return target.length === 4 ? !notPublicV4.some(isIn) : givenOutV6.some(isIn) && !notPublicV6.some(isIn);
}

/** This machine's network interfaces, as reported by Node. */
export type Interfaces = Readonly<
  Record<string, readonly { readonly address: string; readonly cidr: string | null }[] | undefined>
>;

const linkBits = 64;

/**
 * This machine's addresses and its IPv6 neighbours, which have global addresses on the same 64-bit link. A single
 * address counts for its 64 bits, a narrower link as it is. Public IPv4 neighbours belong to others.
 */
export function ownBlocks(interfaces: Interfaces): readonly Block[] {
  return Object.values(interfaces).flatMap((entries = []) =>
    entries.flatMap(({ address, cidr }) => {
      const bytes = addressBytes(address);
      if (bytes === undefined) return [];
      if (bytes.length === 4) return [{ bytes, bits: 32 }];
      const bits = Number(cidr?.split("/")[1] ?? 128);
      return [{ bytes, bits: bits > linkBits && bits < 128 ? bits : linkBits }];
    }),
  );
}

/** Whether an address, or the one it wraps, is in one of the blocks. */
export function leadsInto(address: string, into: readonly Block[]): boolean {
  const bytes = addressBytes(address);
  return bytes !== undefined && into.some((block) => isInBlock(unwrapped(bytes), block));
}
