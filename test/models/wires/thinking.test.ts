import { afterEach, expect, test } from "vitest";
import { ask } from "../../fakes/kit.ts";
import { closeServers, eventsOf, openWire } from "./wire.ts";

afterEach(closeServers);

test.each(["anthropic", "openai-responses"] as const)(
  "%s: hides redacted thinking and returns it with its proof",
  async (name) => {
    const { server, open } = await openWire(name);
    const calls = [{ name: "LS", input: { directory_path: "." }, id: "call_a" }];
    server.enqueue({ thinking: ["nobody reads this"], redacted: true, calls }, { text: ["Done."] });
    const session = await open({ reasoningEffort: "high" });
    const events = await eventsOf(session, () => ask(session, "go"));
    expect(server.requests.map(({ faults }) => faults)).toEqual([[], []]);
    expect(events.filter((event) => event.type === "message.delta")).toMatchObject([{ kind: "text", text: "Done." }]);
    const [first] = session.history().flatMap(({ role, content }) => (role === "assistant" ? [content] : []));
    expect(first).toMatchObject([{ type: "thinking", text: "", proof: expect.any(Object) }, { type: "tool_call" }]);
    expect(JSON.stringify(server.requests[1]?.body)).toMatch(/"redacted_thinking"|"encrypted_content":"[^"]/);
  },
);

test("returns thinking only to the model that produced it", async () => {
  const { server, kit, open } = await openWire("anthropic");
  server.enqueue({ thinking: ["Hm."], text: ["Yes."] }, { text: ["No."] });
  const session = await open({ reasoningEffort: "high" });
  await ask(session, "Is it?");
  await session.close();
  // Continue with another entry of the same provider.
  const other = await openWire("anthropic", { server, store: kit.store, entry: { id: "second" } });
  const { session: resumed } = await other.kit.engine.resume(session.id, { changes: { modelId: "second" } });
  await ask(resumed, "And now?");
  expect(server.requests.map(({ faults }) => faults)).toEqual([[], []]);
  expect(JSON.stringify(server.requests[1]?.body)).not.toContain('"thinking":"Hm."');
});

test("anthropic: marks the instructions and the last two requests for caching", async () => {
  const { server, open } = await openWire("anthropic", { files: { "/ws/a.txt": "alpha\n" } });
  server.enqueue({ calls: [{ name: "Read", input: { file_path: "a.txt" } }] }, { text: ["alpha"] }, { text: ["Bye."] });
  const session = await open();
  await ask(session, "Read a.txt.");
  await ask(session, "Thanks.");
  const marked = server.requests.map(({ body }) => {
    const { system, messages } = body as { system: unknown[]; messages: { role: string; content: object[] }[] };
    const isMarked = (block: unknown): boolean =>
      JSON.stringify(block).includes('"cache_control":{"type":"ephemeral"}');
    return [system.every(isMarked), ...messages.map(({ content }) => content.some(isMarked))];
  });
  expect(marked).toEqual([
    [true, true],
    [true, true, false, true],
    [true, false, false, true, false, true],
  ]);
});
