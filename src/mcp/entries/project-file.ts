import { constants } from "node:fs";
import { type FileHandle, open, realpath } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { readBoundedFrom } from "../../config/bounded-file.ts";
import { printable } from "../../config/check/visible.ts";
import { parseJsonWithComments } from "../../config/models/json-with-comments.ts";
import type { NamedServer } from "../../engine/servers/server-entry.ts";
import { errorCode, isMissing } from "../../text/system-errors.ts";
import { isRecord } from "../../text/values.ts";
import { decodeDocument, withoutRights } from "./decode-entry.ts";

/** A server that a repository offers, as its file says: variables are still `${NAME}`. */
export interface OfferedServer extends NamedServer {
  /** Where the file is. Canonical. */
  readonly folder: string;
}

export interface OfferedServers {
  readonly servers: readonly OfferedServer[];
  readonly problems: readonly string[];
}

export const projectFileName = ".mcp.json";
const maxBytes = 1024 * 1024;

/** The servers of `.mcp.json` in these folders. A server of an earlier folder hides one of a later folder. Never rejects. */
export async function offeredServers(folders: readonly string[], root: string): Promise<OfferedServers> {
  const files = await Promise.all(folders.map((folder) => readOne(folder, root)));
  const servers = new Map<string, OfferedServer>();
  for (const server of files.flatMap((file) => file.servers)) {
    if (!servers.has(server.name)) servers.set(server.name, server);
  }
  return { servers: [...servers.values()], problems: files.flatMap(({ problems }) => problems) };
}

async function readOne(folder: string, root: string): Promise<OfferedServers> {
  const path = join(folder, projectFileName);
  const ignored = (why: string): OfferedServers => ({
    servers: [],
    problems: [printable(`${path} is ignored: ${why}.`)],
  });
  let text: string | undefined;
  try {
    text = await textOf(path, root);
  } catch (error) {
    return ignored(error instanceof Fault ? error.message : (errorCode(error) ?? "it cannot be read"));
  }
  if (text === undefined) return { servers: [], problems: [] };
  const document = parseJsonWithComments(text);
  if (!isRecord(document)) return ignored("it is not a JSON object");
  const decoded = decodeDocument(document, projectFileName);
  if (decoded === undefined) return ignored("it has no map mcpServers");
  return { ...decoded, servers: decoded.servers.map((server) => ({ ...withoutRights(server), folder })) };
}

/** Why the file is ignored. */
class Fault extends Error {}

async function textOf(path: string, root: string): Promise<string | undefined> {
  const file = await openFile(path, root);
  if (file === undefined) return undefined;
  try {
    if (!(await file.stat()).isFile()) throw new Fault("it is not a plain file");
    const bytes = await readBoundedFrom(file, maxBytes);
    if (bytes.length > maxBytes) throw new Fault("it is larger than 1 MiB");
    return bytes.toString("utf8");
  } finally {
    await file.close();
  }
}

/** Waits for no pipe, and follows no link out of the repository. */
async function openFile(path: string, root: string): Promise<FileHandle | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  try {
    return await open(path, flags);
  } catch (error) {
    if (isMissing(error)) return undefined;
    if (!["ELOOP", "EMLINK"].includes(errorCode(error) ?? "")) throw error;
  }
  const real = await realpath(path).catch(() => undefined);
  const isInside = real?.startsWith(dirname(root) === root ? root : `${root}${sep}`) === true;
  if (real === undefined || !isInside) throw new Fault("it is a link that is broken or leaves the repository");
  return open(real, flags);
}
