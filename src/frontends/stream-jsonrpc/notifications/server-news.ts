import type { EventOf } from "../../../engine/event.ts";
import type { ServerSource, ServerState } from "../../../engine/servers/server-state.ts";
import type { McpStatus } from "../../../protocol/droid/mcp.ts";
import type { Outbox } from "../outbox.ts";

const sources = { user: "user", project: "project", client: "dynamic" } as const satisfies Record<ServerSource, string>;

/** `canSignIn`: links for signing in are only for those who can answer them. */
export function mcpStatus(states: readonly ServerState[], canSignIn: boolean): McpStatus {
  const count = (status: ServerState["status"]): number => states.filter((state) => state.status === status).length;
  return {
    servers: states.map((state) => {
      const { name, source, status, kind, hasTokens, toolCount, promptCount, error, needsSignIn, signIn } = state;
      return {
        name,
        source: sources[source],
        isManaged: false,
        status,
        serverType: kind,
        ...(kind === "stdio" ? {} : { hasAuthTokens: hasTokens ?? false }),
        ...(toolCount === undefined ? {} : { toolCount }),
        ...(promptCount === undefined ? {} : { promptCount }),
        ...(error === undefined ? {} : { error }),
        ...(needsSignIn === true ? { requiresAuth: true } : {}),
        ...(signIn === undefined || !canSignIn
          ? {}
          : { pendingAuthUrl: signIn.url, pendingAuthMessage: signIn.message, pendingAuthState: signIn.state }),
      };
    }),
    summary: {
      total: states.length,
      connected: count("connected"),
      connecting: count("connecting"),
      failed: count("failed"),
      disabled: count("disabled"),
    },
  };
}

/** Reports servers to a client. Sends nothing before `open`, and then one status with all changes so far. */
export function createServerNews(
  { tell }: Pick<Outbox, "tell">,
  start: { readonly servers: readonly ServerState[] | undefined; readonly canSignIn: boolean },
) {
  const { canSignIn } = start;
  let latest = start.servers ?? [];
  let isOpen = start.servers === undefined;
  let told: string | undefined;
  const early: (() => void)[] = [];

  const tellStatus = (): void => {
    const status = mcpStatus(latest, canSignIn);
    const text = JSON.stringify(status);
    if (text === told) return;
    told = text;
    tell({ type: "mcp_status_changed", ...status });
  };
  const soon = (say: () => void): void => {
    if (isOpen) say();
    else early.push(say);
  };

  return {
    open() {
      isOpen = true;
      tellStatus();
      for (const say of early.splice(0)) say();
    },
    changed({ servers }: EventOf<"servers.changed">) {
      latest = servers;
      if (isOpen) tellStatus();
    },
    signInRequired({ server: serverName, url: authUrl, message, state }: EventOf<"sign-in.required">) {
      if (canSignIn) soon(() => tell({ type: "mcp_auth_required", serverName, authUrl, message, state }));
    },
    signInEnded({ server: serverName, outcome, message }: EventOf<"sign-in.ended">) {
      soon(() => tell({ type: "mcp_auth_completed", serverName, outcome, message }));
    },
  };
}
