import type { ServerState } from "../../engine/servers/server-state.ts";
import type { WrittenServer } from "../../mcp/entries/sourced-server.ts";

export const stateWords = {
  enabled: "enabled",
  disabled: "disabled",
  untrusted: "not trusted",
  changed: "changed since it was trusted",
} as const;

/** Whether sessions use a server. */
export function stateOf({ entry, offer }: WrittenServer): keyof typeof stateWords {
  if (entry.isDisabled === true) return "disabled";
  if (offer === undefined || offer.trust === "trusted") return "enabled";
  return offer.trust === "changed" ? "changed" : "untrusted";
}

/** What connecting showed. */
export function statusText(state: ServerState | undefined): string {
  if (state === undefined) return "not used";
  const { name, status, toolCount = 0, error, needsSignIn } = state;
  if (status === "connected") return `connected, ${toolCount} ${toolCount === 1 ? "tool" : "tools"}`;
  if (needsSignIn === true) return `needs a sign-in: tinman mcp login ${name}`;
  return error === undefined ? status : `${status}: ${error}`;
}
