import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ContentBlock } from "@agentclientprotocol/sdk";
import { describe, expect, test } from "vitest";
import { createBench } from "../../../e2e/tinman.ts";
import { only, openEditor, refusal, sources, textOf } from "../fakes/acp-client.ts";
import { calls, on, otherwise, useEditor } from "../fakes/acp-suite.ts";

/** One red pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";
const pdf = Buffer.from("%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n").toString("base64");

describe.each(sources)("%s: prompts", (source) => {
  const at = useEditor(source, async (bench) => {
    const replies = [
      on("count", { text: ["one ", "two ", "three"] }),
      on("think", { reasoning: ["Let me ", "see."], text: ["I have ", "seen."] }),
      on("twice", { text: ["First."], tool_calls: [{ name: "LS", input: { directory_path: "." } }] }),
      { when: { after_tool: "LS" }, times: "any", text: ["Sec", "ond."] },
      on("refuse", { text: "I will not.", stop: "refusal" }),
      { when: { contains: "endless" }, times: "any", text: "On and on", stop: "length" },
      on("broken", { error: { status: 400, message: "The request was bad." } }),
      on("locked", { error: { status: 401, message: "The key was refused." } }),
      on("often", { error: { status: 503, message: "Busy.", retry_after_ms: 1 }, times: 1 }),
      on("often", { text: "At last." }),
      on("slow", { text: ["slowly ", "done"], chunk_delay_ms: 150 }),
      calls("tidy", ["TodoWrite", { todos: "1. [completed] Look\n2. [in_progress] Think\n3. [pending] Act" }]),
      on("usage", { text: "Counted.", usage: { input: 1_200, output: 30, cache_read: 1_000 } }),
      ...otherwise,
    ];
    const model = { contextWindow: 64_000, maxOutputTokens: 1_000 };
    return { args: ["-m", await bench.script(replies, { model })], capabilities: { session: { notices: {} } } };
  });
  const said = async (blocks: ContentBlock[]): Promise<string> => textOf((await at().session.prompt(blocks)).updates);
  const text = (words: string): ContentBlock => ({ type: "text", text: words });

  test("answers a text, and the turn has ended", async () => {
    const { response, updates } = await at().session.prompt("Hello there");
    expect(response).toEqual({ stopReason: "end_turn" });
    expect(textOf(updates)).toBe("You said: Hello there");
  });

  test("several texts are one prompt", async () => {
    expect(await said([text("Hello "), text("there"), text(", you")])).toBe("You said: Hello there, you");
  });

  test("a mentioned file appears in the text as its path", async () => {
    const path = await at().bench.file("sub/with space.txt", "inside\n");
    const link: ContentBlock = { type: "resource_link", uri: pathToFileURL(path).href, name: "with space.txt" };
    expect(await said([text("Look at "), link, text(" now")])).toBe(`You said: Look at @${path} now`);
  });

  test("a mentioned address appears in the text unchanged", async () => {
    const link: ContentBlock = { type: "resource_link", uri: "https://example.org/a?b#c", name: "page" };
    expect(await said([text("Read "), link])).toBe("You said: Read @https://example.org/a?b#c");
  });

  test("an embedded text is mentioned in place, and follows in full", async () => {
    const path = join(at().bench.cwd, "notes.md");
    const resource = { uri: pathToFileURL(path).href, mimeType: "text/markdown", text: "# Notes\nDOLPHIN" };
    const answer = await said([text("Use "), { type: "resource", resource }, text(" please")]);
    expect(answer).toBe(`You said: Use @${path} please\n\n<context ref="${path}">\n# Notes\nDOLPHIN\n</context>`);
  });

  test("accepts an image", async () => {
    const { session } = at();
    const { response } = await session.prompt([
      text("What is it?"),
      { type: "image", mimeType: "image/png", data: png },
    ]);
    expect(response.stopReason).toBe("end_turn");
  });

  test("accepts an image embedded as a resource", async () => {
    const resource = { uri: "file:///x.png", mimeType: "image/png", blob: png };
    expect(await said([text("What is it?"), { type: "resource", resource }])).toBe("You said: What is it?");
  });

  test("an image alone is a prompt", async () => {
    const { response } = await at().session.prompt([{ type: "image", mimeType: "image/png", data: png }]);
    expect(response.stopReason).toBe("end_turn");
  });

  test("accepts a PDF", async () => {
    const resource = { uri: "file:///papers/one.pdf", mimeType: "application/pdf", blob: pdf };
    expect(await said([text("Read "), { type: "resource", resource }])).toBe("You said: Read @/papers/one.pdf");
  });

  test.each<[string, ContentBlock]>([
    ["an unsupported image type", { type: "image", mimeType: "image/tiff", data: png }],
    [
      "another blob",
      { type: "resource", resource: { uri: "file:///a.zip", mimeType: "application/zip", blob: "AAAA" } },
    ],
    ["a blob without a type", { type: "resource", resource: { uri: "file:///a.bin", blob: "AAAA" } }],
    ["audio", { type: "audio", mimeType: "audio/wav", data: "AAAA" }],
  ])("rejects %s with a message, and sends nothing", async (_, block) => {
    const { session } = at();
    const from = session.updates.length;
    expect(await refusal(session.prompt([text("Take this"), block]))).toEqual({
      code: -32602,
      message: expect.stringMatching(/^Unsupported|not supported/),
    });
    expect(session.updates.slice(from)).toEqual([]);
  });

  test.each<[string, ContentBlock[]]>([
    ["without blocks", []],
    ["without words", [text(""), text("  ")]],
  ])("rejects a prompt %s with a message", async (_, blocks) => {
    expect(await refusal(at().session.prompt(blocks))).toEqual({
      code: -32602,
      message: expect.stringMatching(/\w+ \w+/),
    });
  });

  test("streams a text", async () => {
    const { updates } = await at().session.prompt("count");
    const chunks = only(updates, "agent_message_chunk").map(({ content }) => content);
    expect(chunks).toEqual(["one ", "two ", "three"].map(text));
  });

  test("the pieces of a message have its id", async () => {
    const { updates } = await at().session.prompt("count");
    const ids = only(updates, "agent_message_chunk").map(({ messageId }) => messageId);
    expect([ids.length, new Set(ids).size, typeof ids[0]]).toEqual([3, 1, "string"]);
  });

  test("each message has its own id, even within a turn", async () => {
    const { updates } = await at().session.prompt("twice");
    const [first, ...second] = only(updates, "agent_message_chunk").map(({ messageId }) => messageId);
    expect(second).toHaveLength(2);
    expect(new Set(second).size).toBe(1);
    expect(second).not.toContain(first);
    expect(textOf(updates)).toBe("First.Second.");
  });

  test("streams thoughts before the text", async () => {
    const { updates } = await at().session.prompt("think");
    const chunks = updates.filter(({ sessionUpdate }) => sessionUpdate.endsWith("_chunk"));
    expect(chunks.map(({ sessionUpdate }) => sessionUpdate)).toEqual([
      "agent_thought_chunk",
      "agent_thought_chunk",
      "agent_message_chunk",
      "agent_message_chunk",
    ]);
    expect([textOf(updates, "agent_thought_chunk"), textOf(updates)]).toEqual(["Let me see.", "I have seen."]);
  });

  test("does not echo the user's message", () => {
    expect(only(at().session.updates, "user_message_chunk")).toEqual([]);
  });

  test("a plan comes from the list of tasks, without showing a call", async () => {
    const { updates } = await at().session.prompt("tidy");
    expect(only(updates, "plan").map(({ entries }) => entries)).toEqual([
      [
        { content: "Look", status: "completed", priority: "medium" },
        { content: "Think", status: "in_progress", priority: "medium" },
        { content: "Act", status: "pending", priority: "medium" },
      ],
    ]);
    expect(only(updates, "tool_call")).toEqual([]);
  });

  test("reports the window's use", async () => {
    const { session } = at();
    const from = session.updates.length;
    await session.prompt("usage");
    const update = await session.update((each) => each.sessionUpdate === "usage_update" && each.used === 2_230, from);
    expect(update).toEqual({ sessionUpdate: "usage_update", used: 2_230, size: 64_000 });
  });

  test("reports the title", async () => {
    const session = await at().editor.open();
    await session.prompt("Mend the leaking roof");
    const update = await session.update(({ sessionUpdate }) => sessionUpdate === "session_info_update");
    expect(update).toMatchObject({ title: "Mend the leaking roof", updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) });
  });

  test("the model's refusal is a stop reason", async () => {
    expect((await at().session.prompt("refuse")).response.stopReason).toBe("refusal");
  });

  test("the output limit is a stop reason", async () => {
    const session = await at().editor.open();
    const { response, updates } = await session.prompt("endless");
    expect(response).toEqual({ stopReason: "max_tokens", _meta: { message: expect.stringMatching(/output limit/) } });
    expect(only(updates, "notice").map(({ severity }) => severity)).toEqual(["warning"]);
  });

  test("a model failure is an error with its message", async () => {
    expect(await refusal(at().session.prompt("broken"))).toEqual({
      code: -32603,
      message: expect.stringContaining("The request was bad."),
    });
  });

  test("a rejected key requests authentication", async () => {
    expect(await refusal(at().session.prompt("locked"))).toEqual({
      code: -32000,
      message: expect.stringContaining("The key was refused."),
    });
  });

  test("a session is usable after an error", async () => {
    expect((await at().session.prompt("and now")).response.stopReason).toBe("end_turn");
  });

  test("a retry is a notice", async () => {
    const { updates, response } = await at().session.prompt("often");
    expect(only(updates, "notice")).toEqual([
      { sessionUpdate: "notice", severity: "info", title: expect.stringMatching(/^Calling the model again/) },
    ]);
    expect([response.stopReason, textOf(updates)]).toEqual(["end_turn", "At last."]);
  });

  test("a prompt to a busy session waits for its turn", async () => {
    const { session } = at();
    const from = session.updates.length;
    const turns = await Promise.all([session.prompt("slow"), session.prompt("after that")]);
    expect(turns.map(({ response }) => response.stopReason)).toEqual(["end_turn", "end_turn"]);
    expect(textOf(session.updates.slice(from))).toBe("slowly doneYou said: after that");
  });

  test("the model can read a path in the prompt", async () => {
    await writeFile(join(at().bench.cwd, "known.txt"), "known");
    expect((await at().session.prompt("Is there known.txt?")).response.stopReason).toBe("end_turn");
  });
});

test.each(sources)("%s: a model without its key requests authentication, and cannot be chosen", async (source) => {
  const bench = await createBench();
  try {
    const editor = await openEditor(source, bench, { args: ["-m", "claude-sonnet-4-5"] });
    const session = await editor.open();
    expect(await refusal(session.prompt("hi"))).toEqual({
      code: -32000,
      message: expect.stringContaining("ANTHROPIC_API_KEY"),
    });
    expect(await refusal(session.request("session/set_model", { modelId: "gpt-5.1" }))).toMatchObject({ code: -32602 });
    await editor.close();
  } finally {
    await bench.remove();
  }
});
