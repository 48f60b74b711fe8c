import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** One part of an answer, from prompts of the form `SCRIPT#nonce:[[part, …], …]`; an inner list is one answer. */
interface Part {
  readonly text?: string;
  readonly chunks?: readonly string[];
  readonly reasoning?: readonly string[];
  /** The delta's key with the reasoning. */
  readonly field?: string;
  readonly tool?: string;
  readonly args?: unknown;
  readonly id?: string;
  /** Number of pieces for the arguments. */
  readonly split?: number;
  readonly http?: number;
  readonly cut?: boolean;
  readonly finish?: string;
  /** Milliseconds on the wire only; nothing here waits for them. */
  readonly delay?: number;
  readonly every?: number;
}

export interface ScriptedModel {
  /** `host:port`. */
  readonly address: string;
  /** The answer to this prompt stops after this many pieces of text, until more are allowed. */
  holdAfter(prompt: string, pieces: number): void;
  /** No answer is held any more. */
  release(): void;
  close(): Promise<void>;
}

const plain: readonly Part[] = [{ text: "OK from fake model." }];

/**
 * A loopback model that reads its script from the prompt: the n-th request with a prompt gets its n-th answer. It never
 * waits by the clock; the player holds answers where a trace's client acted.
 */
export async function startScriptedModel(): Promise<ScriptedModel> {
  const asked = new Map<string, number>();
  const holds = new Map<string, Hold>();
  let requests = 0;

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error));
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(request);
    if (request.method !== "POST") return void sendJson(response, 200, wholeAnswer);
    requests += 1;
    const prompt = promptOf(body);
    const step = asked.get(prompt) ?? 0;
    asked.set(prompt, step + 1);
    const parts = scriptOf(prompt)[step] ?? plain;
    const failed = parts.find(({ http }) => http !== undefined)?.http;
    if (failed !== undefined) {
      return void sendJson(response, failed, { error: { message: `fake ${failed}`, type: "fake" } });
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of eventsOf(parts, requests)) {
      if (event === "cut") return void request.socket.destroy();
      await holds.get(prompt)?.pass(event);
      if (!(await written(response, event.data))) return;
    }
    response.end();
  }

  const release = (): void => {
    for (const hold of holds.values()) hold.after(Number.POSITIVE_INFINITY);
  };
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    holdAfter: (prompt, pieces) => {
      const hold = holds.get(prompt) ?? createHold();
      holds.set(prompt, hold);
      hold.after(pieces);
    },
    release,
    close: () =>
      new Promise((resolve) => {
        release();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

interface Event {
  readonly data: unknown;
  readonly isPiece: boolean;
}

interface Hold {
  after(pieces: number): void;
  pass(event: Event): Promise<void>;
}

function createHold(): Hold {
  let passed = 0;
  let limit = 0;
  let wake = (): void => undefined;
  return {
    after: (pieces) => {
      limit = pieces;
      wake();
    },
    pass: async (event) => {
      // What follows the last allowed piece must wait, too, because it can be the end of the answer.
      while (passed >= limit) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (event.isPiece) passed += 1;
    },
  };
}

function scriptOf(prompt: string): readonly (readonly Part[])[] {
  const script = /^SCRIPT#[^:]*:(?<parts>.*)$/s.exec(prompt)?.groups?.parts;
  return script === undefined ? [] : (JSON.parse(script) as readonly (readonly Part[])[]);
}

const chunk = (delta: object, finish: string | null = null): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "fake-1",
  choices: [{ index: 0, delta, finish_reason: finish }],
});
const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
/** For plain requests, such as FetchUrl's; the number is the one that the traces' model had reached. */
const wholeAnswer = {
  id: "chatcmpl-72",
  object: "chat.completion",
  created: 1,
  choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: "OK from fake model." } }],
  usage,
};

function* eventsOf(parts: readonly Part[], request: number): Generator<Event | "cut"> {
  const other = (data: unknown): Event => ({ data, isPiece: false });
  let calls = 0;
  yield other(chunk({ role: "assistant", content: "" }));
  for (const part of parts) {
    for (const text of [...wordsOf(part.text), ...(part.chunks ?? [])]) {
      yield { data: chunk({ content: text }), isPiece: true };
    }
    for (const thought of part.reasoning ?? []) yield other(chunk({ [part.field ?? "reasoning_content"]: thought }));
    if (part.tool !== undefined) {
      const index = calls;
      calls += 1;
      const call = (more: object): Event => other(chunk({ tool_calls: [{ index, ...more }] }));
      const id = part.id ?? `call_${request}_${index}`;
      yield call({ id, type: "function", function: { name: part.tool, arguments: "" } });
      for (const piece of piecesOf(JSON.stringify(part.args), part.split ?? 1)) {
        yield call({ function: { arguments: piece } });
      }
    }
    if (part.cut === true) return yield "cut";
  }
  const finish = parts.find((part) => part.finish !== undefined)?.finish ?? (calls > 0 ? "tool_calls" : "stop");
  yield other(chunk({}, finish));
  yield other({ ...chunk({}), choices: [], usage });
  yield other("[DONE]");
}

/** Each with its trailing space. */
function wordsOf(text = ""): readonly string[] {
  return text.match(/\S+\s*|^\s+/g) ?? [];
}

function piecesOf(text: string, count: number): readonly string[] {
  const size = Math.ceil(text.length / count);
  return Array.from({ length: count }, (_, index) => text.slice(index * size, (index + 1) * size));
}

/** The user's last text, without the program's additions. */
function promptOf(body: string): string {
  const { messages } = JSON.parse(body) as { messages: readonly { role: string; content: unknown }[] };
  const said = messages.filter(({ role }) => role === "user").flatMap(({ content }) => textsOf(content));
  return said.findLast((text) => !text.startsWith("<system-reminder")) ?? "";
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return (content as readonly { type: string; text?: string }[]).flatMap(({ text }) =>
    text === undefined ? [] : [text],
  );
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

/** Sends events in separate ticks of the event loop. False once the other side is gone. */
function written(response: ServerResponse, data: unknown): Promise<boolean> {
  return new Promise((resolve) => {
    const gone = (): void => resolve(false);
    response.once("close", gone);
    response.write(`data: ${typeof data === "string" ? data : JSON.stringify(data)}\n\n`, () => {
      response.off("close", gone);
      setImmediate(() => resolve(!response.destroyed));
    });
  });
}
