import { createHash } from "node:crypto";
import { afterEach, describe, expect, test } from "vitest";
import { ask } from "../../fakes/kit.ts";
import type { ReceivedRequest, Turn } from "../../fakes/providers/base.ts";
import { chatDialects, createOpenAIChatServer } from "../../fakes/providers/openai-chat-server.ts";
import { closeServers, openWire } from "./wire.ts";

afterEach(closeServers);

const ls: Turn = { thinking: ["hm"], calls: [{ name: "LS", input: { directory_path: "." }, id: "call_1" }] };
const done: Turn = { text: ["Done."] };

const fieldOf = (request: ReceivedRequest | undefined, name: string): unknown =>
  (request?.body as Record<string, unknown> | undefined)?.[name];

test("the Responses API gets a cache key that is the same for a session and its forks, and no session id", async () => {
  const { server, kit, open } = await openWire("openai-responses");
  server.enqueue(ls, done, done, done);
  const session = await open();
  await ask(session, "hi");
  const { session: fork } = await kit.engine.fork(session.id, {});
  await ask(fork, "go on");
  const other = await open();
  await ask(other, "hi");
  const keyOf = (id: string) => `tinman-${createHash("sha256").update(id).digest("hex").slice(0, 32)}`;
  const own = keyOf(session.id);
  expect(server.requests.map((request) => fieldOf(request, "prompt_cache_key"))).toEqual([
    own,
    own,
    own,
    keyOf(other.id),
  ]);
  expect(server.requests.flatMap(({ faults }) => faults)).toEqual([]);
});

describe("Claude with a thinking budget", () => {
  test.each([
    ["claude-sonnet-4-5", "high", /interleaved-thinking-2025-05-14/],
    ["claude-sonnet-4-5", "none", /interleaved-thinking-2025-05-14/],
    ["claude-sonnet-4-5", "off", /^(?!.*interleaved)/],
    ["claude-opus-4-6", "high", /^(?!.*interleaved)/],
  ] as const)("%s with effort %s thinks between calls if it can", async (model, reasoningEffort, beta) => {
    const { server, open } = await openWire("anthropic", { entry: { model } });
    server.enqueue(ls, done);
    expect(await ask(await open({ reasoningEffort }), "hi")).toMatchObject({ reason: "completed" });
    expect(server.requests.map(({ headers }) => String(headers["anthropic-beta"] ?? ""))).toEqual([
      expect.stringMatching(beta),
      expect.stringMatching(beta),
    ]);
  });
});

test("an entry's own default effort replaces the known one", async () => {
  const { server, open } = await openWire("openai-responses", { entry: { defaultEffort: "low" } });
  server.enqueue(done);
  await ask(await open(), "hi");
  expect(fieldOf(server.requests[0], "reasoning")).toEqual({ effort: "low", summary: "auto" });
});

describe("Claude through OpenRouter", () => {
  type Message = { readonly role: string; readonly content: unknown };
  const marked = ({ content }: Message): boolean =>
    JSON.stringify(content).includes('"cache_control":{"type":"ephemeral"}');

  const talk = async (model: string, cacheMarks?: boolean) => {
    const create = () => createOpenAIChatServer({ ...chatDialects.openRouter, models: [model] });
    const entry = { provider: "openrouter", model, ...(cacheMarks === undefined ? {} : { cacheMarks }) };
    const server = await create();
    const { open } = await openWire("openai-chat", { entry: { ...entry, baseUrl: server.url, apiKey: server.key } });
    const usage = { input: 5, cacheRead: 90, cacheWrite: 7, output: 3 };
    server.enqueue(
      ls,
      { ...ls, calls: [{ name: "LS", input: { directory_path: "/ws" }, id: "call_2" }] },
      { ...done, usage },
    );
    const outcome = await ask(await open(), "hi");
    const messages = server.requests.map((request) => fieldOf(request, "messages") as readonly Message[]);
    const roles = messages.map((sent) => sent.flatMap((message) => (marked(message) ? [message.role] : [])));
    await server.close();
    return { outcome, roles };
  };

  test("marks the instructions and the last two requests for the cache", async () => {
    const { outcome, roles } = await talk("anthropic/claude-sonnet-4.5");
    expect(outcome).toMatchObject({ reason: "completed", finalText: "Done." });
    expect(roles).toEqual([
      ["system", "user"],
      ["system", "user", "tool"],
      ["system", "tool", "tool"],
    ]);
  });

  test("other models get no marks unless their entry says so", async () => {
    expect((await talk("deepseek/deepseek-r1")).roles).toEqual([[], [], []]);
    expect((await talk("deepseek/deepseek-r1", true)).roles[0]).toEqual(["system", "user"]);
    expect((await talk("anthropic/claude-sonnet-4.5", false)).roles).toEqual([[], [], []]);
  });
});

test("an image above Claude's limit is replaced by text", async () => {
  const { server, open } = await openWire("anthropic");
  server.enqueue(done);
  const session = await open();
  const image = (length: number) => ({ type: "image", mediaType: "image/png", data: "A".repeat(length) }) as const;
  const text = { type: "text", text: "What is it?" } as const;
  const turn = session.prompt([text, image(400), image(5 * 1024 * 1024 + 4)]);
  await turn.outcome;
  const sent = JSON.stringify(fieldOf(server.requests[0], "messages"));
  expect(sent.match(/"type":"image"/g)).toHaveLength(1);
  expect(sent).toContain(
    "[An image (image/png) was left out: it has 5242884 bytes as base64; this model's limit is 5242880.",
  );
});
