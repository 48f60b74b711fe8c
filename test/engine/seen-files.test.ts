import { expect, test } from "vitest";
import type { Session } from "../../src/engine/session/session.ts";
import { ask, calls, createKit, type Kit, says } from "../fakes/kit.ts";

const read = calls(["Read", { file_path: "readme.md" }]);
const edit = calls(["Edit", { file_path: "readme.md", old_str: "hello", new_str: "edited" }]);
const create = calls(["Create", { file_path: "readme.md", content: "replaced\n" }]);
const changed = "/ws/readme.md. Read it again, then";

const lastResult = (session: Session) =>
  session
    .history()
    .flatMap(({ role, content }) => (role === "tool" ? content : []))
    .map((block) => ("status" in block ? { status: block.status, text: block.text } : undefined))
    .at(-1);

/** Reads a file in a session that has since ended. */
async function hasRead(kit: Kit): Promise<string> {
  const session = await kit.open();
  await ask(session, "read");
  await session.close();
  return session.id;
}

test("edits a file that was read before a resume", async () => {
  const kit = createKit([read, says("read"), edit, says("edited")]);
  const { session } = await kit.engine.resume(await hasRead(kit));
  await ask(session, "edit");
  expect(lastResult(session)?.status).toBe("ok");
  expect(kit.host.text("/ws/readme.md")).toBe("edited\n");
});

test("replaces a file in a fork that was read before", async () => {
  const kit = createKit([read, says("read"), create, says("replaced")]);
  const { session } = await kit.engine.fork(await hasRead(kit));
  await ask(session, "replace");
  expect(lastResult(session)?.status).toBe("ok");
  expect(kit.host.text("/ws/readme.md")).toBe("replaced\n");
});

test("neither edits nor replaces a file that changed while the session was closed", async () => {
  const kit = createKit([read, says("read"), edit, create, says("I see")]);
  const id = await hasRead(kit);
  kit.host.put("/ws/readme.md", "hello, theirs\n");
  const { session } = await kit.engine.resume(id);
  await ask(session, "edit");
  const results = session.history().flatMap(({ role, content }) => (role === "tool" ? content : []));
  expect(results.slice(1).map((block) => ("text" in block ? block.text : ""))).toEqual([
    `Error: Cannot edit file that has changed since it was read: ${changed} edit it.`,
    `Error: Cannot replace a file that has changed since it was read: ${changed} create it, or use Edit to change a part of it. Nothing was changed.`,
  ]);
  expect(kit.host.text("/ws/readme.md")).toBe("hello, theirs\n");
});

test("a file rewritten with the same content counts as unchanged", async () => {
  const kit = createKit([read, says("read"), edit, says("edited")]);
  const id = await hasRead(kit);
  kit.host.put("/ws/readme.md", "hello\n");
  const { session } = await kit.engine.resume(id);
  await ask(session, "edit");
  expect(kit.host.text("/ws/readme.md")).toBe("edited\n");
});

test("the log stores what the model has seen with the call's result", async () => {
  const kit = createKit([read, says("read")]);
  const { events } = await kit.store.read(await hasRead(kit));
  expect(events.flatMap((event) => (event.type === "tool.ended" ? [event.seen] : []))).toEqual([
    { "/ws/readme.md": "WJG1tSLV3whtD_CxEPvZ0hu0_HFjrzTQgoai6Eb2vgM" },
  ]);
});

test("edits a file after a compaction that was read before", async () => {
  const kit = createKit([read, says("read"), says("The user had readme.md read."), edit, says("edited")]);
  const session = await kit.open();
  await ask(session, "read");
  await session.compact();
  await ask(session, "edit");
  expect(lastResult(session)?.status).toBe("ok");
  expect(kit.host.text("/ws/readme.md")).toBe("edited\n");
});
