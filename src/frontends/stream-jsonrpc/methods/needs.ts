import type { Capability } from "../../../access/capability.ts";
import type { SettingsChanges } from "../../../engine/event.ts";
import type { ClientMethod } from "../../../protocol/droid/params.ts";
import { recordOf } from "../../../text/values.ts";
import { filtersIn } from "./tool-filters.ts";

/** The capability that a request requires of the client's role. */
export interface Need {
  readonly capability: Capability;
  /** Begins a sentence. */
  readonly what: string;
}

export const needs: { readonly [M in ClientMethod]: Capability } = {
  "droid.initialize_session": "create",
  "droid.load_session": "read",
  "droid.add_user_message": "use",
  "droid.update_session_settings": "configure",
  "droid.interrupt_session": "use",
  // Only leaves, unless the client can also use the session.
  "droid.close_session": "read",
  "droid.rename_session": "configure",
  "droid.fork_session": "create",
  "droid.compact_session": "use",
  "droid.get_context_stats": "read",
  "droid.get_context_breakdown": "read",
  "droid.list_tools": "read",
  "droid.list_models": "read",
  "droid.list_skills": "read",
  "droid.list_commands": "read",
};

export function needsOf(method: ClientMethod, params: unknown): readonly Need[] {
  const own = { capability: needs[method], what: method };
  if (method !== "droid.initialize_session" && method !== "droid.load_session") return [own];
  const { skipPermissionsUnsafe, mcpServers, ...others } = recordOf(params) ?? {};
  const servers = Array.isArray(mcpServers) ? mcpServers.map(recordOf) : [];
  // A server entry without an address is a program to start here.
  const isStarted = servers.some(
    (server) => server?.url === undefined || "command" in server || server.type === "stdio",
  );
  return [
    own,
    ...(Object.keys(filtersIn(others)).length > 0 ? [{ capability: "configure", what: "A tool filter" } as const] : []),
    ...(skipPermissionsUnsafe === true ? [{ capability: "host", what: "skipPermissionsUnsafe" } as const] : []),
    ...(isStarted ? [{ capability: "host", what: "An MCP server that is started by a command" } as const] : []),
  ];
}

/** All models that a request names. */
export function modelsIn(params: unknown): SettingsChanges {
  const { modelId, specModeModelId } = recordOf(params) ?? {};
  return {
    ...(typeof modelId === "string" ? { modelId } : {}),
    ...(typeof specModeModelId === "string" ? { specModelId: specModeModelId } : {}),
  };
}
