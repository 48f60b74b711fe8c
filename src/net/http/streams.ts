/**
 * The part of the web streams API that the providers' SDK uses. The platform's own streams load slowly and cost more CPU per
 * chunk than the rest of the SDK. Unlike those, these never read ahead: a source is pulled only for a waiting reader.
 */

type Result<T> = { readonly done: false; readonly value: T } | { readonly done: true; readonly value: undefined };

interface StreamController<T> {
  readonly desiredSize: number | null;
  enqueue(value: T): void;
  close(): void;
  error(reason: unknown): void;
  /** Ends a transform early and cancels its source. */
  terminate(): void;
}

interface StreamSource<T> {
  start?(controller: StreamController<T>): unknown;
  pull?(controller: StreamController<T>): unknown;
  cancel?(reason: unknown): unknown;
}

interface Strategy<T> {
  readonly highWaterMark?: number;
  size?(value: T): number;
}

interface StreamReader<T> {
  read(): Promise<Result<T>>;
  cancel(reason?: unknown): Promise<void>;
  releaseLock(): void;
}

/** Replaces `ReadableStream`. */
export class ValueStream<T> {
  private readonly source: StreamSource<T>;
  private readonly controller: StreamController<T>;
  private starting: unknown;
  private values: T[] = [];
  private taken = 0;
  private state: "open" | "ended" | "failed" = "open";
  private failure: unknown;
  private isFilling = false;
  private filling: Promise<Result<T>> | undefined;
  private wake: (() => void) | undefined;
  private isLocked = false;
  private readonly sizeOf: ((value: T) => number) | undefined;
  /** Total size of the queued values. */
  private size = 0;

  constructor(source: StreamSource<T> = {}, { highWaterMark = 1, size }: Strategy<T> = {}) {
    this.source = source;
    this.sizeOf = size;
    const desiredSize = (): number | null => {
      if (this.state === "failed") return null;
      return this.state === "ended" ? 0 : highWaterMark - this.size;
    };
    this.controller = {
      get desiredSize() {
        return desiredSize();
      },
      enqueue: (value) => {
        if (this.state !== "open") throw new TypeError("The stream has ended.");
        this.values.push(value);
        this.size += size === undefined ? 1 : size(value);
        this.wake?.();
      },
      close: () => this.settle("ended"),
      error: (reason) => this.fail(reason),
      terminate: () => {
        if (this.settle("ended")) void this.cancelSource(undefined).catch(ignore);
      },
    };
    this.starting = source.start?.(this.controller);
  }

  get locked(): boolean {
    return this.isLocked;
  }

  getReader(): StreamReader<T> {
    this.lock();
    return {
      read: () => this.read(),
      cancel: (reason) => this.stop(reason),
      releaseLock: () => {
        this.isLocked = false;
      },
    };
  }

  cancel(reason?: unknown): Promise<void> {
    return this.isLocked ? Promise.reject(new TypeError("The stream is locked to a reader.")) : this.stop(reason);
  }

  pipeThrough<Out>(transform: ValueTransform<T, Out>): ValueStream<Out> {
    transform.readFrom(this.getReader());
    return transform.readable;
  }

  /** Two streams of the same values. Values that one has not read yet stay in memory until it is cancelled. */
  tee(): [ValueStream<T>, ValueStream<T>] {
    const reader = this.getReader();
    const open = new Set<StreamController<T>>();
    const branch = (): ValueStream<T> => {
      let own: StreamController<T>;
      return new ValueStream<T>({
        start(controller) {
          own = controller;
          open.add(own);
        },
        async pull() {
          try {
            const { done, value } = await reader.read();
            for (const controller of open) done ? controller.close() : controller.enqueue(value);
          } catch (error) {
            for (const controller of open) controller.error(error);
          }
        },
        async cancel(reason) {
          open.delete(own);
          if (open.size === 0) await reader.cancel(reason);
        },
      });
    };
    return [branch(), branch()];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, undefined, void> {
    const reader = this.getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) return undefined;
        yield value;
      }
    } finally {
      await reader.cancel();
      reader.releaseLock();
    }
  }

  /** Whether the stream is open and its queue empty. */
  get isWanting(): boolean {
    return this.state === "open" && this.values.length === 0;
  }

  get hasFailed(): boolean {
    return this.state === "failed";
  }

  private lock(): void {
    if (this.isLocked) throw new TypeError("The stream is locked to a reader.");
    this.isLocked = true;
  }

  private read(): Promise<Result<T>> {
    if (this.filling !== undefined) {
      const again = (): Promise<Result<T>> => this.read();
      return this.filling.then(again, again);
    }
    const ready = this.take();
    if (ready !== undefined) return Promise.resolve(ready);
    if (this.state === "failed") return Promise.reject(this.failure);
    const filling = this.fill();
    // A synchronous source has already finished.
    if (this.isFilling) this.filling = filling;
    return filling;
  }

  private take(): Result<T> | undefined {
    if (this.taken < this.values.length) {
      const value = this.values[this.taken] as T;
      this.taken += 1;
      this.size -= this.sizeOf === undefined ? 1 : this.sizeOf(value);
      if (this.taken === this.values.length) this.empty();
      return { done: false, value };
    }
    return this.state === "ended" ? { done: true, value: undefined } : undefined;
  }

  private async fill(): Promise<Result<T>> {
    this.isFilling = true;
    try {
      if (this.starting !== undefined) {
        await this.starting;
        this.starting = undefined;
      }
      const pulling = this.isWanting ? this.source.pull?.(this.controller) : undefined;
      if (pulling !== undefined) await pulling;
      for (;;) {
        const ready = this.take();
        if (ready !== undefined) return ready;
        if (this.state === "failed") throw this.failure;
        // The source has been pulled and will enqueue later.
        await new Promise<void>((resolve) => {
          this.wake = resolve;
        });
        this.wake = undefined;
      }
    } catch (error) {
      this.fail(error);
      throw this.failure;
    } finally {
      this.isFilling = false;
      this.filling = undefined;
    }
  }

  private async stop(reason: unknown): Promise<void> {
    if (this.state === "failed") throw this.failure;
    const wasOpen = this.settle("ended");
    this.empty();
    if (wasOpen) await this.cancelSource(reason);
  }

  private async cancelSource(reason: unknown): Promise<void> {
    await this.source.cancel?.(reason);
  }

  private fail(reason: unknown): void {
    if (!this.settle("failed")) return;
    this.failure = reason;
    this.empty();
  }

  private settle(state: "ended" | "failed"): boolean {
    if (this.state !== "open") return false;
    this.state = state;
    this.wake?.();
    return true;
  }

  private empty(): void {
    this.values = [];
    this.taken = 0;
    this.size = 0;
  }
}

interface Transformer<In, Out> {
  start?(controller: StreamController<Out>): unknown;
  transform(value: In, controller: StreamController<Out>): unknown;
  flush?(controller: StreamController<Out>): unknown;
}

/** Replaces `TransformStream`, for `pipeThrough` only. */
export class ValueTransform<In, Out> {
  readonly readable: ValueStream<Out>;
  private input: StreamReader<In> | undefined;

  constructor(transformer: Transformer<In, Out>) {
    this.readable = new ValueStream<Out>({
      start: (controller) => transformer.start?.(controller),
      pull: (controller) => this.work(transformer, controller),
      cancel: (reason) => this.input?.cancel(reason),
    });
  }

  readFrom(input: StreamReader<In>): void {
    this.input = input;
  }

  private async work(transformer: Transformer<In, Out>, controller: StreamController<Out>): Promise<void> {
    const { input, readable } = this;
    if (input === undefined) throw new TypeError("The transform has no input.");
    try {
      while (readable.isWanting) {
        const { done, value } = await input.read();
        if (done) {
          if (readable.isWanting) await transformer.flush?.(controller);
          controller.close();
          return;
        }
        const working = transformer.transform(value, controller);
        if (working !== undefined) await working;
      }
      if (readable.hasFailed) void input.cancel().catch(ignore);
    } catch (error) {
      void input.cancel(error).catch(ignore);
      throw error;
    }
  }
}

/** Replaces `TextDecoderStream`, for UTF-8. */
export class TextDecoding extends ValueTransform<Uint8Array, string> {
  constructor() {
    const decoder = new TextDecoder();
    const pass = (text: string, controller: StreamController<string>): void => {
      if (text !== "") controller.enqueue(text);
    };
    super({
      transform: (bytes, controller) => pass(decoder.decode(bytes, { stream: true }), controller),
      flush: (controller) => pass(decoder.decode(), controller),
    });
  }
}

function ignore(): void {}
