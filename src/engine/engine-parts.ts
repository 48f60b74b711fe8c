import type { ToolSource } from "./calls/tool-source.ts";
import type { SandboxOptions } from "./containment.ts";
import type { ContextOptions } from "./context/budget.ts";
import type { EngineEvent } from "./event.ts";
import type { CommandRules, DecisionContext, PermissionPolicy } from "./permission.ts";
import type { Clock, ContextSource, Host, Ids, ModelCatalog, SessionStore } from "./ports.ts";
import type { OpenServers } from "./servers/tool-servers.ts";
import type { Tool } from "./tool.ts";

/** Everything the engine depends on. Built once, by `compose`. */
export interface EngineParts {
  readonly store: SessionStore;
  readonly models: ModelCatalog;
  readonly policy: PermissionPolicy;
  readonly tools: ToolSource;
  /** Opens each session's servers. Without it, sessions have none. */
  readonly servers?: OpenServers;
  readonly host: Host;
  /** Without it, commands are not contained. */
  readonly sandbox?: SandboxOptions;
  readonly context: ContextSource;
  /** Settings for compacting long conversations. */
  readonly compaction?: ContextOptions;
  /** The rules on commands in a folder, and notices about them for the user. Rejects with `config_invalid`. */
  rules(cwd: string): Promise<{ readonly rules: CommandRules; readonly notices: readonly string[] }>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** Canonical folders that decisions depend on. */
  readonly places: Pick<DecisionContext, "home" | "ownHome" | "ownConfig" | "loginHome" | "temp" | "foldsCase"> & {
    readonly outputs: (sessionId: string) => string;
  };
  /** Observes every session, whichever clients are attached. Never throws. */
  readonly observe?: (event: EngineEvent) => void;
  /** JSON Schema of a tool's arguments. */
  toolSchema(tool: Tool): Promise<unknown>;
}
