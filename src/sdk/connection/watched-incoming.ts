import { deferred } from "../../async/promises.ts";
import type { Frame } from "../../rpc/framing.ts";

export interface WatchedIncoming {
  /** The same frames. */
  readonly incoming: AsyncIterable<Frame>;
  /** Resolves when the reader has met the end, after all that came before it; or with `giveUp`. */
  readonly over: Promise<void>;
  /** Nobody will read to the end. */
  giveUp(): void;
}

/** Tells when a reader has taken everything, which the source of the frames cannot know. */
export function watchIncoming(frames: AsyncIterable<Frame>): WatchedIncoming {
  const iterator = frames[Symbol.asyncIterator]();
  const { promise: over, resolve: giveUp } = deferred();

  async function next(): Promise<IteratorResult<Frame, undefined>> {
    const result = await iterator.next();
    if (result.done !== true) return result;
    giveUp();
    return { done: true, value: undefined };
  }

  return { incoming: { [Symbol.asyncIterator]: () => ({ next }) }, over, giveUp };
}
