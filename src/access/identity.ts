import type { Autonomy } from "../engine/settings.ts";

/** `admin`: everything. `user`: their own sessions. `viewer`: reads everything, changes nothing. */
export const roles = ["admin", "user", "viewer"] as const;
export type Role = (typeof roles)[number];

/** What the configuration allows one user at most. Only the role `user` has them; what is missing is unlimited. */
export interface Ceilings {
  /** Canonical. Sessions work in these folders and below them. */
  readonly folders?: readonly string[];
  readonly autonomy?: Autonomy;
  /** The only models that sessions can use. Not empty. */
  readonly models?: readonly string[];
}

/**
 * Who is at the other end of a connection. It comes from the server's own record of a token, never from the client, and is
 * the same object for as long as the token means the same.
 */
export interface Identity {
  readonly user: string;
  readonly role: Role;
  readonly ceilings?: Ceilings;
}
