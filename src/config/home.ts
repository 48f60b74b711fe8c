import { homedir, userInfo } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

export interface Homes {
  /** The user's home folder. */
  readonly user: string;
  /** Tinman's own: `$TINMAN_HOME`, or `.tinman` in the user's home. */
  readonly own: string;
}

export function findHomes(env: NodeJS.ProcessEnv): Homes {
  const user = homedir() || userInfo().homedir || "/";
  const named = env.TINMAN_HOME;
  if (named === undefined || named === "") return { user, own: join(user, ".tinman") };
  return { user, own: isAbsolute(named) ? named : resolve(named) };
}
