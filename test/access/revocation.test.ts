import { expect, test } from "vitest";
import { says, until } from "../fakes/kit.ts";
import { createMemoryStore } from "../fakes/memory-store.ts";
import { hangsAfter } from "../frontends/stream-jsonrpc/connection/served.ts";
import { admin, ann, openServer, wires } from "./server.ts";

test.each(wires)("revoking a user over /%s ends their requests and sessions", async (wire) => {
  const { access, client, kit, pool } = openServer([hangsAfter(), says("for bob")]);
  const who = ann();
  const [one, other] = [client(wire, who), client(wire, { user: "bob", role: "user" })];
  const [{ id }, { id: others }] = [await one.create(), await other.create()];
  const session = pool.get(id);
  await one.send(id);
  await one.send(id);
  await until(() => kit.requests.length === 1);
  expect(await access.revoke(who)).toEqual([]);
  expect([session?.isClosed, session?.waiting(), pool.get(id)]).toEqual([true, [], undefined]);
  expect(await other.send(others)).toBe("done");
  await until(() => kit.requests.length === 2);
  expect(pool.get(others)?.isClosed).toBe(false);
});

test.each(wires)(
  "revoking a user over /%s ends their requests in another user's session, which stays open",
  async (wire) => {
    const { access, client, kit, pool } = openServer([hangsAfter(), says("for ann")]);
    const [owner, other] = [client("ws"), client(wire, admin)];
    const { id } = await owner.create();
    await other.open(id);
    await other.send(id);
    await until(() => kit.requests.length === 1);
    await access.revoke(admin);
    await until(() => pool.get(id)?.isWorking === false);
    expect(await owner.send(id)).toBe("done");
    await until(() => kit.requests.length === 2);
  },
);

test.each(wires)("revoking a user who only watches over /%s leaves others' work alone", async (wire) => {
  const { access, client, kit, pool } = openServer([hangsAfter()]);
  const [owner, other] = [client("rpc"), client(wire, admin)];
  const { id } = await owner.create();
  await other.open(id);
  await owner.send(id);
  await until(() => kit.requests.length === 1);
  await access.revoke(admin);
  expect(pool.get(id)?.isWorking).toBe(true);
});

test.each(wires)("in-flight requests of a revoked token over /%s have no effect", async (wire) => {
  const store = createMemoryStore();
  let go = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    go = resolve;
  });
  let reads = 0;
  const read: typeof store.read = async (id) => {
    reads += 1;
    await gate;
    return store.read(id);
  };
  const { access, client, pool, stored } = openServer([], {}, { store: { ...store, read } });
  const id = await stored({ owner: "ann", autonomy: "high" });
  const who = ann();
  const { create, open } = client(wire, who);
  const opening = open(id);
  await until(() => reads > 0);
  await access.revoke(who);
  go();
  const words = "refused: This token was revoked.";
  expect([await opening, (await create()).outcome]).toEqual([words, words]);
  expect(pool.get(id)?.settings.autonomy).toBe("high");
  // The same user with a valid token.
  expect(await client(wire).open(id)).toBe("done");
});
