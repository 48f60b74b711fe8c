import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Homes } from "./config/home.ts";
import { findHomes } from "./config/home.ts";
import { readInstructions } from "./config/instructions.ts";
import { loadUserConfig, readDocument } from "./config/load.ts";
import type { UserConfig } from "./config/schema.ts";
import { Engine } from "./core/engine.ts";
import type { Host, ModelCatalog, SessionStore } from "./core/ports.ts";
import { canonicalPath } from "./host/canonical-path.ts";
import { systemClock as clock, createIds } from "./host/clock-and-ids.ts";
import { describeEnvironment } from "./host/environment.ts";
import { createNodeHost } from "./host/node-host.ts";
import { createModelCatalog } from "./models/catalog.ts";
import { permissionPolicy } from "./permissions/policy.ts";
import { createJsonlStore } from "./store/jsonl-store.ts";
import { builtinTools } from "./tools/all.ts";

/** Everything a command may need, built from the environment and the user's configuration. */
export interface Composition {
  readonly homes: Homes;
  readonly config: UserConfig;
  readonly store: SessionStore;
  readonly models: ModelCatalog;
  /** `TINMAN_MODEL`: takes the place of every model that is asked for. */
  readonly modelOverride: string | undefined;
  /** For runs that name no model. */
  readonly defaultModel: string;
  readonly host: Host;
  readonly engine: Engine;
  /** Begins to look around in a folder that is about to be worked in, while the rest is being loaded. */
  lookAround(cwd: string): void;
}

/** Decisions about protected places compare paths whose links are resolved, so the homes' are too. */
async function resolved({ user, own }: Homes): Promise<Homes> {
  const real = async (path: string): Promise<string> => {
    try {
      return realpathSync.native(path);
    } catch {
      // Not there yet: resolved as far as it goes.
      return canonicalPath(path, "/").catch(() => path);
    }
  };
  return { user: await real(user), own: await real(own) };
}

/** The only place that knows every adapter. Rejects with `config_invalid`. */
export async function compose(env: NodeJS.ProcessEnv = process.env): Promise<Composition> {
  const homes = await resolved(findHomes(env));
  const config = await loadUserConfig(homes.own);
  const outputsDir = join(homes.own, "outputs");
  const store = createJsonlStore({
    home: homes.own,
    ...(config.durability === undefined ? {} : { durability: config.durability }),
  });
  const modelOverride = env.TINMAN_MODEL || undefined;
  const defaultModel = modelOverride ?? config.model ?? "offline";
  const models = createModelCatalog({
    ...(config.model === undefined ? {} : { defaultModel: config.model }),
    ...(modelOverride === undefined ? {} : { override: modelOverride }),
    loadScript: readDocument,
    clock,
  });
  const environment = describeEnvironment({ cacheFile: join(homes.own, "cache", "tool-versions.json") });
  const look = async (cwd: string): Promise<readonly string[]> =>
    (await Promise.all([environment(cwd), readInstructions(homes.own, cwd)])).flat();
  const begun = new Map<string, Promise<readonly string[]>>();
  const host = createNodeHost({ outputsDir, passEnvironment: config.passEnvironment ?? [] });
  const engine = new Engine({
    store,
    models,
    policy: permissionPolicy,
    tools: builtinTools,
    host,
    context: {
      reminders: (cwd) => {
        const seen = begun.get(cwd) ?? look(cwd);
        begun.delete(cwd);
        return seen;
      },
    },
    clock,
    ids: createIds(),
    places: { home: homes.user, ownHome: homes.own, outputs: (sessionId) => join(outputsDir, sessionId) },
    toolSchema: async (tool) => (await import("./tools/json-schema.ts")).toolJsonSchema(tool),
  });
  return {
    homes,
    config,
    store,
    models,
    modelOverride,
    defaultModel,
    host,
    engine,
    lookAround: (cwd) => void begun.set(cwd, look(cwd)),
  };
}
