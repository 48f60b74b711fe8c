import { expect, test } from "vitest";
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

test("instructions of a folder come with the first call that works in it, once", async () => {
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

test("they stay when the call leaves the model's view", async () => {
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
