import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { link, mkdir, open, unlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { getSystemErrorMap } from "node:util";
import { AgentError } from "../engine/errors.ts";

const mostBytes = 1_024;

/** A secret of 32 random bytes. */
export function newToken(random: (bytes: number) => Buffer = randomBytes): string {
  return random(32).toString("base64url");
}

/** The stored form of a token, also in `serve.users`. It does not reveal the token. */
export function hashOf(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}

export function tokenFile(ownHome: string): string {
  return join(ownHome, "serve-token");
}

/** This machine's own token, created if there is none. Rejects as `readToken` does. */
export async function ownToken(path: string): Promise<string> {
  return (await readToken(path)) ?? (await makeToken(path));
}

/**
 * Undefined if there is no file. Rejects with `config_invalid` if others can read the file or could have written it,
 * because then it holds no secret, and with `storage_failed` if the file could not be read.
 */
export async function readToken(path: string): Promise<string | undefined> {
  let text: string;
  try {
    text = await readPrivate(path);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw tokenFault(path, error);
  }
  const token = text.trim();
  if (!/^[\w-]{32,}$/.test(token)) throw refused(path, "holds no token");
  return token;
}

/** Faults of the file itself. All other failures may be temporary. */
const faultsOfFile: Readonly<Record<string, string>> = {
  ELOOP: "is a link, but must be a plain file",
  EACCES: "is not readable by this user",
  EPERM: "is not readable by this user",
  ENXIO: "is not a file with a token",
};

/** `config_invalid` for a fault of the file, otherwise `storage_failed`. */
export function tokenFault(path: string, error: unknown): AgentError {
  if (error instanceof AgentError) return error;
  const fault = faultsOfFile[codeOf(error) ?? ""];
  return fault === undefined
    ? new AgentError("storage_failed", `Cannot read ${path}: ${wordsOf(error)}.`, { cause: error })
    : refused(path, fault);
}

async function readPrivate(path: string): Promise<string> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await file.stat();
    if (!stats.isFile() || stats.size > mostBytes) throw refused(path, "is not a file with a token");
    if (stats.uid !== process.getuid?.()) throw refused(path, "belongs to another user");
    const mode = stats.mode & 0o777;
    if ((mode & 0o077) !== 0) {
      throw refused(path, `can be read by others (mode ${mode.toString(8).padStart(4, "0")})`);
    }
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

async function makeToken(path: string): Promise<string> {
  try {
    await writeToken(path);
  } catch (error) {
    throw new AgentError("storage_failed", `Cannot create ${path}: ${wordsOf(error)}.`, { cause: error });
  }
  const token = await readToken(path);
  if (token === undefined) throw refused(path, "was removed right after it was created");
  return token;
}

async function writeToken(path: string): Promise<void> {
  const draft = `${path}.${process.pid}-${newToken().slice(0, 8)}`;
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(draft, `${newToken()}\n`, { mode: 0o600, flag: "wx" });
  try {
    // Atomic; of two servers that start at the same time, both use the first one's token.
    await link(draft, path);
  } catch (error) {
    if (codeOf(error) !== "EEXIST") throw error;
  } finally {
    await unlink(draft);
  }
}

function refused(path: string, why: string): AgentError {
  return new AgentError("config_invalid", `${path} ${why}. Delete it, and a new one will be created.`);
}

function isGone(error: unknown): boolean {
  return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

/** The system's message without the name and arguments of the call. */
function wordsOf(error: unknown): string {
  const { errno, message } = error as NodeJS.ErrnoException;
  return getSystemErrorMap().get(errno ?? 0)?.[1] ?? message;
}
