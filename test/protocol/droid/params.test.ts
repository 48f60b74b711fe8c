import { expect, test } from "vitest";
import type { z } from "zod";
import { check } from "../../../src/protocol/check.ts";
import { clientEnvelope } from "../../../src/protocol/droid/envelope.ts";
import { clientParams } from "../../../src/protocol/droid/params.ts";
import { clientResults } from "../../../src/protocol/droid/results.ts";
import { askUserAnswer, permissionAnswer } from "../../../src/protocol/droid/server-requests.ts";

type Method = keyof typeof clientParams;
const read = (method: Method, params: unknown): unknown => check<z.core.$ZodType>(clientParams[method], params);

const efforts = '"none", "dynamic", "off", "minimal", "low", "medium", "high", "xhigh", "max"';
const levels = '"off", "low", "medium", "high", "normal", "auto-low", "auto-medium", "auto-high", "spec"';

const refused: readonly (readonly [method: Method, params: unknown, problem: string])[] = [
  ["droid.initialize_session", undefined, "params is missing: it must be an object"],
  ["droid.initialize_session", [], "params must be an object"],
  ["droid.initialize_session", {}, "machineId is missing: it must be a string"],
  ["droid.initialize_session", { machineId: "m", cwd: 5 }, "cwd must be a string"],
  ["droid.initialize_session", { machineId: "m", sessionId: null }, "sessionId must be a string"],
  ["droid.initialize_session", { machineId: "m", autonomyLevel: "bogus" }, `autonomyLevel must be one of ${levels}`],
  ["droid.initialize_session", { machineId: "m", interactionMode: "x" }, 'interactionMode must be "auto" or "spec"'],
  ["droid.initialize_session", { machineId: "m", reasoningEffort: "x" }, `reasoningEffort must be one of ${efforts}`],
  ["droid.initialize_session", { machineId: "m", mcpServers: { name: "a" } }, "mcpServers must be an array"],
  [
    "droid.initialize_session",
    { machineId: "m", tags: [{ name: "a", metadata: { b: 1 } }] },
    "tags[0].metadata.b must be a string",
  ],
  [
    "droid.initialize_session",
    { machineId: "m", systemPrompt: 5 },
    'systemPrompt must be text that is not blank, or {"type":"preset","preset":"droid","append":"…"}',
  ],
  [
    "droid.initialize_session",
    { cwd: 1, modelId: 2, restrictToolIds: ["Read", 3], skipPermissionsUnsafe: "yes" },
    "machineId is missing: it must be a string; cwd must be a string; modelId must be a string; and 2 more",
  ],
  ["droid.initialize_session", { machineId: "m", systemPrompt: " " }, "systemPrompt must not be blank"],
  ["droid.load_session", {}, "sessionId is missing: it must be a string"],
  ["droid.update_session_settings", { compactionTokenLimit: 0 }, "compactionTokenLimit must be above 0"],
  ["droid.update_session_settings", { compactionTokenLimit: 0.5 }, "compactionTokenLimit must be a whole number"],
  ["droid.add_user_message", { text: 5 }, "text must be a string"],
  [
    "droid.add_user_message",
    { text: "", images: [{ data: "", mediaType: "image/bmp" }] },
    'images[0].mediaType must be one of "image/jpeg", "image/png", "image/gif", "image/webp"',
  ],
  [
    "droid.add_user_message",
    { text: "", files: [{ data: "", mediaType: "text/html" }] },
    'files[0].mediaType must be one of "application/pdf", "text/plain"',
  ],
  [
    "droid.add_user_message",
    { text: "", files: [{ type: "base64", data: "", mediaType: "text/plain" }] },
    'files[0].type must be "text"',
  ],
  ["droid.update_session_settings", { modelId: null }, "modelId must be a string"],
  ["droid.update_session_settings", { tags: ["a"] }, "tags[0] must be an object"],
  ["droid.rename_session", { title: "\n" }, "title must not be blank"],
];

test.each(refused)("rejects %s %j with a message", (method, params, problem) => {
  expect(read(method, params)).toEqual({ ok: false, problem });
});

const accepted: readonly (readonly [method: Method, params: object])[] = [
  ["droid.initialize_session", { machineId: "" }],
  [
    "droid.initialize_session",
    { machineId: "m", autonomyLevel: "low", interactionMode: "spec", autonomyMode: "auto-high" },
  ],
  ["droid.initialize_session", { machineId: "m", systemPrompt: "You are brief." }],
  [
    "droid.initialize_session",
    { machineId: "m", systemPrompt: { type: "preset", preset: "droid", append: "Be brief." } },
  ],
  ["droid.initialize_session", { machineId: "m", specModeModelId: null, specModeReasoningEffort: null }],
  [
    "droid.initialize_session",
    {
      machineId: "m",
      mcpServers: [
        { name: "a", type: "http", url: "https://a", headers: [{ name: "b", value: "c" }] },
        { name: "b", env: 5 },
        "not a server",
      ],
    },
  ],
  ["droid.add_mcp_server", { name: "a", type: "stdio", command: "a", args: ["b"], env: { C: "d" } }],
  ["droid.add_user_message", { text: "", images: [{ data: "aGk=", mediaType: "image/png" }] }],
  [
    "droid.add_user_message",
    {
      text: "",
      messageId: "m1",
      files: [
        { data: "aGk=", mediaType: "application/pdf", name: "a.pdf" },
        { type: "text", data: "", mediaType: "text/plain" },
      ],
    },
  ],
  [
    "droid.update_session_settings",
    { specModeModelId: null, tags: [{ name: "sdk", metadata: { language: "python" } }] },
  ],
  ["droid.fork_session", { title: "again", tags: [] }],
  ["droid.close_session", { reason: "other" }],
];

test.each(accepted)("accepts %s %j", (method, params) => {
  expect(read(method, params)).toEqual({ ok: true, value: params });
});

test("ignores unknown keys", () => {
  expect(read("droid.add_user_message", { text: "a", bogus: 1 })).toEqual({ ok: true, value: { text: "a" } });
});

test("every method has params and a result", () => {
  expect(Object.keys(clientResults)).toEqual(Object.keys(clientParams));
});

const request = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", type: "request", id: "1", method: "m" };
const response = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", type: "response", id: "1" };

test.each([
  ["no params", request],
  ["params of any kind", { ...request, params: [] }],
  ["an empty id", { ...request, id: "" }],
  ["a protocol version", { ...request, factoryProtocolVersion: "99.0.0" }],
  ["a trace", { ...request, _meta: { traceparent: "00-0-0-01" } }],
  ["a response with a result", { ...response, result: {} }],
  ["a response with an error", { ...response, error: { code: -32603, message: "no" } }],
  ["a response with neither", response],
  ["a notification", { jsonrpc: "2.0", factoryApiVersion: "1.0.0", type: "notification", method: "m" }],
])("accepts an envelope with %s", (_what, message) => {
  expect(clientEnvelope.parse(message)).toEqual(message);
});

test("ignores unknown keys and a malformed trace in an envelope", () => {
  expect(clientEnvelope.parse({ ...request, bogus: 1, _meta: { traceparent: 5 } })).toEqual(request);
});

test.each([
  ["a list", [request]],
  ["text", "a"],
  ["null", null],
  ["nothing", {}],
  ["another JSON-RPC version", { ...request, jsonrpc: "1.0" }],
  ["another API version", { ...request, factoryApiVersion: "1.0.1" }],
  ["no API version", { ...request, factoryApiVersion: undefined }],
  ["a numeric id", { ...request, id: 1 }],
  ["a null id", { ...request, id: null }],
  ["a numeric method", { ...request, method: 1 }],
  ["another type", { ...request, type: "bogus" }],
  ["no type", { ...request, type: undefined }],
  ["a response with a null id", { ...response, id: null, error: { code: -1, message: "no" } }],
])("rejects as an envelope: %s", (_what, message) => {
  expect(clientEnvelope.safeParse(message).success).toBe(false);
});

test.each([
  [permissionAnswer, { selectedOption: "proceed_new_session_low", comment: "why not" }, true],
  [permissionAnswer, { selectedOption: "yes" }, false],
  [permissionAnswer, {}, false],
  [askUserAnswer, { cancelled: true, answers: [] }, true],
  [askUserAnswer, { cancelled: true }, true],
  [askUserAnswer, { answers: [{ answer: ["Red", "Blue"] }] }, true],
  [askUserAnswer, { answers: [{ index: 1 }] }, false],
  [askUserAnswer, { answers: "Red" }, false],
])("answers: %#", (schema, answer, isUnderstood) => {
  expect(schema.safeParse(answer).success).toBe(isUnderstood);
});
