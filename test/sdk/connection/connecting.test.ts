import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import {
  type Connection,
  createSession,
  linkedConnection,
  resumeSession,
  TimeoutError,
} from "../../../src/sdk/node.ts";
import { createFakeBackend, settled } from "../fakes/fake-backend.ts";

describe("a connect that never settles", () => {
  const never = () => new Promise<never>(() => {});

  it("is abandoned on the signal", async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const reason = new Error("enough");
    const opening = [createSession({ connect: never, signal }), resumeSession("s-1", { connect: never, signal })];
    const seen = Promise.allSettled(opening);
    await settled();
    controller.abort(reason);
    const rejected = { status: "rejected", reason };
    expect(await seen).toEqual([rejected, rejected]);
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("is abandoned after the time limit", async () => {
    await expect(createSession({ connect: never, timeouts: { open: 10 } })).rejects.toEqual(
      new TimeoutError("No connection within 10 ms."),
    );
  });

  it("is not called if opening was abandoned before", async () => {
    const reason = new Error("enough");
    const connect = () => Promise.reject(new Error("It was called."));
    await expect(createSession({ connect, signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  });
});

describe("an abandoned connect", () => {
  it("sees the abort, and is awaited while it cleans up", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const told: string[] = [];
    const opening = createSession({
      signal: controller.signal,
      connect: (signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener("abort", async () => {
            told.push(String(signal.reason));
            await settled();
            told.push("has let go");
            reject(new Error("its own"));
          });
        }),
    });
    controller.abort(reason);
    await expect(opening).rejects.toBe(reason);
    expect(told).toEqual(["Error: enough", "has let go"]);
  });

  it("has its late connection closed", async () => {
    const controller = new AbortController();
    let give: (connection: Connection) => void = () => {};
    const connect = () =>
      new Promise<Connection>((resolve) => {
        give = resolve;
      });
    const opening = createSession({ connect, signal: controller.signal }).catch(({ message }: Error) => message);
    controller.abort(new Error("enough"));
    expect(await opening).toBe("enough");
    const [connection] = linkedConnection();
    give(connection);
    expect(await connection.ended).toEqual({ reason: "The connection was closed." });
  });

  it("does not see later aborts", async () => {
    const controller = new AbortController();
    const backend = createFakeBackend();
    let handed: AbortSignal | undefined;
    const session = await createSession({
      signal: controller.signal,
      timeouts: { open: 50 },
      connect(signal) {
        handed = signal;
        return backend.connect();
      },
    });
    controller.abort();
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(handed?.aborted).toBe(false);
    await session.close();
  });
});
