import { createHash } from "node:crypto";
import { withoutTrailing } from "../../text/text-cut.ts";

/** Providers accept at most this many characters. */
const mostCharacters = 64;
/** Leaves room for a tool's name. */
const mostOfServer = 40;
const hashLength = 7;

/**
 * The names that the model sees: `<server>___<tool>`, with the characters and length that providers accept. A name keeps
 * its meaning for the whole session, and no two servers share the part that permissions for a server depend on.
 */
export class ToolNames {
  private readonly servers = new Map<string, string>();
  private readonly tools = new Map<string, string>();
  private readonly taken = new Set<string>();

  nameOf(server: string, tool: string): string {
    const key = JSON.stringify([server, tool]);
    const known = this.tools.get(key);
    if (known !== undefined) return known;
    const start = `${this.serverPart(server)}___`;
    const wanted = fitting(tool.replace(/[^A-Za-z0-9_-]/g, "_"), tool, mostCharacters - start.length);
    const name = this.free(start + wanted, () => start + hashed(wanted, key, mostCharacters - start.length));
    this.tools.set(key, name);
    return name;
  }

  /** Without the separator, so that a pattern for one server matches no other. */
  private serverPart(server: string): string {
    const known = this.servers.get(server);
    if (known !== undefined) return known;
    let plain = server.replace(/[^A-Za-z0-9_-]/g, "_");
    while (plain.includes("___")) plain = plain.replaceAll("___", "__");
    const start = withoutTrailing(plain, "_");
    if (start !== plain) plain = `${start}-`;
    const wanted = fitting(plain, server, mostOfServer);
    const part = this.free(`${wanted}___`, () => `${hashed(wanted, server, mostOfServer)}___`).slice(0, -3);
    this.servers.set(server, part);
    return part;
  }

  private free(wanted: string, other: () => string): string {
    const name = this.taken.has(wanted) ? other() : wanted;
    this.taken.add(name);
    return name;
  }
}

function fitting(name: string, whole: string, most: number): string {
  return name.length <= most ? name : hashed(name, whole, most);
}

function hashed(name: string, whole: string, most: number): string {
  const hash = createHash("sha256").update(whole).digest("hex").slice(0, hashLength);
  return `${name.slice(0, most - hashLength - 1)}-${hash}`;
}
