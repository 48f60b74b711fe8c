import { expect, it } from "vitest";
import { readStreamJson } from "../../../src/sdk/stream-json/stream-json.ts";
import { completed, createFakeBackend, obliging, openOver, says } from "../fakes/fake-backend.ts";

/* Values nested more deeply than this program can follow. */

const levels = 20_000;
const deep = `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
/** Results within results. */
const deepList = `${'[{"type":"tool_result","toolUseId":"t","content":'.repeat(levels)}[]${"}]".repeat(levels)}`;

it.each([
  ["an object", deep, "other"],
  ["results within results", deepList, "tool_result"],
])("a history with %s opens", async (_what, content, type) => {
  const { "droid.initialize_session": _, ...others } = obliging;
  const backend = createFakeBackend(others);
  const opening = openOver(backend);
  const { id } = await backend.next("droid.initialize_session");
  const block = `{"type":"tool_result","toolUseId":"t","content":${content}}`;
  const session = `{"messages":[{"id":"m-0","role":"user","content":[${block}]}]}`;
  backend.line(`{"type":"response","id":"${id}","result":{"sessionId":"s-1","session":${session}}}`);
  const opened = await opening;
  expect(opened.session.history.map(({ id, content }) => [id, content.map((each) => each.type)])).toEqual([
    ["m-0", [type]],
  ]);
  await opened.session.close();
});

it("a result that cannot be reported gives way to one that can", async () => {
  const { session, backend, warnings } = await openOver(createFakeBackend());
  const turn = session.stream("one", { id: "p-1" });
  await backend.next("droid.add_user_message");
  backend.notify({ type: "tool_call", toolUse: { id: "c-1", name: "LS", input: {} } });
  const notification = `{"type":"tool_result","toolUseId":"c-1","content":${deep}}`;
  backend.line(
    `{"type":"notification","method":"droid.session_notification","params":{"notification":${notification}}}`,
  );
  backend.notify({ type: "tool_result", toolUseId: "c-1", content: "a.txt" }, says("m-1", "Done."), completed("p-1"));
  const seen: string[] = [];
  for await (const event of turn) seen.push("text" in event ? `${event.type} ${event.text}` : event.type);
  expect(seen).toEqual(["tool_input", "tool_call", "tool_result a.txt", "text Done.", "message Done.", "end"]);
  expect(warnings).toEqual(["Failed to process a line: A result is nested too deeply."]);
  await session.close();
});

it("and so does one in a program's output", async () => {
  const lines = [
    `{"type":"tool_call","id":"c-1","toolName":"LS","parameters":{}}`,
    `{"type":"tool_result","id":"c-1","value":${deep}}`,
    `{"type":"tool_result","id":"c-1","value":"a.txt"}`,
  ];
  const seen: string[] = [];
  for await (const event of readStreamJson(lines.join("\n"))) {
    seen.push(event.type === "tool_result" ? `${event.name} ${event.text}` : event.type);
  }
  expect(seen).toEqual(["tool_call", "other", "LS a.txt"]);
});
