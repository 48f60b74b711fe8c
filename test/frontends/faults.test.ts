import { expect, test } from "vitest";
import { AccessControl } from "../../src/access/access-control.ts";
import { AgentError } from "../../src/engine/errors.ts";
import type { SessionStore } from "../../src/engine/ports.ts";
import { SessionPool } from "../../src/engine/session/session-pool.ts";
import { type ExecOptions, runExec } from "../../src/frontends/exec/exec.ts";
import { signalCodes } from "../../src/frontends/exit-codes.ts";
import type { Io, Output } from "../../src/frontends/front-end.ts";
import { InteractiveConnection } from "../../src/frontends/interactive/connection.ts";
import { createLinkedPair, type LinkedEnd } from "../../src/rpc/transport.ts";
import { fullStore } from "../fakes/full-store.ts";
import { createKit, type FakeReply, says, until } from "../fakes/kit.ts";
import { createMemoryStore } from "../fakes/memory-store.ts";
import { createLinkedClient } from "../fakes/rpc/linked-client.ts";
import {
  ann,
  isFinal,
  options as served,
  serve as serveInteractive,
  spokenOver,
  textIn,
} from "./interactive/served.ts";
import { connect, hangsAfter, sessionIds } from "./stream-jsonrpc/connection/served.ts";

/**
 * Faults in every front end. An unhandled rejection would end the process with every user's sessions; Vitest fails a
 * run with one.
 */

/** A transport that breaks its promise never to throw, as our bug would. */
function faulty(end: LinkedEnd, isFault: (line: string) => boolean): LinkedEnd {
  return {
    ...end,
    send(line) {
      if (isFault(line)) throw new Error("a fault of ours");
      end.send(line);
    },
  };
}

test("/ws: revoking a user reaches their turn while another session's log cannot be read", async () => {
  const store = createMemoryStore();
  let fail = (_: Error): void => undefined;
  const unreadable = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const hanging = new Set<string>();
  const broken: SessionStore = {
    ...store,
    read: (id, after) => (hanging.has(id) ? unreadable : store.read(id, after)),
  };
  const {
    access,
    pool,
    kit,
    log,
    connect: connectTo,
  } = serveInteractive([hangsAfter(), hangsAfter()], {}, { store: broken });
  const client = connectTo();
  const sessionId = await client.start();
  await client.request("sendUserMessage", { sessionId, message: "x" });
  // Another user's, in the middle of a turn: opening it on /ws reads its log.
  const settings = { modelId: "fake", reasoningEffort: "none", autonomy: "off", mode: "auto", owner: "bob" } as const;
  const other = await pool.create({ cwd: "/ws", settings, run: {} });
  other.session.prompt([{ type: "text", text: "y" }]).outcome.catch(() => undefined);
  await until(() => kit.requests.length === 2);
  hanging.add(other.session.id);
  const admin = connectTo({ user: "root", role: "admin" });
  admin.post("r", "resumeSession", { sessionId: other.session.id });
  await until(() => other.isShared());
  const revoked = access.revoke(ann);
  const [end] = (await client.until(isFinal)).filter(isFinal);
  expect(end?.params?.reason).toBe("cancelled");
  await until(() => pool.get(sessionId) === undefined);
  expect(await revoked).toEqual([]);
  fail(new AgentError("storage_failed", "The log cannot be read."));
  await until(() => log.some(({ event }) => event === "request.failed"));
  expect(log.filter(({ event }) => event === "request.failed")).toMatchObject([
    { message: "The log cannot be read.", method: "resumeSession", user: "root" },
  ]);
  await Promise.all([client.close(), admin.close(), pool.close()]);
});

test("/ws: a fault in one session disconnects its clients, who can resume; others are unaffected", async () => {
  const { server, pool, log, connect: connectTo } = serveInteractive([says("boom"), says("fine"), says("again")]);
  const [near, far] = createLinkedPair();
  const closes: unknown[] = [];
  const close = (...given: unknown[]): void => {
    closes.push(given);
    far.close();
  };
  const transport = faulty(far, (line) => line.includes("boom"));
  const connection = new InteractiveConnection(server, { transport, close }, ann);
  const client = spokenOver(near, () => connection.closed());
  const other = connectTo({ user: "bob", role: "user" });
  const [sessionId, others] = [await client.start(), await other.start()];
  client.post("m", "sendUserMessage", { sessionId, message: "x" });
  await connection.closed();
  expect(closes).toEqual([[1011, "internal error"]]);
  expect(log).toContainEqual(
    expect.objectContaining({ event: "request.failed", message: "a fault of ours", sessionId }),
  );
  expect(textIn(await other.ask(others, "hello"))).toBe("fine");
  const again = connectTo();
  await again.request("resumeSession", { sessionId });
  expect(textIn(await again.until(isFinal))).toBe("boom");
  expect(textIn(await again.ask(sessionId, "and now?"))).toBe("again");
  await Promise.all([again.close(), other.close()]);
  await pool.close();
});

const own = (replies: readonly FakeReply[]) => {
  const kit = createKit(replies, { ids: sessionIds() });
  return { kit, shared: {}, pool: undefined };
};
const shared = (replies: readonly FakeReply[]) => {
  const kit = createKit(replies, { ids: sessionIds() });
  const pool = new SessionPool(kit.engine, { clock: kit.clock, idleMs: 1_000 });
  const access = new AccessControl({
    engine: kit.engine,
    pool,
    clock: kit.clock,
    options: { modelId: "fake", autonomy: "off", limits: served.limits },
    report: () => "id",
  });
  return { kit, pool, shared: { shared: { access, who: ann } } };
};

test.each([
  ["on its own", own],
  ["shared, as on /rpc", shared],
])("stream-jsonrpc %s: a fault ends the connection and releases the session", async (_, setUp) => {
  const { kit, pool, shared: options } = setUp([says("boom")]);
  const [here, there] = createLinkedPair();
  const log = { always: async () => undefined, warn: async () => undefined, event: async () => undefined };
  const connection = connect(
    kit,
    faulty(here, (line) => line.includes("assistant_text_delta")),
    options,
    log,
  );
  const client = createLinkedClient(there, { later: true });
  const over = connection.run().then(
    () => "ended",
    (error: unknown) => String(error),
  );
  const { result } = await client.request("droid.initialize_session", { machineId: "m", cwd: "/ws" });
  await client.request("droid.add_user_message", { text: "x" });
  expect(await over).toBe("Error: a fault of ours");
  here.end();
  await pool?.close();
  // Without a hold, it can be opened.
  const { session } = await kit.engine.resume(String(result?.sessionId), {});
  await session.close();
});

test("exec: a signal before the first turn on a full disk is an exit code", async () => {
  const { store, full } = fullStore();
  const kit = createKit([hangsAfter()], { store });
  let signal = (): void => undefined;
  const silent: Output = {
    isTerminal: false,
    columns: 80,
    write: async () => undefined,
    gone: new AbortController().signal,
  };
  const io: Io = {
    stdout: silent,
    stderr: silent,
    onSignal(callback) {
      signal = () => callback("SIGTERM");
      return () => undefined;
    },
  };
  const settings = { modelId: "fake", reasoningEffort: "none", autonomy: "off", mode: "auto" } as const;
  const log = {
    always: async () => undefined,
    warn: async () => undefined,
    event: async () => undefined,
  };
  const options: ExecOptions = {
    prompt: "x",
    format: "text",
    from: { type: "new" },
    cwd: "/ws",
    settings,
    changes: {},
    run: {},
    limits: {},
    log,
  };
  const running = runExec(kit.engine, io, options);
  signal();
  full("prompt.discarded");
  expect(await running).toBe(signalCodes.SIGTERM);
});
