import { existsSync } from "node:fs";
import { homedir, userInfo } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";

export interface Homes {
  /** The user's home folder. */
  readonly user: string;
  /** The home in the system's user database, whatever `$HOME` is. */
  readonly login: string | undefined;
  /** Tinman's own: `$TINMAN_HOME`, or `.tinman` in the user's home. */
  readonly own: string;
}

/** Throws if neither `$HOME` nor `$TINMAN_HOME` names a usable folder. */
export function findHomes(env: NodeJS.ProcessEnv): Homes {
  const login = homeOnRecord();
  const given = homedir();
  const user = isAbsolute(given) ? given : (login ?? "/");
  const named = env.TINMAN_HOME ?? "";
  // Almost certainly a quoting mistake, and the folder would be hard to name or remove.
  if (/[\r\n]/.test(named)) throw new Error(`TINMAN_HOME has a line end: ${JSON.stringify(named)}.`);
  if (named !== "") return { user, login, own: isAbsolute(named) ? named : fromHere(named) };
  if (given !== "" && !isAbsolute(given)) {
    throw new Error(`HOME must be an absolute path, got ${JSON.stringify(given)}. Correct it, or set TINMAN_HOME.`);
  }
  // When the parent is missing too, HOME is wrong, and creating the whole path would hide that.
  if (!existsSync(user) && !existsSync(dirname(user))) {
    throw new Error(
      `HOME is ${JSON.stringify(user)}, and neither it nor its parent exists. Correct it, or set TINMAN_HOME.`,
    );
  }
  return { user, login, own: join(user, ".tinman") };
}

function fromHere(path: string): string {
  try {
    return resolve(path);
  } catch (error) {
    const why = "the current folder does not exist";
    throw new Error(`TINMAN_HOME is a relative path (${JSON.stringify(path)}), but ${why}.`, { cause: error });
  }
}

function homeOnRecord(): string | undefined {
  try {
    return userInfo().homedir || undefined;
  } catch {
    // An unnamed user, as in containers.
    return undefined;
  }
}
