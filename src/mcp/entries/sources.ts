import { existsSync } from "node:fs";
import { join } from "node:path";
import type { UserConfig } from "../../config/check/checked-config.ts";
import { repositoryRoot } from "../../config/rules/repository-folders.ts";
import { AgentError, failureOf } from "../../engine/errors.ts";
import { type NamedServer, serverNameFault } from "../../engine/servers/server-entry.ts";
import type { ManagedServers } from "./managed-file.ts";
import type { SourcedServer, WrittenServer } from "./sourced-server.ts";

export interface ServerSourcesOptions {
  /** Tinman's own. */
  readonly home: string;
  readonly config: UserConfig["mcp"];
  /** For `${NAME}` in entries. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Where servers are configured: config.yaml, `$TINMAN_HOME/mcp.json`, and `.mcp.json` of the repository. */
export interface ServerSources {
  /**
   * The servers for a folder (canonical), the user's first. Read anew each time. `problems`: one sentence each about what
   * is skipped or not trusted. Never rejects.
   */
  list(cwd: string): Promise<{ readonly servers: readonly SourcedServer[]; readonly problems: readonly string[] }>;
  /**
   * Stores a server in mcp.json. Rejects with `usage` for a bad or known name, `config_invalid` or `storage_failed`.
   * `replaces`: mcp.json can know the name.
   */
  add(server: NamedServer, options?: { readonly replaces?: boolean }): Promise<void>;
  /** False if mcp.json has no such server. */
  remove(name: string): Promise<boolean>;
  /** False for an unknown server. Those of a repository are known by its folder. */
  setEnabled(name: string, isEnabled: boolean, cwd?: string): Promise<boolean>;
  setToolEnabled(server: string, tool: string, isEnabled: boolean, cwd?: string): Promise<boolean>;
}

/** For people: entries as their files have them. */
export interface WrittenSources extends ServerSources {
  written(cwd: string): Promise<WrittenServers>;
}

export interface WrittenServers {
  readonly servers: readonly WrittenServer[];
  readonly problems: readonly string[];
}

const none: WrittenServers = { servers: [], problems: [] };

/** Loads what reads entries only when there are some. */
export function createServerSources({ home, config, env }: ServerSourcesOptions): WrittenSources {
  const configured = config?.servers;

  const ofConfig = async (): Promise<WrittenServers> => {
    if (configured === undefined) return none;
    const { configuredServers } = await import("./decode-entry.ts");
    const servers = configuredServers(configured).map((server) => ({ ...server, file: "config.yaml" as const }));
    return { servers, problems: [] };
  };

  const managed = async (): Promise<WrittenServers & { readonly switches?: ManagedServers["switches"] }> => {
    if (!existsSync(join(home, "mcp.json"))) return none;
    try {
      const { servers, ...file } = await (await import("./managed-file.ts")).readManaged(home);
      return { ...file, servers: servers.map((server) => ({ ...server, file: "mcp.json" })) };
    } catch (error) {
      return { servers: [], problems: [failureOf(error).message] };
    }
  };

  const ofProject = async (cwd: string): Promise<WrittenServers> => {
    const root = await repositoryRoot(cwd);
    const folders = [...new Set([cwd, root])].filter((folder) => existsSync(join(folder, ".mcp.json")));
    if (folders.length === 0) return none;
    const [{ offeredServers }, { readTrust }] = await Promise.all([import("./project-file.ts"), import("./trust.ts")]);
    const offered = await offeredServers(folders, root);
    const problems = [...offered.problems];
    const trust = await readTrust(home).catch((error: unknown) => {
      problems.push(failureOf(error).message);
      return () => "new" as const;
    });
    const servers = offered.servers.map((server): WrittenServer => {
      const { name, entry, folder } = server;
      return { name, entry, file: ".mcp.json", offer: { folder, trust: trust(server) } };
    });
    return { servers, problems };
  };

  const all = async (cwd: string | undefined) => {
    const [own, stored, offered] = await Promise.all([
      ofConfig(),
      managed(),
      cwd === undefined ? none : ofProject(cwd),
    ]);
    const found = new Map<string, WrittenServer>();
    for (const server of [...own.servers, ...stored.servers, ...offered.servers]) {
      if (!found.has(server.name)) found.set(server.name, server);
    }
    const problems = [...own.problems, ...stored.problems, ...offered.problems];
    return { found, problems, switches: stored.switches };
  };

  const written = async (cwd: string): Promise<WrittenServers> => {
    const { found, problems, switches } = await all(cwd);
    const servers = [...found.values()].map((server) => {
      const { enabled, disabledTools = [] } = switches?.(server.name) ?? {};
      const { isDisabled = false, ...entry } = server.entry;
      const isOff = enabled === undefined ? isDisabled : !enabled;
      return {
        ...server,
        entry: { ...entry, ...(isOff ? { isDisabled: true } : {}) },
        ...(disabledTools.length === 0 ? {} : { disabledTools }),
      };
    });
    return { servers, problems };
  };

  return {
    written,

    async list(cwd) {
      const { servers, problems } = await written(cwd);
      if (servers.length === 0) return { servers: [], problems };
      const { usable } = await import("./usable-servers.ts");
      return usable(servers, problems, env);
    },

    async add(server, options) {
      const fault = serverNameFault(server.name);
      if (fault !== undefined) throw new AgentError("usage", `The server's name ${fault}.`);
      const isConfigured = configured !== undefined && Object.hasOwn(configured, server.name);
      const isNew = !isConfigured && (await (await import("./managed-file.ts")).addManaged(home, server, options));
      if (isNew) return;
      const where = isConfigured ? "config.yaml" : "mcp.json";
      throw new AgentError("usage", `${where} already has an MCP server "${server.name}". Remove it first.`);
    },

    async remove(name) {
      if (!existsSync(join(home, "mcp.json"))) return false;
      return (await import("./managed-file.ts")).removeManaged(home, name);
    },

    async setEnabled(name, isEnabled, cwd) {
      const server = (await all(cwd)).found.get(name);
      if (server === undefined) return false;
      const isEnabledByFile = server.entry.isDisabled !== true;
      const { changeSwitches } = await import("./managed-file.ts");
      await changeSwitches(home, name, ({ enabled: _, ...others }) =>
        isEnabled === isEnabledByFile ? others : { ...others, enabled: isEnabled },
      );
      return true;
    },

    async setToolEnabled(server, tool, isEnabled, cwd) {
      if (!(await all(cwd)).found.has(server)) return false;
      const { changeSwitches } = await import("./managed-file.ts");
      await changeSwitches(home, server, ({ disabledTools, ...before }) => {
        const others = disabledTools.filter((name) => name !== tool);
        return { ...before, disabledTools: isEnabled ? others : [...others, tool] };
      });
      return true;
    },
  };
}
