import { describe, expect, test } from "vitest";
import { calls, says } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { hangsAfter, serve } from "./served.ts";

const push = calls(["Execute", { command: "git push" }]);

/** A session that was given the level high, then closed. */
async function givenHigh() {
  const served = serve([says("ok"), push, says("done")]);
  const { client, init, say } = served;
  const opened = (await init({ autonomyLevel: "high" })).result as { sessionId: string };
  await say("hello");
  await client.state("idle");
  await client.request("droid.close_session", {});
  return { ...served, sessionId: opened.sessionId };
}

describe("a loaded session", () => {
  test.each([
    [{}, { autonomyLevel: "high", interactionMode: "auto" }],
    [{ autonomy: "low" }, { autonomyLevel: "low", interactionMode: "auto" }],
    [{ spec: true }, { autonomyLevel: "high", interactionMode: "spec" }],
  ] as const)("stays within the process's own settings: %o", async (defaults, settings) => {
    const { kit, sessionId } = await givenHigh();
    const { client } = serve([], { kit, defaults });
    const loaded = await client.request("droid.load_session", { sessionId });

    expect((loaded.result as { settings: object }).settings).toMatchObject(settings);
  });

  test("can be restricted to some tools, like a new one", async () => {
    const { kit, sessionId } = await givenHigh();
    const { client, say } = serve([], { kit });
    await client.request("droid.load_session", { sessionId, restrictToolIds: ["Read"] });
    await say("push it");
    await client.state("idle");

    expect(kit.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(["Read"]);
  });

  test("lists the messages still waiting for their turn", async () => {
    const { client, init, say } = serve([hangsAfter({ type: "text", text: "half" })]);
    const { sessionId } = (await init()).result as { sessionId: string };
    await say("first");
    await client.notice("assistant_text_delta");
    await say("second", { messageId: "m2" });
    const loaded = await client.request("droid.load_session", { sessionId });

    expect((loaded.result as { queuedMessages: object }).queuedMessages).toEqual([
      { messageId: "m2", text: "second", requestId: "m2" },
    ]);
    await client.request("droid.interrupt_session", {});
  });
});

test("a client that loads its own session without an approver has open requests cancelled", async () => {
  const { client, init, say } = serve([push, push]);
  const { sessionId } = (await init({ autonomyLevel: "off" })).result as { sessionId: string };
  await say("push it");
  await client.asked();
  await client.request("droid.load_session", { sessionId, autoRejectPermissionRequests: true });
  await client.state("idle");
  await say("again");
  await client.state("idle", client.mark);

  const told = storyOf(client.received);
  expect(told.filter((entry) => entry.startsWith("request"))).toHaveLength(1);
  expect(client.received.filter((message) => JSON.stringify(message).includes("no_approver_available"))).toHaveLength(
    2,
  );
});

test("a message with the id of the reply under way, or of the root, gets another id", async () => {
  const { client, init, say } = serve([hangsAfter({ type: "text", text: "half" }), says("b"), says("c")]);
  await init();
  await say("first");
  const delta = (await client.notice("assistant_text_delta")) as unknown as { messageId: string };
  await say("second", { messageId: delta.messageId });
  await say("third", { messageId: "root" });
  await client.request("droid.interrupt_session", {});
  await client.state("idle");
  await say("fourth", { messageId: "root" });
  await client.state("idle", client.mark);

  const ids = client.received.flatMap((message) => {
    const { params } = message as { params?: { notification?: { type: string; message?: { id: string } } } };
    return params?.notification?.type === "create_message" ? [params.notification.message?.id] : [];
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).not.toContain("root");
});
