import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { PromptBlock } from "../../../src/engine/message.ts";
import { defineTool, type Tool } from "../../../src/engine/tool.ts";
import { ask, listen, until } from "../../fakes/kit.ts";
import type { Turn } from "../../fakes/providers/base.ts";
import { expectGolden } from "./golden.ts";
import { alike, closeServers, eventsOf, openWire, wireNames } from "./wire.ts";

afterEach(closeServers);

const usage = { input: 100, cacheRead: 20, cacheWrite: 0, output: 30, thinking: 10 };
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const pdf = Buffer.from("%PDF-1.4\n%%EOF\n").toString("base64");

interface Scenario {
  readonly turns: readonly Turn[];
  readonly prompt?: readonly PromptBlock[];
  readonly files?: Readonly<Record<string, string>>;
}

/** Each scenario must give the same events on every wire. */
const scenarios: Readonly<Record<string, Scenario>> = {
  "parallel-calls": {
    files: { "/ws/a.txt": "alpha\n", "/ws/b.txt": "beta\n" },
    turns: [
      {
        thinking: ["Let me ", "look."],
        text: ["I will ", "read both."],
        calls: [
          { name: "Read", input: { file_path: "a.txt" }, id: "call_a", pieces: 3 },
          { name: "Read", input: { file_path: "b.txt" }, id: "call_b", pieces: 2 },
        ],
        usage,
      },
      { text: ["alpha and ", "beta"], usage: { ...usage, thinking: 0, output: 5 } },
    ],
  },
  "call-without-words": {
    turns: [
      { calls: [{ name: "LS", input: { directory_path: "." }, id: "call_a" }], usage },
      { text: ["One file."], usage },
    ],
  },
  refusal: { turns: [{ text: ["I will not do that."], stop: "refusal", usage }] },
  "cut-at-the-limit": {
    turns: [
      { text: ["One, two, "], stop: "length", usage },
      { text: ["three."], usage },
    ],
  },
  "always-cut-at-the-limit": {
    turns: ["a", "b", "c", "d"].map((text) => ({ text: [text], stop: "length", usage })),
  },
  "characters-cut-by-the-network": { turns: [{ text: ["Grüße, ", "世界 👋🏽"], sliceBytes: 3, usage }] },
};

describe.each(wireNames)("%s", (name) => {
  test.each(Object.entries(scenarios))("%s", async (file, { turns, prompt, files = {} }) => {
    const { server, open } = await openWire(name, { files });
    server.enqueue(...turns);
    const session = await open({ reasoningEffort: "medium" });
    const content = prompt ?? [{ type: "text", text: "Go on, please." }];
    const events = await eventsOf(session, () => session.prompt(content).outcome);
    expect(server.requests.map(({ faults }) => faults)).toEqual(turns.map(() => []));
    expectGolden(file, alike(events));
  });

  test("sends the model's text of a tool result, and nothing of the clients' text", async () => {
    const body = defineTool({
      input: z.object({}),
      access: async () => [],
      run: async () => ({ status: "ok", text: "for clients", forModel: "for the model" }),
    });
    const about = { name: "Two", kind: "read", title: "", description: "", inputSchema: '{"type":"object"}' } as const;
    const two: Tool = { ...about, concurrent: true, load: async () => body };
    const { server, open } = await openWire(name, { tools: [two] });
    server.enqueue({ calls: [{ name: "Two", input: {}, id: "call_a" }], usage }, { text: ["Done."], usage });
    await ask(await open(), "go");
    expect(server.requests.map(({ faults }) => faults)).toEqual([[], []]);
    expect(server.requests[1]?.rawBody).toContain("for the model");
    expect(server.requests[1]?.rawBody).not.toContain("for clients");
  });

  test("sends a call back as the model wrote it", async () => {
    const { server, open } = await openWire(name, { files: { "/ws/a.txt": "alpha\n" } });
    const calls = [{ name: "read_file", input: { absolute_path: "a.txt", limit: "1" }, id: "call_a" }];
    server.enqueue({ calls, usage }, { text: ["Done."], usage });
    const session = await open();
    await ask(session, "go");
    expect(session.history().at(-2)?.content).toMatchObject([{ name: "Read", status: "ok", text: "alpha\n" }]);
    expect(server.requests.map(({ faults }) => faults)).toEqual([[], []]);
    const sent = JSON.stringify(server.requests[1]?.body).replaceAll("\\", "");
    expect(sent).toContain('"read_file"');
    expect(sent).toMatch(/\{"absolute_path":"a\.txt","limit":"1"\}/);
    expect(sent).not.toContain('"file_path":"a.txt"');
  });

  test("sends images, PDF files and text documents", async () => {
    const { server, open } = await openWire(name, { entry: { documents: true } });
    server.enqueue({ text: ["A dot."], usage }, { text: ["Again."], usage });
    const session = await open();
    await session.prompt([
      { type: "text", text: "What is this?" },
      { type: "image", mediaType: "image/png", data: picture },
      { type: "document", mediaType: "application/pdf", encoding: "base64", data: pdf, name: "plan.pdf" },
      { type: "document", mediaType: "text/plain", encoding: "text", data: "hello", name: "note.txt" },
    ]).outcome;
    expect(server.requests.map(({ faults }) => faults)).toEqual([[]]);
    expect(server.requests[0]?.rawBody).toContain(picture);
    expect(server.requests[0]?.rawBody).toContain(pdf);
    expect(server.requests[0]?.rawBody).toContain('<document name=\\"note.txt\\">\\nhello\\n</document>');
  });

  test("tells a model without images and its user what was left out", async () => {
    const { server, open } = await openWire(name, { entry: { images: false, documents: false } });
    server.enqueue({ text: ["I cannot see it."], usage });
    const session = await open();
    const events = await eventsOf(
      session,
      () =>
        session.prompt([
          { type: "text", text: "What is this?" },
          { type: "image", mediaType: "image/png", data: picture },
          { type: "document", mediaType: "application/pdf", encoding: "base64", data: pdf, name: "plan.pdf" },
        ]).outcome,
    );
    expect(events.filter((event) => event.type === "notice")).toMatchObject([
      { level: "warning", text: "2 images or documents were left out: unsupported by model." },
    ]);
    const sent = server.requests[0]?.rawBody ?? "";
    expect(server.requests.map(({ faults }) => faults)).toEqual([[]]);
    expect(sent).not.toContain(picture);
    expect(sent).not.toContain(pdf);
    expect(sent).toContain("[An image (image/png) was left out: this model cannot see it.]");
  });

  test("counts each reply's usage once, and computes the cost from the configured prices", async () => {
    const prices = { input: 10, output: 100, cacheRead: 1 };
    const { server, open } = await openWire(name, { entry: { prices } });
    server.enqueue({ calls: [{ name: "LS", input: {}, id: "call_a" }], usage }, { text: ["Done."], usage });
    const outcome = await ask(await open({ reasoningEffort: "medium" }), "go");
    expect(outcome.usage).toEqual({ input: 200, cacheRead: 40, cacheWrite: 0, output: 60, thinking: 20 });
    expect(outcome.cost).toBeCloseTo((200 * 10 + 40 * 1 + 60 * 100) / 1_000_000, 12);
  });

  test("an interrupt closes the connection at once and keeps the text", async () => {
    const { server, open } = await openWire(name);
    server.enqueue({ text: ["One ", "two ", "three"], fault: { idleAfter: 6 } });
    const session = await open();
    const heard = listen(session);
    const { outcome } = session.prompt([{ type: "text", text: "count" }]);
    await until(() => heard.types().includes("message.delta"));
    await session.interrupt();
    expect(await outcome).toMatchObject({ reason: "interrupted" });
    await heard.stop();
    await server.until(() => server.requests[0]?.aborted === true);
    await server.until(() => server.openSockets === 0);
    expect(session.history().at(-1)).toMatchObject({ role: "assistant", stop: "interrupted" });
  });
});
