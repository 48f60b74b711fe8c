import { expect, test } from "vitest";
import type { DurableEvent, EngineEvent } from "../../../src/engine/event.ts";
import { foldLog } from "../../../src/engine/log/history.ts";
import { Journal } from "../../../src/engine/log/journal.ts";

test("gathered events are written at once, in order, and published after that", async () => {
  const opened: DurableEvent = {
    type: "session.opened",
    seq: 1,
    at: 0,
    sessionId: "s",
    cwd: "/w",
    settings: { modelId: "m", reasoningEffort: "none", autonomy: "off", mode: "auto" },
  };
  const done: unknown[] = [];
  let endMoment = (): void => undefined;
  const journal = new Journal({
    state: foldLog([opened]),
    clock: { now: () => 7, monotonic: () => 0, after: () => () => undefined },
    publish: (event: EngineEvent) => void done.push(["told", event.type, event.seq]),
    log: {
      gather: () =>
        new Promise((resolve) => {
          endMoment = resolve;
        }),
      append: async (events) => void done.push(["written", events.map(({ seq }) => seq)]),
      release: async () => undefined,
    },
  });
  const prompt = (messageId: string): Promise<void> =>
    journal.emit({ type: "prompt.accepted", messageId, content: [{ type: "text", text: "hi" }] });
  const all = [prompt("a")];
  for (let hops = 0; hops < 50; hops++) await Promise.resolve();
  all.push(prompt("b"), journal.emit({ type: "prompt.queued", messageId: "b", position: 1 }));
  expect(done).toEqual([]);
  endMoment();
  await Promise.all(all);
  expect(done).toEqual([
    ["written", [2, 3]],
    ["told", "prompt.accepted", 2],
    ["told", "prompt.accepted", 3],
    ["told", "prompt.queued", undefined],
  ]);
});
