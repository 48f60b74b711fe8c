import type { NamedServer } from "../../engine/servers/server-entry.ts";
import type { ServerSource } from "../../engine/servers/server-state.ts";
import type { Trust } from "./trust.ts";

/** A server that a session can use. Its variables are replaced, unless it is untrusted or disabled. */
export interface SourcedServer extends NamedServer {
  readonly source: ServerSource;
  readonly disabledTools?: readonly string[];
  /** From the repository, and not trusted as it is now: it must not be started or reached. */
  readonly isUntrusted?: boolean;
}

/** A server as its file says, for people: its variables are still `${NAME}`, so it shows no keys. */
export interface WrittenServer extends NamedServer {
  readonly file: "config.yaml" | "mcp.json" | ".mcp.json";
  readonly disabledTools?: readonly string[];
  /** Of a repository's server: where its file is, and whether the user trusts it. */
  readonly offer?: { readonly folder: string; readonly trust: Trust };
}
