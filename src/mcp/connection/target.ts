import type { ServerEntry } from "../../engine/servers/server-entry.ts";
import type { ServerSignIn } from "../sign-in/sign-ins.ts";

/** What to connect to. */
export interface Target {
  readonly entry: ServerEntry;
  /** Of a server that the user can sign in to. */
  readonly signIn?: ServerSignIn;
}
