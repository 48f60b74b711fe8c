import { deferred } from "../../async/promises.ts";
import type { Frame } from "../../rpc/framing.ts";

/** Reports when a reader has taken everything, which the source of the frames cannot know. */
export function watchIncoming(frames: AsyncIterable<Frame>) {
  const iterator = frames[Symbol.asyncIterator]();
  const { promise: over, resolve: giveUp } = deferred();

  async function next(): Promise<IteratorResult<Frame, undefined>> {
    const result = await iterator.next();
    if (result.done !== true) return result;
    giveUp();
    return { done: true, value: undefined };
  }

  return {
    incoming: { [Symbol.asyncIterator]: () => ({ next }) },
    /** Resolves when the reader has reached the end, or after `giveUp`. */
    over,
    /** Call it when no reader will read to the end. */
    giveUp,
  };
}
