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

/** A session at level off in which something was asked for. */
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

test("a level that is lowered right behind an answer stays lowered", async () => {
  const { session, attachment, turn, requestId } = await asked([push(), says("done")]);
  attachment.answer(requestId, { kind: "allow", always: true });
  await session.update({ autonomy: "off" });
  await turn.outcome;

  expect(session.settings.autonomy).toBe("off");
});

test("spec mode that is entered right behind an approved plan holds", async () => {
  const plan = calls(["ExitSpecMode", { plan: "1. do it" }]);
  const { session, attachment, turn, requestId } = await asked([plan, says("done")], { mode: "spec" });
  attachment.answer(requestId, { kind: "approve", autonomy: "high" });
  await session.update({ mode: "spec", autonomy: "off" });
  await turn.outcome;

  expect(session.settings).toMatchObject({ mode: "spec", autonomy: "off" });
});

test("spec mode that is entered while a request is open holds for it, too", async () => {
  const { session, attachment, turn, requestId } = await asked([push(), says("done")]);
  await session.update({ mode: "spec" });
  attachment.answer(requestId, { kind: "allow" });
  await turn.outcome;

  expect(session.history().at(-2)?.content).toMatchObject([{ status: "refused" }]);
});

test("spec mode that is entered in the moment in which an allowed call begins keeps it from running", async () => {
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
  // What was decided is looked at again right before the call begins.
  onLookUp = () => void session.update({ mode: "spec" });
  attachment.answer(requestId, { kind: "allow" });
  await turn.outcome;

  expect(host.commands).toEqual([]);
  expect(session.history().at(-2)?.content).toMatchObject([{ status: "refused" }]);
});

test("a plan that is turned down is the last that is asked of that reply", async () => {
  const plans = calls(["ExitSpecMode", { plan: "one" }], ["ExitSpecMode", { plan: "two" }]);
  const { session, attachment, turn, requestId } = await asked([plans], { mode: "spec" });
  attachment.answer(requestId, { kind: "cancel" });

  expect((await turn.outcome).reason).toBe("cancelled");
  expect(session.history().at(-1)?.content).toMatchObject([
    { text: expect.stringContaining("Plan not approved") },
    { text: "Error: Not run, because another call of the same reply was turned down.", status: "refused" },
  ]);
});

test("a no holds back what the same reply would have changed unasked", async () => {
  const both = calls(["Create", { file_path: "/ws/a.txt", content: "a" }], ["Execute", { command: "rm -rf x" }]);
  const { kit, session, attachment, turn, requestId } = await asked([both], { autonomy: "low" });
  attachment.answer(requestId, { kind: "cancel" });
  await turn.outcome;

  expect(session.history().at(-1)?.content).toMatchObject([{ status: "refused" }, { status: "refused" }]);
  expect(await kit.host.files.stat("/ws/a.txt")).toBeUndefined();
});

describe("a fork", () => {
  test("does not bring back a level that was lowered since", async () => {
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

  test("begins with the settings that it is given, whatever was answered in the original", async () => {
    const { kit, session, attachment, turn, requestId } = await asked([push(), says("done")]);
    attachment.answer(requestId, { kind: "allow", always: true });
    await turn.outcome;
    const { session: fork } = await kit.engine.fork(session.id, { changes: { autonomy: "low", mode: "spec" } });

    expect(fork.settings).toMatchObject({ autonomy: "low", mode: "spec" });
  });
});

test("everything that an interrupt drops is told before the turn ends", async () => {
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

test("prompts that an earlier process left behind keep nobody from prompting", async () => {
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

test("a prompt that is too large for the log fails alone", async () => {
  const kit = createKit([calls(["LS", {}]), calls(["LS", {}]), says("done")]);
  const session = await kit.open();
  const turn = session.prompt(text("one"));
  const large = [1, 2, 3].map(() => session.prompt(text("€".repeat(9_000_000))));

  for (const { accepted } of large) await expect(accepted).rejects.toMatchObject({ code: "input_too_large" });
  expect((await turn.outcome).reason).toBe("completed");
});

test("a prompt that is refused gets no turn, and those behind it do", async () => {
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
