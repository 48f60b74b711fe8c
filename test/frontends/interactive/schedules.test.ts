import { setImmediate as soon } from "node:timers/promises";
import { expect, test } from "vitest";
import type { ModelEvent } from "../../../src/engine/ports.ts";
import type { FakeReply } from "../../fakes/kit.ts";
import { type Random, randomFrom } from "../../fakes/seeded-random.ts";
import { Follower } from "../../fakes/ws/follower.ts";
import { type Line, loggedIn } from "../../fakes/ws/log-oracle.ts";
import { givenSeed, isFullRun } from "../../full-run.ts";
import { type Served, type Spoken, serve } from "./served.ts";

const seed = givenSeed ?? Math.floor(Math.random() * 1e9);
const schedules = isFullRun ? 4_000 : 40;

const texts = ["a", "Hello ", "ü€", "😀", "\ud83d", "line\n", "x".repeat(40)];

/** Pieces at random times, sometimes with calls, and now and then a failure. */
function randomReply(random: Random): FakeReply {
  const pieces = Array.from({ length: random.below(7) }, () => random.pick(texts));
  const isCalling = random.chance(0.3);
  const isFailing = random.chance(0.06);
  const calls = 1 + random.below(2);
  return async function* (_, signal): AsyncGenerator<ModelEvent> {
    for (const text of pieces) {
      for (let waits = random.below(4); waits > 0; waits -= 1) await soon();
      if (signal.aborted) return;
      yield { type: random.chance(0.1) ? "thinking" : "text", text };
    }
    for (let nth = 0; isCalling && nth < calls; nth += 1) {
      yield {
        type: "tool_call",
        id: `c${nth}-${random.below(1e9)}`,
        name: random.pick(["Read", "Own"]),
        inputText: "{}",
      };
    }
    const failure = { code: "model_failed", message: "It broke at /home/u." } as const;
    if (isFailing) yield { type: "error", failure, retryable: false };
    else yield { type: "end", stop: isCalling ? "tool_calls" : "end" };
  };
}

/** A user with one device: connected or not, and the part it has seen so far. */
class Device {
  readonly follower = new Follower();
  /** It has followed the session from its start. */
  readonly isFollower: boolean;
  private readonly served: Served;
  private readonly random: Random;
  private spoken: Spoken | undefined;
  private taken = 0;
  private ids = 0;
  isOver = false;

  constructor(served: Served, random: Random, isFollower: boolean) {
    this.served = served;
    this.random = random;
    this.isFollower = isFollower;
  }

  get isConnected(): boolean {
    return this.spoken !== undefined;
  }

  connect(): Spoken {
    this.spoken = this.served.connect(undefined, { maxWaiting: this.random.pick([1, 100, 1_000, 1_000_000]) });
    this.taken = 0;
    return this.spoken;
  }

  /** Takes the frames that have arrived. */
  pull(): void {
    for (const frame of this.spoken?.frames.slice(this.taken) ?? []) this.follower.take(frame);
    this.taken = this.spoken?.frames.length ?? 0;
  }

  send(method: string, params: object): void {
    this.ids += 1;
    this.spoken?.raw(JSON.stringify({ jsonrpc: "2.0", id: `d${this.ids}`, method, params }));
  }

  resume(sessionId: string): void {
    this.connect();
    this.send("resumeSession", { sessionId, afterSeq: this.follower.lastSeq });
  }

  /** Frames on their way to it are lost. */
  async lose(): Promise<void> {
    this.pull();
    const lost = this.spoken;
    this.spoken = undefined;
    await lost?.close();
  }

  pause(): void {
    this.spoken?.pause();
  }

  goOn(): void {
    this.spoken?.goOn();
  }

  /** Everything sent so far was answered. */
  async settled(): Promise<void> {
    await this.spoken?.request("echo", {});
    this.pull();
  }
}

interface Run {
  readonly served: Served;
  readonly random: Random;
  readonly devices: Device[];
  readonly sessionId: string;
}

const steps: readonly ((run: Run, device: Device) => Promise<void> | void)[] = [
  ({ sessionId, random }, device) => device.send("sendUserMessage", { sessionId, message: `m${random.below(100)}` }),
  ({ sessionId, random }, device) => device.send("sendUserMessage", { sessionId, message: random.pick(texts) }),
  (run, device) => answerOne(run, device),
  (run, device) => answerOne(run, device),
  async ({ sessionId }, device) => {
    if (device.isConnected) await device.lose();
    device.resume(sessionId);
  },
  (_, device) => device.lose(),
  ({ sessionId }, device) => {
    if (!device.isConnected) device.resume(sessionId);
  },
  ({ sessionId }, device) => device.send("resumeSession", { sessionId, afterSeq: 1_000_000 }),
  (_, device) => device.pause(),
  (_, device) => device.goOn(),
  ({ devices, served, random, sessionId }) => {
    if (devices.length > 4) return;
    const newcomer = new Device(served, random, true);
    devices.push(newcomer);
    newcomer.resume(sessionId);
  },
  ({ sessionId, random }, device) => {
    if (random.chance(0.4)) device.send("cancel", { sessionId });
  },
];

function answerOne({ served, sessionId, random }: Run, device: Device): void {
  const open = [...(served.pool.get(sessionId)?.openRequests().keys() ?? [])];
  const toolCallId = open.length === 0 || random.chance(0.1) ? "unknown" : random.pick(open);
  device.send("provideToolResult", { sessionId, toolCallId, result: "done", isError: random.chance(0.2) });
}

/** All clients return, every call is answered, and accepted messages are answered completely. */
async function comeToAnEnd(run: Run): Promise<void> {
  const { served, devices, sessionId } = run;
  for (const device of devices) {
    device.goOn();
    device.pull();
    if (!device.isConnected && !device.follower.isStopped) device.resume(sessionId);
  }
  for (const device of devices) await device.settled();
  for (let quiet = 0; quiet < 40; quiet += 1) {
    const session = served.pool.get(sessionId);
    if (session?.busy() !== undefined) quiet = 0;
    if (session !== undefined && session.openRequests().size > 0) {
      devices
        .find(({ isConnected }) => isConnected)
        ?.send("provideToolResult", {
          sessionId,
          toolCallId: [...session.openRequests().keys()][0],
          result: "at last",
        });
    }
    await soon();
  }
  for (const device of devices) await device.settled();
}

async function findings(nth: number): Promise<string[]> {
  const random = randomFrom(seed + nth * 7919);
  const served = serve(Array.from({ length: 400 }, () => randomReply(random)));
  const owner = new Device(served, random, false);
  const sessionId = await owner.connect().start({ tools: [{ name: "Own" }] });
  const run: Run = { served, random, devices: [owner], sessionId };
  for (let step = 5 + random.below(30); step > 0; step -= 1) {
    await random.pick(steps)(run, random.pick(run.devices));
    for (let waits = random.below(5); waits > 0; waits -= 1) await soon();
  }
  const stopper = run.devices.find(({ isConnected }) => isConnected);
  if (stopper !== undefined && random.chance(0.3)) {
    // A request under way could reopen it.
    for (const device of run.devices) device.goOn();
    for (const device of run.devices) await device.settled();
    stopper.send("stopSession", { sessionId });
    for (let turns = 0; turns < 5_000 && !served.log.some(isEnd); turns += 1) await soon();
  }
  await comeToAnEnd(run);
  const { events } = await served.kit.store.read(sessionId);
  const logged = loggedIn(events as unknown as Line[]);
  const wrong: string[] = [];
  const same = (what: string, mine: unknown, theirs: unknown): void => {
    const [a, b] = [JSON.stringify(mine), JSON.stringify(theirs)];
    if (a !== b) wrong.push(`${what}: told ${a.slice(0, 500)}, logged ${b.slice(0, 500)}`);
  };
  if (!logged.isDense || logged.waiting.length > 0) wrong.push(`the log: ${logged.waiting} waits`);
  const ended = [...logged.discarded, ...[...logged.answers.values()].map(({ messageId }) => messageId)];
  same("ends", [...ended].sort(), [...logged.accepted].sort());
  for (const [index, { follower, isFollower }] of run.devices.entries()) {
    const who = `device ${index}`;
    wrong.push(...follower.faults.map((fault) => `${who}: ${fault}`));
    same(`${who}, answers`, [...follower.answers].sort(byKey), [...logged.answers].sort(byKey));
    same(`${who}, discarded`, follower.discarded, logged.discarded);
    if (isFollower) same(`${who}, accepted`, [...follower.accepted], logged.accepted);
  }
  for (const device of run.devices) await device.lose();
  if (served.log.some(({ level }) => level === "error")) wrong.push(`logged: ${JSON.stringify(served.log)}`);
  return wrong.map((words) => `schedule ${nth} of seed ${seed}: ${words}`);
}

function isEnd({ event }: Readonly<Record<string, unknown>>): boolean {
  return event === "session.ended";
}

function byKey([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number {
  return a < b ? -1 : 1;
}

test(`${schedules} schedules of lost connections: a client that follows the rules gets every answer exactly once`, {
  timeout: 600_000,
}, async () => {
  const found: string[] = [];
  for (let nth = 0; nth < schedules; nth += 1) found.push(...(await findings(nth)));
  expect(found).toEqual([]);
});
