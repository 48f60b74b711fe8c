import { expect, test } from "vitest";
import type { ModelEvent } from "../../../../src/engine/ports.ts";
import { says, until } from "../../../fakes/kit.ts";
import { storyOf } from "../../../fakes/rpc/linked-client.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import { end, serve } from "./served.ts";

const chunks = 50_000;

/** A model that counts how much was read of it. */
function longReply() {
  const made = { count: 0, isLeft: false };
  async function* reply(): AsyncGenerator<ModelEvent> {
    try {
      while (made.count < chunks) {
        yield { type: "text", text: `${made.count} ` };
        made.count += 1;
      }
      yield* end;
    } finally {
      made.isLeft = true;
    }
  }
  return { made, reply };
}

/** Until nothing more is produced, for lack of a reader. */
async function standstill(made: { readonly count: number }): Promise<number> {
  let before = -1;
  while (made.count !== before) {
    before = made.count;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return before;
}

test("a client that does not read holds the model up, and loses nothing", async () => {
  const { made, reply } = longReply();
  const { client, init, say, kit } = serve([reply, says("next")], { maxWaiting: 64 * 1024 });
  await init();
  await say("go");
  client.stopReading();
  await until(() => made.count > 0);
  const taken = await standstill(made);
  expect(taken).toBeLessThan(5_000);
  // Requests in the meantime are neither lost nor answered twice.
  client.ask("droid.add_user_message", { text: "next", messageId: "m2" });
  expect(await standstill(made)).toBe(taken);
  client.readOn();
  await client.waitFor(() => storyOf(client.received.slice(-1))[0] === "state idle" && kit.requests.length === 2);
  const text = noticesIn(client.received)
    .filter(({ type }) => type === "assistant_text_delta")
    .map(({ textDelta }) => textDelta)
    .join("");
  const expected = Array.from({ length: chunks }, (_, n) => `${n} `).join("");
  expect(text === `${expected}next`).toBe(true);
  expect(storyOf(client.received).filter((line) => line === "result r3")).toHaveLength(1);
});

test("reusing the id of a discarded prompt before reading of the discard answers both requests", async () => {
  const { made, reply } = longReply();
  const { client, init, say } = serve([reply, says("second")], { maxWaiting: 64 * 1024 });
  await init();
  await say("go");
  client.stopReading();
  await until(() => made.count > 0);
  await standstill(made);
  const again = { text: "again", messageId: "m2" };
  client.ask("droid.add_user_message", again, { id: "first" });
  client.ask("droid.interrupt_session", {}, { id: "stop" });
  client.ask("droid.add_user_message", again, { id: "second" });
  client.readOn();
  await client.waitFor(() => noticesIn(client.received).some(({ textDelta }) => textDelta === "second"));
  await client.waitFor(() => storyOf(client.received.slice(-1))[0] === "state idle");
  const answers = storyOf(client.received).filter((line) => /^result (first|stop|second)$/.test(line));
  expect(answers.toSorted()).toEqual(["result first", "result second", "result stop"]);
  const ends = noticesIn(client.received).filter(({ type }) => type === "agent_turn_completed");
  expect(ends.map(({ turnId, reason }) => [turnId, reason])).toEqual([
    ["m2", "cancelled"],
    [expect.any(String), "cancelled"],
    ["m2", "completed"],
  ]);
});

test("a client that does not read can still stop the model", async () => {
  const { made, reply } = longReply();
  const { client, init, say, over } = serve([reply], { maxWaiting: 64 * 1024 });
  await init();
  await say("go", { messageId: "m1" });
  client.stopReading();
  await until(() => made.count > 0);
  const taken = await standstill(made);
  client.ask("droid.interrupt_session", {});
  await until(() => made.isLeft);
  expect(made.count).toBeLessThanOrEqual(taken + 1);
  client.readOn();
  await client.state("idle");
  expect(await client.notice("agent_turn_completed")).toMatchObject({ turnId: "m1", reason: "cancelled" });
  client.end();
  await over;
});
