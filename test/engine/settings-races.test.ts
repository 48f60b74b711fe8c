import { describe, expect, test } from "vitest";
import type { ModelEvent } from "../../src/engine/ports.ts";
import type { Attachment } from "../../src/engine/session/attachment.ts";
import type { Session } from "../../src/engine/session/session.ts";
import { calls, createKit, says, until } from "../fakes/kit.ts";
import type { MemoryHost } from "../fakes/memory-host.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";

const text = (words: string) => [{ type: "text", text: words }] as const;
const push = (folder = "x") => calls(["Execute", { command: `rm -rf ${folder}`, riskLevel: "high" }]);

function approver(session: Session): Attachment {
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  void (async () => {
    for await (const _ of attachment.events());
  })();
  return attachment;
}

async function openRequest(session: Session): Promise<string> {
  await until(() => session.openRequests().size === 1);
  return [...session.openRequests().keys()][0] ?? "";
}

/** A session at level off with an open request. */
async function asked(
  replies: readonly ModelEvent[][],
  changes: Parameters<ReturnType<typeof createKit>["open"]>[0] = {},
  host?: MemoryHost,
) {
  const kit = createKit(replies, host === undefined ? {} : { host });
  const session = await kit.open({ autonomy: "off", ...changes });
  const attachment = approver(session);
  const turn = session.prompt(text("go"));
  return { kit, session, attachment, turn, requestId: await openRequest(session) };
}

test("lowering the level right after an answer holds", async () => {
  const { session, attachment, turn, requestId } = await asked([push(), says("done")]);
  attachment.answer(requestId, { kind: "allow", always: true });
  await session.update({ autonomy: "off" });
  await turn.outcome;

  expect(session.settings.autonomy).toBe("off");
});

test("entering spec mode right after an approved plan holds", async () => {
  const plan = calls(["ExitSpecMode", { plan: "1. do it" }]);
  const { session, attachment, turn, requestId } = await asked([plan, says("done")], { mode: "spec" });
  attachment.answer(requestId, { kind: "approve", autonomy: "high" });
  await session.update({ mode: "spec", autonomy: "off" });
  await turn.outcome;

  expect(session.settings).toMatchObject({ mode: "spec", autonomy: "off" });
});

test("entering spec mode during a request applies to it", async () => {
  const { session, attachment, turn, requestId } = await asked([push(), says("done")]);
  await session.update({ mode: "spec" });
  attachment.answer(requestId, { kind: "allow" });
  await turn.outcome;

  expect(session.history().at(-2)?.content).toMatchObject([{ status: "refused" }]);
});

test("entering spec mode just as an allowed call begins keeps it from running", async () => {
  const host = createMemoryHost({ "/ws/readme.md": "hello\n" });
  let onLookUp = (): void => undefined;
  const looking = {
    ...host,
    lookUp: async (...given: Parameters<typeof host.lookUp>) => {
      onLookUp();
      return host.lookUp(...given);
    },
  };
  const { session, attachment, turn, requestId } = await asked([push(), says("done")], {}, looking);
  // The decision is checked again right before the call begins.
  onLookUp = () => void session.update({ mode: "spec" });
  attachment.answer(requestId, { kind: "allow" });
  await turn.outcome;

  expect(host.commands).toEqual([]);
  expect(session.history().at(-2)?.content).toMatchObject([{ status: "refused" }]);
});

test("a rejected plan is the last request of that reply", async () => {
  const plans = calls(["ExitSpecMode", { plan: "one" }], ["ExitSpecMode", { plan: "two" }]);
  const { session, attachment, turn, requestId } = await asked([plans], { mode: "spec" });
  attachment.answer(requestId, { kind: "cancel" });

  expect((await turn.outcome).reason).toBe("cancelled");
  expect(session.history().at(-1)?.content).toMatchObject([
    { text: expect.stringContaining("Plan not approved") },
    { text: "Error: Not run, because another call of the same reply was rejected.", status: "refused" },
  ]);
});

test("a no also holds back what the same reply would have changed unasked", async () => {
  const both = calls(["Create", { file_path: "/ws/a.txt", content: "a" }], ["Execute", { command: "rm -rf x" }]);
  const { kit, session, attachment, turn, requestId } = await asked([both], { autonomy: "low" });
  attachment.answer(requestId, { kind: "cancel" });
  await turn.outcome;

  expect(session.history().at(-1)?.content).toMatchObject([{ status: "refused" }, { status: "refused" }]);
  expect(await kit.host.files.stat("/ws/a.txt")).toBeUndefined();
});

describe("a fork", () => {
  test("does not restore a level that was lowered since", async () => {
    const { kit, session, attachment, turn, requestId } = await asked([push(), says("done")]);
    attachment.answer(requestId, { kind: "allow", always: true });
    await turn.outcome;
    await session.update({ autonomy: "off" });
    const { session: fork } = await kit.engine.fork(session.id);
    expect(fork.settings.autonomy).toBe("off");
    await fork.close();

    const again = await kit.engine.resume(fork.id);
    expect(again.session.settings.autonomy).toBe("off");
  });

  test("starts with the given settings, whatever was answered in the original", async () => {
    const { kit, session, attachment, turn, requestId } = await asked([push(), says("done")]);
    attachment.answer(requestId, { kind: "allow", always: true });
    await turn.outcome;
    const { session: fork } = await kit.engine.fork(session.id, { changes: { autonomy: "low", mode: "spec" } });

    expect(fork.settings).toMatchObject({ autonomy: "low", mode: "spec" });
  });
});

test("reports everything that an interrupt drops before the turn ends", async () => {
  const kit = createKit([
    async function* (_, signal) {
      yield { type: "text", text: "a" };
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    },
  ]);
  const session = await kit.open();
  const types: string[] = [];
  const attachment = session.attach({ approve: false, answer: false, onDetach: "cancel" });
  const heard = (async () => {
    for await (const event of attachment.events()) types.push(event.type);
  })();
  session.prompt(text("one"));
  await until(() => types.includes("message.delta"));
  const waiting = [1, 2, 3, 4, 5].map((n) => session.prompt(text(`q${n}`)));
  await Promise.all(waiting.map(({ accepted }) => accepted));
  await session.interrupt();
  await session.close();
  await heard;

  const told = types.filter((type) => ["prompt.discarded", "message.ended", "turn.ended"].includes(type));
  expect(told).toEqual([...Array(5).fill("prompt.discarded"), "message.ended", "turn.ended"]);
});

test("prompts left by an earlier process do not block new ones", async () => {
  const kit = createKit([says("all")]);
  const session = await kit.open();
  const attachment = session.attach({ approve: false, answer: false, onDetach: "cancel" });
  attachment.detach();
  await session.close();
  const log = await kit.store.acquire(session.id);
  const lost = Array.from({ length: 100 }, (_, n) => ({
    type: "prompt.accepted" as const,
    messageId: `lost-${n}`,
    content: text("x"),
    at: 1,
    sessionId: session.id,
    seq: session.seq + 1 + n,
  }));
  await log.append(lost);
  await log.release();

  const again = (await kit.engine.resume(session.id)).session;
  expect((await again.prompt(text("new")).outcome).reason).toBe("completed");
});

test("only the prompt too large for the log fails", async () => {
  const kit = createKit([calls(["LS", {}]), calls(["LS", {}]), says("done")]);
  const session = await kit.open();
  const turn = session.prompt(text("one"));
  const large = [1, 2, 3].map(() => session.prompt(text("€".repeat(9_000_000))));

  for (const { accepted } of large) await expect(accepted).rejects.toMatchObject({ code: "input_too_large" });
  expect((await turn.outcome).reason).toBe("completed");
});

test("a refused prompt gets no turn, and those behind it do", async () => {
  let letGo = (): void => undefined;
  const kit = createKit([
    async function* () {
      yield { type: "text", text: "a" };
      await new Promise<void>((resolve) => {
        letGo = resolve;
      });
      yield { type: "end", stop: "end" };
    },
    says("b"),
  ]);
  const session = await kit.open();
  const first = session.prompt(text("one"));
  await until(() => kit.requests.length === 1);
  letGo();
  const large = session.prompt(text("€".repeat(9_000_000)));
  const behind = session.prompt(text("two"));
  await expect(large.accepted).rejects.toMatchObject({ code: "input_too_large" });
  await Promise.all([first.outcome, behind.outcome]);

  expect(kit.requests).toHaveLength(2);
  expect(session.history().map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant"]);
});
