import { describe, expect, it } from "vitest";
import type { Answer } from "../../src/engine/interaction.ts";
import { FakeClock, until } from "../fakes/kit.ts";
import { fakePrograms } from "./fake-program.ts";
import { type OpenSession, openSession, program, script } from "./sessions.ts";

const odd = script("odd.mjs");

async function connected(...args: Parameters<typeof openSession>): Promise<OpenSession> {
  const session = openSession(...args);
  await session.settled();
  return session;
}

/** Red, one pixel. */
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

describe("a call", () => {
  it("returns every kind of content, and names what cannot be shown", async () => {
    const session = await connected({ given: { odd } });
    const parts = [
      { type: "text", text: "first" },
      { type: "image", mimeType: "image/png", data: png },
      { type: "image", mimeType: "image/png", data: "bm90aGluZw==" },
      { type: "audio", mimeType: "audio/wav", data: "AAAA" },
      { type: "resource_link", uri: "file:///a\nb", name: "a", mimeType: "text/plain", size: 3 },
      { type: "resource", resource: { uri: "demo://1", text: "inside" } },
      { type: "resource", resource: { uri: "demo://2", mimeType: "application/zip", blob: "AAAAAAAA" } },
      { type: "hologram" },
      7,
    ];
    expect(await session.call("odd___media", { parts })).toEqual({
      status: "ok",
      text: [
        "first",
        "[an image: image/png, about 9 bytes.] It cannot be shown: it is not a PNG, JPEG, GIF or WebP image.",
        "[audio: audio/wav, about 3 bytes.]",
        "[Resource file:///a b (a, text/plain, 3 bytes)]",
        "[demo://1]\ninside",
        "[demo://2] [a file: application/zip, about 6 bytes.]",
        "[A part of an unknown type: hologram]",
        "[A part of an unknown type: none]",
      ].join("\n\n"),
      media: [{ type: "image", mediaType: "image/png", data: png }],
    });
    expect(await session.call("odd___media", { parts: [] })).toEqual({
      status: "ok",
      text: "The tool returned nothing.",
    });
  });

  it("returns structured content without text as JSON", async () => {
    const session = await connected({ given: { odd } });
    expect(await session.call("odd___wide", { count: 1 })).toEqual({
      status: "ok",
      text: '{\n  "key 0": {\n    "in 0": 0\n  }\n}',
    });
  });

  it("shows its progress", async () => {
    const session = await connected({ given: { all: program("@modelcontextprotocol/server-everything") } });
    const result = await session.call("all___trigger-long-running-operation", { duration: 0.1, steps: 3 });
    expect(result).toMatchObject({ status: "ok" });
    expect(session.progress).toEqual(["1 of 3", "2 of 3", "3 of 3"]);
  });

  it("that is interrupted is cancelled at the server", async () => {
    const session = await connected({ given: { odd } });
    const abort = new AbortController();
    const hanging = session.call("odd___hang", {}, { signal: abort.signal });
    await session.call("odd___look");
    abort.abort();
    expect(await hanging).toEqual({ status: "interrupted", text: "Error: Tool execution cancelled by user" });
    expect(await session.call("odd___echo", { a: 1 })).toEqual({
      status: "ok",
      text: 'echo {"a":1}, cancelled ["told"]',
    });
  });

  it("without progress for ten minutes fails, and progress extends that", async () => {
    const clock = new FakeClock();
    const programs = fakePrograms([{ name: "work" }]);
    let token: unknown;
    programs.answers["tools/call"] = ({ _meta }) => {
      token = (_meta as { readonly progressToken: unknown }).progressToken;
      return new Promise(() => undefined);
    };
    const session = await connected({
      clock,
      startProgram: programs.start,
      given: { x: { kind: "stdio", command: "x", args: [], env: {} } },
    });
    const working = session.call("x___work");
    await until(() => token !== undefined);
    clock.advance(599_000);
    programs.send({
      method: "notifications/progress",
      params: { progressToken: token, progress: 1, total: 2, message: "half\u001b[0m" },
    });
    await until(() => session.progress.length === 1);
    expect(session.progress).toEqual(["1 of 2: half\\u{1b}[0m"]);
    clock.advance(599_999);
    clock.advance(1);
    expect(await working).toEqual({
      status: "failed",
      text: "Error: The server x did not answer for 600 s. The call was cancelled.",
    });
    expect(programs.heard.at(-1)).toBe("notifications/cancelled");
  });

  it("with an error of the server fails with its words", async () => {
    const session = await connected({ given: { all: program("@modelcontextprotocol/server-everything") } });
    const { status, text } = await session.call("all___get-sum", { a: "x" });
    expect([status, text.split("\n")[0]]).toEqual([
      "failed",
      expect.stringMatching(/^Error: MCP error -32602: Input validation error/),
    ]);
  });
});

describe("a server's questions", () => {
  const form = {
    message: "Who\u202eare you?",
    requestedSchema: {
      type: "object",
      properties: {
        name: { type: "string", title: "Name" },
        age: { type: "integer", minimum: 0 },
        member: { type: "boolean" },
        colour: { type: "string", enum: ["red", "green"], enumNames: ["Red", "Green"] },
        pets: { type: "array", items: { type: "string", enum: ["cat", "dog"] } },
        nick: { type: "string" },
      },
      required: ["name", "age", "member", "colour", "pets"],
    },
  };

  const items = { type: "string", enum: Array.from({ length: 60 }, (_, at) => `${at}`) };
  const many = {
    message: "",
    requestedSchema: { type: "object", properties: { x: { type: "array", items } }, required: ["x"] },
  };

  async function asked(answer: Answer | undefined, params: unknown = form): Promise<readonly [unknown, OpenSession]> {
    const session = await connected({ given: { odd }, answer: () => answer, cwd: "/" });
    const { text } = await session.call("odd___ask", params);
    return [JSON.parse(text), session];
  }
  const answers = (...given: readonly string[]): Answer => ({
    kind: "answers",
    answers: given.map((answer, at) => ({ index: at + 1, answer })),
  });
  const others = {
    roots: { roots: [{ uri: "file:///", name: "/" }] },
    sampled: { code: -32601, message: "Method not found" },
  };

  it("are asked during a call; roots are told, sampling is refused", async () => {
    const [result, session] = await asked(answers("Ann", "7", "Yes", "Green", "cat, dog", "Leave empty"));
    expect(result).toEqual({
      ...others,
      elicited: {
        action: "accept",
        content: { name: "Ann", age: 7, member: true, colour: "green", pets: ["cat", "dog"] },
      },
    });
    const topic = "The server odd asks";
    const question = "Who\\u{202e}are you? – ";
    expect(session.asked).toEqual([
      {
        kind: "question",
        callId: "c1",
        questions: [
          { index: 1, topic, question: `${question}Name`, options: [] },
          { index: 2, topic, question: `${question}age`, options: [] },
          { index: 3, topic, question: `${question}member`, options: ["Yes", "No"] },
          { index: 4, topic, question: `${question}colour`, options: ["Red", "Green"] },
          {
            index: 5,
            topic,
            question: `${question}pets (several of these, separated by commas: cat, dog)`,
            options: [],
          },
          { index: 6, topic, question: `${question}nick`, options: ["Leave empty"] },
        ],
      },
    ]);
  });

  it.each([
    ["no client can answer", undefined, form, "decline"],
    ["the user cancels", { kind: "cancel" }, form, "cancel"],
    ["an answer does not fit", answers("Ann", "seven", "Yes", "Green", "cat", ""), form, "decline"],
    ["a required field cannot be asked", answers(""), many, "decline"],
  ] as const)("are not accepted if %s", async (_, answer, params, action) => {
    expect((await asked(answer, params))[0]).toEqual({ ...others, elicited: { action } });
  });
});
