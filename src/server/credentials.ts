import { timingSafeEqual } from "node:crypto";
import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { type Ceilings, type Identity, type Role, roles } from "../access/identity.ts";
import { errorMessage } from "../text/values.ts";
import type { Log } from "./log.ts";
import { hashOf, ownToken, readToken, tokenFault } from "./token-file.ts";

/** The owner of this machine's own token; everybody, where there is no authentication. */
export const ownIdentity: Identity = { user: "local", role: "admin" };

/** The server's record of one token. It is the same object as long as the token means the same. */
export interface Credential {
  readonly hash: string;
  readonly identity: Identity;
}

export interface NamedUser {
  readonly name: string;
  readonly role: Role;
  readonly tokens: readonly string[];
  readonly ceilings?: Ceilings;
}

export interface UserSource {
  /** The file that names the users: looked at for changes. */
  readonly file: string;
  /** Rejects when the file cannot be understood. */
  load(): Promise<readonly NamedUser[]>;
}

export interface Credentials {
  find(token: string): Credential | undefined;
  /** Looks at the files now, and not only when it is time again. */
  look(): Promise<void>;
  stop(): void;
}

export interface CredentialsOptions {
  readonly tokenFile: string;
  readonly users: UserSource;
  readonly log: Log;
  readonly everyMs?: number;
  /** Told of every token that is no longer what it was. */
  onRevoked(credential: Credential): void;
  /** Told of every lost token whose user has no other one that can do as much. */
  onUserGone?(identity: Identity): void;
}

/** A file that was changed so recently may be changed again without a trace: the clock of a file system is coarse. */
const freshMs = 2_000;

/**
 * Who may come in: the owner of this machine's own token, which is made at the first start, and the named users. Both files
 * are looked at again and again. Users whose file cannot be understood stay as they were; a token whose file is gone, or
 * can be read by others, is none; one that could not be looked at is what it was. Rejects with `config_invalid` when one of
 * them is wrong at the start.
 */
export async function watchCredentials(options: CredentialsOptions): Promise<Credentials> {
  const { users, log, everyMs = 1_000, onRevoked, onUserGone } = options;
  let credentials: readonly Credential[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopped = false;

  const own = watchFile(options.tokenFile, async (isThere) => {
    const token = isThere ? await readToken(options.tokenFile) : undefined;
    return token === undefined ? [] : [{ hash: hashOf(token), identity: { ...ownIdentity } }];
  });
  // Many programs save a file by removing, or emptying, and then writing it.
  const named = watchFile(users.file, async (isThere) => (isThere ? await users.load() : []).flatMap(credentialsOf), {
    looksWhenEmpty: 2,
  });

  function replace(found: readonly Credential[]): void {
    const before = credentials;
    credentials = found.map((one) => before.find((other) => isSame(one, other)) ?? one);
    for (const one of before) {
      if (credentials.includes(one)) continue;
      log.info("token.revoked", { user: one.identity.user, role: one.identity.role });
      onRevoked(one);
      if (!credentials.some(({ identity }) => isAsGood(identity, one.identity))) onUserGone?.(one.identity);
    }
  }

  async function look(): Promise<void> {
    const seen = await Promise.all([
      own.look((error, before) => {
        const { code, message: reason } = tokenFault(options.tokenFile, error);
        if (code !== "config_invalid") {
          log.warn("token.unread", { reason });
          return before;
        }
        // Whoever may have read the token may come in with it, so nobody does.
        log.error("token.unusable", { reason });
        return [];
      }),
      named.look((error, before) => {
        log.error("users.unusable", { reason: words(error) });
        return before;
      }),
    ]);
    replace(seen.flat());
  }

  function lookAgain(): void {
    if (isStopped) return;
    const failed = (error: unknown): void => log.error("users.unusable", { reason: words(error) });
    timer = setTimeout(() => void look().catch(failed).finally(lookAgain), everyMs);
    timer.unref();
  }

  await ownToken(options.tokenFile);
  const fail = (error: unknown): never => {
    throw error;
  };
  credentials = [...(await own.look(fail)), ...(await named.look(fail))];
  lookAgain();

  return {
    look,
    find(token) {
      const hash = Buffer.from(hashOf(token));
      let found: Credential | undefined;
      for (const one of credentials) if (timingSafeEqual(hash, Buffer.from(one.hash))) found = one;
      return found;
    },
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}

function credentialsOf({ name: user, role, tokens, ceilings }: NamedUser): readonly Credential[] {
  return tokens.map((hash) => ({ hash, identity: { user, role, ...(ceilings === undefined ? {} : { ceilings }) } }));
}

/** Whether the same user can do as much. Other ceilings count as less. */
function isAsGood(now: Identity, before: Identity): boolean {
  const isFree = now.ceilings === undefined || isDeepStrictEqual(now.ceilings, before.ceilings);
  return isFree && now.user === before.user && roles.indexOf(now.role) <= roles.indexOf(before.role);
}

function isSame(one: Credential, other: Credential): boolean {
  return one.hash === other.hash && isDeepStrictEqual(one.identity, other.identity);
}

type Problem = (error: unknown, before: readonly Credential[]) => readonly Credential[];

/** What a file gives, read again when the file is another. A problem is told when it is a new one. */
function watchFile(
  path: string,
  read: (isThere: boolean) => Promise<readonly Credential[]>,
  /** So many looks in a row must find the file gone, or empty, before it counts as that. */
  { looksWhenEmpty = 1 } = {},
) {
  let seen = "";
  let foundEmpty = 0;
  let problem: string | undefined;
  let given: readonly Credential[] = [];
  return {
    async look(onProblem: Problem): Promise<readonly Credential[]> {
      try {
        const { mark, isFresh, isEmpty } = await markOf(path);
        foundEmpty = isEmpty ? foundEmpty + 1 : 0;
        if ((mark === seen && !isFresh) || (given.length > 0 && isEmpty && foundEmpty < looksWhenEmpty)) return given;
        given = await read(mark !== "");
        seen = mark;
        problem = undefined;
      } catch (error) {
        // It is read again until it can be: what was wrong may have been something else than the file.
        seen = "?";
        if (problem === words(error)) return given;
        problem = words(error);
        given = onProblem(error, given);
      }
      return given;
    },
  };
}

/** Empty when there is no such file. */
async function markOf(
  path: string,
): Promise<{ readonly mark: string; readonly isFresh: boolean; readonly isEmpty: boolean }> {
  try {
    const { ino, size, mtimeNs, ctimeNs, mtimeMs } = await stat(path, { bigint: true });
    const isFresh = Math.abs(Date.now() - Number(mtimeMs)) < freshMs;
    return { mark: `${ino} ${size} ${mtimeNs} ${ctimeNs}`, isFresh, isEmpty: size === 0n };
  } catch (error) {
    if (error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR"))
      return { mark: "", isFresh: false, isEmpty: true };
    throw error;
  }
}

function words(error: unknown): string {
  return errorMessage(error);
}
