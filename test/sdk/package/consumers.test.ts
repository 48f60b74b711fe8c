import { setImmediate as nextRound, setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import type { CreateOptions, Session, Turn } from "../../../src/sdk/api.ts";
import { createSession, query } from "../../../src/sdk/browser.ts";
import type { TurnEvent } from "../../../src/sdk/types.ts";
import { isDone } from "../../rpc/held-sink.ts";
import {
  busy,
  completed,
  createFakeBackend,
  delta,
  type FakeBackend,
  idle,
  obliging,
  says,
} from "../fakes/fake-backend.ts";

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, nth) => nth + 1);
const kibibyte = "x".repeat(1024);
const answers = { ...obliging, "droid.list_models": () => ({ models: [] }), "droid.rename_session": () => ({}) };

async function open(options: CreateOptions = {}): Promise<{ backend: FakeBackend; session: Session }> {
  const backend = createFakeBackend(answers);
  return { backend, session: await createSession({ connect: backend.connect, ...options }) };
}

/**
 * Answers the next prompt: this many numbered deltas, ten per message, then a message with their count, and the end.
 */
async function tell(backend: FakeBackend, turnId: string, count: number, filling = ""): Promise<void> {
  // Before the prompt is accepted, there is no back-pressure.
  await backend.next("droid.add_user_message");
  backend.notify(busy);
  for (let first = 1; first <= count; first += 10) {
    const id = `${turnId}-${first}`;
    const pieces = numbers(Math.min(10, count + 1 - first)).map((nth) => `${first + nth - 1} ${filling}`);
    backend.notify(...pieces.map((piece) => delta(id, piece)), says(id, pieces.join("")));
  }
  backend.notify(says(`${turnId}-end`, `${count} pieces`), completed(turnId), idle);
}

const numberOf = (event: TurnEvent): readonly number[] =>
  event.type === "text" && /^\d+ x*$/.test(event.text) ? [Number.parseInt(event.text, 10)] : [];

/** The numbers of the deltas, and the last text. */
async function taken(turn: Turn, atEach: (event: TurnEvent) => unknown = () => undefined) {
  const pieces: number[] = [];
  let end: string | undefined;
  for await (const event of turn) {
    pieces.push(...numberOf(event));
    if (event.type === "end") end = event.result.text;
    await atEach(event);
  }
  return { pieces, end };
}

const whole = (count: number) => ({ pieces: numbers(count), end: `${count} pieces` });

describe("a caller that only wants the result", () => {
  it("gets it, however long the turn, and nothing is kept", async () => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    const { result } = turn;
    await tell(backend, "t", 3_000, kibibyte);
    expect(await result).toMatchObject({ status: "completed", text: "3000 pieces" });
    expect(() => turn[Symbol.asyncIterator]()).toThrow(
      new TypeError("The events are gone: too many came before iteration began."),
    );
  });

  it("can still iterate if the turn was short", async () => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    const { result } = turn;
    await tell(backend, "t", 50);
    await result;
    expect(await taken(turn)).toEqual(whole(50));
  });
});

describe("a caller that iterates late", () => {
  it("gets every event, in order", async () => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    await tell(backend, "t", 5_000, kibibyte);
    await backend.far.drained();
    expect(session.isBusy).toBe(false);
    expect(await taken(turn)).toEqual(whole(5_000));
  });

  it("learns that they are gone if they were too many to keep", async () => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    await tell(backend, "t", 17, kibibyte.repeat(1024));
    await backend.far.drained();
    expect(() => turn[Symbol.asyncIterator]()).toThrow(
      new TypeError("The events are gone: too many came before iteration began."),
    );
    expect(await turn.result).toMatchObject({ status: "completed", text: "17 pieces" });
  });
});

describe("a caller that iterates twice", () => {
  const onceOnly = new TypeError("A turn's events can be iterated only once.");

  it("gets an error, and the first loop continues", async () => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    await tell(backend, "t", 500);
    const first = await taken(turn, (event) => {
      if (event.type === "end") expect(() => turn[Symbol.asyncIterator]()).toThrow(onceOnly);
    });
    expect(first).toEqual(whole(500));
    expect(() => turn[Symbol.asyncIterator]()).toThrow(onceOnly);
  });

  it("gets an error from a query as well", async () => {
    const backend = createFakeBackend();
    const turn = query("go", { id: "t", connect: backend.connect });
    const first = taken(turn, () => expect(taken(turn)).rejects.toThrow(onceOnly));
    await tell(backend, "t", 500);
    expect(await first).toEqual(whole(500));
  });
});

describe("a caller that never iterates", () => {
  it("lets the turn and the next one run to their ends", async () => {
    let seen = 0;
    const { backend, session } = await open({ onEvent: (event) => (seen += numberOf(event).length) });
    session.stream("go", { id: "t" });
    await tell(backend, "t", 3_000, kibibyte);
    await backend.far.drained();
    expect({ seen, isBusy: session.isBusy }).toEqual({ seen: 3_000, isBusy: false });
    const turn = session.stream("again", { id: "u" });
    await tell(backend, "u", 3);
    expect(await taken(turn)).toEqual(whole(3));
  });
});

describe("a slow caller", () => {
  it.each([
    ["many events", 1_000, "", 260],
    ["long events", 40, kibibyte.repeat(256), 6],
  ])("holds the backend up: %s", async (_, count, filling, most) => {
    let read = 0;
    const { backend, session } = await open({ onEvent: (event) => (read += numberOf(event).length) });
    const turn = session.stream("go", { id: "t" });
    const ahead: number[] = [];
    let took = 0;
    const taking = taken(turn, async (event) => {
      took += numberOf(event).length;
      await nextRound();
      ahead.push(read - took);
    });
    await tell(backend, "t", count, filling);
    expect(await isDone(backend.far.drained())).toBe(false);
    expect(await taking).toEqual(whole(count));
    expect(Math.max(...ahead)).toBeLessThanOrEqual(most);
    expect(Math.max(...ahead)).toBeGreaterThan(1);
  });

  it("does not see the backend as silent", async () => {
    const { backend, session } = await open({ timeouts: { silence: 50 } });
    const turn = session.stream("go", { id: "t" });
    const taking = taken(turn, (event) => (numberOf(event)[0] === 3 ? sleep(200) : undefined));
    await tell(backend, "t", 1_000);
    expect(await taking).toEqual(whole(1_000));
  });

  it("gets the last message even from a backend that reports idle before it", async () => {
    const { backend, session } = await open({ timeouts: { grace: 200 } });
    const turn = session.stream("go", { id: "t" });
    const last = 300;
    // Idle is the last line read before the pause.
    const taking = taken(turn, (event) => (numberOf(event)[0] === last - 255 ? sleep(600) : undefined));
    await backend.next("droid.add_user_message");
    const pieces = numbers(last).map((number) => delta("t-end", `${number} `));
    backend.notify(busy, ...pieces, idle, ...numbers(300).map((number) => ({ type: "unknown", number })));
    backend.notify(says("t-end", "all of it"), idle);
    expect((await taking).end).toBe("all of it");
  });
});

describe("a caller with a request before the next event", () => {
  const asks: readonly [string, (session: Session, turn: Turn) => Promise<unknown>][] = [
    ["the models", (session) => session.models()],
    ["another title", (session) => session.rename("title")],
    ["the result", (_, turn) => turn.result],
    ["an interruption", (session) => session.interrupt()],
    ["an interruption of the turn", (_, turn) => turn.interrupt()],
  ];

  it.each(asks)("gets %s, though more waits than is read ahead, and misses nothing", async (_, ask) => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    const taking = taken(turn, (event) => (numberOf(event)[0] === 7 ? ask(session, turn) : undefined));
    await tell(backend, "t", 3_000);
    expect(await taking).toEqual(whole(3_000));
  });

  it("gets the response to another prompt, though it comes after everything waiting", async () => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    const answers: string[] = [];
    const taking = taken(turn, async (event) => {
      if (numberOf(event)[0] === 7) answers.push((await session.send("and then?", { id: "u" })).text);
    });
    await tell(backend, "t", 3_000);
    await tell(backend, "u", 1_000);
    expect({ ...(await taking), answers }).toEqual({ ...whole(3_000), answers: ["1000 pieces"] });
  });

  it("can close the session", async () => {
    const { backend, session } = await open();
    const turn = session.stream("go", { id: "t" });
    const taking = taken(turn, (event) => (numberOf(event)[0] === 7 ? session.close() : undefined));
    await tell(backend, "t", 3_000);
    await expect(taking).rejects.toThrow("The session is closed.");
  });
});
