import { expect, test } from "vitest";
import { createModelCatalog } from "../../../src/models/catalog.ts";
import { ask, createKit, settings } from "../../fakes/kit.ts";
import { hastyClock } from "./wire.ts";

const chunk = (delta: object, finish: string | null = null): string => {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`;
};

test.each([
  ["comments", ": keep-alive\n\n"],
  ["empty deltas", chunk({})],
])("%s from a provider reset the server's limit for a silent model", async (_, sign) => {
  const pieces = [sign, sign, sign, chunk({ content: "Here." }), sign, sign, chunk({}, "stop"), "data: [DONE]\n\n"];
  const kit = createKit([], {
    models: createModelCatalog({
      defaultModel: "model",
      choices: {
        entries: [{ id: "model", provider: "openai-compatible", model: "m", baseUrl: "http://model.test/v1" }],
      },
      loadScript: () => Promise.reject(new Error("no scripts here")),
      fetch: async () => async () => new Response(slowly(), { headers: { "content-type": "text/event-stream" } }),
      clock: hastyClock,
    }),
  });
  /** Each piece takes most of the limit. */
  const slowly = () =>
    new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          const piece = pieces.shift();
          if (piece === undefined) return controller.close();
          kit.clock.advance(9_000);
          controller.enqueue(new TextEncoder().encode(piece));
        },
      },
      { highWaterMark: 0 },
    );
  const modelSilence = { ms: 10_000, isChosen: true, key: "interactive.timeouts.ai" };
  const session = await kit.engine.create({
    cwd: "/ws",
    settings: { ...settings, modelId: "model" },
    run: { modelSilence },
  });
  expect(await ask(session, "hi")).toMatchObject({ reason: "completed", finalText: "Here." });
  await session.close();
});
