import { isForeignScript } from "../../core/script-model.ts";
import type { ClientMethod } from "../../protocol/droid/params.ts";
import { recordOf } from "./record-of.ts";
import { filtersIn } from "./tool-filters.ts";

/** Words for why a request is refused, or nothing when it is not. */
export type Rules = (method: string, params: unknown) => string | undefined;

const forLookingOn: ReadonlySet<string> = new Set<ClientMethod>([
  "droid.load_session",
  "droid.close_session",
  "droid.get_context_stats",
  "droid.list_tools",
  "droid.list_models",
  "droid.list_skills",
  "droid.list_commands",
]);

/** What clients with this role may not ask for. A role that is not known may look on, and no more. */
export function roleRules(role: string, usualModel?: string): Rules {
  if (role === "admin") return () => undefined;
  const rules = role === "user" ? rulesOfUsers : rulesOfViewers;
  return (method, params) => rules(method, params) ?? ruleOfScripts(params, usualModel);
}

function ruleOfScripts(params: unknown, usualModel: string | undefined): string | undefined {
  const { modelId, specModeModelId } = recordOf(params) ?? {};
  const isForeign = (model: unknown): boolean => typeof model === "string" && isForeignScript(model, usualModel);
  return [modelId, specModeModelId].some(isForeign) ? "Models that are scripts need the role admin." : undefined;
}

const rulesOfViewers: Rules = (method, params) => {
  if (!forLookingOn.has(method)) return `The role viewer may not use ${method}.`;
  if (method === "droid.load_session" && Object.keys(filtersIn(recordOf(params) ?? {})).length > 0) {
    return "The role viewer may not say which tools are offered.";
  }
  return rulesOfUsers(method, params);
};

const rulesOfUsers: Rules = (method, params) => {
  if (method !== "droid.initialize_session" && method !== "droid.load_session") return undefined;
  const { skipPermissionsUnsafe, mcpServers } = recordOf(params) ?? {};
  if (skipPermissionsUnsafe === true) return "skipPermissionsUnsafe needs the role admin.";
  const servers = Array.isArray(mcpServers) ? mcpServers.map(recordOf) : [];
  // Whatever is not reached by its address is started here.
  const isStarted = servers.some(
    (server) => server?.url === undefined || "command" in server || server.type === "stdio",
  );
  return isStarted ? "mcpServers that are started by a command need the role admin." : undefined;
};
