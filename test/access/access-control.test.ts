import { expect, test } from "vitest";
import { AgentError } from "../../src/engine/errors.ts";
import type { ModelCatalog } from "../../src/engine/ports.ts";
import { fullStore } from "../fakes/full-store.ts";
import { createKit, info, says, settings, until } from "../fakes/kit.ts";
import { hangsAfter } from "../frontends/stream-jsonrpc/connection/served.ts";
import { admin, ann, openServer } from "./server.ts";

/** Rules that hold for every wire. */

test("a new session belongs to the caller, whatever its settings say", async () => {
  const { access } = openServer();
  const { session } = await access.create({ cwd: "/ws", settings: { ...settings, owner: "zoe" } }, ann());
  expect(session.settings.owner).toBe("ann");
});

test("only an admin starts a session without permission checks", async () => {
  const { access } = openServer();
  const wanted = { cwd: "/ws", settings, run: { unsafe: true } };
  await expect(access.create(wanted, ann())).rejects.toMatchObject({
    reason: "forbidden",
    message: "skipPermissionsUnsafe needs the role admin; this token has user.",
  });
  expect((await access.create(wanted, admin)).session.settings.owner).toBe("ada");
});

test("a viewer starts, forks, changes and sends nothing, even in a session that it has open", async () => {
  const { access, stored } = openServer();
  const vic = { user: "vic", role: "viewer" } as const;
  const { session } = await access.open(await stored({ owner: "vic" }), vic);
  const forbidden = expect.objectContaining({ reason: "forbidden" });
  await expect(access.create({ cwd: "/ws", settings }, vic)).rejects.toEqual(forbidden);
  await expect(access.fork(session, vic, { title: "x" })).rejects.toEqual(forbidden);
  expect(() => access.checkChanges(session, { mode: "spec" }, vic)).toThrow(forbidden);
  expect(() => access.admit(session, 1, vic)).toThrow(forbidden);
  expect(await access.join(session.id, vic)).toBeUndefined();
  await access.stop(session.id, vic);
  expect(session.isClosed).toBe(false);
});

test("a failed start gives its budget back", async () => {
  let isBroken = true;
  const { models } = createKit([]);
  const sometimes: ModelCatalog = {
    ...models,
    resolve: async (id) => {
      if (isBroken) throw new AgentError("model_unknown", `Unknown model ${id}.`);
      return { info, stream: () => says("") as never };
    },
  };
  const { access } = openServer([], {}, { models: sometimes });
  const large = { ...settings, appendSystemPrompt: "x".repeat(15_000_000) };
  const create = () => access.create({ cwd: "/ws", settings: large }, ann());
  for (let at = 0; at < 5; at += 1) await expect(create()).rejects.toMatchObject({ code: "model_unknown" });
  isBroken = false;
  const { session } = await create();
  for (let at = 0; at < 3; at += 1) await create();
  await expect(create()).rejects.toMatchObject({ reason: "too_many_sessions" });
  await session.close();
  expect((await create()).session.isClosed).toBe(false);
});

test("the next client lowers a session that could not be lowered before", async () => {
  const { store, full } = fullStore();
  const { access, stored } = openServer([], { autonomy: "low" }, { store });
  const id = await stored({ owner: "ann", autonomy: "high" });
  full(true);
  await expect(access.open(id, ann())).rejects.toMatchObject({ code: "storage_failed" });
  full(false);
  const { session } = await access.open(id, ann());
  expect(session.settings.autonomy).toBe("low");
});

test("revoking a user without open messages interrupts nothing", async () => {
  const { access, client, kit, pool } = openServer([says("for ada"), hangsAfter()]);
  const [owner, other] = [client("ws"), client("rpc", admin)];
  const { id } = await owner.create();
  await other.open(id);
  await other.send(id);
  await until(() => kit.requests.length === 1 && pool.get(id)?.isWorking === false);
  await owner.send(id);
  await until(() => kit.requests.length === 2);
  await access.revoke(admin);
  expect(pool.get(id)?.isWorking).toBe(true);
});
