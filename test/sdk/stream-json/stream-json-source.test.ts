import { Readable } from "node:stream";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readStreamJson } from "../../../src/sdk/stream-json/stream-json.ts";
import type { StreamJsonEvent } from "../../../src/sdk/types.ts";
import { eventsOf, expectedEvents, runs, textOfLines } from "./stream-json-runs.ts";

/** Characters of one to four bytes, an invalid line, and no line feed at the end. */
const text = `\uFEFF${textOfLines(Object.values(runs)[0] ?? [])}é漢😀\r\n${textOfLines([
  { type: "message", role: "assistant", id: "m9", text: "é\u2028漢😀" },
]).trimEnd()}`;
const bytes = new TextEncoder().encode(text);
const expected: readonly StreamJsonEvent[] = [
  ...expectedEvents,
  { type: "other", name: "text", given: "é漢😀" },
  {
    type: "message",
    message: { id: "m9", role: "assistant", content: [{ type: "text", text: "é\u2028漢😀" }] },
    text: "é\u2028漢😀",
  },
];

/** A source that reports how it was left. */
function watched<T>(chunks: Iterable<T>, fate: { left: boolean; given: number }): AsyncIterable<T> {
  return {
    async *[Symbol.asyncIterator]() {
      let isOver = false;
      try {
        for (const chunk of chunks) {
          fate.given += 1;
          yield chunk;
        }
        isOver = true;
      } finally {
        fate.left = !isOver;
      }
    },
  };
}

const asAsync = <T>(chunks: Iterable<T>): AsyncIterable<T> => watched(chunks, { left: false, given: 0 });

/** Cuts at the given places, ignoring places outside. */
function cut<T extends { readonly length: number; slice(start: number, end: number): T }>(
  whole: T,
  places: readonly number[],
): readonly T[] {
  const ends = [...places.map((place) => place % (whole.length + 1)), whole.length].sort((a, b) => a - b);
  return ends.map((end, i) => whole.slice(ends[i - 1] ?? 0, end));
}

function webStream(chunks: readonly Uint8Array[], fate: { left: boolean; given: number }): ReadableStream<Uint8Array> {
  return new ReadableStream(
    {
      pull(controller) {
        const chunk = chunks[fate.given];
        fate.given += 1;
        if (chunk === undefined) controller.close();
        else controller.enqueue(chunk);
      },
      cancel() {
        fate.left = true;
      },
    },
    { highWaterMark: 0 },
  );
}

/** As in browsers whose streams need a reader. */
function withoutIterator(stream: ReadableStream<Uint8Array>): Pick<ReadableStream<Uint8Array>, "getReader"> {
  return { getReader: stream.getReader.bind(stream) as ReadableStream<Uint8Array>["getReader"] };
}

describe("the source of the lines", () => {
  it.each([
    ["the whole text", () => text],
    ["all bytes", () => bytes],
    ["a stream of Node", () => Readable.from([bytes.subarray(0, 99), bytes.subarray(99)])],
    ["a stream of Node with an encoding", () => Readable.from(Buffer.from(bytes)).setEncoding("utf8")],
    ["a web stream", () => webStream([bytes], { left: false, given: 0 })],
    ["a web stream that cannot be iterated", () => withoutIterator(webStream([bytes], { left: false, given: 0 }))],
    ["the body of a response", () => new Response(text).body as ReadableStream<Uint8Array>],
  ])("can be %s", async (_, source) => {
    expect(await eventsOf(source())).toEqual(expected);
  });

  it("can be cut at any byte", async () => {
    expect(await eventsOf(asAsync(cut(bytes, [...bytes.keys()])))).toEqual(expected);
  });

  it("can be cut at any UTF-16 unit", async () => {
    expect(await eventsOf(asAsync(text.split("")))).toEqual(expected);
  });

  it("can be cut anywhere", async () => {
    const places = fc.array(fc.nat(bytes.length), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(places, fc.boolean(), async (at, isText) => {
        expect(await eventsOf(asAsync<Uint8Array | string>(isText ? cut(text, at) : cut(bytes, at)))).toEqual(expected);
      }),
      { numRuns: 100 },
    );
  });

  it("reads half a character at the end as invalid", async () => {
    expect(await eventsOf(asAsync(["a\ud83d"]))).toEqual([{ type: "other", name: "text", given: "a\uFFFD" }]);
  });
});

describe("long lines", () => {
  const long = { type: "message", role: "assistant", id: "m1", text: "é".repeat(5_000_000) };

  it("are read whole, in pieces and at once", async () => {
    const line = `${textOfLines([long])}${textOfLines([{ type: "completion" }])}`;
    const whole = new TextEncoder().encode(line);
    const pieces = cut(
      whole,
      Array.from({ length: 200 }, (_, i) => i * 50_001),
    );
    for (const source of [line, whole, asAsync(pieces)]) {
      const [message, end] = await eventsOf(source);
      expect(message?.type === "message" && message.text === long.text).toBe(true);
      expect(end?.type === "end" && end.text === long.text).toBe(true);
    }
  });

  it("are reported by size if they are too long, and the next one is read", async () => {
    const events: StreamJsonEvent[] = [];
    const source = `${"x".repeat(101)}\n${textOfLines([{ type: "completion" }])}`;
    for await (const event of readStreamJson(source, { maxLineBytes: 100 })) events.push(event);
    expect(events).toEqual([
      { type: "other", name: "too_long", given: { bytes: 101 } },
      { type: "end", status: "completed", reason: "completed", text: "", sessionId: "" },
    ]);
  });
});

describe("a reader that stops", () => {
  const lines = textOfLines(Object.values(runs)[0] ?? []).match(/.*\n/g) ?? [];
  const chunks = lines.map((line) => new TextEncoder().encode(line));

  it("gets an event as soon as its line has come, and nothing is read ahead", async () => {
    const fate = { left: false, given: 0 };
    const events = readStreamJson(watched(chunks, fate));
    expect([(await events.next()).value, fate.given]).toEqual([expectedEvents[0], 1]);
    expect([(await events.next()).value, fate.given]).toEqual([expectedEvents[1], 2]);
    await events.return();
    expect(fate).toEqual({ left: true, given: 2 });
  });

  it.each([
    ["an iterable", (fate: { left: boolean; given: number }) => watched(chunks, fate)],
    ["a web stream", (fate: { left: boolean; given: number }) => webStream(chunks, fate)],
  ])("releases %s when it leaves the loop or throws in it, and only then", async (_, open) => {
    const left = { left: false, given: 0 };
    for await (const event of readStreamJson(open(left))) if (event.type === "message") break;
    expect(left).toEqual({ left: true, given: 2 });

    const failed = { left: false, given: 0 };
    const failing = (async () => {
      for await (const { type } of readStreamJson(open(failed))) throw new Error(type);
    })();
    await expect(failing).rejects.toThrow("session");
    expect(failed).toEqual({ left: true, given: 1 });

    const whole = { left: false, given: 0 };
    expect(await eventsOf(open(whole))).toEqual(expectedEvents);
    expect(whole.left).toBe(false);
  });

  it("waits until the source is released", async () => {
    let isFree = false;
    const slow = {
      [Symbol.asyncIterator]: () => ({
        next: async () => ({ done: false as const, value: lines[0] ?? "" }),
        return: async () => {
          await new Promise((resolve) => setImmediate(resolve));
          isFree = true;
          return { done: true as const, value: undefined };
        },
      }),
    };
    for await (const _ of readStreamJson(slow)) break;
    expect(isFree).toBe(true);
  });

  it("destroys a Node stream, and frees a web stream", async () => {
    const stream = Readable.from(chunks);
    for await (const _ of readStreamJson(stream)) break;
    expect(stream.destroyed).toBe(true);
    const web = webStream(chunks, { left: false, given: 0 });
    for await (const _ of readStreamJson(web)) break;
    expect(web.locked).toBe(false);
    const read = webStream(chunks, { left: false, given: 0 });
    await eventsOf(read);
    expect(read.locked).toBe(false);
  });

  it("gets the source's error, after earlier events", async () => {
    const seen: string[] = [];
    const broken = (async function* () {
      yield lines[0] ?? "";
      yield "half a line";
      throw new Error("The pipe broke.");
    })();
    const reading = (async () => {
      for await (const { type } of readStreamJson(broken)) seen.push(type);
    })();
    await expect(reading).rejects.toThrow("The pipe broke.");
    expect(seen).toEqual(["session"]);
    const calls: string[] = [];
    const failing = {
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new Error("No more.")),
        return: async () => {
          calls.push("return");
          return { done: true as const, value: undefined };
        },
      }),
    };
    await expect(eventsOf(failing)).rejects.toThrow("No more.");
    expect(calls).toEqual([]);
    const web = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("Cut off.")) });
    await expect(eventsOf(web)).rejects.toThrow("Cut off.");
  });

  it("gets its signal's reason, even while the source is silent", async () => {
    const before = { left: false, given: 0 };
    const aborted = readStreamJson(watched(chunks, before), { signal: AbortSignal.abort(new Error("before")) });
    await expect(aborted.next()).rejects.toThrow("before");
    expect(before.given).toBe(0);

    const between = new AbortController();
    const events = readStreamJson(text, { signal: between.signal });
    await events.next();
    between.abort(new Error("between"));
    await expect(events.next()).rejects.toThrow("between");

    const silent = new AbortController();
    let isLeft = false;
    const web = new ReadableStream<Uint8Array>({
      cancel: () => {
        isLeft = true;
      },
    });
    const waiting = readStreamJson(web, { signal: silent.signal }).next();
    silent.abort(new Error("while silent"));
    await expect(waiting).rejects.toThrow("while silent");
    expect(isLeft).toBe(true);
    const stream = new Readable({ read() {} });
    const pending = new AbortController();
    const read = readStreamJson(stream, { signal: pending.signal }).next();
    await new Promise((resolve) => setImmediate(resolve));
    pending.abort(new Error("while silent"));
    await expect(read).rejects.toThrow("while silent");
    const unread = new Readable({ read() {} });
    const tooLate = { signal: AbortSignal.abort(new Error("before")) };
    await expect(readStreamJson(unread, tooLate).next()).rejects.toThrow("before");
    expect([stream.destroyed, unread.destroyed]).toEqual([true, true]);
    for (const given of ["", "half a line", text]) {
      await expect(readStreamJson(given, tooLate).next()).rejects.toThrow("before");
    }

    const forever = () => new Promise<never>(() => undefined);
    const never = { [Symbol.asyncIterator]: () => ({ next: forever, return: forever }) };
    const endless = readStreamJson(never, { signal: AbortSignal.timeout(1) }).next();
    await expect(endless).rejects.toThrow("timeout");
  });
});
