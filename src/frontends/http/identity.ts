import type { ServedSocket } from "../../rpc/web-socket.ts";

/** `admin`: everything. `user`: their own sessions. `viewer`: watches, and changes nothing. */
export const roles = ["admin", "user", "viewer"] as const;
export type Role = (typeof roles)[number];

/** Who is asking. It comes from the server's own record of a token, and never from what a client says of itself. */
export interface Identity {
  readonly user: string;
  readonly role: Role;
}

/** The owner of this machine's own token; everybody, where there is no authentication. */
export const ownIdentity: Identity = { user: "local", role: "admin" };

/** Serves one client that has been let in. May throw, which closes the client's socket. */
export type ConnectionHandler = (socket: ServedSocket, identity: Identity) => ServedConnection;

export interface ServedConnection {
  /** The server is about to stop: say so. */
  drain(): void;
  /** The other side is gone, or is being closed. Called once. Resolves when nothing of it is left. */
  closed(): Promise<void> | void;
}
