import { describe, expect, test } from "vitest";
import type { Ceilings } from "../../src/access/identity.ts";
import type { ModelCatalog } from "../../src/engine/ports.ts";
import { calls, createKit, info, says } from "../fakes/kit.ts";
import { admin, ann, openServer, wires } from "./server.ts";

/** One user's ceilings hold on every wire. */

const ceilings: Ceilings = { folders: ["/ws"], autonomy: "low", models: ["small", "fake"] };
const she = ann(ceilings);

/** Every id is a model; three are listed. */
const models: ModelCatalog = {
  list: async () => ["small", "fake", "large"].map((id) => ({ ...info, id })),
  unusable: async () => [],
  resolve: (id) => createKit([says("Well.")]).models.resolve(id),
};

const modelWords = 'Model "large" is not available to this user. Available: small, fake.';

describe("models", () => {
  test.each(wires)("over /%s, a session starts with an allowed model", async (wire) => {
    const { client, pool } = openServer([], { modelId: "large" }, { models });
    const { create } = client(wire, she);
    const { id } = await create();
    expect(pool.get(id)?.settings.modelId).toBe("small");
    expect((await create({ model: "fake" })).outcome).toBe("done");
    expect((await create({ model: "large" })).outcome).toContain(modelWords);
    expect((await client(wire).create({ model: "large" })).outcome).toBe("done");
  });

  test.each(wires)("over /%s, a session with another model switches to an allowed one", async (wire) => {
    const { client, pool, stored } = openServer([], { modelId: "large" }, { models });
    const id = await stored({ owner: "ann", modelId: "large", specModelId: "large", autonomy: "low" });
    expect(await client(wire, she).open(id)).toBe("done");
    expect(pool.get(id)?.settings).toEqual({
      owner: "ann",
      modelId: "small",
      reasoningEffort: "none",
      autonomy: "low",
      mode: "auto",
    });
  });

  test.each(wires)("over /%s, only an allowed model can be a fallback", async (wire) => {
    const { client, pool } = openServer([], { modelId: "small" }, { models });
    const { id } = await client(wire, she).create();
    expect(pool.get(id)?.allowedModels).toEqual(["small", "fake"]);
    const mine = await client(wire).create();
    expect(pool.get(mine.id)?.allowedModels).toBeUndefined();
  });

  test("a listed script can be named", async () => {
    const { client } = openServer([], {}, { models });
    const { create } = client("ws", ann({ models: ["script:/srv/a.yaml"] }));
    expect((await create({ model: "script:/srv/a.yaml" })).outcome).toBe("done");
    expect((await create({ model: "script:/srv/b.yaml" })).outcome).toContain("Available: script:/srv/a.yaml.");
  });

  test("both wires offer only allowed models", async () => {
    const { ws, rpc } = openServer([], { modelId: "large" }, { models });
    const client = ws(she);
    const { result } = await client.request("capabilities");
    expect(result).toMatchObject({ defaultModel: "small", models: [{ id: "small" }, { id: "fake" }] });
    const { result: listed } = await rpc(she).client.request("droid.list_models", {});
    expect(listed?.models).toMatchObject([{ id: "small" }, { id: "fake" }]);
    await client.close();
  });
});

describe("autonomy", () => {
  const words = "Autonomy high is above the limit here (low). Available: off, low.";

  test("a session of /ws starts at the lower of the server's and the user's level", async () => {
    const { client, pool } = openServer([], { autonomy: "medium" });
    const levels = [ann({ autonomy: "low" }), ann({ autonomy: "high" }), ann()].map(async (who) => {
      const { id } = await client("ws", who).create();
      return pool.get(id)?.settings.autonomy;
    });
    expect(await Promise.all(levels)).toEqual(["low", "medium", "medium"]);
  });

  test("a session of /rpc starts and changes within the user's level", async () => {
    const { rpc, pool } = openServer();
    const { client, init } = rpc(she);
    expect((await init({ autonomyLevel: "high" })).error).toMatchObject({ code: -32602, message: words });
    const { result } = await init({ autonomyLevel: "low" });
    const session = pool.get(String(result?.sessionId));
    const { error } = await client.request("droid.update_session_settings", { autonomyLevel: "high" });
    expect(error).toMatchObject({ code: -32602, message: words });
    expect(session?.settings.autonomy).toBe("low");
    // Above the server's own level, which applies to sessions without a client's choice.
    const { init: initFree } = rpc();
    expect((await initFree({ autonomyLevel: "high" })).result?.settings).toMatchObject({ autonomyLevel: "high" });
  });

  test.each(wires)("over /%s, a session reopens within the user's level, or the server's", async (wire) => {
    const levels = [ann({ autonomy: "low" }), ann({ autonomy: "high" }), ann()].map(async (who) => {
      const { client, pool, stored } = openServer([], { autonomy: "medium" });
      const id = await stored({ owner: "ann", autonomy: "high" });
      await client(wire, who).open(id);
      return pool.get(id)?.settings.autonomy;
    });
    expect(await Promise.all(levels)).toEqual(["low", "high", "medium"]);
  });

  test.each(wires)("over /%s, a session that an admin raised is lowered when its user joins", async (wire) => {
    const { client, pool, rpc, stored } = openServer([says("Well.")], { autonomy: "off" });
    const id = await stored({ owner: "ann", autonomy: "off" });
    const { client: other } = rpc(admin);
    await other.request("droid.load_session", { sessionId: id });
    await other.request("droid.update_session_settings", { autonomyLevel: "high" });
    const hers = client(wire, she);
    // On /ws, using an open session needs no resumeSession.
    if (wire === "ws") await hers.send(id);
    else await hers.open(id);
    expect(pool.get(id)?.settings.autonomy).toBe("low");
    const { error } = await other.request("droid.update_session_settings", { autonomyLevel: "high" });
    expect(error).toMatchObject({ code: -32602, message: words });
  });

  test('no answer to a request raises it: neither "always" nor a plan', async () => {
    const plan = calls(["ExitSpecMode", { plan: "Do it.", title: "Plan" }]);
    const push = calls(["Execute", { command: "git push" }]);
    const { rpc, pool } = openServer([push, says("pushed"), plan, says("planned")]);
    const { client, init, say } = rpc(she);
    const { result } = await init({ autonomyLevel: "low" });
    const session = pool.get(String(result?.sessionId));
    await say("push");
    const { id } = await client.asked();
    client.answer(id, { selectedOption: "proceed_always" });
    await client.state("idle");
    expect(session?.settings.autonomy).toBe("low");
    await client.request("droid.update_session_settings", { interactionMode: "spec", autonomyLevel: "off" });
    const from = client.mark;
    await say("plan");
    const { id: planned } = await client.asked(from);
    client.answer(planned, { selectedOption: "proceed_auto_run_high" });
    await client.state("idle", from);
    expect(session?.settings).toMatchObject({ mode: "auto", autonomy: "low" });
  });
});

describe("folders", () => {
  const elsewhere = ann({ folders: ["/other", "/srv/ann"] });
  const words = 'Folder "/ws" is outside this user\'s folders. Available: /other, /srv/ann.';

  test.each(wires)("over /%s, no session starts or opens in another folder", async (wire) => {
    const { client, pool, stored } = openServer();
    const { create, open } = client(wire, elsewhere);
    expect((await create()).outcome).toBe(`refused: ${words}`);
    const [id, inside] = [await stored({ owner: "ann" }), await stored({ owner: "ann" }, "/srv/ann/project")];
    expect(await open(id)).toBe(`refused: ${words}`);
    expect(await open(inside)).toBe("done");
    const beside = await stored({ owner: "ann" }, "/srv/annette");
    expect(await open(beside)).toContain("outside this user's folders");
    expect(pool.all().map((session) => session.id)).toContain(inside);
    expect((await client(wire).create()).outcome).toBe("done");
  });

  test("over /rpc, a session starts in the folder that the client names", async () => {
    const { rpc } = openServer();
    expect((await rpc(elsewhere).init({ cwd: "/other" })).error).toBeUndefined();
  });

  test.each(wires)("over /%s, a session whose client runs the tools uses no folder of the server", async (wire) => {
    const { client, stored } = openServer([], { toolExecution: "client" });
    const id = await stored({ owner: "ann", clientRunsTools: true });
    expect(await client(wire, elsewhere).open(id)).toBe("done");
  });

  test.each(wires)("over /%s, no session starts in the server's own folder", async (wire) => {
    const { client } = openServer([], { ownHome: "/ws" });
    const refused = 'refused: Folder "/ws" belongs to the server. Choose another one.';
    expect((await client(wire, admin).create()).outcome).toBe(refused);
  });
});

test("a fork stays within the ceilings of the user who opens it", async () => {
  const { rpc, pool, stored } = openServer([], { modelId: "fake" }, { models });
  const id = await stored({ owner: "ann", modelId: "large", autonomy: "high" });
  const { client } = rpc(admin);
  await client.request("droid.load_session", { sessionId: id });
  await client.request("droid.update_session_settings", { autonomyLevel: "high" });
  const { result } = await client.request("droid.fork_session", {});
  const fork = String(result?.newSessionId);
  await rpc(she).client.request("droid.load_session", { sessionId: fork });
  expect(pool.get(fork)?.settings).toMatchObject({ owner: "ann", modelId: "fake", autonomy: "low" });
});
