import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

export interface Homes {
  /** The user's home folder. */
  readonly user: string;
  /** The one that the system has on record, whatever `$HOME` says. */
  readonly login: string | undefined;
  /** Tinman's own: `$TINMAN_HOME`, or `.tinman` in the user's home. */
  readonly own: string;
}

export function findHomes(env: NodeJS.ProcessEnv): Homes {
  const login = homeOnRecord();
  const user = homedir() || login || "/";
  const named = env.TINMAN_HOME;
  if (named === undefined || named === "") return { user, login, own: join(user, ".tinman") };
  return { user, login, own: isAbsolute(named) ? named : resolve(named) };
}

function homeOnRecord(): string | undefined {
  try {
    return userInfo().homedir || undefined;
  } catch {
    // A user without a name, as containers have them.
    return undefined;
  }
}
