import { describe, expect, test } from "vitest";
import { z } from "zod";
import { AgentError } from "../../../src/engine/errors.ts";
import type { EngineEvent } from "../../../src/engine/event.ts";
import type { ModelEvent, SessionStore } from "../../../src/engine/ports.ts";
import type { Tool } from "../../../src/engine/tool.ts";
import { defineTool, succeeded } from "../../../src/engine/tool.ts";
import type { FakeReply } from "../../fakes/kit.ts";
import { ask, calls, createKit, listen, says, until } from "../../fakes/kit.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";

/** A reply with one word that then hangs until it is aborted. */
const hanging: FakeReply = async function* (_, signal): AsyncGenerator<ModelEvent> {
  yield { type: "text", text: "I was about to" };
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
};

const text = (words: string) => [{ type: "text", text: words }] as const;

describe("the queue", () => {
  test("prompts run one after the other, in their order", async () => {
    const kit = createKit([says("first"), says("second"), says("third")]);
    const session = await kit.open();
    const outcomes = ["a", "b", "c"].map((words) => ask(session, words));
    expect((await Promise.all(outcomes)).map(({ finalText }) => finalText)).toEqual(["first", "second", "third"]);
    expect(session.history().map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
      "assistant",
    ]);
  });

  test("announces a waiting prompt with its position", async () => {
    const session = await createKit([says("first"), says("second")]).open();
    const heard = listen(session);
    await Promise.all([ask(session, "a"), ask(session, "b")]);
    await heard.stop();
    expect(heard.events.filter(({ type }) => type === "prompt.queued")).toMatchObject([{ position: 1 }]);
    expect(heard.types().filter((type) => type === "turn.started" || type === "turn.ended")).toEqual([
      "turn.started",
      "turn.ended",
      "turn.started",
      "turn.ended",
    ]);
  });

  test("is limited, and so is a prompt", async () => {
    const session = await createKit([hanging]).open();
    const first = session.prompt(text("go"));
    await first.accepted;
    const many = Array.from({ length: 101 }, () => session.prompt(text("x")).accepted);
    const settled = await Promise.allSettled(many);
    expect(settled.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(settled.at(-1)).toMatchObject({ reason: { code: "queue_full" } });
    await expect(session.prompt(text("x".repeat(10_000_001))).accepted).rejects.toMatchObject({ code: "queue_full" });
    await session.close();
    const other = await createKit([]).open();
    await expect(other.prompt(text("x".repeat(10_000_001))).accepted).rejects.toMatchObject({
      code: "input_too_large",
    });
  });

  test("a closed session accepts nothing", async () => {
    const session = await createKit([]).open();
    await session.close();
    await expect(session.prompt(text("x")).accepted).rejects.toMatchObject({ code: "session_closed" });
  });
});

describe("interrupt", () => {
  test("during a reply: the text is kept, in memory and in the log", async () => {
    const kit = createKit([hanging, says("resumed")]);
    const session = await kit.open();
    const heard = listen(session);
    const { outcome } = session.prompt(text("go"));
    await until(() => heard.types().includes("message.delta"));
    await session.interrupt();
    expect(await outcome).toMatchObject({ reason: "interrupted", failure: { code: "interrupted" } });
    await heard.stop();
    expect(heard.types().filter((type) => type === "turn.ended")).toHaveLength(1);
    const partial = { role: "assistant", stop: "interrupted", content: [{ type: "text", text: "I was about to" }] };
    expect(session.history().at(1)).toMatchObject(partial);
    await session.close();

    const { session: again } = await kit.engine.resume(session.id);
    expect(again.history().at(1)).toMatchObject(partial);
    await ask(again, "go on");
    expect(again.history().at(2)?.content[0]).toEqual({
      type: "reminder",
      text: "The previous turn was interrupted before it was finished.",
    });
  });

  test("right with the prompt is not lost", async () => {
    const kit = createKit([says("never")]);
    const session = await kit.open();
    const { outcome } = session.prompt(text("go"));
    await session.interrupt();
    expect(await outcome).toMatchObject({ reason: "interrupted" });
    expect(kit.requests).toHaveLength(0);
  });

  test.each([0, 1, 2, 3, 4, 5, 8, 13])("%i steps after acceptance ends in exactly one end", async (steps) => {
    const kit = createKit([hanging]);
    const session = await kit.open();
    const heard = listen(session);
    const handle = session.prompt(text("go"));
    await handle.accepted;
    for (let step = 0; step < steps; step += 1) await Promise.resolve();
    await session.interrupt();
    expect(await handle.outcome).toMatchObject({ reason: "interrupted" });
    await heard.stop();
    expect(heard.types().filter((type) => type === "turn.started").length).toBe(
      heard.types().filter((type) => type === "turn.ended").length,
    );
  });

  test("during a tool: it is stopped, later calls never start, and every call has a result", async () => {
    const host = createMemoryHost(
      { "/ws/a": "" },
      {
        onCommand: (_, spec) =>
          new Promise((resolve) => {
            spec.onProgress("working");
            setTimeout(() => resolve({ end: { type: "aborted" } }), 20);
          }),
      },
    );
    const kit = createKit([calls(["Execute", { command: "sleep 100" }], ["Create", { file_path: "b", content: "" }])], {
      host,
    });
    const session = await kit.open();
    const heard = listen(session);
    const { outcome } = session.prompt(text("go"));
    await until(() => heard.types().includes("tool.progress"));
    await session.interrupt();
    expect(await outcome).toMatchObject({ reason: "interrupted" });
    await heard.stop();
    const results = session.history().at(-1)?.content;
    expect(results).toMatchObject([
      { callId: "call_1", status: "interrupted" },
      { callId: "call_2", status: "interrupted" },
    ]);
    expect(host.text("/ws/b")).toBeUndefined();
    expect(heard.types().filter((type) => type === "tool.started")).toHaveLength(1);
  });

  test("drops waiting prompts, and reports it", async () => {
    const session = await createKit([hanging]).open();
    const heard = listen(session);
    const first = session.prompt(text("a"));
    const second = session.prompt(text("b"));
    await Promise.all([first.accepted, second.accepted]);
    await session.interrupt();
    expect([(await first.outcome).reason, (await second.outcome).reason]).toEqual(["interrupted", "interrupted"]);
    await heard.stop();
    expect(heard.types()).toContain("prompt.discarded");
    expect(session.waiting()).toEqual([]);
  });

  test("a deadline ends the turn as a limit, with its own message", async () => {
    const session = await createKit([hanging]).open();
    const { outcome } = session.prompt(text("a"));
    await until(() => session.history().length > 0);
    await session.interrupt(new AgentError("timeout", "Stopped after 2 s."));
    expect(await outcome).toMatchObject({
      reason: "limit",
      failure: { code: "timeout", message: "Stopped after 2 s." },
    });
  });

  test("does nothing in an idle session", async () => {
    const session = await createKit([says("ok")]).open();
    await session.interrupt();
    expect((await ask(session, "go")).reason).toBe("completed");
  });
});

test("a late reader misses nothing that is stored", async () => {
  const session = await createKit([says("one"), says("two")]).open();
  await ask(session, "a");
  const attachment = session.attach({ approve: false, answer: false, onDetach: "cancel" });
  const seen: EngineEvent[] = [];
  const reading = (async () => {
    for await (const event of attachment.events({ after: 2 })) {
      seen.push(event);
      if (seen.filter(({ type }) => type === "turn.ended").length === 2) break;
    }
  })();
  await ask(session, "b");
  await reading;
  const numbers = seen.flatMap(({ seq }) => (seq === undefined ? [] : [seq]));
  expect(numbers).toEqual(numbers.map((_, index) => index + 3));
});

test("a slow reader holds the model up instead of filling the memory", async () => {
  let produced = 0;
  const endless: FakeReply = async function* (): AsyncGenerator<ModelEvent> {
    for (; produced < 100_000; produced += 1) yield { type: "text", text: "x" };
    yield { type: "end", stop: "end" };
  };
  const session = await createKit([endless]).open();
  session.attach({ approve: false, answer: false, onDetach: "cancel" });
  const { outcome } = session.prompt(text("go"));
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(produced).toBeLessThan(2_000);
  await session.interrupt();
  expect((await outcome).reason).toBe("interrupted");
});

/** A store whose disk is full once this event is in the log. */
function fullAfter(isLast: (event: EngineEvent) => boolean): SessionStore {
  const { store } = createKit([]);
  let full = false;
  return {
    ...store,
    create: async (first) => {
      const log = await store.create(first);
      return {
        ...log,
        append: (events, options) => {
          if (full) return Promise.reject(new AgentError("storage_failed", "The disk is full."));
          full = events.some(isLast);
          return log.append(events, options);
        },
      };
    },
  };
}

test("an unwritable log fails the turn with a message, and ends it", async () => {
  const session = await createKit([calls(["LS", {}])], {
    store: fullAfter(({ type }) => type === "prompt.taken"),
  }).open();
  const heard = listen(session);
  const outcome = await ask(session, "go");
  expect(outcome).toMatchObject({
    reason: "failed",
    failure: { code: "storage_failed", message: "The disk is full." },
  });
  await heard.stop();
  expect(heard.types().filter((type) => type === "turn.ended")).toHaveLength(1);
  await expect(session.prompt(text("more")).accepted).rejects.toMatchObject({ code: "storage_failed" });
});

test("calls next to one that cannot be stored end before the turn", async () => {
  const log: string[] = [];
  const readers = ["quick", "slow"].map((name): Tool => {
    const body = defineTool({
      input: z.object({}),
      access: async () => [],
      run: async (_input, { signal }) => {
        if (name === "slow") await new Promise((resolve) => signal.addEventListener("abort", resolve));
        log.push(`${name} is over`);
        return succeeded(name);
      },
    });
    return { name, kind: "read", title: name, description: name, concurrent: true, load: async () => body };
  });
  const store = fullAfter((event) => event.type === "tool.started" && event.name === "slow");
  const kit = createKit([calls(["quick", {}], ["slow", {}])], { tools: readers, store });
  const session = await kit.open();
  const { reason } = await ask(session, "go");
  expect({ reason, log, timers: kit.clock.waiting }).toEqual({
    reason: "failed",
    log: ["quick is over", "slow is over"],
    timers: 0,
  });
});
