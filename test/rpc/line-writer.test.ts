import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineWriter } from "../../src/rpc/line-writer.ts";
import { createHeldSink, isDone, settled } from "./held-sink.ts";

describe("the line writer", () => {
  it("writes what is sent in one go at once, and what is sent meanwhile in one write after it", async () => {
    const sink = createHeldSink();
    const writer = createLineWriter(sink);
    writer.send("a");
    writer.send("b");
    await settled();
    for (const line of ["c", "d", "e"]) writer.send(line);
    await settled();
    expect(sink.written).toEqual(["a\nb\n"]);
    sink.release();
    await settled();
    expect(sink.written).toEqual(["a\nb\n", "c\nd\ne\n"]);
    sink.release();
    await settled();
    writer.send("f");
    await settled();
    expect(sink.written).toEqual(["a\nb\n", "c\nd\ne\n", "f\n"]);
  });

  it("loses nothing, keeps the order and writes one batch at a time, whatever the pace of the sink", async () => {
    const step = fc.oneof(
      fc.string().map((line) => ({ line })),
      fc.constantFrom("release", "pause"),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step), async (steps) => {
        const sink = createHeldSink();
        const writer = createLineWriter(sink);
        let expected = "";
        for (const one of steps) {
          if (one === "release") sink.release();
          else if (one === "pause") await settled();
          else {
            writer.send(one.line);
            expected += `${one.line}\n`;
          }
        }
        await settled();
        // However much waits: the write under way, and one for all the rest.
        const underWay = sink.written.length;
        for (let i = 0; i < 2; i++) {
          sink.release();
          await settled();
        }
        await writer.drained();
        expect(sink.written.join("")).toBe(expected);
        expect(sink.written.length - underWay).toBeLessThanOrEqual(1);
        expect(sink.mostAtOnce()).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("asks for patience when more than 1 MiB waits behind a write, until the next takes it along", async () => {
    const sink = createHeldSink();
    const writer = createLineWriter(sink);
    writer.send("first");
    await settled();
    writer.send("x".repeat(1024 * 1024 - 1));
    expect(writer.room()).toBeUndefined();
    writer.send("");
    const room = writer.room();
    expect(await isDone(room)).toBe(false);
    expect(writer.room()).toBe(room);
    sink.release();
    expect(await isDone(room)).toBe(true);
    expect(writer.room()).toBeUndefined();
  });

  it("is drained when the last line has left, not when it is written", async () => {
    const sink = createHeldSink();
    const writer = createLineWriter(sink);
    expect(await isDone(writer.drained())).toBe(true);
    writer.send("a");
    const drained = writer.drained();
    await settled();
    writer.send("b");
    sink.release();
    expect(await isDone(drained)).toBe(false);
    expect(sink.written).toEqual(["a\n", "b\n"]);
    sink.release();
    expect(await isDone(drained)).toBe(true);
  });

  it.each(["at a write that hangs", "at a write that fails"])(
    "leaves nobody waiting when the sink is gone %s",
    async (how) => {
      const sink = createHeldSink();
      const writer = createLineWriter(sink, { maxWaiting: 1 });
      writer.send("first");
      await settled();
      writer.send("second");
      const waits = [writer.room(), writer.drained()];
      const error = new Error("EPIPE");
      if (how === "at a write that fails") sink.release(error);
      else sink.lose(error);
      expect(await Promise.all(waits.map(isDone))).toEqual([true, true]);
      expect({ aborted: writer.gone.aborted, reason: writer.gone.reason }).toEqual({ aborted: true, reason: error });
      writer.send("third");
      expect(writer.room()).toBeUndefined();
      expect(await isDone(writer.drained())).toBe(true);
      expect(sink.written).toEqual(["first\n"]);
    },
  );

  it("writes nothing to a sink that was gone before", async () => {
    const sink = createHeldSink();
    sink.lose(new Error("EPIPE"));
    const writer = createLineWriter(sink);
    writer.send("a");
    await writer.drained();
    expect({ written: sink.written, gone: writer.gone.aborted }).toEqual({ written: [], gone: true });
  });
});
