import { afterEach } from "vitest";
import { AccessControl, type AccessOptions } from "../../../../src/access/access-control.ts";
import type { Identity } from "../../../../src/access/identity.ts";
import { createReport } from "../../../../src/access/report.ts";
import { SessionPool } from "../../../../src/engine/session/session-pool.ts";
import type { FakeReply, Kit, KitOptions } from "../../../fakes/kit.ts";
import { countingIds, createKit } from "../../../fakes/kit.ts";
import type { Notice, Received } from "../../../fakes/rpc/wire.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import type { Served, ServeOptions } from "../connection/served.ts";
import { serve, sessionIds } from "../connection/served.ts";

export interface Client extends Pick<ServeOptions, "later" | "maxWaiting" | "defaults"> {
  readonly user?: string;
  readonly role?: Identity["role"];
}

export interface Sharing {
  readonly kit: Kit;
  readonly pool: SessionPool;
  /** Another connection. */
  connect(client?: Client): Served;
  /** A connection that has started a session. */
  begin(client?: Client): Promise<Served & { readonly sessionId: string }>;
  /** A connection that uses an existing session. */
  attach(sessionId: string, client?: Client): Promise<Served & { readonly loaded: Loaded }>;
}

export interface Loaded {
  readonly session: { readonly messages: readonly object[] };
  readonly settings: { readonly autonomyLevel: string };
  readonly isAgentLoopInProgress: boolean;
  readonly pendingPermissions?: readonly { readonly requestId: string }[];
  readonly pendingAskUserRequests?: readonly { readonly requestId: string }[];
  readonly queuedMessages?: readonly { readonly text: string }[];
}

export const idleMs = 60_000;

const pools = new Set<SessionPool>();

afterEach(async () => {
  const all = [...pools];
  pools.clear();
  for (const pool of all) await pool.close();
});

const usual: AccessOptions = {
  modelId: "fake",
  autonomy: "high",
  limits: { openSessions: 2_000, sessionsPerMinute: 1_200, messagesPerMinute: 6_000 },
};

/** Connections that share sessions, as in a server. */
export function share(
  replies: readonly FakeReply[],
  options: KitOptions & { readonly access?: Partial<AccessOptions> } = {},
): Sharing {
  const kit = createKit(replies, { ids: sessionIds(), ...options });
  const pool = new SessionPool(kit.engine, { clock: kit.clock, idleMs });
  pools.add(pool);
  const report = createReport({ error: () => undefined }, countingIds());
  const own = { ...usual, ...options.access };
  const access = new AccessControl({ engine: kit.engine, pool, clock: kit.clock, options: own, report });
  const connect = ({ user = "ann", role = "user", ...client }: Client = {}): Served =>
    serve([], { ...client, kit, shared: { access, who: { user, role } } });
  return {
    kit,
    pool,
    connect,
    async begin(client) {
      const served = connect(client);
      const { result } = await served.init();
      return { ...served, sessionId: String(result?.sessionId) };
    },
    async attach(sessionId, client) {
      const served = connect(client);
      return { ...served, loaded: await load(served, sessionId) };
    },
  };
}

export async function load({ client }: Served, sessionId: string, params: object = {}): Promise<Loaded> {
  const answer = await client.request("droid.load_session", { sessionId, ...params });
  if (answer.error !== undefined) throw new Error(answer.error.message);
  return answer.result as unknown as Loaded;
}

export function only(served: Served, type: string): readonly Notice[] {
  return noticesIn(served.client.received).filter((notice) => notice.type === type);
}

/** The text of joined deltas. */
export function textOf(served: Served, type = "assistant_text_delta"): string {
  return only(served, type)
    .map(({ textDelta }) => textDelta)
    .join("");
}

export function errorOf({ error }: Received): readonly [number | undefined, string | undefined] {
  return [error?.code, error?.message];
}
