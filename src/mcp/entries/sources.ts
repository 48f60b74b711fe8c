import type { NamedServer } from "../../engine/servers/server-entry.ts";
import type { ServerSource } from "../../engine/servers/server-state.ts";

export interface SourcedServer extends NamedServer {
  readonly source: ServerSource;
  readonly disabledTools?: readonly string[];
  /** From the repository, and not trusted as it is now. */
  readonly isUntrusted?: boolean;
}

/** The servers that the user configured, and those that a repository offers. */
export interface ServerSources {
  list(cwd: string): Promise<{ readonly servers: readonly SourcedServer[]; readonly problems: readonly string[] }>;
  add(server: NamedServer): Promise<void>;
  remove(name: string): Promise<boolean>;
  setEnabled(name: string, isEnabled: boolean): Promise<boolean>;
  setToolEnabled(server: string, tool: string, isEnabled: boolean): Promise<boolean>;
}
