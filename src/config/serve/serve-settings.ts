import type { Autonomy } from "../../engine/settings.ts";
import { durationMs } from "../../text/user-words.ts";
import type { UserConfig } from "../check/checked-config.ts";
import type { rpcClients, toolExecutions, userRoles } from "./serve-words.ts";

export type ToolExecution = (typeof toolExecutions)[number];

export interface ServeUser {
  readonly name: string;
  readonly role: (typeof userRoles)[number];
  /** `sha256:` and 64 hexadecimal digits, each. */
  readonly tokens: readonly string[];
  /** Absolute. */
  readonly folders?: readonly string[] | undefined;
  readonly autonomy?: Autonomy | undefined;
  readonly models?: readonly string[] | undefined;
}

/** `serve` with all defaults; times in milliseconds. */
interface ServeSettings {
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly users: readonly ServeUser[];
  /** Who can open `/rpc`. */
  readonly rpc: (typeof rpcClients)[number];
  readonly limits: {
    readonly connections: number;
    readonly connectionsPerUser: number;
    readonly payloadBytes: number;
    readonly unsentBytes: number;
  };
  readonly timeouts: { readonly pingMs: number; readonly stalledMs: number; readonly drainMs: number };
}

/** `interactive` with all defaults; times in milliseconds. */
interface InteractiveSettings {
  readonly toolExecution: ToolExecution;
  readonly toolExecutionChoices: readonly ToolExecution[];
  readonly autonomy: Autonomy;
  readonly timeouts: {
    /** Absent: providers' models have their own timeouts, the others 10 s. */
    readonly aiMs?: number;
    readonly toolResultMs: number;
    readonly idleSessionMs: number;
  };
  readonly limits: {
    readonly queuedMessages: number;
    readonly openSessions: number;
    readonly sessionsPerMinute: number;
    readonly messagesPerMinute: number;
  };
}

const mebibyte = 1024 * 1024;

export function serveSettings({ serve = {} }: UserConfig): ServeSettings {
  const { limits, timeouts } = serve;
  return {
    hosts: serve.hosts ?? [],
    origins: serve.origins ?? [],
    users: serve.users ?? [],
    rpc: serve.rpc ?? "everybody",
    limits: {
      connections: limits?.connections ?? 2_000,
      connectionsPerUser: limits?.connectionsPerUser ?? 1_500,
      payloadBytes: limits?.payloadBytes ?? mebibyte,
      unsentBytes: limits?.unsentBytes ?? 16 * mebibyte,
    },
    timeouts: {
      pingMs: durationMs(timeouts?.ping) ?? 20_000,
      stalledMs: durationMs(timeouts?.stalled) ?? 10_000,
      drainMs: durationMs(timeouts?.drain) ?? 30_000,
    },
  };
}

export function interactiveSettings({ interactive = {} }: UserConfig): InteractiveSettings {
  const { limits, timeouts, toolExecution = "client", toolExecutionChoices = [] } = interactive;
  const aiMs = durationMs(timeouts?.ai);
  return {
    toolExecution,
    // Clients can also ask for the configured one.
    toolExecutionChoices: [...new Set([toolExecution, ...toolExecutionChoices])],
    autonomy: interactive.autonomy ?? "off",
    timeouts: {
      ...(aiMs === undefined ? {} : { aiMs }),
      toolResultMs: durationMs(timeouts?.toolResult) ?? 600_000,
      idleSessionMs: durationMs(timeouts?.idleSession) ?? 1_800_000,
    },
    limits: {
      queuedMessages: limits?.queuedMessages ?? 32,
      openSessions: limits?.openSessions ?? 2_000,
      sessionsPerMinute: limits?.sessionsPerMinute ?? 1_200,
      messagesPerMinute: limits?.messagesPerMinute ?? 6_000,
    },
  };
}
