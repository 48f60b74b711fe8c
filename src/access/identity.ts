import type { Autonomy } from "../engine/settings.ts";

/** `admin`: everything. `user`: their own sessions. `viewer`: reads everything, changes nothing. */
export const roles = ["admin", "user", "viewer"] as const;
export type Role = (typeof roles)[number];

/** The ceilings that the configuration sets for one user. Only the role `user` has them; an absent one means no limit. */
export interface Ceilings {
  /** Canonical. Sessions work in these folders and below them. */
  readonly folders?: readonly string[];
  readonly autonomy?: Autonomy;
  /** The only models that sessions can use. Not empty. */
  readonly models?: readonly string[];
}

/**
 * The user behind a connection. It comes from the server's own record of a token, never from the client, and is the same
 * object until the token's user, role or ceilings change.
 */
export interface Identity {
  readonly user: string;
  readonly role: Role;
  readonly ceilings?: Ceilings;
}
