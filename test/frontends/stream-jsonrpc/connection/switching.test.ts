import { expect, test } from "vitest";
import { AgentError } from "../../../../src/engine/errors.ts";
import type { SessionLog, SessionStore } from "../../../../src/engine/ports.ts";
import { says } from "../../../fakes/kit.ts";
import { createMemoryStore } from "../../../fakes/memory-store.ts";
import { serve } from "./served.ts";

test("a session whose log cannot be released does not block its client's next one", async () => {
  const store = createMemoryStore();
  let isBroken = true;
  const guarded = (log: SessionLog): SessionLog => ({
    ...log,
    release: async () => {
      await log.release();
      if (isBroken) throw new AgentError("storage_failed", "The lock cannot be removed.");
    },
  });
  const broken: SessionStore = { ...store, create: async (...given) => guarded(await store.create(...given)) };
  const { init, say, client, warnings, kit, over } = serve([says("one"), says("two")], { store: broken });
  await init();
  await say("first");
  await client.state("idle");
  const second = await init();
  expect([second.error, warnings]).toEqual([undefined, ["The lock cannot be removed."]]);
  await say("second");
  await client.state("idle");
  isBroken = false;
  client.end();
  await over;
  // It has no holds any more.
  const { session } = await kit.engine.resume(String(second.result?.sessionId), {});
  expect(session.history()).toHaveLength(2);
  await session.close();
});
