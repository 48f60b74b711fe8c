import { expect, test } from "vitest";
import { remindersOf } from "../../../src/engine/message.ts";
import { permissionsText } from "../../../src/permissions/permissions-text.ts";
import { ask, calls, createKit, says } from "../../fakes/kit.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";

const rules = {
  "/ws/a": "Instructions from /ws/a/AGENTS.md:\n\nTabs.",
  "/ws/b": "Instructions from /ws/b/CLAUDE.md:\n\nSpaces.",
};
const below = async (cwd: string, path: string) =>
  Object.entries(rules).flatMap(([folder, text]) => (cwd === "/ws" && path.startsWith(`${folder}/`) ? [text] : []));
const files = { "/ws/a/one.txt": "1\n", "/ws/a/two.txt": "2\n", "/ws/b/three.txt": "3\n" };
const read = (path: string) => ["Read", { file_path: path }] as const;

test("a folder's instructions come once, with the first call that works in it", async () => {
  const steps = [
    calls(read("a/one.txt")),
    calls(read("a/two.txt"), read("b/three.txt")),
    says("done"),
    calls(read("a/one.txt")),
  ];
  const kit = createKit([...steps, says("again")], { host: createMemoryHost(files), below });
  const session = await kit.open();
  await ask(session, "read");
  await session.close();
  const { session: resumed } = await kit.engine.resume(session.id);
  await ask(resumed, "read again");

  const told = resumed.history().flatMap((message) => (message.role === "tool" ? message.content : []));
  expect(told.map(({ reminders }) => reminders)).toEqual([[rules["/ws/a"]], undefined, [rules["/ws/b"]], undefined]);
});

test("they stay after the call leaves the model's view", async () => {
  const kit = createKit([calls(read("a/one.txt")), says("done"), says("A summary."), says("more")], {
    host: createMemoryHost(files),
    below,
  });
  const session = await kit.open();
  await ask(session, "read");
  await session.compact();
  await ask(session, "go on");
  const [first] = kit.requests.at(-1)?.messages ?? [];
  expect(first?.content).toContainEqual({ type: "reminder", text: rules["/ws/a"] });
});

test("a level raised by an answer is reported once, after the results of the same turn, and keeps the prefix", async () => {
  const create = (name: string) => ["Create", { file_path: name, content: "x" }] as const;
  const replies = [calls(create("a.txt"), read("a.txt")), calls(create("b.txt")), says("done"), says("again")];
  const kit = createKit([...replies, says("A summary."), says("more")], { permissions: permissionsText });
  const session = await kit.open({ autonomy: "off" });
  const attachment = session.attach({ approve: true, answer: true, onDetach: "cancel" });
  const answering = (async () => {
    for await (const event of attachment.events()) {
      if (event.type === "request.opened") attachment.answer(event.requestId, { kind: "allow", always: true });
    }
  })();
  await ask(session, "create");
  await ask(session, "go on");
  const level = (text: string) => /^Level: (\w+)$/m.exec(text)?.[1] ?? text;
  const told = session.history().map((message) => remindersOf(message).map(level));
  expect(told).toEqual([["off"], [], ["low"], [], [], [], [], []]);
  const results = session.history()[2]?.content;
  expect(results).toMatchObject([{ name: "Create" }, { name: "Read", reminders: [expect.stringContaining("low")] }]);
  const [, second, third] = kit.requests.map(({ messages }) => messages);
  expect(third?.slice(0, second?.length)).toEqual(second);

  await session.compact();
  await ask(session, "more");
  attachment.detach();
  await answering;
  const [first] = kit.requests.at(-1)?.messages ?? [];
  expect(first === undefined ? [] : remindersOf(first).filter((text) => text.includes("Level: "))).toHaveLength(1);
});
