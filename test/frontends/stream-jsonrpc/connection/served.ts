import { afterEach, expect } from "vitest";
import { AgentError } from "../../../../src/engine/errors.ts";
import type { EngineEvent } from "../../../../src/engine/event.ts";
import type { Ids, ModelEvent } from "../../../../src/engine/ports.ts";
import { Connection } from "../../../../src/frontends/stream-jsonrpc/connection.ts";
import type { ConnectionOptions } from "../../../../src/frontends/stream-jsonrpc/context.ts";
import type { ClientMethod } from "../../../../src/protocol/droid/params.ts";
import { clientResults } from "../../../../src/protocol/droid/results.ts";
import {
  errorResponse,
  notificationEnvelope,
  resultResponse,
  serverRequest,
} from "../../../../src/protocol/droid/server-envelope.ts";
import type { Transport } from "../../../../src/rpc/transport.ts";
import { createLinkedPair } from "../../../../src/rpc/transport.ts";
import type { FakeReply, Kit, KitOptions } from "../../../fakes/kit.ts";
import { createKit, usage } from "../../../fakes/kit.ts";
import type { LinkedClient } from "../../../fakes/rpc/linked-client.ts";
import { createLinkedClient } from "../../../fakes/rpc/linked-client.ts";
import type { Received } from "../../../fakes/rpc/wire.ts";

export interface ServeOptions extends KitOptions {
  /** Whether the client names its protocol. Default: yes. */
  readonly later?: boolean;
  readonly defaults?: Partial<ConnectionOptions["defaults"]>;
  readonly run?: ConnectionOptions["run"];
  readonly folder?: ConnectionOptions["folder"];
  readonly repository?: ConnectionOptions["repository"];
  /** How many characters can wait for the client. */
  readonly maxWaiting?: number;
  /** From an earlier connection, so that sessions already exist. */
  readonly kit?: Kit;
  readonly shared?: ConnectionOptions["shared"];
}

export interface Served {
  readonly client: LinkedClient;
  readonly kit: Kit;
  /** Resolves when the connection has finished serving its client. */
  readonly over: Promise<void>;
  readonly warnings: readonly string[];
  readonly events: readonly EngineEvent[];
  init(params?: object): Promise<Received>;
  say(text: string, params?: object): Promise<Received>;
  /** The line is dead: nothing is sent or read any more. */
  cut(): void;
}

const served = new Set<Served>();

afterEach(async () => {
  const all = [...served];
  served.clear();
  for (const { client, over } of all) {
    client.end();
    await over;
    for (const message of client.received.slice(0, 300)) check(message, client.methods);
  }
});

/** Throws unless the whole line fits the schemas, with its first keys in order. */
export function check(message: Received, methods: ReadonlyMap<string, string>): void {
  if (message.type === "notification") notificationEnvelope.parse(message);
  else if (message.type === "request") serverRequest.parse(message);
  else if (message.error !== undefined) errorResponse.parse(message);
  else resultResponse(clientResults[methods.get(String(message.id)) as ClientMethod]).parse(message);
  const isRequest = message.type === "request";
  expect(Object.keys(message).slice(0, 4)).toEqual([
    ...(isRequest ? ["type", "jsonrpc"] : ["jsonrpc", "type"]),
    "factoryApiVersion",
    "factoryProtocolVersion",
  ]);
}

/** A connection to an engine on fakes, and a client at the other end of it. */
export function serve(replies: readonly FakeReply[], options: ServeOptions = {}): Served {
  const kit = options.kit ?? createKit(replies, { ids: sessionIds(), ...options });
  const [here, there] = createLinkedPair(options.maxWaiting === undefined ? {} : { maxWaiting: options.maxWaiting });
  const warnings: string[] = [];
  const events: EngineEvent[] = [];
  const connection = connect(kit, here, options, {
    warn: async (text) => void warnings.push(text),
    event: async (event) => void events.push(event),
  });
  const client = createLinkedClient(there, { later: options.later ?? true });
  const over = connection.run().then(() => here.end());
  const made: Served = {
    client,
    kit,
    over,
    warnings,
    events,
    init: (params = {}) => client.request("droid.initialize_session", { machineId: "m", cwd: "/ws", ...params }),
    say: (text, params = {}) => client.request("droid.add_user_message", { text, ...params }),
    cut: () => there.close(),
  };
  served.add(made);
  return made;
}

/** A connection that only its creator ends. */
export function connect(
  kit: Kit,
  transport: Transport,
  options: Pick<ServeOptions, "defaults" | "run" | "folder" | "repository" | "shared">,
  log: ConnectionOptions["log"],
): Connection {
  return new Connection(kit.engine, transport, {
    defaults: { modelId: "fake", reasoningEffort: "none", ...options.defaults },
    run: options.run ?? {},
    folder: options.folder ?? knownFolder,
    repository: options.repository ?? (async () => undefined),
    ...(options.shared === undefined ? {} : { shared: options.shared }),
    log,
  });
}

function knownFolder(path: string): string {
  if (path === "/ws" || path === "/other") return path;
  throw new AgentError("usage", `The folder ${path} does not exist.`);
}

/** Distinguished by their last digits; session ids must look like a store's. */
export function sessionIds(): Ids {
  let last = 0;
  return { next: () => idOf(++last) };
}

export function idOf(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, "0")}`;
}

/** An event on demand. */
export interface Signal {
  readonly come: Promise<void>;
  give(): void;
}

export function createSignal(): Signal {
  let give = (): void => undefined;
  const come = new Promise<void>((resolve) => {
    give = resolve;
  });
  return { come, give: () => give() };
}

export function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/** Streams these, and then nothing until it is aborted. */
export function hangsAfter(...events: readonly ModelEvent[]): FakeReply {
  return async function* (_, signal) {
    yield* events;
    await untilAborted(signal);
  };
}

/** Streams these, waits, and continues with the others. */
export function waitsBetween(
  before: readonly ModelEvent[],
  go: Promise<void>,
  after: readonly ModelEvent[],
): FakeReply {
  return async function* (_, signal) {
    yield* before;
    await Promise.race([go, untilAborted(signal)]);
    if (!signal.aborted) yield* after;
  };
}

export const end: readonly ModelEvent[] = [
  { type: "usage", usage },
  { type: "end", stop: "end" },
];
