import { fixedTools, type ToolSource } from "../../src/engine/calls/tool-source.ts";
import { Engine } from "../../src/engine/engine.ts";
import type { EngineParts } from "../../src/engine/engine-parts.ts";
import { AgentError } from "../../src/engine/errors.ts";
import type { EngineEvent } from "../../src/engine/event.ts";
import type { CommandRules, PermissionPolicy } from "../../src/engine/permission.ts";
import type {
  Clock,
  Ids,
  ModelCatalog,
  ModelEvent,
  ModelInfo,
  ModelRequest,
  SessionStore,
} from "../../src/engine/ports.ts";
import type { Session } from "../../src/engine/session/session.ts";
import type { SessionSettings } from "../../src/engine/settings.ts";
import type { Tool } from "../../src/engine/tool.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { builtinTools } from "../../src/tools/all.ts";
import { toolJsonSchema } from "../../src/tools/json-schema.ts";
import type { MemoryHost } from "./memory-host.ts";
import { createMemoryHost } from "./memory-host.ts";
import { createMemoryStore } from "./memory-store.ts";

/** One model call: its events, or a function from the request to them. */
export type FakeReply =
  | readonly ModelEvent[]
  | ((request: ModelRequest, signal: AbortSignal) => AsyncIterable<ModelEvent> | readonly ModelEvent[]);

export const usage = { input: 10, output: 5, cacheRead: 0, cacheWrite: 0, thinking: 0 };

export function says(text: string): ModelEvent[] {
  return [
    { type: "text", text },
    { type: "usage", usage },
    { type: "end", stop: "end" },
  ];
}

export function calls(...wanted: readonly (readonly [name: string, input: unknown])[]): ModelEvent[] {
  return [
    ...wanted.map(([name, input], index) => {
      return { type: "tool_call", id: `call_${index + 1}`, name, inputText: JSON.stringify(input) } as const;
    }),
    { type: "usage", usage },
    { type: "end", stop: "tool_calls" },
  ];
}

/** A clock that moves only on demand. */
export class FakeClock implements Clock {
  private time = 1_000_000;
  private timers: { at: number; callback: () => void }[] = [];

  now(): number {
    return this.time;
  }

  monotonic(): number {
    return this.time;
  }

  after(ms: number, callback: () => void): () => void {
    const timer = { at: this.time + ms, callback };
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }

  /** Number of timers still waiting. */
  get waiting(): number {
    return this.timers.length;
  }

  advance(ms: number): void {
    const until = this.time + ms;
    for (;;) {
      const due = this.timers.filter((timer) => timer.at <= until).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.timers = this.timers.filter((timer) => timer !== due);
      this.time = due.at;
      due.callback();
    }
    this.time = until;
  }
}

export function countingIds(): Ids {
  let last = 0;
  return { next: () => `id-${++last}` };
}

export const info: ModelInfo = {
  id: "fake",
  provider: "test",
  displayName: "Fake",
  contextWindow: 200_000,
  maxOutputTokens: 8_000,
  reasoningEfforts: ["none"],
  images: true,
};

export const settings: SessionSettings = { modelId: "fake", reasoningEffort: "none", autonomy: "high", mode: "auto" };

export interface Kit {
  readonly engine: Engine;
  readonly store: SessionStore;
  readonly host: MemoryHost;
  readonly clock: FakeClock;
  readonly models: ModelCatalog;
  /** The requests to the model, call by call. */
  readonly requests: ModelRequest[];
  open(changes?: Partial<SessionSettings>): Promise<Session>;
}

export interface KitOptions {
  readonly files?: Readonly<Record<string, string>>;
  readonly tools?: readonly Tool[] | ToolSource;
  readonly policy?: PermissionPolicy;
  readonly rules?: CommandRules;
  /** Why the rules cannot be read. */
  readonly rulesFailure?: string;
  readonly store?: SessionStore;
  readonly host?: MemoryHost;
  readonly reminders?: readonly string[];
  readonly compaction?: EngineParts["compaction"];
  readonly permissions?: NonNullable<EngineParts["context"]["permissions"]>;
  readonly below?: NonNullable<EngineParts["context"]["below"]>;
  readonly model?: Partial<ModelInfo>;
  /** Replaces the model that gives the replies. */
  readonly models?: ModelCatalog;
  readonly ids?: Ids;
  readonly observe?: EngineParts["observe"];
  /** With a host whose sandbox works, unless one is given. */
  readonly sandbox?: EngineParts["sandbox"];
  readonly servers?: EngineParts["servers"];
}

/** An engine on fakes: memory store and host, fixed time and ids, and a model that gives the replies in order. */
export function createKit(replies: readonly FakeReply[], options: KitOptions = {}): Kit {
  const clock = new FakeClock();
  const store = options.store ?? createMemoryStore({ now: () => clock.now() });
  const { sandbox } = options;
  const files = { "/ws/readme.md": "hello\n", ...options.files };
  const host = options.host ?? createMemoryHost(files, sandbox === undefined ? {} : { sandbox: workingSandbox });
  const requests: ModelRequest[] = [];
  const { tools = builtinTools } = options;
  const model = {
    info: { ...info, ...options.model },
    stream: (request: ModelRequest, signal: AbortSignal) => {
      const reply = replies[requests.length];
      requests.push({ ...request, messages: [...request.messages] });
      return play(typeof reply === "function" ? reply(request, signal) : (reply ?? noReply));
    },
  };
  const parts: EngineParts = {
    store,
    models: options.models ?? { list: async () => [model.info], unusable: async () => [], resolve: async () => model },
    policy: options.policy ?? createPermissionPolicy(() => "bash"),
    tools: "list" in tools ? tools : fixedTools(tools),
    host,
    context: {
      reminders: async () => options.reminders ?? [],
      ...(options.permissions === undefined ? {} : { permissions: options.permissions }),
      ...(options.below === undefined ? {} : { below: options.below }),
    },
    clock,
    ids: options.ids ?? countingIds(),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(options.servers === undefined ? {} : { servers: options.servers }),
    ...(options.compaction === undefined ? {} : { compaction: options.compaction }),
    ...(options.observe === undefined ? {} : { observe: options.observe }),
    rules: async () => {
      if (options.rulesFailure !== undefined) throw new AgentError("config_invalid", options.rulesFailure);
      return { rules: options.rules ?? { allow: [], deny: [], alwaysDeny: [] }, notices: [] };
    },
    places: {
      home: "/home/u",
      ownHome: "/home/u/.tinman",
      temp: "/tmp",
      outputs: (id) => `/home/u/.tinman/outputs/${id}`,
    },
    toolSchema: toolJsonSchema,
  };
  const engine = new Engine(parts);
  const open = (changes: Partial<SessionSettings> = {}): Promise<Session> =>
    engine.create({ cwd: "/ws", settings: { ...settings, ...changes } });
  return { engine, store, host, clock, models: parts.models, requests, open };
}

const workingSandbox = { works: true, mechanism: "bubblewrap", sharesNetwork: true } as const;

const noReply: readonly ModelEvent[] = [
  { type: "error", failure: { code: "script_exhausted", message: "no reply left" }, retryable: false },
];

async function* play(events: AsyncIterable<ModelEvent> | readonly ModelEvent[]): AsyncGenerator<ModelEvent> {
  yield* events;
}

/** Collects a session's events from now on. */
export function listen(session: Session): { readonly events: EngineEvent[]; types(): string[]; stop(): Promise<void> } {
  const attachment = session.attach({ approve: false, answer: false, onDetach: "cancel" });
  const events: EngineEvent[] = [];
  const done = (async () => {
    for await (const event of attachment.events()) events.push(event);
  })();
  return {
    events,
    types: () => events.map((event) => event.type),
    stop: async () => {
      attachment.detach();
      await done;
    },
  };
}

export async function ask(session: Session, text: string) {
  return session.prompt([{ type: "text", text }]).outcome;
}

/** Waits until a condition holds; fails after a while instead of hanging. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if (holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error("it never came to hold");
}
