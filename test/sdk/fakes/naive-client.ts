import { randomUUID } from "node:crypto";
import { factoryApiVersion, factoryProtocolVersion } from "../../../src/protocol/droid/version.ts";
import type { Connect } from "../../../src/sdk/api.ts";
import type { Received } from "../../fakes/rpc/wire.ts";

/** The outcome of a prompt, as far as it was seen. */
export interface NaiveTurn {
  /** All deltas, joined. */
  readonly text: string;
  /** The texts of the assistant's messages. */
  readonly messages: readonly string[];
  readonly calls: number;
  readonly results: number;
  readonly usage: unknown;
}

export interface NaiveClient {
  request(method: string, params: object): Promise<unknown>;
  prompt(text: string): Promise<NaiveTurn>;
  /** All events. */
  readonly states: readonly unknown[];
  /** The reason why it stopped reading. */
  readonly crash: string | undefined;
  /** Resolves when the backend is gone and all its output was read. */
  readonly ended: Promise<unknown>;
  close(): Promise<void>;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer E)[] ? E[] : T[K] };

const versions = { jsonrpc: "2.0", factoryApiVersion, factoryProtocolVersion };

/**
 * A first attempt at a client from a description of the protocol: every line is JSON, every error has an id, each event
 * comes once, and a turn is over when it says so. Each of these assumptions is in some real client.
 */
export async function createNaiveClient(
  connect: Connect,
  endsWith: "idle" | "agent_turn_completed" = "idle",
): Promise<NaiveClient> {
  const connection = await connect();
  const waiting = new Map<string, { resolve(value: unknown): void; reject(error: Error): void }>();
  const none = (): Mutable<NaiveTurn> => ({ text: "", messages: [], calls: 0, results: 0, usage: undefined });
  const states: unknown[] = [];
  let turn = none();
  let endTurn = (_: NaiveTurn): void => {};
  let crash: string | undefined;

  const send = (message: object): void => connection.send(JSON.stringify({ ...versions, ...message }));

  function takeNotification(notification: Readonly<Record<string, unknown>>): void {
    const { message } = notification as { message?: { role: string; content: { type: string; text?: string }[] } };
    switch (notification.type) {
      case "assistant_text_delta":
        turn.text += notification.textDelta;
        break;
      case "create_message":
        if (message?.role === "assistant") turn.messages.push(message.content.map(({ text = "" }) => text).join(""));
        break;
      case "tool_call":
        turn.calls += 1;
        break;
      case "tool_result":
        turn.results += 1;
        break;
      case "session_token_usage_changed":
        turn.usage = notification.tokenUsage;
        break;
      case "droid_working_state_changed":
        states.push(notification.newState);
        if (notification.newState === "idle" && endsWith === "idle") endTurn(turn);
        break;
      case "agent_turn_completed":
        if (endsWith === "agent_turn_completed") endTurn(turn);
        break;
      case "assistant_text_complete":
      case "error":
      case "llm_retry":
      case "mcp_status_changed":
      case "permission_resolved":
      case "queued_messages_discarded":
      case "session_title_updated":
      case "settings_updated":
      case "thinking_text_complete":
      case "thinking_text_delta":
      case "tool_progress_update":
        break;
      default:
        throw new Error(`unknown notification ${notification.type}`);
    }
  }

  function take(message: Received): void {
    const { id, method, params, result, error } = message;
    if (method === "droid.session_notification") {
      takeNotification(params?.notification ?? {});
    } else if (method === "droid.request_permission") {
      send({ type: "response", id, result: { selectedOption: "proceed_once" } });
    } else if (error !== undefined) {
      waiting.get(id ?? "")?.reject(new Error(error.message));
    } else {
      waiting.get(id ?? "")?.resolve(result);
    }
  }

  async function read(): Promise<void> {
    for await (const frame of connection.incoming) if (frame.type === "line") take(JSON.parse(frame.text) as Received);
  }

  read().catch((error: Error) => {
    crash = error.message;
  });

  const request = (method: string, params: object): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const id = randomUUID();
      waiting.set(id, { resolve, reject });
      send({ type: "request", id, method, params });
    });

  return {
    request,
    states,
    async prompt(text) {
      turn = none();
      const ended = new Promise<NaiveTurn>((resolve) => {
        // A snapshot of the end, without later updates.
        endTurn = (seen) => resolve({ ...seen, messages: [...seen.messages] });
      });
      await request("droid.add_user_message", { text });
      return ended;
    },
    get crash() {
      return crash;
    },
    ended: connection.ended,
    close: () => connection.close(),
  };
}

/** The current state of a promise. */
export async function standOf(promise: Promise<unknown>): Promise<unknown> {
  let stand: unknown = "pending";
  promise.then(
    (value) => {
      stand = value;
    },
    (error: Error) => {
      stand = error;
    },
  );
  for (let round = 0; round < 5; round += 1) await new Promise((resolve) => setImmediate(resolve));
  return stand;
}
