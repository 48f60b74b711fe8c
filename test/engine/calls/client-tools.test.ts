import { expect, test } from "vitest";
import { fixedTools } from "../../../src/engine/calls/tool-source.ts";
import type { EngineEvent } from "../../../src/engine/event.ts";
import type { Attachment } from "../../../src/engine/session/attachment.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import { SessionTools } from "../../../src/engine/session/session-tools.ts";
import { ask, calls, createKit, says, until } from "../../fakes/kit.ts";

const lookUp = { name: "LookUp", description: "Looks up a word.", inputSchema: '{"type":"object"}' };

/** A client that runs a session's tools, as in `run`. */
function runner(
  session: Session,
  run: (call: { name: string; input: unknown }, attachment: Attachment) => string | undefined,
) {
  const attachment = session.attach({ approve: false, answer: false, runTools: true, onDetach: "keep" });
  const opened: string[] = [];
  void (async () => {
    for await (const event of attachment.events()) {
      if (event.type !== "request.opened" || event.interaction.kind !== "tool") continue;
      opened.push(event.interaction.call.name);
      const text = run(event.interaction.call, attachment);
      if (text !== undefined) attachment.answer(event.requestId, { kind: "result", text });
    }
  })();
  return { attachment, opened };
}

function resultsIn(session: Session): unknown[] {
  return session.history().flatMap((message) => (message.role === "tool" ? message.content : []));
}

test("offers a client's tool with its own description, and the model gets the client's result", async () => {
  const kit = createKit([calls(["LookUp", { word: "tin" }]), says("A metal.")]);
  const session = await kit.open({ clientTools: [lookUp] });
  runner(session, ({ input }) => `about ${JSON.stringify(input)}`);
  expect(await ask(session, "what is tin?")).toMatchObject({ reason: "completed", finalText: "A metal." });
  const offered = kit.requests[0]?.tools.find(({ name }) => name === "LookUp");
  expect([offered?.description, await offered?.inputSchema()]).toEqual([lookUp.description, { type: "object" }]);
  expect(kit.requests[0]?.tools.map(({ name }) => name)).toContain("Read");
  expect(resultsIn(session)).toEqual([
    { type: "tool_result", callId: "call_1", name: "LookUp", status: "ok", text: 'about {"word":"tin"}' },
  ]);
  await session.close();
});

test("a client that runs all tools gets calls of built-in ones, and nothing is touched here", async () => {
  const kit = createKit([calls(["Create", { file_path: "/ws/new.md", content: "x" }]), says("Done.")], {
    reminders: ["You are in /ws."],
    rulesFailure: "config.yaml is broken",
  });
  const session = await kit.open({ clientRunsTools: true, autonomy: "off" });
  runner(session, () => "created at the client's");
  expect(await ask(session, "create it")).toMatchObject({ reason: "completed", finalText: "Done." });
  expect(await kit.host.files.stat("/ws/new.md")).toBeUndefined();
  expect(JSON.stringify(kit.requests[0]?.messages)).not.toContain("You are in");
  const offered = kit.requests[0]?.tools.find(({ name }) => name === "Create");
  expect(await offered?.inputSchema()).toMatchObject({ type: "object", required: ["file_path", "content"] });
  await session.close();
});

test("sends all calls of a reply at once, and keeps results in the order of the calls", async () => {
  const many = Array.from({ length: 20 }, (_, index) => ["LookUp", { index }] as const);
  const kit = createKit([calls(...many), says("Done.")]);
  const session = await kit.open({ clientTools: [lookUp] });
  const waiting: string[] = [];
  const { attachment } = runner(session, () => undefined);
  const done = ask(session, "go");
  await until(() => session.openRequests().size === 20);
  waiting.push(...session.openRequests().keys());
  for (const [index, id] of waiting.reverse().entries())
    attachment.answer(id, { kind: "result", text: `${19 - index}` });
  await done;
  expect(resultsIn(session).map((block) => (block as { text: string }).text)).toEqual(
    many.map((_, index) => `${index}`),
  );
  await session.close();
});

test("a result that does not come in time is an error for the model, and a late one changes nothing", async () => {
  const kit = createKit([calls(["LookUp", {}]), says("Never mind.")]);
  const { session } = await kit.engine
    .create({
      cwd: "/ws",
      settings: { ...(await kit.open()).settings, clientTools: [lookUp] },
      run: { toolResultMs: 5_000 },
    })
    .then((created) => ({ session: created }));
  const { attachment } = runner(session, () => undefined);
  const done = ask(session, "go");
  await until(() => session.openRequests().size === 1);
  const [id = ""] = session.openRequests().keys();
  await until(() => kit.clock.waiting > 0);
  kit.clock.advance(5_000);
  expect(await done).toMatchObject({ reason: "completed", finalText: "Never mind." });
  expect(resultsIn(session)).toMatchObject([
    { status: "failed", text: "Error: The client did not run LookUp: no answer came within 5 s." },
  ]);
  expect(attachment.answer(id, { kind: "result", text: "late" })).toBe(false);
  await session.close();
});

test("without a client that runs tools, a call fails at once with a message", async () => {
  const kit = createKit([calls(["LookUp", {}]), says("Oh.")]);
  const session = await kit.open({ clientTools: [lookUp] });
  expect(await ask(session, "go")).toMatchObject({ reason: "completed" });
  expect(resultsIn(session)).toMatchObject([
    { status: "failed", text: expect.stringContaining("no client that can run tools is connected") },
  ]);
  await session.close();
});

test("an interrupt ends a call that the client runs", async () => {
  const kit = createKit([calls(["LookUp", {}])]);
  const session = await kit.open({ clientTools: [lookUp] });
  const events: EngineEvent[] = [];
  const { attachment } = runner(session, () => undefined);
  const done = ask(session, "go");
  await until(() => session.openRequests().size === 1);
  await session.interrupt();
  expect(await done).toMatchObject({ reason: "interrupted" });
  expect(resultsIn(session)).toMatchObject([{ status: "interrupted" }]);
  expect(session.openRequests().size).toBe(0);
  attachment.detach();
  expect(events).toEqual([]);
  await session.close();
});

test("cuts a long result without a file, because the model could not read one here", async () => {
  const kit = createKit([calls(["LookUp", {}]), says("Long.")]);
  const session = await kit.open({ clientTools: [lookUp] });
  runner(session, () => "x".repeat(200_000));
  await ask(session, "go");
  const [result] = resultsIn(session) as { text: string; fullTextPath?: string }[];
  expect(result?.text).toContain("characters skipped");
  expect(result?.fullTextPath).toBeUndefined();
  await session.close();
});

test("stores the client's tools with the session", async () => {
  const kit = createKit([calls(["LookUp", {}]), says("One.")]);
  const first = await kit.open({ clientTools: [lookUp], clientRunsTools: true });
  await first.close();
  const { session } = await kit.engine.resume(first.id);
  runner(session, () => "found");
  expect(await ask(session, "go")).toMatchObject({ finalText: "One." });
  await session.close();
});

test("sessions whose clients run the tools share them, if their time limit is the same", () => {
  const own = createKit([]).engine.tools;
  const toolsWith = (toolResultMs: number) =>
    new SessionTools(fixedTools(own), { clientRunsTools: true }, { toolResultMs }, async () => ({})).list();
  const [first, again, other] = [toolsWith(1_000), toolsWith(1_000), toolsWith(2_000)];
  expect(first.length).toBe(own.length);
  expect(again.map((tool, index) => tool === first[index])).toEqual(own.map(() => true));
  expect(other.map((tool, index) => tool === first[index])).toEqual(own.map(() => false));
});
