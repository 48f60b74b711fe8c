import { AgentError } from "../engine/errors.ts";
import type { Clock, ModelCatalog, ModelEvent, ModelInfo, ModelPort } from "../engine/ports.ts";
import type { Candidate, RetryOptions } from "./chain.ts";
import { type ModelWithFallbacks, withFallbacks } from "./fallbacks.ts";
import { offlineInfo } from "./offline/info.ts";
import type { ModelChoices } from "./providers/model-entry.ts";
import { timeoutsOf, unaliased } from "./providers/model-entry.ts";
import type { ModelTimeouts } from "./providers/model-spec.ts";
import type { Provider } from "./providers/providers.ts";
import { scriptPatience } from "./scripted/script-attempts.ts";
import { scriptInfo } from "./scripted/script-info.ts";

export interface ModelCatalogOptions {
  /** Listed first after the override. */
  readonly defaultModel: string;
  /** Replaces every requested model. */
  readonly override?: string;
  /** The `models` section of the user's configuration. */
  readonly choices?: ModelChoices;
  /** Variables with API keys and addresses. */
  readonly env?: Environment;
  /** Reads and parses a script file. Rejects with the reason if it can't. */
  loadScript(path: string): Promise<unknown>;
  /** Called when a provider is first used, so that the network code loads late. */
  fetch?(timeouts: ModelTimeouts): Promise<typeof globalThis.fetch>;
  readonly clock: Clock;
  readonly retry?: RetryOptions;
}

const scriptPrefix = "script:";

/** `model` makes single attempts, `port` whole replies. */
type OpenModel = Candidate & ModelWithFallbacks;

export function createModelCatalog(options: ModelCatalogOptions): ModelCatalog {
  const { choices = {}, env = {}, clock, retry, override } = options;
  const ports = new Map<string, Promise<OpenModel | undefined>>();
  const infos = new Map<string, ModelInfo>();

  /** Turns an id into an adapter, loading its code on first use. */
  const open = async (id: string): Promise<Candidate | undefined> => {
    if (id === offlineInfo.id) {
      const load = async () => (await import("./offline/offline-model.ts")).createOfflineModel();
      return { model: loadedOnFirstCall({ info: offlineInfo }, load), options: {} };
    }
    if (isScript(id)) {
      const path = id.slice(scriptPrefix.length);
      const loaded = await Promise.all([import("./scripted/scripted.ts"), loadedScript(options, path)]);
      const [{ createScriptedModel }, script] = loaded;
      const silence = timeoutsOf(choices.timeouts);
      return { model: createScriptedModel({ id, script, path, clock }), options: { ...scriptPatience, silence } };
    }
    const { specFor } = await import("./providers/configured.ts");
    const spec = specFor(id, choices, env);
    const { fetch } = options;
    if (spec === undefined || fetch === undefined) return undefined;
    const load = async (): Promise<ModelPort> => {
      const { createProviderModel } = await import("./calls/provider-model.ts");
      // All models share the rule for silence, so the connection has no timeout for it.
      const timeouts = { ...spec.timeouts, firstByteMs: Number.POSITIVE_INFINITY, idleMs: Number.POSITIVE_INFINITY };
      return createProviderModel(spec, await fetch(timeouts), () => clock.now());
    };
    const patience = { ...retry, ...spec.retries, silence: spec.timeouts };
    return { model: loadedOnFirstCall({ info: spec.info, boundsSilence: true }, load), options: patience };
  };

  const openWithRetries = async (id: string): Promise<OpenModel | undefined> => {
    const opened = await open(id);
    if (opened === undefined) return undefined;
    if (id === offlineInfo.id) return { ...opened, port: () => opened.model };
    const { fallbacks: _, ...alone } = choices;
    return { ...opened, ...withFallbacks(opened, id, override === undefined ? choices : alone, clock, port) };
  };

  /** One port for all sessions, so that a script counts all its calls. Failures are not cached. */
  const port = async (id: string): Promise<OpenModel | undefined> => {
    const opening = ports.get(id) ?? openWithRetries(id);
    if (!ports.has(id)) ports.set(id, opening);
    try {
      const opened = await opening;
      if (opened === undefined) ports.delete(id);
      else infos.set(id, opened.model.info);
      return opened;
    } catch (error) {
      ports.delete(id);
      throw error;
    }
  };

  const list = async (): Promise<readonly ModelInfo[]> => {
    const { statusFor, usableModels } = await import("./providers/configured.ts");
    const usable = new Map(usableModels(choices, env).map((info) => [info.id, info]));
    const infoOf = (id: string): ModelInfo | undefined => {
      if (id === offlineInfo.id) return offlineInfo;
      return infos.get(id) ?? usable.get(id) ?? (isScript(id) ? scriptInfo(id) : statusFor(id, choices, env)?.info);
    };
    const ids = new Set([override, options.defaultModel, ...usable.keys(), offlineInfo.id]);
    return [...ids].flatMap((id) => (id === undefined ? [] : (infoOf(unaliased(id, choices)) ?? [])));
  };

  return {
    list,

    async unusable() {
      const { modelStatuses } = await import("./providers/configured.ts");
      return modelStatuses(choices, env).flatMap(({ info, problem }) =>
        problem === undefined ? [] : [{ info, problem }],
      );
    },

    async resolve(requested, allowed) {
      const id = override ?? requested;
      const found = await port(unaliased(id, choices));
      if (found !== undefined) return found.port(allowed);
      const { fallback } = choices;
      const second = fallback === undefined ? undefined : (await port(unaliased(fallback, choices)))?.port(allowed);
      if (second === undefined) throw await unknownModel(id, await list(), env);
      return withNotice(second, `Unknown model "${id}". Using ${second.info.id} (models.fallback).`);
    },
  };
}

/** Resolving a model, as every new client does, must not load the code that calls it. */
function loadedOnFirstCall(known: Omit<ModelPort, "stream">, load: () => Promise<ModelPort>): ModelPort {
  let loaded: ModelPort | undefined;
  async function* afterLoading(...call: Parameters<ModelPort["stream"]>): AsyncGenerator<ModelEvent> {
    loaded ??= await load();
    yield* loaded.stream(...call);
  }
  return { ...known, stream: (...call) => (loaded?.stream ?? afterLoading)(...call) };
}

function isScript(id: string): boolean {
  return id.startsWith(scriptPrefix) && id.length > scriptPrefix.length;
}

function withNotice(port: ModelPort, text: string): ModelPort {
  return {
    ...port,
    async *stream(...asked) {
      yield { type: "notice", level: "warning", text };
      yield* port.stream(...asked);
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

type Environment = Readonly<Record<string, string | undefined>>;

async function unknownModel(id: string, known: readonly ModelInfo[], env: Environment): Promise<AgentError> {
  const [{ familyOf, wellKnownNames }, { providers }] = await Promise.all([
    import("./providers/known-models.ts"),
    import("./providers/providers.ts"),
  ]);
  const names = [...new Set([...known.map((info) => info.id), "<provider>/<model>", `${scriptPrefix}<file>`])];
  const candidates = [...known.map((info) => info.id), ...wellKnownNames()];
  // gpt-9 is probably a newer model, not a typo of gpt-5.
  const isVersion = (name: string): boolean => name.replace(/\d/g, "") === id.toLowerCase().replace(/\d/g, "");
  const isNear = (name: string): boolean => !isVersion(name) && distance(name, id.toLowerCase()) <= 2;
  const near = id.length < 5 ? undefined : candidates.find(isNear);
  const meant = near ?? (/^script\b/i.test(id) ? `${scriptPrefix}<file>` : undefined);
  const hint = meant === undefined ? providerHint(id, familyOf(id), providers, env) : ` Did you mean "${meant}"?`;
  return new AgentError("model_unknown", `Unknown model "${id}".${hint} Known models: ${names.join(", ")}.`);
}

/** Most unknown names only lack their provider. */
function providerHint(
  id: string,
  family: string | undefined,
  providers: readonly Provider[],
  env: Environment,
): string {
  const slash = id.indexOf("/");
  if (slash > 0) {
    const names = providers.map((provider) => provider.id);
    const named = id.slice(0, slash);
    return names.includes(named) ? "" : ` Unknown provider "${named}". Providers: ${names.join(", ")}.`;
  }
  if (id === "") return "";
  if (providers.some((provider) => provider.id === id))
    return ` That is a provider. Name one of its models: "${id}/<model>".`;
  if (family === undefined) return ` If a provider has it, use "<provider>/${id}".`;
  const key = providers.find((provider) => provider.id === family)?.keyVariables[0];
  const needs = key === undefined || (env[key] ?? "") !== "" ? "" : ` It needs ${key}.`;
  return ` Did you mean "${family}/${id}"?${needs}`;
}

/** Levenshtein distance; 3 if it is surely more than 2. */
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
