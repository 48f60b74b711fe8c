import { realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { UserConfig } from "./config/check/checked-config.ts";
import { namedVariables } from "./config/check/named-variables.ts";
import type { Homes } from "./config/home.ts";
import { readInstructions, readInstructionsBelow } from "./config/instructions.ts";
import { loadUserConfig, readDocument } from "./config/load.ts";
import { removeOldCopies } from "./config/old-copies.ts";
import { ownHomes } from "./config/own-homes.ts";
import { adminFiles, loadRules } from "./config/rules/rules.ts";
import { seenPlaces } from "./engine/calls/evidence.ts";
import { containedFor, containingFor } from "./engine/calls/session-sandbox.ts";
import { fixedTools } from "./engine/calls/tool-source.ts";
import { type SandboxOptions, sandboxModes } from "./engine/containment.ts";
import type { ContextOptions } from "./engine/context/budget.ts";
import { Engine } from "./engine/engine.ts";
import type { EngineParts } from "./engine/engine-parts.ts";
import { AgentError } from "./engine/errors.ts";
import type { DecisionContext, PermissionPolicy } from "./engine/permission.ts";
import type { Clock, Host, Ids, ModelCatalog, SessionStore } from "./engine/ports.ts";
import type { ServerEventBody } from "./engine/servers/server-state.ts";
import type { ToolServers } from "./engine/servers/tool-servers.ts";
import { systemClock as clock, createIds } from "./host/clock-and-ids.ts";
import type { WithheldVariable } from "./host/environment/command-environment.ts";
import { describeEnvironment } from "./host/environment/environment.ts";
import { canonicalPath } from "./host/files/canonical-path.ts";
import type { UnfinishedWrite } from "./host/files/unfinished-writes.ts";
import type { RepositoryName } from "./host/git/repository-name.ts";
import { createNodeHost } from "./host/node-host.ts";
import { shellKind } from "./host/processes/shell.ts";
import { createServerSources } from "./mcp/entries/sources.ts";
import { createOpenServers, type OpenServersOptions } from "./mcp/open-servers.ts";
import type { SignIns } from "./mcp/sign-in/sign-ins.ts";
import { createModelCatalog } from "./models/catalog.ts";
import { modelOfKeys } from "./models/default-model.ts";
import { offlineInfo } from "./models/offline/info.ts";
import type { ModelInspector } from "./models/providers/inspector.ts";
import { unaliased } from "./models/providers/model-entry.ts";
import type { ModelTimeouts } from "./models/providers/model-spec.ts";
import type { UnusedKey } from "./models/providers/unused-key.ts";
import type { Network } from "./net/network.ts";
import { permissionsText } from "./permissions/permissions-text.ts";
import { createPermissionPolicy } from "./permissions/policy.ts";
import { createJsonlStore } from "./store/jsonl-store.ts";
import { durationMs } from "./text/user-words.ts";
import { builtinTools } from "./tools/all.ts";

export { firstLine } from "./host/processes/capture.ts";

export interface CommandVariables {
  readonly passed: readonly string[];
  readonly withheld: readonly WithheldVariable[];
}

/** Everything a command can need, built from the environment and the user's configuration. */
export interface Composition {
  readonly homes: Homes;
  readonly config: UserConfig;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly store: SessionStore;
  readonly models: ModelCatalog;
  /** `TINMAN_MODEL`: replaces every requested model. */
  readonly modelOverride: string | undefined;
  /** For runs that name no model. */
  readonly defaultModel: string;
  /** `TINMAN_MODEL` or the configuration chooses the offline model. */
  readonly isOfflineNamed: boolean;
  /** Whether this is the offline model or an alias of it. */
  namesOffline(modelId: string): boolean;
  /** A provider key that is set. Used when the offline model is used without being chosen. */
  unusedKey(): Promise<UnusedKey | undefined>;
  /** Information about models that runs don't need. */
  inspectModels(): Promise<ModelInspector>;
  readonly host: Host;
  readonly sandboxMode: SandboxOptions["mode"];
  readonly engine: Engine;
  /** Opens configured servers for a command without a session: only the named one, or all. */
  openServers(only?: string, tell?: (event: ServerEventBody) => void): ToolServers;
  readonly policy: PermissionPolicy;
  /**
   * The policy for a read-only run in a folder (canonical) with a user to ask, and notices about the rules there.
   * `assumesSandbox`: treats the sandbox as available. Rejects with `config_invalid`.
   */
  decisionContext(
    cwd: string,
    assumesSandbox?: boolean,
  ): Promise<{ readonly context: DecisionContext; readonly notices: readonly string[] }>;
  /** The name of the repository around a folder; `undefined` outside of one. */
  repositoryName(cwd: string): Promise<RepositoryName | undefined>;
  /** Names of the environment variables that commands get, and of those they don't. */
  commandVariables(): Promise<CommandVariables>;
  /** Files that a crash may have left half-written, each with the path of its complete new content. */
  unfinishedWrites(): Promise<readonly UnfinishedWrite[]>;
  /** Context about a folder for the model. */
  surroundings(cwd: string): Promise<readonly string[]>;
  /** Starts to inspect a folder before it is used, while the rest loads. */
  lookAround(cwd: string): void;
}

/** Protected places are compared as resolved paths, so resolve the homes. */
async function resolved({ user, login, own }: Homes): Promise<Homes> {
  return { user: await real(user), login: login && (await real(login)), own: await real(own) };
}

async function real(path: string): Promise<string> {
  try {
    return realpathSync.native(path);
  } catch {
    // It does not exist yet, so resolve its existing part.
    return canonicalPath(path, "/").catch(() => path);
  }
}

function contextOptions({ context: { compact = true, compactAt, model } = {} }: UserConfig): ContextOptions {
  return {
    isOff: !compact,
    ...(compactAt === undefined ? {} : { compactAt }),
    ...(model === undefined ? {} : { model }),
  };
}

/** Created on first use and shared, so that connections are reused. */
function lazyNetwork(env: NodeJS.ProcessEnv, { network }: UserConfig): () => Promise<Network> {
  let opened: Promise<Network> | undefined;
  const options = network?.caFile === undefined ? {} : { caFile: network.caFile };
  return () => {
    opened ??= import("./net/network.ts").then(({ createNetwork }) => createNetwork(env, options));
    return opened;
  };
}

/** A user who tests a server waits longer than a turn. */
const patientMs = 60_000;

/** A server can think for a long time, and its streams can be silent for longer. Calls have their own limits. */
const serverTimeouts: ModelTimeouts = { connectMs: 10_000, firstByteMs: 3_600_000, idleMs: 86_400_000 };

interface ComposeOptions {
  readonly configFile?: string;
  readonly observe?: EngineParts["observe"];
  /** How long a turn waits for servers. Overrides the configured time. */
  readonly serverWaitMs?: number | undefined;
  /** Overrides the configured mode. */
  readonly sandboxMode?: SandboxOptions["mode"] | undefined;
}

function sandboxModeOf({ TINMAN_SANDBOX: given }: NodeJS.ProcessEnv): SandboxOptions["mode"] | undefined {
  const mode = sandboxModes.find((known) => known === given);
  if (mode !== undefined || given === undefined || given === "") return mode;
  throw new AgentError("usage", `Unknown TINMAN_SANDBOX "${given}". Available: ${sandboxModes.join(", ")}.`);
}

async function sandboxOptions(
  { sandbox = {} }: UserConfig,
  home: string,
  mode: SandboxOptions["mode"] | undefined,
): Promise<SandboxOptions> {
  const { writable = [], network = "proven" } = sandbox;
  const folders = writable.map((folder) => real(folder.replace(/^~(?=\/)/, home)));
  return { mode: mode ?? sandbox.mode ?? "auto", network, writable: await Promise.all(folders) };
}

/**
 * The only function that knows every adapter. `configFile` replaces the user's `config.yaml`. Rejects with
 * `config_invalid`.
 */
export async function compose(
  env: NodeJS.ProcessEnv = process.env,
  { configFile, observe, sandboxMode, serverWaitMs }: ComposeOptions = {},
): Promise<Composition> {
  const homes = await resolved(ownHomes(env));
  const config = await loadUserConfig(homes.own, configFile === undefined ? {} : { file: configFile });
  removeOldCopies(homes.own);
  const openNetwork = lazyNetwork(env, config);
  const [outputsDir, unfinishedDir] = [join(homes.own, "outputs"), join(homes.own, "unfinished")];
  const store = createJsonlStore({
    home: homes.own,
    ...(config.durability === undefined ? {} : { durability: config.durability }),
  });
  const modelOverride = env.TINMAN_MODEL || undefined;
  const configured = config.models?.default ?? config.model;
  const defaultModel = modelOverride ?? configured ?? modelOfKeys(env) ?? offlineInfo.id;
  const namesOffline = (id: string): boolean => unaliased(id, config.models ?? {}) === offlineInfo.id;
  const named = modelOverride ?? configured;
  const openFetch = async (timeouts: ModelTimeouts): Promise<typeof globalThis.fetch> => {
    const [{ createFetch }, network] = await Promise.all([import("./net/http/fetch.ts"), openNetwork()]);
    return createFetch(network, timeouts);
  };
  const models = createModelCatalog({
    defaultModel,
    ...(modelOverride === undefined ? {} : { override: modelOverride }),
    ...(config.models === undefined ? {} : { choices: config.models }),
    env,
    loadScript: readDocument,
    fetch: openFetch,
    clock,
    retry: { random: Math.random },
  });
  const look = async (cwd: string): Promise<readonly string[]> =>
    (await Promise.all([describeEnvironment(cwd), readInstructions(homes.own, cwd)])).flat();
  const begun = new Map<string, Promise<readonly string[]>>();
  const [passEnvironment, hideEnvironment] = [config.passEnvironment ?? [], namedVariables(config)];
  const host = createNodeHost({
    outputsDir,
    specsDir: join(homes.own, "specs"),
    unfinishedDir,
    passEnvironment,
    hideEnvironment,
    ripgrepSettings: join(homes.own, "cache", "ripgreprc"),
    fetch: { allowPrivate: config.fetch?.allowPrivate ?? [] },
    openNetwork,
  });
  const policy = createPermissionPolicy(shellKind);
  const rules = await loadRules({ user: config, adminFiles: adminFiles(env), ownHome: homes.own });
  const places = {
    home: homes.user,
    ...(homes.login === undefined ? {} : { loginHome: homes.login }),
    ownHome: homes.own,
    ...(configFile === undefined ? {} : { ownConfig: configFile }),
    temp: await real(tmpdir()),
    foldsCase: process.platform === "darwin" || process.platform === "win32",
  };
  const ids = createIds();
  const sandbox = await sandboxOptions(config, homes.user, sandboxMode ?? sandboxModeOf(env));
  const sessionPlaces = { ...places, outputs: (sessionId: string) => join(outputsDir, sessionId) };
  const sources = createServerSources({ home: homes.own, config: config.mcp, env });
  const waitMs = serverWaitMs ?? durationMs(config.mcp?.wait);
  let signIns: Promise<SignIns> | undefined;
  const serverParts: OpenServersOptions = {
    clock,
    sources,
    ...(waitMs === undefined ? {} : { limits: { waitMs } }),
    startProgram: host.startServer,
    contain: async (sessionId, cwd) => {
      const { containedServer } = await import("./engine/servers/contained-server.ts");
      return containedServer({ policy, host, sandbox, places: sessionPlaces }, sessionId, cwd);
    },
    release: (sessionId) => host.sandbox.endSession(sessionId),
    fetch: () => openFetch(serverTimeouts),
    signIns: () => {
      signIns ??= import("./mcp/sign-in/sign-ins.ts").then(({ createSignIns }) =>
        createSignIns({ home: homes.own, clock, fetch: () => openFetch(serverTimeouts) }),
      );
      return signIns;
    },
    checkImage: async (bytes) => (await import("./tools/read/read-image.ts")).checkImage(bytes),
  };
  const servers = createOpenServers(serverParts);
  const engine = new Engine({
    sandbox,
    ...(observe === undefined ? {} : { observe }),
    store,
    models,
    policy,
    tools: fixedTools(builtinTools),
    servers,
    host,
    context: {
      reminders: (cwd) => {
        const seen = begun.get(cwd) ?? look(cwd);
        begun.delete(cwd);
        return seen;
      },
      permissions: permissionsText,
      below: readInstructionsBelow,
    },
    compaction: contextOptions(config),
    clock,
    ids,
    rules,
    places: sessionPlaces,
    toolSchema: async (tool) => (await import("./tools/json-schema.ts")).toolJsonSchema(tool),
  });
  return {
    homes,
    config,
    clock,
    ids,
    store,
    models,
    modelOverride,
    defaultModel,
    isOfflineNamed: named !== undefined && namesOffline(named),
    namesOffline,
    unusedKey: async () => (await import("./models/providers/unused-key.ts")).unusedKey(env),
    inspectModels: async () => {
      const { createModelInspector } = await import("./models/providers/inspector.ts");
      return createModelInspector({ choices: config.models ?? {}, env, fetch: openFetch });
    },
    host,
    sandboxMode: sandbox.mode,
    engine,
    openServers: (only, tell = () => undefined) => {
      const list = async (cwd: string) => {
        const { servers: all, problems } = await sources.list(cwd);
        return only === undefined
          ? { servers: all, problems }
          : { servers: all.filter(({ name }) => name === only), problems: [] };
      };
      const open = createOpenServers({ ...serverParts, sources: { ...sources, list }, limits: { waitMs: patientMs } });
      return open({
        sessionId: ids.next(),
        cwd: process.cwd(),
        given: [],
        tell,
        canAsk: () => false,
        ask: async () => undefined,
      });
    },
    policy,
    decisionContext: async (cwd, assumesSandbox) => {
      const found = await rules(cwd);
      const run = { tool: "Execute", autonomy: "off", mode: "auto", approver: true, unsafe: false } as const;
      const seen = await seenPlaces({ policy, host }, { ...places, cwd }, []);
      const parts = { host, sandbox };
      const containing = assumesSandbox ? { sandbox: containedFor(parts, "") } : await containingFor(parts, "");
      return {
        context: { ...run, ...places, ...seen, ...containing, cwd, enabledTools: [], rules: found.rules },
        notices: found.notices,
      };
    },
    repositoryName: async (cwd) => (await import("./host/git/repository-name.ts")).repositoryName(cwd),
    commandVariables: async () => {
      const { sortEnvironment } = await import("./host/environment/command-environment.ts");
      const { passed, withheld } = sortEnvironment(env, passEnvironment, hideEnvironment);
      return { passed: Object.keys(passed), withheld };
    },
    unfinishedWrites: async () => (await import("./host/files/unfinished-writes.ts")).unfinishedWrites(unfinishedDir),
    surroundings: look,
    lookAround: (cwd) => void begun.set(cwd, look(cwd)),
  };
}
