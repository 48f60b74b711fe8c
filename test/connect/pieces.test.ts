import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLoopback, parseAddress } from "../../src/connect/address.ts";
import { type Chunk, createAnswerText } from "../../src/connect/answer-text.ts";
import { parseLine, splitResult } from "../../src/connect/line.ts";
import { createSafeStream } from "../../src/connect/safe-stream.ts";
import { createScreen } from "../../src/connect/screen.ts";
import { terminalText } from "../../src/text/terminal-text.ts";
import { recorder } from "./connected.ts";

describe("an address", () => {
  test.each([
    ["ws://127.0.0.1:8000/ws", "ws://127.0.0.1:8000/ws"],
    ["ws://127.0.0.1:8000", "ws://127.0.0.1:8000/ws"],
    ["http://example.org/", "ws://example.org/ws"],
    ["https://example.org/team/ws", "wss://example.org/team/ws"],
    ["localhost:9000", "ws://localhost:9000/ws"],
    ["[::1]:9000", "ws://[::1]:9000/ws"],
    ["wss://example.org/ws?a=1#b", "wss://example.org/ws?a=1"],
  ])("%s is %s", (given, expected) => {
    expect(parseAddress(given).href).toBe(expected);
  });

  test.each(["", "ws://", "ftp://example.org/ws", "ws://ann:secret@example.org/ws", "a b"])("rejects %j", (given) => {
    expect(() => parseAddress(given)).toThrow(expect.objectContaining({ code: "usage" }));
  });

  test("is local or not", () => {
    const of = (host: string) => isLoopback(new URL(`ws://${host}/ws`));
    expect(["localhost", "127.0.0.1", "127.1.2.3", "[::1]"].map(of)).toEqual([true, true, true, true]);
    expect(["localhost.example.org", "10.0.0.1", "127.0.0.1.example.org", "[::2]", "0.0.0.0"].map(of)).toEqual(
      Array(5).fill(false),
    );
  });
});

describe("a line", () => {
  test.each([
    ["hello /stop", { kind: "message", text: "hello /stop" }],
    ["//stop", { kind: "message", text: "/stop" }],
    ["/stop", { kind: "command", name: "stop", rest: "" }],
    ['/result  {"a": 1} ', { kind: "command", name: "result", rest: ' {"a": 1} ' }],
    ["/constructor", { kind: "unknown", word: "constructor" }],
    ["/", { kind: "unknown", word: "" }],
  ])("%s", (line, expected) => {
    expect(parseLine(line)).toEqual(expected);
  });

  test("names a call by its id, or means the oldest", () => {
    expect(splitResult("c2 the text", ["c1", "c2"])).toEqual({ id: "c2", text: "the text" });
    expect(splitResult("c3 the text", ["c1", "c2"])).toEqual({ id: "c1", text: "c3 the text" });
    expect(splitResult("text", [])).toEqual({ text: "text" });
  });
});

describe("the text of an answer", () => {
  const piece = (chunk: string, offset?: number, more: Partial<Chunk> = {}): Chunk => ({
    chunk,
    isFinal: false,
    isSnapshot: false,
    ...(offset !== undefined && { offset }),
    ...more,
  });
  const snapshot = (chunk: string, offset: number, isFinal = false) =>
    piece(chunk, offset, { isSnapshot: true, isFinal });
  const steps = (...chunks: readonly Chunk[]) => {
    const take = createAnswerText();
    return chunks
      .map(take)
      .map(({ print, startsOver, missing }) => (startsOver ? ["anew", print] : missing ? [missing, print] : print));
  };

  test("is printed as it arrives", () => {
    expect(steps(piece("a"), piece("b"))).toEqual(["a", "b"]);
    expect(steps(piece("a", 0), piece("b", 1))).toEqual(["a", "b"]);
  });

  test("is completed by a snapshot", () => {
    expect(steps(piece("abc", 0), snapshot("abcde", 0), piece("f", 5))).toEqual(["abc", "de", "f"]);
    expect(steps(piece("abc", 0), snapshot("cde", 2, true))).toEqual(["abc", "de"]);
  });

  test("is printed again if a snapshot differs", () => {
    expect(steps(piece("abc", 0), snapshot("abX", 0), piece("Y", 3))).toEqual(["abc", ["anew", "abX"], "Y"]);
  });

  test("waits on a shorter snapshot until later text matches or differs", () => {
    expect(steps(piece("abcd", 0), snapshot("ab", 0), piece("c", 2), piece("de", 3))).toEqual(["abcd", "", "", "e"]);
    expect(steps(piece("abcd", 0), snapshot("ab", 0), piece("X", 2))).toEqual(["abcd", "", ["anew", "abX"]]);
    expect(steps(piece("abcd", 0), snapshot("ab", 0, true))).toEqual(["abcd", ["anew", "ab"]]);
  });

  test("is printed again if its end is before what was printed", () => {
    expect(steps(piece("abcd", 0), snapshot("", 2, true))).toEqual(["abcd", ["anew", "ab"]]);
    expect(steps(piece("abcd", 0), snapshot("ab", 0), snapshot("", 2, true))).toEqual(["abcd", "", ["anew", "ab"]]);
    expect(steps(piece("abcd", 0), snapshot("", 0, true))).toEqual(["abcd", ["anew", ""]]);
    expect(steps(piece("abcd", 0), snapshot("", 4, true))).toEqual(["abcd", ""]);
  });

  test("is printed once if it is repeated", () => {
    expect(steps(piece("abc", 0), piece("ab", 0), piece("d", 3))).toEqual(["abc", "", "d"]);
    expect(steps(piece("abc", 0), piece("bcd", 1))).toEqual(["abc", "d"]);
  });

  test("can start late, with a note about the gap", () => {
    expect(steps(piece("c", 2), piece("d", 3))).toEqual(["c", "d"]);
    expect(steps(piece("a", 0), piece("d", 3), piece("e", 4))).toEqual(["a", [2, "d"], "e"]);
    expect(steps(piece("c", 2), snapshot("abcd", 0))).toEqual(["c", ["anew", "abcd"]]);
  });
});

test("a text in pieces is as safe as the whole, wherever it is cut", () => {
  const signs = [
    "a",
    "\x1b[2J",
    "\r\n",
    "\r",
    "\n",
    "❤️",
    "👩‍👩‍👧",
    "\u200d",
    "\ufe0f",
    "क्‍ष",
    "\ud83d",
    "\u202e",
    "👍🏽",
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...signs), { maxLength: 12 }), fc.array(fc.nat(40)), (words, cuts) => {
      const text = words.join("");
      const stream = createSafeStream();
      const places = [0, ...cuts.map((cut) => Math.min(cut, text.length)).sort((a, b) => a - b), text.length];
      const pieces = places.slice(1).map((to, index) => stream.push(text.slice(places[index], to)));
      expect(pieces.join("") + stream.end()).toBe(terminalText(text));
    }),
    { numRuns: 300 },
  );
});

test("a stalled reader slows the server, but not forever", async () => {
  const said: string[] = [];
  const stdout = recorder(false);
  const letGo = stdout.hold();
  const flow = { pause: () => said.push("pause"), resume: () => said.push("resume") };
  const screen = createScreen({ stdout, stderr: stdout, onSignal: () => () => undefined }, { isJson: false, flow });
  screen.answer("first");
  screen.answer("x".repeat(64 * 1024 * 1024));
  expect(said).toEqual([]);
  screen.answer("y");
  expect(said).toEqual(["pause"]);
  letGo();
  await screen.drained();
  expect(said).toEqual(["pause", "resume"]);
  expect(stdout.text().length).toBe(64 * 1024 * 1024 + 6);
});
