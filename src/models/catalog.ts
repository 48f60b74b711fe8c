import { AgentError } from "../core/errors.ts";
import type { Clock, ModelCatalog, ModelInfo, ModelPort } from "../core/ports.ts";
import { offlineInfo } from "./offline/info.ts";
import { type RetryOptions, withRetries } from "./retry.ts";
import { scriptInfo } from "./script-info.ts";

export interface ModelCatalogOptions {
  /** Used when nothing else is asked for; `offline` when it is not set. */
  readonly defaultModel?: string;
  /** Takes the place of every requested model. */
  readonly override?: string;
  /** Reads and parses a script file. Rejects with what is wrong with it. */
  loadScript(path: string): Promise<unknown>;
  readonly clock: Clock;
  readonly retry?: RetryOptions;
}

const scriptPrefix = "script:";

export function createModelCatalog(options: ModelCatalogOptions): ModelCatalog {
  const ports = new Map<string, Promise<ModelPort>>();
  const infos = new Map<string, ModelInfo>();

  /** The place where an id becomes an adapter; each is loaded when it is first asked for. */
  const adapterFor = (id: string): (() => Promise<ModelPort>) | undefined => {
    if (id === offlineInfo.id) {
      return async () => (await import("./offline/offline-model.ts")).createOfflineModel();
    }
    if (id.startsWith(scriptPrefix) && id.length > scriptPrefix.length) {
      return async () => {
        const path = id.slice(scriptPrefix.length);
        const [{ createScriptedModel }, script] = await Promise.all([
          import("./scripted.ts"),
          loadedScript(options, path),
        ]);
        return withRetries(
          createScriptedModel({ id, script, path, clock: options.clock }),
          options.clock,
          options.retry,
        );
      };
    }
    return undefined;
  };

  const infoFor = (id: string): ModelInfo | undefined => {
    if (id === offlineInfo.id) return offlineInfo;
    return (
      infos.get(id) ?? (id.startsWith(scriptPrefix) && id.length > scriptPrefix.length ? scriptInfo(id) : undefined)
    );
  };

  const list = (): readonly ModelInfo[] => {
    const ids = new Set([options.override, options.defaultModel, offlineInfo.id]);
    return [...ids].flatMap((id) => (id === undefined ? [] : (infoFor(id) ?? [])));
  };

  return {
    list,

    async resolve(requested) {
      const id = options.override ?? requested;
      const known = ports.get(id);
      if (known !== undefined) return known;
      const load = adapterFor(id);
      if (load === undefined) throw unknownModel(id, list());
      // One port for all sessions, so that a script's calls are counted together. A failure is not kept.
      const loading = load();
      ports.set(id, loading);
      try {
        const port = await loading;
        infos.set(id, port.info);
        return port;
      } catch (error) {
        ports.delete(id);
        throw error;
      }
    },
  };
}

async function loadedScript(options: ModelCatalogOptions, path: string): Promise<unknown> {
  try {
    return await options.loadScript(path);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = message.split("\n", 1)[0] ?? "";
    throw new AgentError("script_invalid", line.includes(path) ? line : `${path}: ${line}`, { cause: error });
  }
}

function unknownModel(id: string, known: readonly ModelInfo[]): AgentError {
  const names = [...new Set([...known.map((info) => info.id), `${scriptPrefix}<file>`])];
  const near = known.map((info) => info.id).find((name) => distance(name, id.toLowerCase()) <= 2);
  const hint =
    near !== undefined
      ? ` Did you mean "${near}"?`
      : /^script\b/i.test(id)
        ? ` Did you mean "${scriptPrefix}<file>"?`
        : "";
  return new AgentError("model_unknown", `Unknown model "${id}".${hint} Known models: ${names.join(", ")}.`);
}

/** How many letters must be added, left out or changed. */
function distance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > 2) return 3;
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      next.push(Math.min((row[j] ?? 0) + (letter === other ? 0 : 1), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
