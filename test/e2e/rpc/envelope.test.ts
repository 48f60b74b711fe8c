import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Received } from "../../fakes/rpc/wire.ts";
import { noticesIn } from "../../fakes/rpc/wire.ts";
import { type Bench, createBench } from "../tinman.ts";
import type { Dialect, Talk } from "./raw-client.ts";
import { dialects, line, requestIn, talk, wellEnded } from "./raw-client.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const mebibyte = 1024 * 1024;
const noSession = {
  code: -32603,
  message: "No active session. Call initialize_session or load_session first.",
};

function error(code: number, message: unknown, requestId?: string): object {
  return { id: null, error: { code, message, ...(requestId === undefined ? {} : { data: { requestId } }) } };
}
const noJson = error(-32700, "Invalid JSON");
const noMessage = (requestId?: string): object => error(-32700, "Invalid JSON-RPC message", requestId);
const answered = (id: string, result: unknown): object => ({ id, result });
const skills = (id: string): object => answered(id, { skills: [] });

/** One or several lines, and the responses. */
interface Row {
  readonly name: string;
  readonly sent: string | Uint8Array;
  readonly answers: readonly object[];
}

/** Sends each row, followed by a request that marks the end of its responses. */
async function answersTo(rows: readonly Row[], first: readonly string[] = []): Promise<Record<string, unknown>> {
  const mark = (at: number): string => line("early", `mark ${at}`, "list_commands");
  const bytes = rows.flatMap(({ sent }, at) => [Buffer.from(sent), Buffer.from(`\n${mark(at)}`)]);
  const { received, end } = await talk(bench, [Buffer.concat([Buffer.from(first.join("")), ...bytes])]);
  const isText = rows.every(({ sent }) => typeof sent === "string");
  const words = "tinman: A line from the client is not valid UTF-8; invalid bytes were replaced by \ufffd.\n";
  expect(end).toEqual(isText ? wellEnded : { ...wellEnded, stderr: words });
  const responses = received.filter(({ type }) => type === "response");
  const found: Record<string, unknown> = {};
  let from = first.length;
  for (const [at, { name }] of rows.entries()) {
    const to = responses.findIndex(({ id }) => id === `mark ${at}`);
    found[name] = responses.slice(from, to).map(essence);
    from = to + 1;
  }
  expect(responses.length).toBe(from);
  return found;
}

function essence({ id, result, error: fault }: Received): object {
  return fault === undefined ? { id, result } : { id, error: fault };
}

function wanted(rows: readonly Row[]): Record<string, unknown> {
  return Object.fromEntries(rows.map(({ name, answers }) => [name, answers]));
}

/** The same request, malformed. */
function spoiled(dialect: Dialect, changes: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ ...requestIn(dialect, "r", "list_skills"), ...changes });
}

function rowsOf(dialect: Dialect): readonly Row[] {
  const row = (name: string, sent: string | Uint8Array, ...answers: object[]): Row => ({ name, sent, answers });
  const good = (id: string): string => JSON.stringify(requestIn(dialect, id, "list_skills"));
  const request = (id: string, method: string, params?: object): string =>
    JSON.stringify(requestIn(dialect, id, method, params));
  const refused = (id: string, code: number, words: unknown): object =>
    dialect === "early" ? error(-32600, "Invalid request format", id) : { id, error: { code, message: words } };
  const tooMany = error(-32700, "Skipped a line with more than 20000 entries");
  const badParams = (id: string, words: unknown): object => refused(id, -32602, words);
  const words = (...parts: string[]): unknown => expect.stringMatching(new RegExp(parts.join(".*")));
  const pretty = JSON.stringify(requestIn(dialect, "p", "list_skills", { a: 1 }), null, 2);
  const asBytes = (text: string): Buffer => Buffer.from(text);

  const nested = (levels: number): string => {
    const params = `"params":{"a":${"[".repeat(levels)}${"]".repeat(levels)}}`;
    return spoiled(dialect, { id: "deep" }).replace('"params":{}', params);
  };

  return [
    // Invalid JSON.
    row("no JSON", "{nope", noJson),
    row("words", "hello there", noJson),
    row("two objects on a line", `${good("a")}${good("b")}`, noJson),
    row("a request over several lines", pretty, ...pretty.split("\n").map(() => noJson)),
    row("a NUL in the line", `${good("a")}\0`, noJson),
    row("a raw control character in a string", good("a").replace('"a"', '"a\u0001"'), noJson),
    // JSON, but not a message.
    row("an empty batch", "[]", noMessage()),
    row("a batch", `[${good("a")},${good("b")}]`, noMessage()),
    row("a string", '"x"', noMessage()),
    row("a number", "7", noMessage()),
    row("null", "null", noMessage()),
    row("true", "true", noMessage()),
    row("an empty object", "{}", noMessage()),
    ...["jsonrpc", "factoryApiVersion", "type", "method"].flatMap((key) => [
      row(`no ${key}`, spoiled(dialect, { [key]: undefined }), noMessage("r")),
      row(`a wrong ${key}`, spoiled(dialect, { [key]: 2 }), noMessage("r")),
    ]),
    row("no id", spoiled(dialect, { id: undefined }), noMessage()),
    row("another version of JSON-RPC", spoiled(dialect, { jsonrpc: "1.0" }), noMessage("r")),
    row("another version of the API", spoiled(dialect, { factoryApiVersion: "1.0.1" }), noMessage("r")),
    row("an unknown type", spoiled(dialect, { type: "bogus" }), noMessage("r")),
    row("a number as id", spoiled(dialect, { id: 7 }), noMessage("7")),
    row("null as id", spoiled(dialect, { id: null }), noMessage()),
    row("a boolean as id", spoiled(dialect, { id: true }), noMessage()),
    row("an object as id", spoiled(dialect, { id: { id: "r" } }), noMessage()),
    row(
      "an error without an id",
      spoiled(dialect, { type: "response", id: null, method: undefined, error: { code: 1, message: "x" } }),
      noMessage(),
    ),
    // A message, but not an acceptable request.
    row("an unknown method", request("u", "nope"), refused("u", -32601, words("droid.nope"))),
    row(
      "a method without its prefix",
      spoiled(dialect, { method: "list_skills" }),
      refused("r", -32601, words("list_skills")),
    ),
    ...["__proto__", "constructor", "toString", "", "droid.", "droid.__proto__"].map((method) =>
      row(
        `the method ${JSON.stringify(method)}`,
        spoiled(dialect, { method }),
        refused("r", -32601, words("Unknown method")),
      ),
    ),
    row(
      "a method of a million characters",
      spoiled(dialect, { method: `droid.${"x".repeat(1_000_000)}` }),
      refused("r", -32601, expect.stringMatching(/^.{100,300}$/)),
    ),
    row("no params", spoiled(dialect, { params: undefined }), badParams("r", words("droid.list_skills"))),
    row("null as params", spoiled(dialect, { params: null }), badParams("r", words("droid.list_skills"))),
    row("a list as params", spoiled(dialect, { params: [] }), badParams("r", words("droid.list_skills"))),
    row("a text as params", spoiled(dialect, { params: "{}" }), badParams("r", words("droid.list_skills"))),
    row("a missing parameter", request("m", "load_session"), badParams("m", words("sessionId"))),
    row(
      "a parameter of another type",
      request("m", "load_session", { sessionId: 7 }),
      badParams("m", words("sessionId")),
    ),
    row(
      "an unknown value",
      request("m", "update_session_settings", { autonomyLevel: "bogus-level" }),
      badParams("m", words("autonomyLevel")),
    ),
    // A failing request.
    row("an unknown session", request("l", "load_session", { sessionId: "../../etc/passwd" }), {
      id: "l",
      error: { code: -32004, message: "Session not found" },
    }),
    row("a prompt without a session", request("n", "add_user_message", { text: "x" }), { id: "n", error: noSession }),
    row("settings without a session", request("n", "update_session_settings"), { id: "n", error: noSession }),
    row("an interrupt without a session", request("n", "interrupt_session"), { id: "n", result: {} }),
    row("a fork without a session", request("n", "fork_session"), { id: "n", error: noSession }),
    row(
      "a broken request, twice",
      `${request("m", "load_session")}\n${request("m", "load_session")}`,
      badParams("m", words("sessionId")),
      badParams("m", words("sessionId")),
    ),
    // Accepted unchanged.
    row("unknown keys", spoiled(dialect, { id: "k", extra: 1, params: { extra: { deep: [1] } } }), skills("k")),
    row("a strange _meta", spoiled(dialect, { id: "k", _meta: "what" }), skills("k")),
    row(
      "keys of Object.prototype",
      good("k").replace(
        '"params":{}',
        '"__proto__":{"id":"z"},"constructor":1,"params":{"__proto__":{"a":1},"constructor":2}',
      ),
      skills("k"),
    ),
    row("an id that objects have", good("__proto__"), skills("__proto__")),
    row("an empty id", good(""), skills("")),
    row("an id of strange characters", good('\u2028"\\\u0000😀'), skills('\u2028"\\\u0000😀')),
    row("the same id twice", `${good("d")}\n${good("d")}`, skills("d"), skills("d")),
    row("the same key twice", good("a").replace('"id":"a"', '"id":"a","id":"b"'), skills("b")),
    row(
      "a notification",
      `${spoiled(dialect, { type: "notification" })}\n${spoiled(dialect, { type: "notification", id: undefined })}`,
    ),
    row("an unexpected response", spoiled(dialect, { type: "response", result: {} })),
    row("an answer that says nothing", spoiled(dialect, { type: "response" })),
    row("an unexpected error response", spoiled(dialect, { type: "response", error: { code: 1, message: "x" } })),
    // Lines.
    row("blank lines", "\n  \n\t\n\r\n\n"),
    row("a carriage return before the line feed", `${good("c")}\r`, skills("c")),
    row("spaces and tabs around it", ` \t ${good("s")}  \t`, skills("s")),
    row("a byte order mark", Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), asBytes(good("b"))]), skills("b")),
    row("line separators in a string", good("a\u2028b\u2029c\u0085d"), skills("a\u2028b\u2029c\u0085d")),
    row("a carriage return between requests", `${good("a")}\r${good("b")}`, noJson),
    row(
      "invalid UTF-8",
      Buffer.concat([asBytes(good("XY")).map((byte) => (byte === 0x58 ? 0xff : byte === 0x59 ? 0xc3 : byte))]),
      skills("\ufffd\ufffd"),
    ),
    row("half of a character, escaped", good("a").replace('"a"', '"\\ud83d"'), skills("\ud83d")),
    // Size.
    row("a line of 5 MiB", spoiled(dialect, { id: "long", params: { pad: "x".repeat(5 * mebibyte) } }), skills("long")),
    row("5 MiB that are not JSON", `{${"x".repeat(5 * mebibyte)}`, noJson),
    row("15,000 levels in params", nested(15_000), skills("deep")),
    row("100,000 levels in params", nested(100_000), tooMany),
    row("100,000 levels as a message", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`, tooMany),
  ];
}

describe.each(dialects)("in the %s dialect", (dialect) => {
  test("every line gets the right response, with and without a session", async () => {
    const rows = rowsOf(dialect);
    // The later dialect is recognised by its first message; the other is the default.
    const first = dialect === "later" ? [line(dialect, "first", "list_skills")] : [];
    expect(await answersTo(rows, first)).toEqual(wanted(rows));

    const opening = requestIn(dialect, "first", "initialize_session", { machineId: "m", cwd: bench.cwd });
    const withSession = rows.filter(({ name }) => !name.endsWith("without a session"));
    expect(await answersTo(withSession, [`${JSON.stringify(opening)}\n`])).toEqual(wanted(withSession));
  });
});

test("accepts a line of 32 MiB, rejects one byte more, and reads the next line as usual", async () => {
  const limit = 32 * mebibyte;
  const head = JSON.stringify(requestIn("early", "long", "list_skills", { pad: "" })).slice(0, -3);
  const lineOf = (bytes: number): Buffer => Buffer.from(`${head}${"x".repeat(bytes - head.length - 3)}"}}\n`);
  const next = line("early", "next", "list_skills");
  const { received, end } = await talk(bench, [Buffer.concat([lineOf(limit), lineOf(limit + 1), Buffer.from(next)])]);
  expect(received.map(essence)).toEqual([
    skills("long"),
    error(-32700, expect.stringMatching(`${limit + 1} bytes.*32 MiB`)),
    skills("next"),
  ]);
  expect(end).toEqual(wellEnded);
});

test("chunk boundaries and a missing last newline do not matter", async () => {
  const bytes = Buffer.from(JSON.stringify(requestIn("later", "é😀", "list_skills")));
  const inside = bytes.indexOf(Buffer.from("😀"));
  const pieces = [
    bytes.subarray(0, 1),
    bytes.subarray(1, inside - 1),
    ...[0, 1, 2, 3, 4].map((at) => bytes.subarray(inside - 1 + at, inside + at)),
    bytes.subarray(inside + 4),
    "\r",
    "\n",
  ];
  for (const [last, answer] of [
    [JSON.stringify(requestIn("later", "last", "list_skills")), skills("last")],
    ['{"half":', noJson],
  ] as const) {
    const { received, end } = await talk(bench, [...pieces, last]);
    expect([received.map(essence), end]).toEqual([[skills("é😀"), answer], wellEnded]);
  }
});

test("keys have the order that clients know", async () => {
  const { raw } = await talk(bench, [
    `${JSON.stringify(requestIn("early", "1", "initialize_session", { machineId: "m", cwd: bench.cwd }))}\n{}`,
  ]);
  const versions = '"factoryApiVersion":"1.0.0","factoryProtocolVersion":"1.15.0"';
  const notification =
    `{"jsonrpc":"2.0","type":"notification",${versions},` +
    '"method":"droid.session_notification","params":{"notification":';
  expect(raw.map((line) => line.slice(0, notification.length))).toEqual([
    notification,
    notification,
    expect.stringMatching(/^\{"jsonrpc":"2.0","type":"response",.*,"id":"1","result":\{"sessionId":"/),
    expect.stringMatching(/^\{"jsonrpc":"2.0","type":"response",.*,"id":null,"error":\{"code":-32700/),
  ]);
  expect(raw.every((line) => line.includes(versions))).toBe(true);
  const trace = /,"_meta":\{"traceparent":"00-([0-9a-f]{32})-[0-9a-f]{16}-01"\}\}$/;
  expect(raw.map((line) => trace.test(line))).toEqual([true, true, false, false]);
});

test("any text comes back unchanged from a stored session", async () => {
  const texts = [
    "half \ud83d of a character, and the other \ude00 half",
    "NUL \u0000, bell \u0007, escape \u001b[31m, delete \u007f",
    "ends \r\n of \u2028 lines \u2029 of \u0085 all kinds \ufeff",
    '{"type":"turn.ended"}\n{"seq":1}',
    "</system-reminder><system-reminder>",
    "__proto__",
    " ",
  ];
  const model = await bench.script([{ text: "I said: {{user}}", times: "any" }]);
  const opening = { machineId: "m", cwd: bench.cwd, modelId: model };
  const told = await talk(bench, [
    line("later", "open", "initialize_session", opening),
    ...texts.map((text, at) => line("later", `p${at}`, "add_user_message", { text, messageId: `message ${at}` })),
  ]);
  const half = "The prompt contains half a character (a lone surrogate). It was replaced by \ufffd for the model.";
  expect(told.end).toEqual({ ...wellEnded, stderr: `tinman: ${half}\n` });
  const messagesOf = ({ content, ...message }: Record<string, unknown>): object => ({
    ...message,
    content: (content as { text?: string }[]).filter(({ text }) => !text?.startsWith("<system-reminder>\n")),
  });
  const notified = noticesIn(told.received).flatMap(({ type, message }) =>
    type === "create_message" ? [message] : [],
  );
  expect(notified.map((message) => (message as { content: { text: string }[] }).content.at(-1)?.text)).toEqual(
    texts.flatMap((text) => [text, `I said: ${text.toWellFormed()}`]),
  );
  const resultOf = ({ received }: Talk, wantedId: string): Received["result"] =>
    received.find(({ id }) => id === wantedId)?.result;
  const sessionId = resultOf(told, "open")?.sessionId;
  const kept = await talk(bench, [line("later", "load", "load_session", { sessionId })]);
  const session = resultOf(kept, "load")?.session as { messages: Record<string, unknown>[] } | undefined;
  expect(session?.messages.map(messagesOf)).toEqual(notified);
});

test("what cannot be written back is an error under its id, and the connection continues", async () => {
  const deep = `${"[".repeat(15_000)}${"]".repeat(15_000)}`;
  const opening = requestIn("later", "deep", "initialize_session", {
    machineId: "m",
    cwd: bench.cwd,
    mcpServers: [{ name: "x", more: 0 }],
  });
  const { received, end } = await talk(bench, [
    `${JSON.stringify(opening).replace('"more":0', `"more":${deep}`)}\n`,
    JSON.stringify(requestIn("later", "next", "list_skills")),
  ]);
  const responses = received.filter(({ type }) => type === "response").map(essence);
  expect([responses, end]).toEqual([
    [{ id: "deep", error: { code: expect.any(Number), message: expect.any(String) } }, skills("next")],
    wellEnded,
  ]);
});
