import { describe, expect, test } from "vitest";
import type { Role } from "../../src/access/identity.ts";
import { UnreadableLogError } from "../../src/engine/errors.ts";
import { says } from "../fakes/kit.ts";
import { createMemoryStore } from "../fakes/memory-store.ts";
import { openServer, type WireName, wires } from "./server.ts";

/** The same user gets the same answer for the same session over every wire. */

const kinds = ["own", "other's", "unknown", "damaged", "foreign script", "high autonomy"] as const;
type Kind = (typeof kinds)[number];

const notFound = { opened: "not found" };
const unreadable = { opened: "unreadable" };
const done = { opened: "done", sent: "done", modelId: "fake", autonomy: "low" };
const looked = { ...done, sent: "refused" };
const foreign = "script:/srv/foreign.yaml";

const table: { readonly [R in Role]: { readonly [K in Kind]: object } } = {
  admin: {
    own: done,
    "other's": done,
    unknown: notFound,
    damaged: unreadable,
    "foreign script": { ...done, modelId: foreign },
    "high autonomy": done,
  },
  user: {
    own: done,
    "other's": notFound,
    unknown: notFound,
    damaged: unreadable,
    "foreign script": done,
    "high autonomy": done,
  },
  viewer: {
    own: looked,
    "other's": looked,
    unknown: notFound,
    damaged: unreadable,
    "foreign script": { ...looked, modelId: foreign },
    "high autonomy": looked,
  },
};

async function answer(wire: WireName, role: Role, kind: Kind, isOpen: boolean): Promise<object> {
  const store = createMemoryStore();
  const damaged = new Set<string>();
  const read: typeof store.read = async (id) => {
    if (damaged.has(id)) throw new UnreadableLogError(`Cannot read /home/u/${id}.jsonl: its first line is damaged.`);
    return store.read(id);
  };
  const { access, client, pool, stored } = openServer(
    [says("Hello.")],
    { autonomy: "low" },
    { store: { ...store, read } },
  );
  const id = await stored({
    owner: kind === "other's" ? "zoe" : "ann",
    autonomy: kind === "high autonomy" ? "high" : "low",
    modelId: kind === "foreign script" ? foreign : "fake",
  });
  if (kind === "damaged") damaged.add(id);
  if (isOpen) await access.open(id, { user: "vic", role: "viewer" });
  const { open, send } = client(wire, { user: "ann", role });
  const asked = kind === "unknown" ? "11111111-2222-4333-8444-555555555555" : id;
  const opened = await open(asked);
  if (opened !== "done") return { opened };
  const { modelId, autonomy } = pool.get(id)?.settings ?? {};
  const sent = (await send(id)).replace(/:.*/, "");
  return { opened, sent, modelId, autonomy };
}

describe.each(wires)("over /%s", (wire) => {
  test.each((["admin", "user", "viewer"] as const).flatMap((role) => kinds.map((kind) => [role, kind] as const)))(
    "%s opens a session: %s",
    async (role, kind) => {
      expect(await answer(wire, role, kind, false)).toEqual(table[role][kind]);
      if (kind !== "damaged" && kind !== "unknown") {
        expect(await answer(wire, role, kind, true)).toEqual(table[role][kind]);
      }
    },
  );

  test("a damaged log is reported to the operator, and the client gets neither its path nor its content", async () => {
    const store = createMemoryStore();
    const read = async (): Promise<never> => {
      throw new UnreadableLogError("Cannot read /home/u/a.jsonl: its first line is damaged.");
    };
    const { log, client, stored, ws, rpc } = openServer([], {}, { store: { ...store, read } });
    const id = await stored({ owner: "ann" });
    expect(await client(wire).open(id)).toBe("unreadable");
    const { error } =
      wire === "ws"
        ? await ws().request("resumeSession", { sessionId: id })
        : await rpc().client.request("droid.load_session", { sessionId: id });
    expect(JSON.stringify(error)).not.toContain("/home/u");
    expect(log.at(-1)).toMatchObject({
      event: "request.failed",
      message: "Cannot read /home/u/a.jsonl: its first line is damaged.",
      sessionId: id,
      user: "ann",
    });
  });

  test("a level raised in an open session stays for the next client", async () => {
    const { client, pool, stored } = openServer([], { autonomy: "low" });
    const id = await stored({ owner: "ann", autonomy: "low" });
    await client("rpc").open(id);
    await pool.get(id)?.update({ autonomy: "high" });
    expect(await client(wire).open(id)).toBe("done");
    expect(pool.get(id)?.settings.autonomy).toBe("high");
  });
});

test("an admin who became a user continues with the server's model instead of a script", async () => {
  const { ws, pool } = openServer();
  const admin = ws({ user: "ann", role: "admin" });
  const sessionId = await admin.start({ model: "script:/some/file" });
  expect(pool.get(sessionId)?.settings.modelId).toBe("script:/some/file");
  await admin.close();
  const user = ws();
  // Without resumeSession, using an open session lowers it as well.
  await user.request("sendUserMessage", { sessionId, message: "hello" });
  expect(pool.get(sessionId)?.settings.modelId).toBe("fake");
  await user.close();
});
