import type { ModelInfo } from "../../engine/ports.ts";
import { shownUrl } from "../calls/redact.ts";
import { keyedModels, namedModels } from "./known-models.ts";
import { type ModelChoices, retriesOf, timeoutsOf } from "./model-entry.ts";
import type { ModelSpec } from "./model-spec.ts";
import { providers } from "./providers.ts";
import { type FaultyModel, hasKey, movedFault, readEntry, readName, specOfEntry, specOfName } from "./spec-of.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** A model known to the configuration or by name. `problem`: why it can't be used. */
export interface ModelStatus {
  readonly info: ModelInfo;
  /** `configuration`: an entry of config.yaml. `name`: known by name. `own`: built in, or a script. */
  readonly from: "configuration" | "name" | "own";
  /** Its address without secrets. Absent if it runs in this process. */
  readonly address?: string;
  /** The source of its key. Absent without a key. */
  readonly key?: string;
  readonly problem?: string;
}

/** A provider known by name. `problem`: why its models can't be used. */
export interface ProviderStatus {
  readonly id: string;
  readonly name: string;
  /** It runs on this machine. */
  readonly isLocal: boolean;
  /** The listing names its best models. */
  readonly isListed: boolean;
  /** The variable that holds its key. */
  readonly key?: string;
  readonly problem?: string;
}

/** How to call a model that isn't built in. Throws `config_invalid` for an invalid entry. */
export function specFor(id: string, choices: ModelChoices, env: Environment): ModelSpec | undefined {
  const entry = choices.entries?.find((candidate) => candidate.id === id);
  const spec = entry === undefined ? specOfName(id, env) : specOfEntry(entry, env);
  if (spec === undefined) return undefined;
  return {
    ...spec,
    timeouts: timeoutsOf(entry?.timeouts, choices.timeouts),
    retries: retriesOf(entry?.retries, choices.retries),
  };
}

/** Like `specFor`, but reports an invalid entry as the model's problem. */
export function statusFor(id: string, choices: ModelChoices, env: Environment): ModelStatus | undefined {
  const entry = choices.entries?.find((candidate) => candidate.id === id);
  if (entry !== undefined) return statusOf(readEntry(entry, env), "configuration");
  const found = readName(id, env);
  return found === undefined ? undefined : statusOf(found, "name");
}

/** Configured entries first, then models known by name: of all providers, or only of some. */
export function modelStatuses(
  choices: ModelChoices,
  env: Environment,
  isWanted: (provider: string) => boolean = () => true,
): readonly ModelStatus[] {
  const own = (choices.entries ?? []).map((entry) => statusOf(readEntry(entry, env), "configuration"));
  const taken = new Set(own.map(({ info }) => info.id));
  const named = [namedModels, keyedModels]
    .flatMap((table) => Object.entries(table))
    .flatMap(([provider, names]) => (isWanted(provider) ? names : []))
    .filter((name) => !taken.has(name))
    .flatMap((name) => readName(name, env) ?? [])
    .map((found) => statusOf(found, "name"));
  return [...own, ...named];
}

/** Fast, because every client asks for it when it connects: skips the models of providers without a key. */
export function usableModels(choices: ModelChoices, env: Environment): readonly ModelInfo[] {
  return modelStatuses(choices, env, (provider) => hasKey(provider, env)).flatMap(({ info, problem }) =>
    problem === undefined ? info : [],
  );
}

function statusOf(spec: ModelSpec | FaultyModel, from: ModelStatus["from"]): ModelStatus {
  if ("fault" in spec) return { info: spec.info, from, problem: spec.fault };
  const { info, missing } = spec;
  return {
    info,
    from,
    address: shownUrl(spec.baseUrl),
    ...(spec.apiKey === undefined ? {} : { key: spec.keyPlace }),
    ...(missing === undefined ? {} : { problem: missing }),
  };
}

/** All providers with a default address. */
export function providerStatuses(env: Environment): readonly ProviderStatus[] {
  return providers.flatMap((provider) => {
    const { id, name, baseUrl, keyVariables, isLocal = false } = provider;
    if (baseUrl === "") return [];
    const key = keyVariables.find((variable) => (env[variable] ?? "") !== "");
    const isListed = Object.hasOwn(namedModels, id);
    const unset =
      keyVariables.length === 1 ? `${keyVariables[0]} is not set` : `none of ${keyVariables.join(", ")} is set`;
    const problem = key === undefined && !isLocal ? unset : movedFault(provider, env);
    const state = { ...(key === undefined ? {} : { key }), ...(problem === undefined ? {} : { problem }) };
    return [{ id, name, isLocal, isListed, ...state }];
  });
}
