import { describe, expect, test } from "vitest";
import { TextDecoding, ValueStream, ValueTransform } from "../../../src/net/http/streams.ts";

/** Each case also runs on the platform's streams, because ours must behave the same. */
interface Streams {
  readonly Readable: typeof ReadableStream;
  readonly Transform: typeof TransformStream;
  readonly Text: typeof TextDecoderStream;
}

const kinds: readonly (readonly [string, Streams])[] = [
  ["the platform's", { Readable: ReadableStream, Transform: TransformStream, Text: TextDecoderStream }],
  [
    "ours",
    {
      Readable: ValueStream as unknown as typeof ReadableStream,
      Transform: ValueTransform as unknown as typeof TransformStream,
      Text: TextDecoding as unknown as typeof TextDecoderStream,
    },
  ],
];

const tick = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** All values, followed by "end" or the error. */
async function readAll<T>(stream: ReadableStream<T>): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return [...seen, "end"];
      seen.push(value);
    }
  } catch (error) {
    return [...seen, error];
  }
}

describe.each(kinds)("streams: %s", (_, { Readable, Transform, Text }) => {
  const counting = (to: number, cancelled: unknown[] = []): ReadableStream<number> => {
    let next = 1;
    return new Readable<number>({
      async pull(controller) {
        await tick();
        if (next > to) controller.close();
        else controller.enqueue(next);
        next += 1;
      },
      cancel: (reason) => void cancelled.push(reason),
    });
  };

  test("reads a pulled source in order", async () => {
    expect(await readAll(counting(3))).toEqual([1, 2, 3, "end"]);
  });

  test("reads a source that pushes", async () => {
    const stream = new Readable<string>({
      start(controller) {
        controller.enqueue("at once");
        setImmediate(() => {
          controller.enqueue("later");
          setImmediate(() => controller.close());
        });
      },
    });
    expect(await readAll(stream)).toEqual(["at once", "later", "end"]);
  });

  test("waits for an async start before pulling", async () => {
    const order: string[] = [];
    const stream = new Readable<string>({
      async start() {
        await tick();
        order.push("started");
      },
      pull(controller) {
        order.push("pulled");
        controller.close();
      },
    });
    await readAll(stream);
    expect(order).toEqual(["started", "pulled"]);
  });

  test("serves concurrent reads in order", async () => {
    const reader = counting(3).getReader();
    expect(await Promise.all([reader.read(), reader.read(), reader.read(), reader.read()])).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
      { done: false, value: 3 },
      { done: true, value: undefined },
    ]);
  });

  test("ends with the source's error", async () => {
    const fault = new Error("fault");
    const failing = new Readable<number>({ pull: () => Promise.reject(fault) });
    expect(await readAll(failing)).toEqual([fault]);
    const signalled = new Readable<number>({ pull: (controller) => controller.error(fault) });
    expect(await readAll(signalled)).toEqual([fault]);
  });

  test("a transform can prepend, change, add, drop and append values", async () => {
    const stream = counting(4).pipeThrough(
      new Transform<number, string>({
        start: (controller) => controller.enqueue("first"),
        async transform(value, controller) {
          await tick();
          if (value % 2 === 0) for (const copy of ["a", "b"]) controller.enqueue(`${value}${copy}`);
        },
        flush: (controller) => controller.enqueue("last"),
      }),
    );
    expect(await readAll(stream)).toEqual(["first", "2a", "2b", "4a", "4b", "last", "end"]);
  });

  test.each(["thrown", "rejected", "signalled"])(
    "a transform's %s error ends the stream and cancels the source",
    async (how) => {
      const fault = new Error("fault");
      const cancelled: unknown[] = [];
      const stream = counting(4, cancelled).pipeThrough(
        new Transform<number, number>({
          transform(value, controller) {
            if (value === 1) return controller.enqueue(value);
            if (how === "signalled") return controller.error(fault);
            if (how === "rejected") return Promise.reject(fault);
            throw fault;
          },
        }),
      );
      const reader = stream.getReader();
      expect(await reader.read()).toEqual({ done: false, value: 1 });
      await expect(reader.read()).rejects.toBe(fault);
      await tick();
      await tick();
      expect(cancelled).toHaveLength(1);
    },
  );

  test("passes a source's error through a transform without flushing", async () => {
    const fault = new Error("fault");
    let flushed = false;
    const failing = new Readable<number>({ pull: () => Promise.reject(fault) });
    const stream = failing.pipeThrough(
      new Transform<number, number>({
        transform: () => undefined,
        flush: () => {
          flushed = true;
        },
      }),
    );
    expect([await readAll(stream), flushed]).toEqual([[fault], false]);
  });

  test("cancelling ends a pending read and passes the reason to the source", async () => {
    const cancelled: unknown[] = [];
    const stuck = new Readable<number>({ cancel: (reason) => void cancelled.push(reason) });
    const reader = stuck.pipeThrough(new Transform<number, number>({ transform: () => undefined })).getReader();
    const waiting = reader.read();
    await tick();
    await reader.cancel("enough");
    expect([await waiting, await reader.read(), cancelled]).toEqual([
      { done: true, value: undefined },
      { done: true, value: undefined },
      ["enough"],
    ]);
  });

  test("cancelling a failed stream rejects with its error", async () => {
    const fault = new Error("fault");
    const failing = new Readable<number>({ start: (controller) => controller.error(fault) });
    await expect(failing.cancel()).rejects.toBe(fault);
  });

  test("allows one reader at a time", async () => {
    const stream = counting(1);
    const reader = stream.getReader();
    expect(stream.locked).toBe(true);
    expect(() => stream.getReader()).toThrow(TypeError);
    await expect(stream.cancel()).rejects.toThrow(TypeError);
    reader.releaseLock();
    expect([stream.locked, await readAll(stream)]).toEqual([false, [1, "end"]]);
  });

  test("tee: both branches get all values, and cancelling both cancels the source", async () => {
    const cancelled: unknown[] = [];
    const [left, right] = counting(100, cancelled).tee();
    const first = left.getReader();
    expect([await first.read(), await first.read()]).toEqual([
      { done: false, value: 1 },
      { done: false, value: 2 },
    ]);
    const leaving = first.cancel();
    const second = right.getReader();
    for (const value of [1, 2, 3]) expect(await second.read()).toEqual({ done: false, value });
    expect(cancelled).toHaveLength(0);
    await Promise.all([leaving, second.cancel()]);
    expect(cancelled).toHaveLength(1);
  });

  test("tee: a branch left alone reaches the end or the error", async () => {
    const [left, right] = counting(3).tee();
    void left.cancel();
    expect(await readAll(right)).toEqual([1, 2, 3, "end"]);
    const fault = new Error("fault");
    const branches = new Readable<number>({ pull: () => Promise.reject(fault) }).tee();
    expect(await Promise.all(branches.map(readAll))).toEqual([[fault], [fault]]);
  });

  test("leaving a loop cancels the source", async () => {
    const cancelled: unknown[] = [];
    const seen: number[] = [];
    for await (const value of counting(5, cancelled)) {
      seen.push(value);
      if (value === 2) break;
    }
    expect([seen, cancelled.length]).toEqual([[1, 2], 1]);
  });

  test("decodes characters split across chunks", async () => {
    const bytes = new TextEncoder().encode("grün 🌲 und mehr");
    const pieces = Array.from(bytes, (byte) => Uint8Array.of(byte));
    const stream = new Readable<Uint8Array>({
      pull(controller) {
        const piece = pieces.shift();
        if (piece === undefined) controller.close();
        else controller.enqueue(piece);
      },
    });
    const texts = await readAll(stream.pipeThrough(new Text() as unknown as TransformStream<Uint8Array, string>));
    expect(texts.join("")).toBe("grün 🌲 und mehrend");
  });

  test("desiredSize is the room left", async () => {
    const room: unknown[] = [];
    const stream = new Readable<string>(
      {
        start(controller) {
          for (const text of ["abc", "de"]) {
            controller.enqueue(text);
            room.push(controller.desiredSize);
          }
          controller.close();
        },
      },
      { highWaterMark: 4, size: (text) => text?.length ?? 0 },
    );
    expect([await readAll(stream), room]).toEqual([
      ["abc", "de", "end"],
      [1, -1],
    ]);
  });
});
