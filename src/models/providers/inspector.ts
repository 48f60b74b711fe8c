import { AgentError, failureOf } from "../../engine/errors.ts";
import type { ModelInfo } from "../../engine/ports.ts";
import { offlineInfo } from "../offline/info.ts";
import { scriptInfo } from "../scripted/script-info.ts";
import type { ModelStatus, ProviderStatus } from "./configured.ts";
import { modelStatuses, providerStatuses, statusFor } from "./configured.ts";
import type { LocalServer } from "./discover.ts";
import { discoverLocalModels } from "./discover.ts";
import { type ModelChoices, type ModelEntry, unaliased } from "./model-entry.ts";
import type { ModelTimeouts } from "./model-spec.ts";
import { readEntry, specOfEntry } from "./spec-of.ts";

/** An alias or fallback. `problem`: why it can't be used. */
export interface NameStatus {
  readonly name: string;
  readonly leadsTo: string;
  readonly problem?: string;
}

export interface ModelOverview {
  /** The default, then the usable models, then the others. */
  readonly models: readonly ModelStatus[];
  readonly providers: readonly ProviderStatus[];
  readonly aliases: readonly NameStatus[];
  readonly fallback?: NameStatus;
  readonly fallbacks: readonly NameStatus[];
}

/** Information about models for commands such as `tinman models`; runs don't need it. */
export interface ModelInspector {
  /** `defaultModel`: for runs that name no model. */
  overview(defaultModel: ModelInfo): ModelOverview;
  /** By id or alias; `undefined` for an unknown one. */
  status(id: string): ModelStatus | undefined;
  /** Throws `config_invalid`, in one line, if any entry is invalid. */
  check(choices: ModelChoices): void;
  /** An entry's fault, if any. */
  faultIn(entry: ModelEntry): string | undefined;
  /** Queries the usual model servers on this machine. Never rejects; an abort ends it at once. */
  discover(signal: AbortSignal): Promise<readonly LocalServer[]>;
}

export interface InspectorOptions {
  readonly choices: ModelChoices;
  readonly env: Readonly<Record<string, string | undefined>>;
  fetch(timeouts: ModelTimeouts): Promise<typeof globalThis.fetch>;
}

export function createModelInspector({ choices, env, fetch }: InspectorOptions): ModelInspector {
  const { aliases = {} } = choices;

  const status = (name: string): ModelStatus | undefined => {
    const id = unaliased(name, choices);
    if (id === offlineInfo.id) return { info: offlineInfo, from: "own" };
    if (id.startsWith("script:")) return { info: scriptInfo(id), from: "own" };
    return statusFor(id, choices, env);
  };

  const named = (name: string, leadsTo: string, found: ModelStatus | undefined): NameStatus => {
    const problem = found === undefined ? `unknown model "${leadsTo}"` : found.problem;
    return { name, leadsTo, ...(problem === undefined ? {} : { problem }) };
  };

  return {
    overview(defaultModel) {
      const known = [...modelStatuses(choices, env), { info: offlineInfo, from: "own" } as const];
      const first = { ...(status(defaultModel.id) ?? { from: "own" as const }), info: defaultModel };
      const others = known.filter(({ info }) => info.id !== defaultModel.id);
      const { fallback, fallbacks = [] } = choices;
      return {
        models: [
          first,
          ...others.filter(({ problem }) => problem === undefined),
          ...others.filter(({ problem }) => problem !== undefined),
        ],
        providers: providerStatuses(env),
        // Aliases don't chain.
        aliases: Object.entries(aliases).map(([name, id]) => {
          const isAlias = Object.hasOwn(aliases, id) && id !== name;
          return named(name, id, isAlias ? statusFor(id, choices, env) : status(id));
        }),
        ...(fallback === undefined ? {} : { fallback: named("fallback", fallback, status(fallback)) }),
        fallbacks: fallbacks.map((id) => named("fallbacks", id, status(id))),
      };
    },
    status,
    check(given) {
      const faults = (given.entries ?? []).flatMap((entry) => {
        try {
          specOfEntry(entry, env);
          return [];
        } catch (error) {
          return [failureOf(error).message];
        }
      });
      if (faults.length > 0) throw new AgentError("config_invalid", faults.join(" "));
    },
    faultIn(entry) {
      const found = readEntry(entry, env);
      return "fault" in found ? found.fault : undefined;
    },
    discover: (signal) => discoverLocalModels(fetch, env, signal),
  };
}
