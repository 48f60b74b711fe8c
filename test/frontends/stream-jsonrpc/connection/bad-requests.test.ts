import { describe, expect, test } from "vitest";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { serve } from "./served.ts";

const early = { later: false };

const errorOf = ({ id, error }: Received): object => ({ id, ...error });

const badRequests: readonly [what: string, method: string, params: unknown, words: RegExp][] = [
  ["an unknown method", "droid.list_everything", {}, /Unknown method "droid\.list_everything"/],
  ["a method without its prefix", "initialize_session", { machineId: "m", cwd: "/ws" }, /Unknown method/],
  ["a method name inherited from Object", "toString", {}, /Unknown method/],
  ["no params", "droid.initialize_session", undefined, /params .*object/],
  ["params that are null", "droid.initialize_session", null, /params .*object/],
  ["params that are a list", "droid.initialize_session", [], /params .*object/],
  ["no machineId", "droid.initialize_session", { cwd: "/ws" }, /machineId is missing/],
  ["no cwd", "droid.initialize_session", { machineId: "m" }, /cwd is required/],
  ["a cwd that is a number", "droid.initialize_session", { machineId: "m", cwd: 1 }, /cwd must be a string/],
  [
    "an illegal level",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", autonomyLevel: "mad" },
    /autonomyLevel must be one of "off"/,
  ],
  [
    "an illegal mode",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", interactionMode: "wild" },
    /interactionMode must be "auto" or "spec"/,
  ],
  [
    "an unsupported mode",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", interactionMode: "agi" },
    /"agi" is not supported/,
  ],
  [
    "an illegal effort",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", reasoningEffort: "huge" },
    /reasoningEffort must be one of/,
  ],
  [
    "a blank system prompt",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", systemPrompt: " " },
    /systemPrompt must not be blank/,
  ],
  [
    "servers that are no list",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", mcpServers: { name: "a" } },
    /mcpServers must be an array/,
  ],
  [
    "a session id that leads elsewhere",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", sessionId: "../evil" },
    /session/i,
  ],
  [
    "a session id with a slash",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", sessionId: "a/b" },
    /session/i,
  ],
  [
    "an overlong session id",
    "droid.initialize_session",
    { machineId: "m", cwd: "/ws", sessionId: "a".repeat(5_000) },
    /session/i,
  ],
  ["load without an id", "droid.load_session", {}, /sessionId is missing/],
  ["a text that is not a string", "droid.add_user_message", { text: 5 }, /text must be a string/],
  [
    "an unsupported image type",
    "droid.add_user_message",
    { text: "", images: [{ mediaType: "image/tiff", data: "" }] },
    /images\[0\]\.mediaType/,
  ],
  [
    "a malformed image",
    "droid.add_user_message",
    { text: "", images: [{ mediaType: "image/png", data: "AAAA" }] },
    /images\.0: the data is not image\/png/,
  ],
  [
    "an image without data",
    "droid.add_user_message",
    { text: "", images: [{ mediaType: "image/png", data: "" }] },
    /not valid base64/,
  ],
  [
    "a file that is not a PDF",
    "droid.add_user_message",
    { text: "", files: [{ mediaType: "application/pdf", data: "AAAA" }] },
    /files\.0: the data is not a PDF/,
  ],
  [
    "an illegal level to change to",
    "droid.update_session_settings",
    { autonomyLevel: "wild" },
    /autonomyLevel must be one of/,
  ],
  [
    "an unsupported mode to change to",
    "droid.update_session_settings",
    { interactionMode: "mission" },
    /"mission" is not supported/,
  ],
  ["tags that are strings", "droid.update_session_settings", { tags: ["a"] }, /tags\[0\] must be an object/],
  ["a blank title", "droid.rename_session", { title: "\n" }, /title must not be blank/],
  ["interrupt without params", "droid.interrupt_session", undefined, /params .*object/],
];

describe("an invalid request", () => {
  test.each(badRequests)("%s", async (_, method, params, words) => {
    const isMethod = words.source.startsWith("Unknown method");
    const old = serve([], early);
    await old.init({ autonomyLevel: "normal" });
    expect(errorOf(await old.client.request(method, params))).toEqual({
      id: null,
      code: -32600,
      message: "Invalid request format",
      data: { requestId: "r2" },
    });
    const later = serve([]);
    await later.init();
    expect(errorOf(await later.client.request(method, params))).toEqual({
      id: "r2",
      code: isMethod ? -32601 : -32602,
      message: expect.stringMatching(words),
    });
  });

  test.each<[what: string, line: string, error: object]>([
    ["no JSON", "{nope", { message: "Invalid JSON" }],
    ["two objects", "{} {}", { message: "Invalid JSON" }],
    ["a list", "[]", { message: "Invalid JSON-RPC message" }],
    ["a text", '"hello"', { message: "Invalid JSON-RPC message" }],
    ["nothing", "null", { message: "Invalid JSON-RPC message" }],
    [
      "no type",
      '{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","id":"a","method":"x"}',
      { message: "Invalid JSON-RPC message", data: { requestId: "a" } },
    ],
    [
      "another version",
      '{"jsonrpc":"2.0","factoryApiVersion":"2.0.0","type":"request","id":"b","method":"x"}',
      { message: "Invalid JSON-RPC message", data: { requestId: "b" } },
    ],
    [
      "an id that is a number",
      '{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"request","id":7,"method":"x"}',
      { message: "Invalid JSON-RPC message", data: { requestId: "7" } },
    ],
    [
      "an id that is null",
      '{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"request","id":null,"method":"x"}',
      { message: "Invalid JSON-RPC message" },
    ],
    [
      "no method",
      '{"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"request","id":"c"}',
      { message: "Invalid JSON-RPC message", data: { requestId: "c" } },
    ],
  ])("a line with %s, in both dialects", async (_, line, error) => {
    for (const options of [early, {}]) {
      const { client } = serve([], options);
      client.sendRaw(line);
      const answer = await client.waitFor(() => true);
      expect(errorOf(answer)).toEqual({ id: null, code: -32700, ...error });
    }
  });

  test("has an id of any length", async () => {
    const { client } = serve([]);
    const id = "x".repeat(10_000);
    expect((await client.request("droid.list_skills", {}, { id: "" })).id).toBe("");
    expect((await client.request("droid.list_skills", {}, { id })).id).toBe(id);
  });

  test.each<[what: string, params: object]>([
    ["in one list", { disabledToolIds: Array.from({ length: 1_000_000 }, () => 1) }],
    ["in many", { tags: Array.from({ length: 200 }, () => Array.from({ length: 200 }, () => 1)) }],
    [
      "in an object",
      { tags: [{ name: "a", metadata: Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [at, 1])) }] },
    ],
  ])("has far too many entries, %s: they are not checked one by one", async (_, params) => {
    const { client, init } = serve([]);
    await init();
    client.ask("droid.update_session_settings", params);
    const message = "Skipped a line with more than 20000 entries";
    expect(await client.waitFor(({ error }) => error !== undefined)).toMatchObject({
      id: null,
      error: { code: -32700, message },
    });
    expect((await client.request("droid.list_skills", {})).result).toEqual({ skills: [] });
  });

  test("unless it merely has more than required", async () => {
    const { client } = serve([]);
    const params = { machineId: "", cwd: "/ws", bogus: [1], tags: [{ name: "a", value: "b" }] };
    expect((await client.request("droid.initialize_session", params, { meta: "no trace" })).error).toBeUndefined();
  });
});
