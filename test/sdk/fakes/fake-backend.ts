import { setImmediate as nextRound } from "node:timers/promises";
import { createGate } from "../../../src/rpc/gate.ts";
import type { LinkedEnd } from "../../../src/rpc/transport.ts";
import type { CommonOptions, Connect } from "../../../src/sdk/api.ts";
import { createSession } from "../../../src/sdk/browser.ts";
import { linkedConnection } from "../../../src/sdk/connection/linked.ts";
import type { Received } from "../../fakes/rpc/wire.ts";

export type Asked = Received & { readonly id: string; readonly method: string };

/** Its automatic responses, by method. */
export type Answers = Readonly<Record<string, (request: Asked) => object>>;

/** A backend in this process, scripted by a test. */
export interface FakeBackend {
  readonly connect: Connect;
  /** The client's messages, in order. */
  readonly received: readonly Received[];
  /** The next message of this method (any by default) that the test has not taken; `response` for an answer. */
  next(method?: string): Promise<Asked>;
  result(request: { readonly id: string }, result: object): void;
  error(id: string | null, error: { readonly code: number; readonly message: string; readonly data?: object }): void;
  notify(...notifications: readonly object[]): void;
  ask(id: string, method: string, params: object): void;
  /** Unchanged. */
  line(text: string): void;
  /** It sends no more. */
  end(): void;
  readonly far: LinkedEnd;
}

const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0" };

export const settings = { modelId: "m", reasoningEffort: "none", interactionMode: "auto", autonomyLevel: "off" };

/** Opens sessions, and accepts prompts. */
export const obliging: Answers = {
  "droid.initialize_session": () => ({ sessionId: "s-1", session: { messages: [] }, settings, availableModels: [] }),
  "droid.load_session": () => ({
    session: { messages: [] },
    settings,
    availableModels: [],
    isAgentLoopInProgress: false,
  }),
  "droid.add_user_message": () => ({}),
  "droid.interrupt_session": () => ({}),
};

export function createFakeBackend(answers: Answers = obliging): FakeBackend {
  const [connection, far] = linkedConnection();
  const received: Received[] = [];
  const taken = new Set<Received>();
  const arrival = createGate();
  const send = (message: object): void => far.send(JSON.stringify({ ...versions, ...message }));
  const result = ({ id }: { readonly id: string }, value: object): void =>
    send({ type: "response", id, result: value });

  void (async () => {
    for await (const frame of far.incoming) {
      if (frame.type !== "line") continue;
      const message = JSON.parse(frame.text) as Asked;
      received.push(message);
      const answer = message.method === undefined ? undefined : answers[message.method];
      if (answer !== undefined) result(message, answer(message));
      arrival.open();
    }
  })();

  return {
    connect: async () => connection,
    received,
    async next(method) {
      for (;;) {
        const found = received.find(
          (message) => !taken.has(message) && (message.method ?? message.type) === (method ?? message.method),
        );
        if (found !== undefined) {
          taken.add(found);
          return found as Asked;
        }
        await arrival.wait();
      }
    },
    result,
    error: (id, error) => send({ type: "response", id, error }),
    notify(...notifications) {
      for (const notification of notifications) {
        send({ type: "notification", method: "droid.session_notification", params: { notification } });
      }
    },
    ask: (id, method, params) => send({ type: "request", id, method, params }),
    line: (text) => far.send(text),
    end: () => far.end(),
    far,
  };
}

/** A session over it, and the SDK's warnings. */
export async function openOver(backend: FakeBackend, options: CommonOptions = {}) {
  const warnings: string[] = [];
  const session = await createSession({
    connect: backend.connect,
    timeouts: { grace: 20 },
    onWarning: (words) => warnings.push(words),
    ...options,
  });
  return { session, backend, warnings };
}

/** Everything sent has been read and processed. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await nextRound();
}

/* The notifications of a turn. */

export const state = (newState: string) => ({ type: "droid_working_state_changed", newState });
export const busy = state("streaming_assistant_message");
export const idle = state("idle");
export const delta = (messageId: string, textDelta: string) => ({
  type: "assistant_text_delta",
  messageId,
  blockIndex: 0,
  textDelta,
});
export const message = (id: string, role: string, ...content: readonly object[]) => ({
  type: "create_message",
  message: { id, role, content, createdAt: 1, updatedAt: 1, parentId: "root" },
});
export const says = (id: string, text: string) => message(id, "assistant", { type: "text", text });
export const usage = { inputTokens: 1, outputTokens: 2, cacheCreationTokens: 0, cacheReadTokens: 0, thinkingTokens: 0 };
export const completed = (turnId: string, reason = "completed") => ({
  type: "agent_turn_completed",
  reason,
  turnId,
  tokenUsage: usage,
});
