import { expect, test } from "vitest";
import type { ModelEvent } from "../../src/engine/ports.ts";
import { createKit } from "../fakes/kit.ts";

test("a repeatedly slow reader leaves no listener behind", async () => {
  const rounds = 20;
  async function* reply(): AsyncGenerator<ModelEvent> {
    for (let piece = 0; piece < rounds * 1_024; piece += 1) yield { type: "text", text: "x" };
    yield { type: "end", stop: "end" };
  }
  const kit = createKit([reply]);
  const session = await kit.open();
  const attachment = session.attach({ approve: false, answer: false, onDetach: "cancel" });
  const { outcome } = session.prompt([{ type: "text", text: "go" }]);
  let pieces = 0;
  for await (const event of attachment.events()) {
    if (event.type === "message.delta") pieces += 1;
    if (event.type === "turn.ended") break;
    // The model runs ahead until the session waits for this reader.
    if (pieces % 1_024 === 1) await new Promise((resolve) => setImmediate(resolve));
  }
  expect(pieces).toBe(rounds * 1_024);
  expect(await outcome).toMatchObject({ reason: "completed" });
  await session.close();
});
