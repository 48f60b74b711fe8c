import { expect, test } from "vitest";
import { createLinkedPair } from "../../../../src/rpc/transport.ts";
import { calls, createKit, says } from "../../../fakes/kit.ts";
import { createLinkedClient, storyOf } from "../../../fakes/rpc/linked-client.ts";
import { connect, createSignal, serve, sessionIds, waitsBetween } from "./served.ts";

test("a stopped connection accepts nothing more, and its turn's end is its last message", async () => {
  const kit = createKit([calls(["Execute", { command: "git push" }])], { ids: sessionIds() });
  const [here, there] = createLinkedPair();
  const connection = connect(kit, here, {}, { warn: async () => undefined, event: async () => undefined });
  const client = createLinkedClient(there);
  const served = connection.run();
  const start = { machineId: "m", cwd: "/ws", autonomyLevel: "off" };
  await client.request("droid.initialize_session", start);
  await client.request("droid.add_user_message", { text: "go" });
  await client.asked();
  const from = client.mark;
  client.ask("droid.initialize_session", start);
  await connection.close();
  here.close();
  await served;
  expect(storyOf(client.received.slice(from))).toEqual([
    "permission_resolved",
    "tool_result",
    "agent_turn_completed",
    "state idle",
  ]);
  expect(await kit.store.list()).toHaveLength(1);
});

test("the end of input waits for a compaction on request, and for its response", async () => {
  const go = createSignal();
  const { client, init, say, over } = serve([says("hello"), waitsBetween([], go.come, says("It is about greetings."))]);
  await init();
  await say("hi");
  await client.state("idle");
  const asked = client.request("droid.compact_session", {});
  await client.state("compacting_conversation");
  client.end();
  go.give();
  await over;
  expect((await asked).result).toMatchObject({ removedCount: 2 });
});
