import { existsSync } from "node:fs";
import { join } from "node:path";
import type { UserConfig } from "../../config/check/checked-config.ts";
import { repositoryRoot } from "../../config/rules/repository-folders.ts";
import { AgentError, failureOf } from "../../engine/errors.ts";
import { type NamedServer, serverNameFault } from "../../engine/servers/server-entry.ts";
import type { ServerSource } from "../../engine/servers/server-state.ts";
import type { ManagedServers } from "./managed-file.ts";

export interface ServerSourcesOptions {
  /** Tinman's own. */
  readonly home: string;
  readonly config: UserConfig["mcp"];
  /** For `${NAME}` in entries. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A server that a session can use. Its variables are replaced, unless it is untrusted or disabled. */
export interface SourcedServer extends NamedServer {
  readonly source: ServerSource;
  readonly disabledTools?: readonly string[];
  /** From the repository, and not trusted as it is now: it must not be started or reached. */
  readonly isUntrusted?: boolean;
}

/** Where servers are configured: config.yaml, `$TINMAN_HOME/mcp.json`, and `.mcp.json` of the repository. */
export interface ServerSources {
  /**
   * The servers for a folder (canonical), the user's first. Read anew each time. `problems`: one sentence each about what
   * is skipped. Never rejects.
   */
  list(cwd: string): Promise<ListedServers>;
  /** Stores a server in mcp.json. Rejects with `usage` for a bad or known name, `config_invalid` or `storage_failed`. */
  add(server: NamedServer): Promise<void>;
  /** False if mcp.json has no such server. */
  remove(name: string): Promise<boolean>;
  /** False for an unknown server. Those of a repository are known by its folder. */
  setEnabled(name: string, isEnabled: boolean, cwd?: string): Promise<boolean>;
  setToolEnabled(server: string, tool: string, isEnabled: boolean, cwd?: string): Promise<boolean>;
}

export interface ListedServers {
  readonly servers: readonly SourcedServer[];
  readonly problems: readonly string[];
}

/** An entry before its variables are replaced. */
interface Found extends NamedServer {
  readonly source: ServerSource;
  readonly isUntrusted?: boolean;
}

interface FoundServers {
  readonly found: readonly Found[];
  readonly problems: readonly string[];
}

const none: FoundServers = { found: [], problems: [] };

/** Loads what reads entries only when there are some. */
export function createServerSources({ home, config, env }: ServerSourcesOptions): ServerSources {
  const configured = config?.servers;

  const ofConfig = async (): Promise<FoundServers> => {
    if (configured === undefined) return none;
    const { configuredServers } = await import("./decode-entry.ts");
    return { found: configuredServers(configured).map((server) => ({ ...server, source: "user" })), problems: [] };
  };

  const managed = async (): Promise<{ readonly file?: ManagedServers } & FoundServers> => {
    if (!existsSync(join(home, "mcp.json"))) return none;
    try {
      const file = await (await import("./managed-file.ts")).readManaged(home);
      return { file, found: file.servers.map((server) => ({ ...server, source: "user" })), problems: file.problems };
    } catch (error) {
      return { found: [], problems: [failureOf(error).message] };
    }
  };

  const ofProject = async (cwd: string): Promise<FoundServers> => {
    const root = await repositoryRoot(cwd);
    const folders = [...new Set([cwd, root])].filter((folder) => existsSync(join(folder, ".mcp.json")));
    if (folders.length === 0) return none;
    const [{ offeredServers }, { readTrust }] = await Promise.all([import("./project-file.ts"), import("./trust.ts")]);
    const { servers, problems } = await offeredServers(folders, root);
    const more: string[] = [];
    const trust = await readTrust(home).catch((error: unknown) => {
      more.push(failureOf(error).message);
      return () => "new" as const;
    });
    const found = servers.map(({ name, entry, ...offered }): Found => {
      const isUntrusted = trust({ name, entry, ...offered }) !== "trusted";
      return { name, entry, source: "project", ...(isUntrusted ? { isUntrusted } : {}) };
    });
    return { found, problems: [...problems, ...more] };
  };

  const knows = async (name: string, cwd: string | undefined): Promise<boolean> => {
    if (configured !== undefined && Object.hasOwn(configured, name)) return true;
    const { found } = await managed();
    if (found.some((server) => server.name === name)) return true;
    return cwd !== undefined && (await ofProject(cwd)).found.some((server) => server.name === name);
  };

  return {
    async list(cwd) {
      const [own, { file, ...stored }, offered] = await Promise.all([ofConfig(), managed(), ofProject(cwd)]);
      const found = new Map<string, Found>();
      for (const server of [...own.found, ...stored.found, ...offered.found]) {
        if (!found.has(server.name)) found.set(server.name, server);
      }
      const problems = [...own.problems, ...stored.problems, ...offered.problems];
      if (found.size === 0) return { servers: [], problems };
      const { expandEntry } = await import("./expand-entry.ts");
      const servers = [...found.values()].flatMap((server): readonly SourcedServer[] => {
        const { enabled, disabledTools } = file?.switches(server.name) ?? { enabled: undefined, disabledTools: [] };
        const { isDisabled = false, ...entry } = server.entry;
        const isOff = enabled === undefined ? isDisabled : !enabled;
        const listed = {
          ...server,
          ...(disabledTools.length === 0 ? {} : { disabledTools }),
          entry: { ...entry, ...(isOff ? { isDisabled: true } : {}) },
        };
        if (isOff || server.isUntrusted === true) return [listed];
        const whole = expandEntry(listed, env);
        if ("entry" in whole) return [{ ...listed, entry: whole.entry }];
        problems.push(whole.fault);
        return [];
      });
      return { servers, problems };
    },

    async add(server) {
      const fault = serverNameFault(server.name);
      if (fault !== undefined) throw new AgentError("usage", `The server's name ${fault}.`);
      const isConfigured = configured !== undefined && Object.hasOwn(configured, server.name);
      const isNew = !isConfigured && (await (await import("./managed-file.ts")).addManaged(home, server));
      if (isNew) return;
      const where = isConfigured ? "config.yaml" : "mcp.json";
      throw new AgentError("usage", `${where} already has an MCP server "${server.name}". Remove it first.`);
    },

    async remove(name) {
      if (!existsSync(join(home, "mcp.json"))) return false;
      return (await import("./managed-file.ts")).removeManaged(home, name);
    },

    async setEnabled(name, isEnabled, cwd) {
      if (!(await knows(name, cwd))) return false;
      const { changeSwitches } = await import("./managed-file.ts");
      await changeSwitches(home, name, (before) => ({ ...before, enabled: isEnabled }));
      return true;
    },

    async setToolEnabled(server, tool, isEnabled, cwd) {
      if (!(await knows(server, cwd))) return false;
      const { changeSwitches } = await import("./managed-file.ts");
      await changeSwitches(home, server, ({ disabledTools, ...before }) => {
        const others = disabledTools.filter((name) => name !== tool);
        return { ...before, disabledTools: isEnabled ? others : [...others, tool] };
      });
      return true;
    },
  };
}
