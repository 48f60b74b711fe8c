import { isDeepStrictEqual } from "node:util";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { type InteractiveMethod, interactiveParams } from "../../src/protocol/interactive.ts";
import { says } from "../fakes/kit.ts";
import { type Random, randomFrom } from "../fakes/seeded-random.ts";
import { leaksIn } from "../fakes/ws/program.ts";
import { type Frame, serve, textIn } from "../frontends/interactive/served.ts";
import { isFullRun } from "../full-run.ts";
import { firstSeed, mutateBytes, mutateJson } from "./mutate.ts";

const garbage = isFullRun ? 100_000 : 3_000;
const methods = Object.keys(interactiveParams) as InteractiveMethod[];

const parseError = { jsonrpc: "2.0", id: null, error: { code: -32700, message: "Parse error" } };
const invalid = (id: unknown = null) => ({ jsonrpc: "2.0", id, error: { code: -32600, message: "Invalid Request" } });
const unknown = (id: unknown) => ({ jsonrpc: "2.0", id, error: { code: -32601, message: "Method not found" } });

const nested = (levels: number): string => "[".repeat(levels) + "]".repeat(levels);
const call = (method: string, params: string, id = "1"): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`;

/** The response to a frame; `undefined` for none. */
const frames: readonly (readonly [name: string, frame: string, answer: object | undefined])[] = [
  ["an empty frame", "", parseError],
  ["white space", " \n\t", parseError],
  ["not JSON", "startSession", parseError],
  ["a truncated request", '{"jsonrpc":"2.0","id":1,"met', parseError],
  ["two requests in one frame", `${call("echo", "1")}${call("echo", "1")}`, parseError],
  ["a byte order mark", `\ufeff${call("echo", "1")}`, parseError],
  ["single quotes", "{'jsonrpc':'2.0'}", parseError],
  ["a comment", `/**/${call("echo", "1")}`, parseError],
  ["NaN", call("echo", "NaN"), parseError],
  ["a number", "5", invalid()],
  ["a text", '"x"', invalid()],
  ["null", "null", invalid()],
  ["true", "true", invalid()],
  ["an empty batch", "[]", invalid()],
  ["a batch", `[${call("echo", "1")},${call("echo", "2", "2")}]`, invalid()],
  ["an empty object", "{}", invalid()],
  ["an id alone", '{"id":7}', invalid(7)],
  ["no version", '{"id":7,"method":"echo"}', invalid(7)],
  ["another version", '{"jsonrpc":"1.0","id":7,"method":"echo"}', invalid(7)],
  ["a version that is a number", '{"jsonrpc":2.0,"id":"a","method":"echo"}', invalid("a")],
  ["a method that is a number", '{"jsonrpc":"2.0","id":[1],"method":1}', invalid([1])],
  ["a method that is null", '{"jsonrpc":"2.0","id":{"a":1},"method":null}', invalid({ a: 1 })],
  ["an answer", '{"jsonrpc":"2.0","id":1,"result":{}}', invalid(1)],
  ["no id", '{"jsonrpc":"2.0","method":"echo","params":{}}', undefined],
  ["an unknown method without an id", '{"jsonrpc":"2.0","method":"nothing"}', undefined],
  ["an id that is null", call("echo", "1", "null"), { jsonrpc: "2.0", id: null, result: 1 }],
  ["an id that is zero", call("echo", "1", "0"), { jsonrpc: "2.0", id: 0, result: 1 }],
  ["an id that is empty", call("echo", "1", '""'), { jsonrpc: "2.0", id: "", result: 1 }],
  ["an id that is an object", call("echo", "1", '{"a":[null]}'), { jsonrpc: "2.0", id: { a: [null] }, result: 1 }],
  ["the last of two ids", '{"jsonrpc":"2.0","id":1,"id":2,"method":"x","method":"y"}', unknown(2)],
  ["no method", call("", "{}"), unknown(1)],
  ["another case", call("Echo", "{}"), unknown(1)],
  ...["__proto__", "constructor", "toString", "hasOwnProperty", "then", "prototype"].map(
    (name) => [`the method ${name}`, call(name, "{}"), unknown(1)] as const,
  ),
  ["its own prototype", '{"__proto__":{"jsonrpc":"2.0","id":1,"method":"echo"}}', invalid()],
  [
    "the deepest allowed nesting",
    call("echo", nested(499)),
    { jsonrpc: "2.0", id: 1, result: JSON.parse(nested(499)) },
  ],
  ["one deeper", call("echo", nested(500)), invalid(1)],
  ["params of 100,000 levels", call("startSession", nested(100_000)), invalid(1)],
  ["an id of 100,000 levels", call("echo", "1", nested(100_000)), invalid()],
  ["a frame of 100,000 levels", nested(100_000), invalid()],
  ["100,000 levels and no end", "[".repeat(100_000), parseError],
  ["100,000 objects", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, invalid()],
  [
    "brackets in a string",
    call("echo", `"${"[".repeat(1_000)}"`),
    { jsonrpc: "2.0", id: 1, result: "[".repeat(1_000) },
  ],
  ["a number out of range", call("echo", "1e999"), { jsonrpc: "2.0", id: 1, result: null }],
  ["a number with many digits", call("echo", "9".repeat(30)), { jsonrpc: "2.0", id: 1, result: 1e30 }],
  ["half a character", call("echo", '"\\ud83d"'), { jsonrpc: "2.0", id: 1, result: "\ud83d" }],
  ["a prototype in params", call("echo", '{"__proto__":{"message":1}}'), undefinedProto()],
];

function undefinedProto(): object {
  return JSON.parse('{"jsonrpc":"2.0","id":1,"result":{"__proto__":{"message":1}}}') as object;
}

describe("invalid frames", () => {
  test.each(frames)("%s", async (_, frame, answer) => {
    const client = serve([]).connect();
    client.raw(frame);
    client.raw(call("echo", '"behind it"', '"last"'));
    await client.until(({ id }) => id === "last");
    expect(client.frames.slice(0, -1)).toEqual(answer === undefined ? [] : [answer]);
    await client.close();
  });
});

const samples: readonly unknown[] = [
  ...[null, true, 0, 5, -1, 1.5, 1e308, 2 ** 53, "", "x", "\ud83d", [], [1], [[]], {}, { a: 1 }],
  JSON.parse('{"__proto__":{"x":1},"constructor":1}'),
];

/** All paths into a schema. */
function placesOf(schema: unknown, path: readonly string[] = []): (readonly string[])[] {
  const { properties = {}, items, anyOf = [] } = schema as Record<string, never>;
  return [
    path,
    ...Object.entries(properties).flatMap(([name, of]) => placesOf(of, [...path, name])),
    ...(anyOf as unknown[]).flatMap((of) => placesOf(of, path)),
    ...(items === undefined ? [] : placesOf(items, [...path, "0"])),
  ];
}

function put(into: unknown, [name, ...rest]: readonly string[], value: unknown): unknown {
  if (name === undefined) return value;
  if (name === "0") return [put((into as unknown[])?.[0] ?? {}, rest, value)];
  const before = (into ?? {}) as Record<string, unknown>;
  return { ...before, [name]: put(before[name], rest, value) };
}

const good: Readonly<Record<InteractiveMethod, object>> = {
  startSession: {
    userId: "u",
    sessionParams: { language: "en", context: "c", tools: [{ name: "T", description: "d", inputSchema: {} }] },
  },
  sendUserMessage: { sessionId: "", message: "hello" },
  provideToolResult: { sessionId: "", toolCallId: "x", result: "y", isError: false },
  stopSession: { sessionId: "unknown" },
  echo: { message: 1 },
  cancel: { sessionId: "" },
  resumeSession: { sessionId: "", afterSeq: 0 },
  listSessions: { limit: 1 },
  capabilities: {},
};

test.each(methods)("%s with a fault in every place: -32602 with a message, never a server error", async (method) => {
  const { connect, log } = serve(Array.from({ length: 500 }, () => says("ok")));
  const client = connect();
  const sessionId = await client.start();
  const base = "sessionId" in good[method] && method !== "stopSession" ? { ...good[method], sessionId } : good[method];
  const places = placesOf(z.toJSONSchema(interactiveParams[method], { unrepresentable: "any" }));
  for (const place of places) {
    for (const sample of samples) {
      const params = put(base, place, sample);
      const isTaken = interactiveParams[method].safeParse(JSON.parse(JSON.stringify(params))).success;
      const { error } = await client.request(method, params);
      if (!isTaken) {
        expect([place, sample, error]).toEqual([
          place,
          sample,
          { code: -32602, message: "Invalid params", data: { reason: "params", detail: expect.any(String) } },
        ]);
      } else if (error !== undefined) {
        expect([place, sample, [-32602, -32000].includes(error.code)]).toEqual([place, sample, true]);
      }
    }
  }
  expect(leaksIn(client.frames)).toEqual([]);
  expect(log.filter(({ level }) => level === "error")).toEqual([]);
  await client.close();
});

/** By brackets, including the value of an overridden duplicate key. */
function isDeep(json: string): boolean {
  let depth = 0;
  for (const bracket of json.replace(/"(?:[^"\\]|\\.)*"/g, "").match(/[[\]{}]/g) ?? []) {
    depth += bracket === "[" || bracket === "{" ? 1 : -1;
    if (depth > 500) return true;
  }
  return false;
}

/** The required response, by the rules of JSON-RPC alone. */
function lawFor(text: string): { readonly answers: 0 | 1; readonly id?: unknown; readonly code?: number } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { answers: 1, id: null, code: -32700 };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return { answers: 1, id: null, code: -32600 };
  const { jsonrpc, id: given, method } = value as Record<string, unknown>;
  // Within an object, numbers beyond JavaScript's range come back rounded.
  const isPlain = given === undefined || typeof given === "number" || isDeep(text);
  const id = isPlain ? given : (JSON.parse(JSON.stringify(given)) as unknown);
  if (isDeep(text)) return { answers: 1, id: typeof id === "object" ? null : (id ?? null), code: -32600 };
  if (jsonrpc !== "2.0" || typeof method !== "string") return { answers: 1, id: id ?? null, code: -32600 };
  if (id === undefined) return { answers: 0 };
  return methods.includes(method as InteractiveMethod) ? { answers: 1, id } : { answers: 1, id, code: -32601 };
}

function garbageFrame(random: Random, sessionId: string): string {
  const method = random.pick(methods);
  const params = { ...good[method], ...("sessionId" in good[method] ? { sessionId } : {}) };
  const frame = { jsonrpc: "2.0", id: random.pick([1, "a", null, [], {}]), method, params };
  const text = JSON.stringify(random.chance(0.1) ? put(frame, ["params", "message"], random.pick(samples)) : frame);
  return random.chance(0.6) ? mutateJson(random, JSON.parse(text)) : String(mutateBytes(random, Buffer.from(text)));
}

test(`${garbage} garbage frames: each is answered by the rules, and another client is served meanwhile`, {
  timeout: 600_000,
}, async () => {
  const limits = { queuedMessages: 32, openSessions: 1e9, sessionsPerMinute: 1e9, messagesPerMinute: 1e9 };
  const { connect, log } = serve(
    Array.from({ length: garbage + 200 }, () => says("ok")),
    { limits },
  );
  const random = randomFrom(firstSeed);
  const other = connect({ user: "bob", role: "user" });
  const own = await other.start();
  // A client that sends garbage has no other requests, so its ids can be anything.
  const starter = connect();
  let client = connect();
  const found: unknown[] = [];
  let sessionId = "";
  for (let nth = 0; nth < garbage; nth += 1) {
    if (nth % 200 === 0) {
      await client.close();
      client = connect();
      sessionId = await starter.start();
      expect(textIn(await other.ask(own, "still there?"))).toBe("ok");
    }
    const text = garbageFrame(random, sessionId);
    const from = client.frames.length;
    client.raw(text);
    client.raw(call("echo", '"flush"', `"flush-${nth}"`));
    await client.until(({ id }) => id === `flush-${nth}`);
    // An accepted message is answered by its event.
    const law = lawFor(text);
    const came = (): Frame[] =>
      client.frames.slice(from).filter(({ method, result }) => method === undefined && (result as unknown) !== "flush");
    for (let waits = 0; came().length < law.answers && waits < 100; waits += 1) await new Promise(setImmediate);
    const [answer] = came();
    const isRight =
      came().length === law.answers &&
      (answer === undefined ||
        (isDeepStrictEqual(answer.id, law.id) &&
          (law.code === undefined ? answer.error?.code !== -32603 : answer.error?.code === law.code)));
    if (!isRight) found.push({ nth, text: text.slice(0, 500), law, came: came() });
  }
  expect(found).toEqual([]);
  expect(log.filter(({ level }) => level === "error")).toEqual([]);
  expect(leaksIn([...client.frames, ...other.frames])).toEqual([]);
  await Promise.all([client.close(), other.close(), starter.close()]);
});
