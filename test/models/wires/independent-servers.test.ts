import { afterEach, describe, expect, test } from "vitest";
import { ask, createKit } from "../../fakes/kit.ts";
import type { Turn } from "../../fakes/providers/base.ts";
import { closePlainServers, inPieces, servePlainly } from "./plain-server.ts";
import { alike, catalogOf, closeServers, eventsOf, openWire, wireNames } from "./wire.ts";

afterEach(closeServers);
afterEach(closePlainServers);

const create = { name: "Create", input: { file_path: "x.txt", content: "hello" }, id: "call_1", pieces: 1 };
const turns: readonly Turn[] = [
  { thinking: ["First the file."], text: ["I make it."], calls: [create], usage: { input: 30, output: 7 } },
  { text: ["Made it."], usage: { input: 50, output: 3 } },
];

describe.each(wireNames)("%s", (name) => {
  test("reads a server that answers with JSON instead of a stream the same way", async () => {
    const seen = await Promise.all(
      [undefined, "unstreamed" as const].map(async (fault) => {
        const { server, open, kit } = await openWire(name);
        server.enqueue(...turns.map((turn) => (fault === undefined ? turn : { ...turn, fault })));
        const session = await open({ reasoningEffort: "high" });
        const told = await eventsOf(session, () => ask(session, "Make x.txt."));
        expect(kit.host.text("/ws/x.txt")).toBe("hello");
        expect(server.requests.map(({ faults }) => faults)).toEqual([[], []]);
        return alike(told).filter((event) => !JSON.stringify(event).includes('"message.delta"'));
      }),
    );
    expect(seen[1]).toEqual(seen[0]);
  });
});

/** Events of llama.cpp's server: `tools/server/server-task.cpp`, `to_json_oaicompat_resp_stream`. */
describe("the Responses API of llama.cpp", () => {
  const response = { id: "resp_a", object: "response", status: "in_progress" };
  const usage = { input_tokens: 40, output_tokens: 9, total_tokens: 49, input_tokens_details: { cached_tokens: 10 } };
  const completed = (output: readonly object[]) => ({
    type: "response.completed",
    response: { id: "resp_a", object: "response", created_at: 1, status: "completed", model: "m", output, usage },
  });
  const begun = [
    { type: "response.created", response },
    { type: "response.in_progress", response },
  ];
  const reasoning = { id: "rs_a", summary: [], type: "reasoning", content: [], encrypted_content: "" };
  const message = { content: [], id: "msg_a", role: "assistant", status: "in_progress", type: "message" };
  const part = { type: "output_text", text: "" };
  const said = (text: string) => [
    { type: "response.output_item.added", item: message },
    { type: "response.content_part.added", item_id: "msg_a", part },
    ...text.split(/(?<= )/).map((delta) => ({ type: "response.output_text.delta", item_id: "msg_a", delta })),
    { type: "response.output_text.done", item_id: "msg_a", text },
    { type: "response.content_part.done", item_id: "msg_a", part: { ...part, text } },
    { type: "response.output_item.done", item: { ...message, status: "completed", content: [{ ...part, text }] } },
  ];
  const called = (id: string, path: string) => {
    const text = JSON.stringify({ file_path: path, content: "hello" });
    const call = { type: "function_call", call_id: `call_${id}`, name: "Create", status: "in_progress" };
    const half = Math.floor(text.length / 2);
    return {
      begin: [
        { type: "response.output_item.added", item: { ...call, arguments: "" } },
        { type: "response.function_call_arguments.delta", item_id: `fc_${id}`, delta: text.slice(0, half) },
        { type: "response.function_call_arguments.delta", item_id: `fc_${id}`, delta: text.slice(half) },
      ],
      end: {
        type: "response.output_item.done",
        item: { ...call, id: `fc_${id}`, status: "completed", arguments: text },
      },
    };
  };
  const [one, two] = [called("1", "x.txt"), called("2", "y.txt")];
  const first = [
    ...begun,
    { type: "response.output_item.added", item: reasoning },
    { type: "response.reasoning_text.delta", item_id: "rs_a", delta: "First " },
    { type: "response.reasoning_text.delta", item_id: "rs_a", delta: "the files." },
    { type: "response.output_item.done", item: { ...reasoning, content: [{ type: "reasoning_text", text: "…" }] } },
    ...said("I make both."),
    ...one.begin,
    ...two.begin,
    one.end,
    two.end,
    completed([]),
  ];

  test.each([
    ["whole", Number.POSITIVE_INFINITY],
    ["in small pieces", 37],
  ])("handles its events %s", async (_, size) => {
    const { url, bodies, paths } = await servePlainly([
      inPieces(size, ...first),
      inPieces(size, ...begun, ...said("Made both."), completed([])),
    ]);
    const entry = { id: "model", provider: "openai", model: "m", baseUrl: `${url}/v1`, apiKey: "none" };
    const kit = createKit([], { models: catalogOf([entry]) });
    const session = await kit.open({ modelId: "model" });
    const outcome = await ask(session, "Make x.txt and y.txt.");
    expect(outcome).toMatchObject({ reason: "completed", finalText: "Made both." });
    expect([kit.host.text("/ws/x.txt"), kit.host.text("/ws/y.txt")]).toEqual(["hello", "hello"]);
    expect(outcome.usage).toEqual({ input: 60, output: 18, cacheRead: 20, cacheWrite: 0, thinking: 0 });
    const reply = session.history().find(({ role }) => role === "assistant");
    expect(reply?.content).toMatchObject([
      { type: "thinking", text: "First the files." },
      { type: "text", text: "I make both." },
      { type: "tool_call", id: "call_1" },
      { type: "tool_call", id: "call_2" },
    ]);
    expect(paths).toEqual(["/v1/responses", "/v1/responses"]);
    expect(JSON.parse(bodies[1] ?? "")).toMatchObject({
      input: expect.arrayContaining([
        expect.objectContaining({ type: "function_call", call_id: "call_1" }),
        expect.objectContaining({ type: "function_call_output", call_id: "call_2" }),
      ]),
    });
  });
});
