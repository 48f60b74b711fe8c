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
  "droid.list_mcp_servers": "read",
  "droid.list_mcp_tools": "read",
  "droid.list_mcp_registry": "read",
  // They concern everyone on this machine.
  "droid.add_mcp_server": "host",
  "droid.remove_mcp_server": "host",
  "droid.toggle_mcp_server": "host",
  "droid.toggle_mcp_tool": "host",
  "droid.authenticate_mcp_server": "host",
  "droid.submit_mcp_auth_code": "host",
  "droid.submit_mcp_auth_error": "host",
  "droid.cancel_mcp_auth": "host",
  "droid.clear_mcp_auth": "host",
};

export function needsOf(method: ClientMethod, params: unknown): readonly Need[] {
  const own = { capability: needs[method], what: method };
  if (method !== "droid.initialize_session" && method !== "droid.load_session") return [own];
  const { skipPermissionsUnsafe, mcpServers, ...others } = recordOf(params) ?? {};
  // A program to start here, or an address to reach from here.
  const namesServers = Array.isArray(mcpServers) && mcpServers.length > 0;
  return [
    own,
    ...(Object.keys(filtersIn(others)).length > 0 ? [{ capability: "configure", what: "A tool filter" } as const] : []),
    ...(skipPermissionsUnsafe === true ? [{ capability: "host", what: "skipPermissionsUnsafe" } as const] : []),
    ...(namesServers ? [{ capability: "host", what: "mcpServers" } as const] : []),
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
