import type { DurableEvent, EngineEvent } from "../../../../src/engine/event.ts";
import type { Connection } from "../../../../src/frontends/stream-jsonrpc/connection.ts";
import type { Transport } from "../../../../src/rpc/transport.ts";
import { createLinkedPair } from "../../../../src/rpc/transport.ts";
import { createKit } from "../../../fakes/kit.ts";
import type { LinkedClient } from "../../../fakes/rpc/linked-client.ts";
import { createLinkedClient } from "../../../fakes/rpc/linked-client.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";
import { connect, createSignal, idOf } from "../connection/served.ts";
import { microtasks } from "./replies.ts";
import type { Leaving, Schedule, Step, Who } from "./steps.ts";
import { answers } from "./steps.ts";
import type { Loaded, World } from "./world.ts";
import { createSecond, createWorld, type WatchedSession } from "./world.ts";

export interface Asked {
  readonly method: string;
  readonly params: unknown;
}

/** A moment of rest, with a client that reads and is in a session. */
export interface Quiet {
  /** Number of lines so far. */
  readonly lines: number;
  /** All events of the session so far. */
  readonly events: readonly EngineEvent[];
  readonly isWorking: boolean;
  /** Something is awaited: an answer, a timer, a hanging model or command. */
  readonly isHeldUp: boolean;
}

/** One client of a schedule: its requests, and what it received. */
export interface PlayedClient {
  /** By ids that represent one request only. */
  readonly asked: ReadonlyMap<string, Asked>;
  /** The pending responses: each request's id, or `undefined` if none is readable. */
  readonly expected: readonly (string | undefined)[];
  readonly received: readonly Received[];
  readonly quiet: readonly Quiet[];
  readonly left: Leaving | undefined;
  /** Everything it could receive has been sent. */
  readonly isOver: boolean;
  /** Sent after the end. */
  readonly late: readonly string[];
}

export interface SentLine {
  readonly client: Who;
  readonly message: Received;
}

export interface Played {
  readonly clients: readonly PlayedClient[];
  /** Messages sent to both, in order. */
  readonly sent: readonly SentLine[];
  readonly sessions: readonly WatchedSession[];
  readonly logs: ReadonlyMap<string, readonly DurableEvent[]>;
  /** The response to another process that loads a session. */
  readonly reloaded: ReadonlyMap<string, Received>;
  readonly commands: readonly string[];
  /** Ids of the prompts that the second attachment sent first. */
  readonly promptsElsewhere: ReadonlySet<string>;
  /** The second attachment's names for its prompts. */
  readonly namesElsewhere: readonly string[];
  readonly hasFailedWrites: boolean;
  /** Work that continued without any client. */
  readonly afterwards: readonly string[];
}

interface Actor extends PlayedClient {
  readonly client: LinkedClient;
  ask(method: string, params: unknown, id?: string): void;
  raw(line: string): void;
  read(on: boolean): void;
  noteQuiet(): void;
  leave(how: Leaving): void;
}

export async function play(schedule: Schedule, loaded: Loaded): Promise<Played> {
  const world = createWorld(schedule, loaded);
  const sent: SentLine[] = [];
  const actors = [createActor(0, schedule, world, sent), createActor(1, schedule, world, sent)] as const;
  const second = createSecond(world.sessions);

  const { level, steps, leaving } = schedule;
  const start = { machineId: "m", cwd: "/ws", autonomyLevel: level };
  if (level !== undefined) actors[0].ask("droid.initialize_session", start);
  for (const step of steps) await take(step, { world, actors, second });

  for (const [nth, actor] of actors.entries()) actor.leave(leaving[nth] ?? "ends its input");
  for (let rounds = 0; rounds < 300 && !actors.every(({ isOver }) => isOver); rounds += 1) {
    await world.untilStill();
    if (rounds < 2) continue;
    for (const actor of actors) actor.read(true);
    second.leave();
    world.letGo();
    world.kit.clock.advance(30_000);
  }
  const afterwards = await workAfterwards(world);
  const ids = [...new Set(world.sessions.map(({ session }) => session.id))];
  const logs = new Map<string, readonly DurableEvent[]>();
  for (const id of ids) logs.set(id, (await world.kit.store.read(id)).events);
  return {
    clients: actors,
    sent,
    sessions: world.sessions,
    logs,
    reloaded: await reload(ids, world, loaded),
    commands: world.kit.host.commands.map(({ command }) => command),
    promptsElsewhere: second.prompts,
    namesElsewhere: steps.flatMap((step) => (step.do === "second repeats" ? [step.messageId] : [])),
    hasFailedWrites: world.failed.count > 0,
    afterwards,
  };
}

function createActor(who: Who, { later, maxWaiting }: Schedule, world: World, sent: SentLine[]): Actor {
  const [here, there] = createLinkedPair({ maxWaiting });
  const late: string[] = [];
  const stop = createSignal();
  const recorded: Transport = {
    ...here,
    send(line) {
      if (actor.isOver) late.push(line);
      const message = JSON.parse(line) as Received;
      sent.push({ client: who, message });
      const sessionId = message.result === undefined ? undefined : openedBy(asked.get(String(message.id)), message);
      const entered = world.sessions.findLast(({ session }) => session.id === sessionId);
      if (entered !== undefined) {
        entered.isEntered = true;
        inside = entered;
      }
      here.send(line);
    },
  };
  const connection = connect(world.kit, recorded, {}, { warn: async () => undefined, event: async () => undefined });
  const client = createLinkedClient(there, { later: later[who] });
  const asked = new Map<string, Asked>();
  const expected: (string | undefined)[] = [];
  const quiet: Quiet[] = [];
  let inside: WatchedSession | undefined;
  let isReading = true;
  const read = (on: boolean): void => {
    if (on === isReading) return;
    isReading = on;
    if (on) client.readOn();
    else client.stopReading();
  };
  const actor = {
    client,
    asked,
    expected,
    received: client.received,
    quiet,
    left: undefined as Leaving | undefined,
    isOver: false,
    late,
    read,
    ask(method: string, params: unknown, id?: string) {
      if (actor.left !== undefined) return;
      const used = client.ask(method, params, id === undefined ? {} : { id });
      if (id === undefined) asked.set(used, { method, params });
      expected.push(used);
    },
    raw(line: string) {
      if (actor.left !== undefined) return;
      client.sendRaw(line);
      if (!line.includes('"notification"')) expected.push(rawId(line));
    },
    noteQuiet() {
      if (actor.left !== undefined || !isReading || inside === undefined || inside.session.isClosed) return;
      const { session, events } = inside;
      const { isWorking } = session;
      const isHeldUp = session.openRequests().size + world.hanging.count + world.kit.clock.waiting > 0;
      quiet.push({ lines: client.mark, events: [...events], isWorking, isHeldUp });
    },
    leave(how: Leaving) {
      if (actor.left !== undefined) return;
      actor.left = how;
      if (how === "ends its input") there.end();
      if (how === "is gone") there.close();
      if (how === "is stopped") stop.give();
    },
  };
  here.gone.addEventListener("abort", () => stop.give(), { once: true });
  void serveToTheEnd(connection, stop.come, () => here.close()).then(() => {
    actor.isOver = true;
  });
  return actor;
}

/** The client's session after this response. */
export function openedBy(asked: Asked | undefined, { result }: Received): string | undefined {
  if (asked?.method === "droid.initialize_session") return String(result?.sessionId);
  if (asked?.method !== "droid.load_session") return undefined;
  return (asked.params as { readonly sessionId: string }).sessionId;
}

/** As the program does with its standard streams. */
async function serveToTheEnd(connection: Connection, stopped: Promise<void>, close: () => void): Promise<void> {
  const run = connection.run();
  await Promise.race([run, stopped]);
  await connection.close();
  close();
  await run;
}

function rawId(line: string): string | undefined {
  try {
    const { id } = JSON.parse(line) as { readonly id?: unknown };
    return id === undefined || id === null ? undefined : String(id);
  } catch {
    return undefined;
  }
}

interface Stage {
  readonly world: World;
  readonly actors: readonly [Actor, Actor];
  readonly second: ReturnType<typeof createSecond>;
}

async function take(step: Step, { world, actors, second }: Stage): Promise<void> {
  switch (step.do) {
    case "ask":
      return actors[step.who].ask(step.method, step.params, step.id);
    case "load": {
      const known = [...new Set(world.sessions.map(({ session }) => session.id)), "../x"];
      const nth = step.which === "the newest" ? Math.max(0, known.length - 2) : step.which % known.length;
      return actors[step.who].ask("droid.load_session", { sessionId: known[nth] });
    }
    case "raw":
      return actors[step.who].raw(step.line);
    case "answer":
      return answer(step, actors);
    case "stop reading":
    case "read on":
      return actors[step.who].read(step.do === "read on");
    case "leave":
      return actors[step.who].leave(step.how);
    case "attach":
      return second.attach(step);
    case "second answers":
      return second.answer(step.yes);
    case "second prompts":
      return second.prompt();
    case "second repeats":
      return second.prompt(step);
    case "second interrupts":
      return second.interrupt();
    case "second leaves":
      return second.leave();
    case "go on":
      return world.letGo();
    case "store fails":
      return world.failWrites(step.writes);
    case "store hangs":
      return world.hangWrite(step.after);
    case "time passes":
      return world.kit.clock.advance(step.ms);
    case "wait":
      if (step.microtasks > 0) return microtasks(step.microtasks);
      await world.untilStill();
      for (const actor of actors) actor.noteQuiet();
  }
}

function answer({ who, which, how, times }: Step & { do: "answer" }, actors: readonly [Actor, Actor]): void {
  const { client, left } = actors[who];
  if (left !== undefined) return;
  const seen = which === "the other client's" ? actors[who === 0 ? 1 : 0].client : client;
  const requests = seen.received.filter(({ type }) => type === "request");
  const meant = which === "the oldest" ? requests[0] : requests.at(-1);
  const id = which === "an unknown" || meant === undefined ? idOf(999_999) : String(meant.id);
  const given: { readonly result?: unknown; readonly error?: unknown } = answers[how];
  for (let time = 0; time < times; time += 1) {
    if (given.error === undefined) client.answer(id, given.result);
    else client.answerError(id, given.error);
  }
}

/** Whether anything is still happening, or could. */
async function workAfterwards(world: World): Promise<string[]> {
  const { kit, sessions, called } = world;
  const facts = async (): Promise<string> => {
    const bytes = (await kit.store.list()).reduce((sum, each) => sum + each.bytes, 0);
    const events = sessions.reduce((sum, each) => sum + each.events.length, 0);
    return JSON.stringify({ calls: called.count, commands: kit.host.commands.length, logs: bytes, events });
  };
  await world.untilStill();
  const timers = kit.clock.waiting;
  const before = await facts();
  kit.clock.advance(3_600_000);
  world.letGo();
  await world.untilStill();
  const after = await facts();
  const open = sessions.filter(({ session }) => !session.isClosed).map(({ session }) => session.id);
  return [
    ...(before === after ? [] : [`work went on when everybody had left: ${before}, then ${after}`]),
    ...(timers === 0 ? [] : [`${timers} timer(s) were left behind`]),
    ...open.map((id) => `session ${id} was left open`),
  ];
}

/** The state that the next process finds. */
async function reload(ids: readonly string[], world: World, loaded: Loaded): Promise<Map<string, Received>> {
  let last = 1_000_000;
  const { store } = world.kit;
  const kit = createKit([], { ...loaded, store, ids: { next: () => idOf(++last) } });
  const [here, there] = createLinkedPair();
  const connection = connect(kit, here, {}, { warn: async () => undefined, event: async () => undefined });
  const over = connection.run();
  const client = createLinkedClient(there);
  const reloaded = new Map<string, Received>();
  for (const sessionId of ids) reloaded.set(sessionId, await client.request("droid.load_session", { sessionId }));
  client.end();
  await over;
  return reloaded;
}
