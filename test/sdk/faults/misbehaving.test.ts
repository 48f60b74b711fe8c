import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { CreateOptions } from "../../../src/sdk/api.ts";
import { BackendGoneError, RequestError, TimeoutError } from "../../../src/sdk/errors.ts";
import { createSession, spawnBackend } from "../../../src/sdk/node.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import { isFullRun } from "../../full-run.ts";
import { createNaiveClient, standOf } from "../fakes/naive-client.ts";
import { until } from "../fakes/stand-ins.ts";

/* A deliberately misbehaving process. Whatever it does, no caller is left waiting. */

const executable = fileURLToPath(new URL("../fakes/stand-in.mjs", import.meta.url));

const open = (how: string, options: CreateOptions = {}) => createSession({ executable, args: [how], ...options });
const naively = (how: string) => createNaiveClient(spawnBackend({ executable, args: [how] }));

/** A promise's rejection. */
const failureOf = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => "none",
    (error: unknown) => error,
  );

const exits = {
  "0": { exitCode: 0, signal: null },
  "1": { exitCode: 1, signal: null },
  SIGKILL: { exitCode: null, signal: "SIGKILL" },
} as const;

const opening = ["start", "before-open"] as const;
const running = ["before-ack", "after-ack", "busy", "mid-delta", "mid-line", "asking"] as const;
/** Each place once, and each exit; all of them in a full run. */
const chosen = <P extends string>(places: readonly P[]) =>
  places.flatMap((place, at) =>
    Object.entries(exits)
      .filter((_, nth) => isFullRun || nth === at % 3)
      .map(([exit, end]) => [place, exit, end] as const),
  );

function isDeath(error: unknown, place: string, end: object): void {
  expect(error).toBeInstanceOf(BackendGoneError);
  expect(error).toMatchObject({ ...end, stderr: `first words\nlast words of ${place}\n` });
  expect((error as Error).message).toContain(`last words of ${place}`);
}

describe("a backend that dies", () => {
  it.each(chosen(opening))("while a session is opened: %s, %s", async (place, exit, end) => {
    isDeath(await failureOf(open(`dies:${place}:${exit}`)), place, end);
  });

  it.each(chosen(running))("in a turn: %s, %s", async (place, exit, end) => {
    let closed: AbortSignal | undefined;
    const session = await open(`dies:${place}:${exit}`, {
      onPermission: ({ signal }) => {
        closed = signal;
        return new Promise(() => {});
      },
    });
    const turn = session.stream("go");
    const pending = [session.send("next"), session.tools(), session.rename("x"), session.call("anything")];
    const failures = Promise.all(pending.map(failureOf));
    const events: TurnEvent[] = [];
    const iteration = await failureOf(
      (async () => {
        for await (const event of turn) events.push(event);
      })(),
    );
    for (const error of [iteration, await failureOf(turn.result), ...(await failures)]) isDeath(error, place, end);
    isDeath(await failureOf(session.send("too late")), place, end);
    isDeath(await failureOf(session.models()), place, end);
    expect(await session.ended).toMatchObject(end);
    expect(closed?.aborted).toBe(place === "asking" ? true : undefined);
    expect(events.some(({ type }) => type === "text")).toBe(["mid-delta", "mid-line", "asking"].includes(place));
    await session.close();
  });

  it("after the end of a turn, which has its result", async () => {
    const session = await open("dies:idle:1");
    expect(await session.send("go")).toMatchObject({ status: "completed", text: "Hello" });
    isDeath(await failureOf(session.send("next")), "idle", exits["1"]);
    await session.close();
  });

  it("leaves a client that only matches responses waiting forever", async () => {
    const client = await naively("dies:mid-delta:1");
    await client.request("droid.initialize_session", {});
    const [turn, session] = [client.prompt("go"), await open("dies:mid-delta:1")];
    isDeath(await failureOf(session.send("go")), "mid-delta", exits["1"]);
    await client.ended;
    expect(await standOf(turn)).toBe("pending");
    await Promise.all([client.close(), session.close()]);
  });
});

describe("a backend that does not answer", () => {
  it("is abandoned while a session is opened", async () => {
    expect(await failureOf(open("mute", { timeouts: { open: 100 } }))).toEqual(
      new TimeoutError("initialize session: the backend did not answer within 100 ms."),
    );
  });

  it.each([
    [{ turn: 100 }, "The backend did not come to an end within 100 ms."],
    [{ silence: 100 }, "The backend said nothing within 100 ms."],
  ])("is abandoned in a turn: %o", async (timeouts, words) => {
    const session = await open("quiet-turn", { timeouts });
    expect(await failureOf(session.send("go"))).toEqual(new TimeoutError(words));
    expect(session.isBusy).toBe(true);
    await session.close();
  });

  it("can be abandoned by a signal", async () => {
    const reason = new Error("Enough.");
    const controller = new AbortController();
    const session = await open("quiet-turn");
    const call = session.tools({ signal: controller.signal });
    const turn = session.send("go", { signal: controller.signal });
    controller.abort(reason);
    expect(await Promise.all([call, turn].map(failureOf))).toEqual([reason, reason]);
    const opened = open("mute", { signal: AbortSignal.timeout(50) });
    expect(await failureOf(opened)).toMatchObject({ name: "TimeoutError" });
    await session.close();
  });
});

describe("a backend with strange output", () => {
  const hello = { status: "completed", reason: "completed", text: "Hello", turnId: "t" };

  it("with invalid lines is still read", async () => {
    const warnings: string[] = [];
    const session = await open("garbage", { onWarning: (words) => warnings.push(words) });
    expect(await session.send("go", { id: "t" })).toEqual(hello);
    expect(warnings).toHaveLength(8);
    await session.close();
    const client = await naively("garbage");
    const opened = client.request("droid.initialize_session", {});
    await until(() => client.crash !== undefined);
    expect(await standOf(opened)).toBe("pending");
    await client.close();
  });

  it("with everything twice counts once", async () => {
    const warnings: string[] = [];
    const session = await open("twice", { onWarning: (words) => warnings.push(words) });
    const turn = session.stream("go", { id: "t" });
    const events: TurnEvent[] = [];
    for await (const event of turn) events.push(event);
    expect([session.id, await turn.result]).toEqual(["s", hello]);
    expect(events.filter(({ type }) => type === "message")).toHaveLength(1);
    expect(warnings).toEqual([
      "Skipped a response to an already answered request: 1",
      "Skipped a response to an already answered request: 2",
      "Skipped a response to an unknown request: nobody",
    ]);
    await session.close();
  });

  it("with endless output is read to its end", async () => {
    const session = await open("flood");
    const turn = session.stream("go", { id: "t" });
    let pieces = 0;
    for await (const { type } of turn) if (type === "text") pieces += 1;
    // All of them, and the message in their place.
    expect([pieces, await turn.result]).toEqual([20_002, hello]);
    await session.close();
  });

  it("without request ids is understood by every waiting request", async () => {
    const session = await open("null-id", { timeouts: { grace: 10 } });
    const calls = [session.tools(), session.rename("x"), session.send("go"), session.call("anything")];
    expect(await Promise.all(calls.map(failureOf))).toEqual([
      new RequestError("droid.list_tools", { code: -32601, message: "no droid.list_tools" }, true),
      new RequestError("droid.rename_session", { code: -32601, message: "no droid.rename_session" }, true),
      new RequestError("droid.add_user_message", { code: -32600, message: "Invalid request format" }, true),
      new RequestError("droid.anything", { code: -32601, message: "no droid.anything" }, true),
    ]);
    const client = await naively("null-id");
    await client.request("droid.initialize_session", {});
    const lost = client.request("droid.list_tools", {});
    await client.request("droid.interrupt_session", {});
    expect(await standOf(lost)).toBe("pending");
    await Promise.all([client.close(), session.close()]);
  });
});
