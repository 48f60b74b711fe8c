import { expect, test } from "vitest";
import type { DurableEvent, EngineEvent } from "../../src/engine/event.ts";
import { damagedStore } from "../fakes/damaged-store.ts";
import { fullStore } from "../fakes/full-store.ts";
import { ask, calls, createKit, listen, says, until } from "../fakes/kit.ts";
import { createMemoryStore } from "../fakes/memory-store.ts";

const mebibyte = 1024 * 1024;
const text = (words: string) => [{ type: "text", text: words }] as const;

/** Approves everything, and records what it saw. */
function approver(session: Awaited<ReturnType<ReturnType<typeof createKit>["open"]>>) {
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const asked: Extract<EngineEvent, { type: "request.opened" }>[] = [];
  const done = (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      asked.push(event);
      attachment.answer(event.requestId, { kind: "allow" });
    }
  })();
  return { asked, done };
}

test("asks about ten edits of a 1 MB file, showing as much as one request can", async () => {
  const lines = Array.from({ length: 10 }, (_, at) => `line ${at} ${"x".repeat(96_000)}`);
  const edits = lines.map((_, at) => ["Edit", { file_path: "big.txt", old_str: `line ${at} `, new_str: `row ${at} ` }]);
  const kit = createKit([calls(["Read", { file_path: "big.txt" }]), calls(...(edits as [])), says("done")], {
    files: { "/ws/big.txt": lines.join("\n") },
  });
  const session = await kit.open({ autonomy: "off" });
  const { asked, done } = approver(session);
  expect(await ask(session, "go")).toMatchObject({ reason: "completed", finalText: "done" });
  await session.close();
  await done;
  expect(asked).toHaveLength(1);
  const [request] = asked;
  const shown = request?.interaction.kind === "permission" ? request.interaction.calls : [];
  expect(shown.map(({ preview }) => preview?.type)).toEqual(Array(10).fill("edit"));
  const whole = shown.filter(({ preview }) => preview?.type === "edit" && preview.newContent !== undefined);
  expect([whole.length > 0, whole.length < 10]).toEqual([true, true]);
  expect(JSON.stringify(request).length).toBeLessThan(8 * mebibyte);
});

test("refuses calls too large to show with a message, and the turn continues", async () => {
  const creates = ["a", "b"].map((name) => ["Create", { file_path: name, content: "語".repeat(1.5 * mebibyte) }]);
  const kit = createKit([calls(...(creates as [])), says("done")], { model: { contextWindow: 1e9 } });
  const session = await kit.open({ autonomy: "off" });
  const { done } = approver(session);
  expect(await ask(session, "go")).toMatchObject({ reason: "completed", finalText: "done" });
  const results = session.history().flatMap((message) => (message.role === "tool" ? message.content : []));
  expect(results.map(({ status, text: words }) => [status, words])).toEqual([
    ["ok", "File created successfully"],
    [
      "failed",
      "Error: Not run: the calls of this reply need permission, and together they are too large to show. Make fewer or smaller calls.",
    ],
  ]);
  await session.close();
  await done;
});

test("a huge client answer closes its request, without its middle", async () => {
  const kit = createKit([calls(["AskUser", { questionnaire: "1. [question] Which?\n[option] This" }]), says("done")]);
  const session = await kit.open();
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const done = (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened") continue;
      attachment.answer(event.requestId, {
        kind: "answers",
        answers: [{ index: 1, answer: `a${"x".repeat(17 * mebibyte)}z` }],
      });
    }
  })();
  expect((await ask(session, "go")).finalText).toBe("done");
  expect([session.openRequests().size, session.busy()]).toEqual([0, undefined]);
  const closed = (await session.past()).find(({ type }) => type === "request.closed");
  const [given] = closed?.type === "request.closed" && closed.answer.kind === "answers" ? closed.answer.answers : [];
  const [start = "", note, end = ""] = given?.answer.split("\n") ?? [];
  expect([start[0], end.at(-1), start.length < 8 * mebibyte]).toEqual(["a", "z", true]);
  expect(note).toMatch(/^\[\.\.\. \d+ characters of the answer were omitted \.\.\.\]$/);
  await session.close();
  await done;
});

test("a request whose end cannot be written ends with its turn", async () => {
  const { store, full } = fullStore();
  const kit = createKit([calls(["Create", { file_path: "a", content: "a" }]), says("again")], { store });
  const session = await kit.open({ autonomy: "off" });
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const heard = listen(session);
  const turn = session.prompt(text("go"));
  await until(() => session.openRequests().size > 0);
  full("request.closed");
  const [requestId = ""] = session.openRequests().keys();
  attachment.answer(requestId, { kind: "allow" });
  expect((await turn.outcome).reason).toBe("failed");
  expect([session.openRequests().size, session.busy()]).toEqual([0, undefined]);
  full(false);
  expect((await ask(session, "go on")).finalText).toBe("again");
  await heard.stop();
  await session.close();
  const { session: again } = await kit.engine.resume(session.id);
  expect([again.openRequests().size, again.waiting()]).toEqual([0, []]);
  await again.close();
});

test("a session whose process died in a reply larger than a record continues", async () => {
  const store = createMemoryStore({ now: () => 1 });
  const piece = "y".repeat(9 * mebibyte);
  const session = await createKit([[{ type: "text", text: piece }, { type: "text", text: piece }, ...says("")]], {
    store,
  }).open();
  await session.prompt(text("go")).outcome;
  await session.close();
  const isLost = ({ type }: DurableEvent): boolean =>
    type === "message.ended" || type === "turn.ended" || type === "usage.updated";
  const died = damagedStore(store, isLost);
  // As after kill -9: nothing is damaged, but the end is missing.
  const kit = createKit([says("on")], {
    model: { contextWindow: 1e9 },
    store: {
      ...died,
      async read(id) {
        const log = await died.read(id);
        return { ...log, damagedLines: [], lastSeq: log.events.at(-1)?.seq ?? 0 };
      },
      async acquire(id) {
        const { events } = await died.read(id);
        const copy = createMemoryStore({ now: () => 1 });
        const [first, ...rest] = events;
        if (first === undefined) throw new Error("no log");
        const log = await copy.create(first);
        await log.append(rest.map((event, at) => ({ ...event, seq: at + 2 })));
        return log;
      },
    },
  });
  const { session: again } = await kit.engine.resume(session.id);
  expect((await ask(again, "go on")).finalText).toBe("on");
  const [reply] = again.history().flatMap((message) => (message.role === "assistant" ? [message] : []));
  const [block] = reply?.content ?? [];
  const kept = block?.type === "text" ? block.text : "";
  expect([reply?.stop, kept.length < 9 * mebibyte, /characters were lost when the process ended/.test(kept)]).toEqual([
    "interrupted",
    true,
    true,
  ]);
  await again.close();
});
