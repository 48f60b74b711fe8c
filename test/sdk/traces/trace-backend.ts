import { isDeepStrictEqual } from "node:util";
import type { Connect } from "../../../src/sdk/api.ts";
import { linkedConnection } from "../../../src/sdk/connection/linked.ts";
import type { Received } from "../../fakes/rpc/wire.ts";
import { settled } from "../fakes/fake-backend.ts";
import type { Awaited, Scene } from "./trace-script.ts";

/** A backend that replays a trace's server lines in order. */
export interface TraceBackend {
  readonly connect: Connect;
  /** The server's next line; a response goes to the request with this key. */
  say(scene: Extract<Scene, { by: "server" }>): void;
  /** Waits for the SDK's next line, which must be this one. */
  hear(scene: Extract<Scene, { by: "sdk" }>): Promise<void>;
  /** The process has ended. */
  end(): void;
  /** Lines of the SDK that nothing waited for. */
  readonly unheard: readonly Received[];
}

/** How often time can advance before a line counts as missing. */
const mostWaits = 4;

/** `letTimePass` runs the SDK's timers. */
export function createTraceBackend(letTimePass: () => void): TraceBackend {
  const [connection, far] = linkedConnection();
  const unheard: Received[] = [];
  /** The SDK's ids, by the keys of the client's lines. */
  const ids = new Map<number, string>();

  void (async () => {
    for await (const frame of far.incoming) {
      if (frame.type === "line") unheard.push(JSON.parse(frame.text) as Received);
    }
  })();

  function idOf(key: number): string {
    const id = ids.get(key);
    if (id === undefined) throw new Error(`The SDK has not sent what line ${key} asked for.`);
    return id;
  }

  async function next(): Promise<Received | undefined> {
    for (let waits = 0; waits < mostWaits; waits += 1) {
      await settled();
      const message = unheard.shift();
      if (message !== undefined) return message;
      letTimePass();
    }
    return undefined;
  }

  return {
    connect: async () => connection,
    say: ({ message, answers, names }) => {
      const id = answers === undefined ? undefined : idOf(answers);
      const inSdkIds = id === undefined ? message : { ...message, id };
      far.send(JSON.stringify(names === undefined ? inSdkIds : naming(inSdkIds, idOf(names))));
    },
    async hear({ key, awaited }) {
      const message = await next();
      const { fault, id } = compared(message, awaited);
      if (fault) {
        const words = JSON.stringify({ awaited, message }).slice(0, 2_000);
        throw new Error(`The SDK did not send what it should: ${words}`);
      }
      if (id !== undefined) ids.set(key, id);
    },
    end: () => far.end(),
    unheard,
  };
}

function naming(message: Received, requestId: string): Received {
  const { notification } = message.params ?? {};
  return { ...message, params: { ...message.params, notification: { type: "", ...notification, requestId } } };
}

function compared(message: Received | undefined, awaited: Awaited): { readonly fault: boolean; readonly id?: string } {
  const { type, id, method, params, result, jsonrpc, factoryApiVersion } = message ?? {};
  const isEnvelope = jsonrpc === "2.0" && factoryApiVersion === "1.0.0" && typeof id === "string";
  if (!isEnvelope) return { fault: true };
  if ("requestId" in awaited) {
    const isIt = type === "response" && id === awaited.requestId && isDeepStrictEqual(result, awaited.result);
    return { fault: !isIt };
  }
  const isIt = type === "request" && method === awaited.method && isDeepStrictEqual(params, awaited.params);
  return { fault: !isIt, id };
}
