import type { EngineEvent } from "../../../src/engine/event.ts";
import type { Clock } from "../../../src/engine/ports.ts";
import type { Session } from "../../../src/engine/session/session.ts";
import type { SessionSettings } from "../../../src/engine/settings.ts";
import { createModelCatalog } from "../../../src/models/catalog.ts";
import type { ModelEntry } from "../../../src/models/providers/model-entry.ts";
import { createFetch } from "../../../src/net/http/fetch.ts";
import { createNetwork } from "../../../src/net/network.ts";
import type { Kit, KitOptions } from "../../fakes/kit.ts";
import { createKit, listen } from "../../fakes/kit.ts";
import { createAnthropicServer } from "../../fakes/providers/anthropic-server.ts";
import type { ProviderServer } from "../../fakes/providers/base.ts";
import { createGoogleServer } from "../../fakes/providers/google-server.ts";
import { createOpenAIChatServer } from "../../fakes/providers/openai-chat-server.ts";
import { createOpenAIResponsesServer } from "../../fakes/providers/openai-responses-server.ts";

/** Each wire's fake server, and the model to call there. */
export const wires = {
  anthropic: { create: () => createAnthropicServer(), provider: "anthropic", model: "claude-sonnet-4-5" },
  "openai-responses": {
    create: () => createOpenAIResponsesServer(),
    provider: "openai",
    model: "gpt-5.1",
    // Same tools as the other wires, so that they can share turns.
    entry: { prefersPatch: false },
  },
  "openai-chat": {
    create: () => createOpenAIChatServer({ reasoningField: "reasoning_content" }),
    provider: "openai-compatible",
    model: "local-model",
    entry: { reasoningEfforts: ["low", "medium", "high"], images: true },
  },
  google: { create: () => createGoogleServer(), provider: "google", model: "gemini-2.5-pro" },
} as const;

export type WireName = keyof typeof wires;
export const wireNames = Object.keys(wires) as readonly WireName[];

/** Pauses end at once; the time that a model is silent is real. */
export const hastyClock: Clock = {
  now: () => 1_000_000,
  monotonic: () => performance.now(),
  after: (ms, callback, options) => {
    const timer = setTimeout(callback, options?.background === true ? ms : 0);
    return () => clearTimeout(timer);
  },
};

export interface WireBench {
  readonly server: ProviderServer;
  readonly kit: Kit;
  open(changes?: Partial<SessionSettings>): Promise<Session>;
}

export interface WireOptions extends KitOptions {
  readonly entry?: Partial<ModelEntry>;
  readonly server?: ProviderServer;
}

/** Closed by `closeServers`. */
const opened: ProviderServer[] = [];

export async function closeServers(): Promise<void> {
  await Promise.all(opened.splice(0).map((server) => server.close()));
}

export async function openServer(name: WireName): Promise<ProviderServer> {
  const server = await wires[name].create();
  opened.push(server);
  return server;
}

export function entryOf(name: WireName, server: ProviderServer, entry: Partial<ModelEntry> = {}): ModelEntry {
  const { provider, model, ...given } = wires[name];
  const own = "entry" in given ? given.entry : {};
  return { id: "model", ...own, provider, model, baseUrl: server.url, apiKey: server.key, ...entry };
}

export function catalogOf(entries: readonly ModelEntry[]) {
  return createModelCatalog({
    defaultModel: entries[0]?.id ?? "offline",
    choices: { entries },
    loadScript: () => Promise.reject(new Error("no scripts here")),
    fetch: async (timeouts) => createFetch(createNetwork({}), timeouts),
    clock: hastyClock,
  });
}

/** An engine with fakes, except for its model, which it calls over HTTP. */
export async function openWire(name: WireName, options: WireOptions = {}): Promise<WireBench> {
  const { entry, server = await openServer(name), ...rest } = options;
  const kit = createKit([], { ...rest, models: catalogOf([entryOf(name, server, entry)]) });
  return { server, kit, open: (changes = {}) => kit.open({ modelId: "model", ...changes }) };
}

/** The events of a run. */
export async function eventsOf(session: Session, run: () => Promise<unknown>): Promise<readonly EngineEvent[]> {
  const heard = listen(session);
  await run();
  await heard.stop();
  return heard.events;
}

/**
 * The events of a turn in the form that all wires share: without proofs and durations, and with each call's arguments in one
 * piece.
 */
export function alike(events: readonly EngineEvent[]): readonly unknown[] {
  const plain = JSON.parse(
    JSON.stringify(events, (key, part: unknown) => (key === "proof" || key === "durationMs" ? undefined : part)),
  ) as EngineEvent[];
  return plain.flatMap((event, index): readonly unknown[] => {
    if (event.type !== "tool.input") return [event];
    const pieces = plain.filter((other) => other.type === "tool.input" && other.callId === event.callId);
    return plain.indexOf(pieces[0] ?? event) === index
      ? [{ ...event, text: pieces.map((piece) => (piece.type === "tool.input" ? piece.text : "")).join("") }]
      : [];
  });
}
