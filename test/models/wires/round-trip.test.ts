import { afterEach, describe, expect, test } from "vitest";
import { ask, countingIds, createKit, until } from "../../fakes/kit.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { createMemoryStore } from "../../fakes/memory-store.ts";
import type { ProviderServer, Turn } from "../../fakes/providers/base.ts";
import { expectGolden } from "./golden.ts";
import { catalogOf, closeServers, entryOf, openServer, openWire, wireNames } from "./wire.ts";

afterEach(closeServers);

const faultsOf = (server: ProviderServer) => server.requests.flatMap(({ faults }) => faults);
const call = (id: string, name: string, input: unknown) => ({ id, name, input });

/** A conversation with every kind of call outcome. */
const eventful: readonly Turn[] = [
  {
    thinking: ["I should look."],
    text: ["Looking."],
    calls: [call("call_a", "Read", { file_path: "a.txt" }), call("call_b", "Read", { file_path: "missing.txt" })],
  },
  { thinking: ["Now write."], calls: [call("call_c", "Create", { file_path: "b.txt", content: "x" })] },
  { text: ["It was denied, so I stop."] },
  { calls: [call("call_d", "Execute", { command: "sleep 60", riskLevel: "low" })] },
  { text: ["Fine."] },
];

describe.each(wireNames)("%s", (name) => {
  test("a resumed session sends the same bytes as the open one would have", async () => {
    const server = await openServer(name);
    const store = createMemoryStore({ now: () => 1_000_000 });
    const host = createMemoryHost({ "/ws/a.txt": "alpha\n" });
    const options = { store, host, ids: countingIds() };
    const first = await openWire(name, { ...options, server });
    server.enqueue(...eventful.slice(0, 3));
    const session = await first.open({ autonomy: "off", reasoningEffort: "medium" });
    await ask(session, "Please copy a.txt.");
    await ask(session, "And now?");
    await session.close();

    const sentBy = async (text: string): Promise<string> => {
      server.enqueue({ text: ["Yes."] });
      const { kit } = await openWire(name, { ...options, server });
      const { session: resumed } = await kit.engine.fork(session.id);
      await ask(resumed, text);
      return server.requests.at(-1)?.rawBody ?? "";
    };
    const sent = await sentBy("Go on.");
    expect(await sentBy("Go on.")).toBe(sent);
    expect(faultsOf(server)).toEqual([]);
    // It starts with what was sent before, for the provider's cache.
    const before = conversationOf(server.requests.at(-3)?.body);
    expect(conversationOf(JSON.parse(sent)).slice(0, before.length)).toEqual(before);
  });

  test("interrupted, denied and truncated calls have results", async () => {
    const aborted = { end: { type: "aborted" } } as const;
    const onCommand = () => new Promise<typeof aborted>((resolve) => setTimeout(() => resolve(aborted), 20));
    const host = createMemoryHost({ "/ws/a.txt": "alpha\n" }, { onCommand });
    const { server, open } = await openWire(name, { host });
    server.enqueue(...eventful);
    const session = await open({ autonomy: "off", reasoningEffort: "medium" });
    await ask(session, "Please copy a.txt.");
    await ask(session, "And now?");
    await session.update({ autonomy: "high" });
    const { outcome } = session.prompt([{ type: "text", text: "Wait a minute." }]);
    await until(() => session.history().at(-1)?.role === "assistant" && server.requests.length === 4);
    await session.interrupt();
    await outcome;
    await ask(session, "Enough.");
    expect(faultsOf(server)).toEqual([]);
    expect(server.requests).toHaveLength(5);
    expectGolden(`eventful-${name}`, conversationOf(server.requests.at(-1)?.body));
  });

  test("continues a conversation of the other three wires", async () => {
    const others = wireNames.filter((other) => other !== name);
    const servers = await Promise.all([...others, name].map(async (wire) => [wire, await openServer(wire)] as const));
    const entries = servers.map(([wire, server]) => entryOf(wire, server, { id: wire }));
    const kit = createKit([], { models: catalogOf(entries), files: { "/ws/a.txt": "alpha\n" } });
    const session = await kit.open({ modelId: name, reasoningEffort: "medium" });
    for (const [wire, server] of servers) {
      server.enqueue(
        { thinking: [`${wire} thinks.`], calls: [call(`call:${wire}/1`, "Read", { file_path: "a.txt" })] },
        { text: [`${wire} is done.`] },
      );
      await session.update({ modelId: wire });
      expect(await ask(session, `Your turn, ${wire}.`)).toMatchObject({
        reason: "completed",
        finalText: `${wire} is done.`,
      });
      expect(faultsOf(server)).toEqual([]);
    }
  });
});

/** The messages of a request, without signatures, encrypted thinking and cache marks, which vary. */
function conversationOf(body: unknown): readonly unknown[] {
  const fields = body as { messages?: unknown[]; input?: unknown[]; contents?: unknown[] };
  const plain = JSON.stringify(fields.messages ?? fields.input ?? fields.contents, (key, value: unknown) => {
    if (key === "cache_control") return undefined;
    if (/^(signature|encrypted_content|thoughtSignature)$/.test(key)) return "…";
    return key === "id" && typeof value === "string" ? value.replace(/^(rs|msg|fc)_.*/, "$1_…") : value;
  });
  return (JSON.parse(plain) as unknown[]).filter((message) => !isInstruction(message));
}

function isInstruction(message: unknown): boolean {
  const { role } = message as { role?: string };
  return role === "system" || role === "developer";
}
