import { existsSync, realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import type { Composition } from "../../compose.ts";
import type { Backend } from "../../frontends/acp/backend.ts";
import type { Io } from "../../frontends/front-end.ts";
import type { ConnectionOptions } from "../../frontends/stream-jsonrpc/context.ts";
import type { Connection, SettingsChange } from "../../sdk/api.ts";
import { linkedConnection } from "../../sdk/connection/linked.ts";
import { listSessions } from "../../sdk/node/list-sessions.ts";
import { spawnBackend } from "../../sdk/node/spawn.ts";
import type { GivenAcp, SessionsOf } from "./acp-options.ts";

/**
 * The backends of `tinman acp`. Both are reached by the SDK over stream-jsonrpc, in this process or another one, so that
 * one translator serves both and editors see no difference.
 */

/** Our own engine in this process, loaded while the editor is still connecting. */
export function engineBackend(given: GivenAcp, io: Io): Backend {
  let loaded: Promise<Loaded> | undefined;
  const load = (): Promise<Loaded> => {
    loaded ??= loadEngine(given, io);
    return loaded;
  };
  return {
    settings: {},
    connect: () => async () => linked(await load()),
    list: async ({ cwd }) => {
      const { engine } = (await load()).composition;
      return engine.list(cwd === undefined ? {} : { cwd: await realpath(cwd).catch(() => cwd) });
    },
    remove: async (id) => (await load()).composition.store.remove(id),
    // The first caller that needs the engine gets its errors.
    prepare: () => void load().catch(() => undefined),
    async authenticate() {
      const { composition, options } = await load();
      const { info } = await composition.models.resolve(options.defaults.modelId);
      const problem = (await composition.models.unusable()).find(({ info: each }) => each.id === info.id)?.problem;
      if (problem !== undefined) throw new Error(problem);
    },
    close: async () => (await loaded?.catch(() => undefined))?.composition.engine.close(),
  };
}

interface Loaded {
  readonly composition: Composition;
  readonly options: ConnectionOptions;
  readonly serve: typeof import("../../frontends/stream-jsonrpc/connection.ts").Connection;
}

async function loadEngine(given: GivenAcp, io: Io): Promise<Loaded> {
  const [{ compose }, { connectionOptions }, { Connection: serve }] = await Promise.all([
    import("../../compose.ts"),
    import("./connection-options.ts"),
    import("../../frontends/stream-jsonrpc/connection.ts"),
  ]);
  const composition = await compose(process.env, { sandboxMode: given.sandbox, serverWaitMs: given.mcpWait });
  const { onDefaultModel: _, ...options } = await connectionOptions(given, composition, io);
  // The front end shows notices itself.
  const log = { ...options.log, event: async () => undefined };
  return { composition, serve, options: { ...options, log } };
}

function linked({ composition, options, serve }: Loaded): Connection {
  const [near, far] = linkedConnection();
  const server = new serve(composition.engine, far, options);
  const served = server.run().finally(() => far.close());
  served.catch((error: unknown) => void options.log.warn(String(error)));
  return {
    ...near,
    async close() {
      await near.close();
      await server.close();
    },
  };
}

/** One word, or the path of an existing file, is a program. */
function isProgram(command: string): boolean {
  return /^\S+$/.test(command) || existsSync(command);
}

/** A program that speaks stream-jsonrpc, one process per session. */
export function commandBackend(command: string, given: GivenAcp): Backend {
  const owner = given.sessions ?? ownerOf(command);
  const start = isProgram(command) ? { executable: command } : { command };
  return {
    settings: settingsOf(given),
    connect: (cwd) => spawnBackend({ ...start, cwd }),
    ...(owner === "none" ? {} : { list: async (query: { readonly cwd?: string }) => listed(owner, query) }),
    ...(owner === "tinman" ? { remove: removeOwn } : {}),
    prepare: () => undefined,
    authenticate: async () => undefined,
    close: async () => undefined,
  };
}

function settingsOf({ model, reasoningEffort, auto, useSpec }: GivenAcp): SettingsChange {
  return {
    ...(model === undefined ? {} : { modelId: model }),
    ...(reasoningEffort === undefined ? {} : { reasoningEffort }),
    ...(auto === undefined ? {} : { autonomyLevel: auto }),
    ...(useSpec === true ? { interactionMode: "spec" } : {}),
  };
}

async function removeOwn(id: string): Promise<void> {
  const { compose } = await import("../../compose.ts");
  await (await compose()).store.remove(id);
}

/** The owner of a program's sessions, judged by its name. */
function ownerOf(command: string): SessionsOf {
  const words = command.split(/\s+/).map((each) => each.replace(/^["']|["']$/g, ""));
  const isNamed = (name: string) => words.some((each) => basename(each).replace(/\.\w+$/, "") === name);
  if (isNamed("droid")) return "droid";
  return isNamed("tinman") || words.some(isThisProgram) ? "tinman" : "none";
}

function isThisProgram(path: string): boolean {
  try {
    return realpathSync(path) === realpathSync(process.argv[1] ?? "");
  } catch {
    return false;
  }
}

async function listed(owner: Exclude<SessionsOf, "none">, query: { readonly cwd?: string }) {
  const all = await listSessions({ ...query, droid: owner === "droid" });
  return all.filter(({ backend }) => backend === owner);
}
