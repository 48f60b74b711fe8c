import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLineWriter } from "../../src/rpc/line-writer.ts";
import { createHeldSink, isDone, settled } from "./held-sink.ts";

describe("the line writer", () => {
  it("batches lines of one tick, and lines sent during a write", async () => {
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

  it("keeps all lines in order and writes one batch at a time, whatever the sink's pace", async () => {
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
        // At most the pending write, and one for all the rest.
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

  it("applies back-pressure while more than 1 MiB is queued behind a write", async () => {
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

  it("is drained when the last write has completed, not when it starts", async () => {
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

  it.each(["during a hanging write", "at a failing write"])(
    "releases all waiting callers when the sink is gone %s",
    async (how) => {
      const sink = createHeldSink();
      const writer = createLineWriter(sink, { maxWaiting: 1 });
      writer.send("first");
      await settled();
      writer.send("second");
      const waits = [writer.room(), writer.drained()];
      const error = new Error("EPIPE");
      if (how === "at a failing write") sink.release(error);
      else sink.lose(error);
      expect(await Promise.all(waits.map(isDone))).toEqual([true, true]);
      expect({ aborted: writer.gone.aborted, reason: writer.gone.reason }).toEqual({ aborted: true, reason: error });
      writer.send("third");
      expect(writer.room()).toBeUndefined();
      expect(await isDone(writer.drained())).toBe(true);
      expect(sink.written).toEqual(["first\n"]);
    },
  );

  it("writes nothing to a sink that is already gone", async () => {
    const sink = createHeldSink();
    sink.lose(new Error("EPIPE"));
    const writer = createLineWriter(sink);
    writer.send("a");
    await writer.drained();
    expect({ written: sink.written, gone: writer.gone.aborted }).toEqual({ written: [], gone: true });
  });
});
