import { PassThrough, Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import type { Frame } from "../../src/rpc/framing.ts";
import { createGate } from "../../src/rpc/gate.ts";
import type { ByteSource } from "../../src/rpc/stdio.ts";
import { createStdioTransport } from "../../src/rpc/stdio.ts";
import type { Transport } from "../../src/rpc/transport.ts";
import { createHeldSink, isDone, settled } from "./held-sink.ts";

function open(source: ByteSource) {
  return createStdioTransport(source, createHeldSink());
}

async function linesOf({ incoming }: Transport): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const frame of incoming) lines.push(frame.type === "line" ? frame.text : frame.type);
  return lines;
}

function nextOf({ incoming }: Transport): Promise<IteratorResult<Frame>> {
  return incoming[Symbol.asyncIterator]().next();
}

const over = { done: true, value: undefined };

describe("the stdio transport", () => {
  it("reads lines until the end of the stream", async () => {
    const chunks = ["o", "ne\ntw", "o\n\nthr", "ee"].map((text) => Buffer.from(text));
    expect(await linesOf(open(Readable.from(chunks)))).toEqual(["one", "two", "three"]);
  });

  it("writes lines", async () => {
    const sink = createHeldSink();
    const transport = createStdioTransport(Readable.from([]), sink);
    transport.send("one");
    transport.send("two");
    await settled();
    sink.release();
    await transport.drained();
    expect(sink.written).toEqual(["one\ntwo\n"]);
  });

  it("applies its limits", async () => {
    const source = Readable.from([Buffer.from("four\nfives\n")]);
    const transport = createStdioTransport(source, createHeldSink(), { maxLineBytes: 4, maxWaiting: 4 });
    transport.send("four");
    expect(transport.room()).toBeInstanceOf(Promise);
    expect(await linesOf(transport)).toEqual(["four", "too_long"]);
  });

  it("continues where a loop was left", async () => {
    const transport = open(Readable.from([Buffer.from("one\ntwo\n"), Buffer.from("three\n")]));
    for await (const frame of transport.incoming) {
      expect(frame).toEqual({ type: "line", text: "one" });
      break;
    }
    expect(await linesOf(transport)).toEqual(["two", "three"]);
  });

  it("reads a chunk only on demand, after the previous one was taken", async () => {
    let given = 0;
    async function* endless() {
      for (;;) yield Buffer.from(`${++given}a\n${given}b\n`);
    }
    const transport = open(endless());
    await settled();
    expect(given).toBe(0);
    const taken: number[] = [];
    for (let i = 0; i < 4; i++) {
      await nextOf(transport);
      await settled();
      taken.push(given);
    }
    expect(taken).toEqual([1, 1, 2, 2]);
  });

  it("reads one chunk for two waiting readers", async () => {
    let given = 0;
    async function* endless() {
      for (;;) yield Buffer.from(`${++given}a\n${given}b\n`);
    }
    const transport = open(endless());
    const frames = await Promise.all([nextOf(transport), nextOf(transport)]);
    await settled();
    expect({ values: frames.map(({ value }) => value), given }).toEqual({
      values: [
        { type: "line", text: "1a" },
        { type: "line", text: "1b" },
      ],
      given: 1,
    });
  });

  it("applies back-pressure to the source without a reader", async () => {
    const source = new PassThrough({ highWaterMark: 1024 });
    const transport = open(source);
    const chunk = Buffer.from(`${"x".repeat(511)}\n`);
    await isDone(nextOf(transport));
    let accepted = 0;
    while (source.write(chunk) && accepted < 100) {
      accepted++;
      await settled();
    }
    expect(accepted).toBeLessThan(10);
    source.end();
    // The first line went to the reader above.
    expect((await linesOf(transport)).length).toBe(accepted);
  });

  it("yields 100,000 lines of a chunk without a turn of the event loop for each", async () => {
    const transport = open(Readable.from([Buffer.from("{}\n".repeat(100_000))]));
    let turns = 0;
    const count = (): void => {
      turns++;
      counter = setImmediate(count);
    };
    let counter = setImmediate(count);
    const lines = await linesOf(transport);
    clearImmediate(counter);
    expect(lines.length).toBe(100_000);
    expect(turns).toBeLessThan(10);
  });

  it.each(["EIO", "ECONNRESET"])("treats %s as the end, after the lines before it", async (code) => {
    const source = new PassThrough();
    const transport = open(source);
    source.write("one\nhalf");
    expect(await nextOf(transport)).toEqual({ done: false, value: { type: "line", text: "one" } });
    const next = nextOf(transport);
    await settled();
    source.destroy(Object.assign(new Error(code), { code }));
    expect(await next).toEqual({ done: false, value: { type: "line", text: "half" } });
    expect(await nextOf(transport)).toEqual(over);
  });

  it("treats a source that failed before the first read as ended", async () => {
    const source = new PassThrough();
    const transport = open(source);
    source.destroy(new Error("EIO"));
    await settled();
    expect(await linesOf(transport)).toEqual([]);
  });

  describe("when closed", () => {
    it("ends for a waiting reader, and destroys the stream", async () => {
      const source = new PassThrough();
      const transport = open(source);
      const next = nextOf(transport);
      await settled();
      transport.close();
      expect(await next).toEqual(over);
      expect(source.destroyed).toBe(true);
      await settled();
      expect(await linesOf(transport)).toEqual([]);
    });

    it("drops lines already read", async () => {
      const transport = open(Readable.from([Buffer.from("one\ntwo\n")]));
      await nextOf(transport);
      transport.close();
      transport.close();
      expect(await linesOf(transport)).toEqual([]);
    });

    it("ends at once even if its source can't be stopped", async () => {
      const late = createGate();
      let wasLeft = false;
      async function* source() {
        try {
          await late.wait();
          yield Buffer.from("late\n");
        } finally {
          wasLeft = true;
        }
      }
      const transport = open(source());
      const next = nextOf(transport);
      await settled();
      transport.close();
      expect(await next).toEqual(over);
      late.open();
      await settled();
      expect(await linesOf(transport)).toEqual([]);
      expect(wasLeft).toBe(true);
    });

    it("still writes", async () => {
      const sink = createHeldSink();
      const transport = createStdioTransport(new PassThrough(), sink);
      transport.close();
      transport.send("last words");
      await settled();
      sink.release();
      await transport.drained();
      expect(sink.written).toEqual(["last words\n"]);
    });
  });
});
