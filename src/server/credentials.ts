import { timingSafeEqual } from "node:crypto";
import { stat } from "node:fs/promises";
import { isDeepStrictEqual } from "node:util";
import { type Ceilings, type Identity, type Role, roles } from "../access/identity.ts";
import { errorMessage } from "../text/values.ts";
import type { Log } from "./log.ts";
import { hashOf, ownToken, readToken, tokenFault } from "./token-file.ts";

/** The owner of this machine's own token, and everyone if there is no authentication. */
export const ownIdentity: Identity = { user: "local", role: "admin" };

/** The server's record of one token: the same object for as long as the token means the same. */
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
  /** The file that names the users, watched for changes. */
  readonly file: string;
  /** Rejects if the file is invalid. */
  load(): Promise<readonly NamedUser[]>;
}

export interface Credentials {
  find(token: string): Credential | undefined;
  /** Reads the files now. */
  look(): Promise<void>;
  stop(): void;
}

interface CredentialsOptions {
  readonly tokenFile: string;
  readonly users: UserSource;
  readonly log: Log;
  readonly everyMs?: number;
  /** Called for every token that was removed or changed. */
  onRevoked(credential: Credential): void;
  /** Called for every removed token whose user has no other one with the same rights. */
  onUserGone?(identity: Identity): void;
}

/** A file changed this recently may change again without a trace, because file systems have coarse clocks. */
const freshMs = 2_000;

/**
 * Watches who can connect: the owner of this machine's token, created at the first start, and the named users. Keeps
 * the users of an invalid file; revokes a token whose file is gone or readable by others. Rejects with
 * `config_invalid`.
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
  // Many programs save a file by removing or emptying it first.
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
        // Others may have read the token, so it is no longer valid.
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

/** Whether the same user has the same rights. Different ceilings count as fewer rights. */
function isAsGood(now: Identity, before: Identity): boolean {
  const isFree = now.ceilings === undefined || isDeepStrictEqual(now.ceilings, before.ceilings);
  return isFree && now.user === before.user && roles.indexOf(now.role) <= roles.indexOf(before.role);
}

function isSame(one: Credential, other: Credential): boolean {
  return one.hash === other.hash && isDeepStrictEqual(one.identity, other.identity);
}

type Problem = (error: unknown, before: readonly Credential[]) => readonly Credential[];

/** The credentials of a file, read again when it changes. Each new problem is reported once. */
function watchFile(
  path: string,
  read: (isThere: boolean) => Promise<readonly Credential[]>,
  /** How many times in a row the file must be missing or empty before that counts. */
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
        const found = await read(mark !== "");
        // Changed during the read: it may have been half saved.
        if (given.length > 0 && (await markOf(path)).mark !== mark) return given;
        given = found;
        seen = mark;
        problem = undefined;
      } catch (error) {
        // Read it again: the problem may not be the file's.
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
