import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { createSessionNews } from "../../../../src/frontends/acp/session/session-news.ts";
import { createTranslator } from "../../../../src/frontends/acp/view/acp-updates.ts";
import { createGate } from "../../../../src/rpc/gate.ts";
import type { Session } from "../../../../src/sdk/api.ts";
import { createSession } from "../../../../src/sdk/browser.ts";
import { createFakeBackend, obliging, settled } from "../../../sdk/fakes/fake-backend.ts";

function newsOf(session?: Session) {
  const updates: SessionUpdate[] = [];
  const gate = createGate();
  let isReading = true;
  const news = createSessionNews({
    sessionId: "s",
    client: {
      capabilities: { session: { notices: {} } },
      update: async (_, update) => {
        updates.push(update);
        if (!isReading) await gate.wait();
      },
      choose: async () => undefined,
      elicit: async () => ({ action: "cancel" }),
      completed: () => undefined,
    },
    translator: createTranslator("/"),
    models: [],
    session: () => session,
    isTurnRunning: () => false,
    commandsMayHaveChanged: () => undefined,
    warn: () => undefined,
  });
  return {
    news,
    updates,
    stopReading: () => {
      isReading = false;
    },
    read: () => {
      isReading = true;
      gate.open();
    },
  };
}

test("without a reader, keeps only the latest update of each kind", async () => {
  const { news, updates, stopReading, read } = newsOf();
  stopReading();
  for (let nth = 1; nth <= 1_000; nth += 1) {
    news.happened({ type: "title", title: `Title ${nth}` });
    news.happened({ type: "retry", attempt: nth, reason: "busy" });
  }
  const shown = () => updates.map((each) => ("title" in each ? each.title : undefined));
  expect(updates.length).toBe(100);
  read();
  await settled();
  expect([updates.length, ...shown().slice(-2)]).toEqual([
    102,
    "Title 1000",
    "Calling the model again (busy, retry 1000).",
  ]);
  news.happened({ type: "title", title: "Then" });
  expect(shown().at(-1)).toBe("Then");
});

test("reports window usage in whole numbers, or not at all", async () => {
  let stats: object = { used: 5, limit: 100 };
  const backend = createFakeBackend({ ...obliging, "droid.get_context_stats": () => stats });
  const session = await createSession({ connect: backend.connect });
  const { news, updates } = newsOf(session);
  const none = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheCreationTokens: 0 };
  const usage = { ...none, thinkingTokens: 0 };
  backend.notify({ type: "session_token_usage_changed", tokenUsage: usage });
  await settled();
  for (const limit of [0, -1, 1.5, 1e300, null]) {
    stats = { used: 5, limit };
    await news.measure();
  }
  for (const used of [-5.5, 0.5, 1e300, "5", null]) {
    stats = { used, limit: 100 };
    await news.measure();
  }
  for (const inputTokens of [-10.5, 1e308, Number.POSITIVE_INFINITY, Number.NaN]) {
    news.happened({ type: "usage", usage, lastCall: { ...usage, inputTokens } });
  }
  expect(updates).toEqual([]);
  news.happened({ type: "usage", usage, lastCall: { ...usage, inputTokens: 7 } });
  stats = { used: 8, limit: 200 };
  await news.measure();
  expect(updates).toEqual([
    { sessionUpdate: "usage_update", used: 7, size: 100 },
    { sessionUpdate: "usage_update", used: 8, size: 200 },
  ]);
  await session.close();
});

test("a backend's notice is a notice for the editor", () => {
  const { news, updates } = newsOf();
  news.happened({ type: "notice", level: "warning", message: "Look out." });
  expect(updates).toEqual([{ sessionUpdate: "notice", severity: "warning", title: "Look out." }]);
});
