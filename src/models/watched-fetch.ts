import type { ModelSpec } from "./model-spec.ts";
import { shownUrl } from "./redact.ts";

type Fetch = typeof globalThis.fetch;

/** What is seen of one answer on its way to the SDK, which does not tell it. */
export interface Watch {
  /** The status that the server really gave. */
  status: number;
  /** The stream said that it is over, in the way of chat completions. */
  saysDone: boolean;
  /** Called when the answer begins, and for every piece of it. */
  heard(): void;
}

/** An event or an error that is larger was not made by a model. */
const mostEventBytes = 16 * 1024 * 1024;
const mostErrorBytes = 1024 * 1024;
const tailBytes = 64;
/** An event of its own: a text that ends in the same word stands inside of JSON, where no line begins. */
const lastWord = /[\r\n]data:[ \t]*\[DONE\][ \t]*(?:[\r\n]|$)/;

/** The server's answer is not what a model's would be, and would not be another time. */
export class WrongAnswer extends Error {
  override readonly name = "WrongAnswer";
}

/** Sends what the entry adds to a request, and looks at the answer before the SDK does. */
export function watchedFetch(spec: ModelSpec, fetch: Fetch, watch: Watch): Fetch {
  return async (url, init) => {
    const headers = { ...(init?.headers as Readonly<Record<string, string>>), "user-agent": agentOf(spec) };
    const response = await fetch(addressOf(String(url), spec), { ...init, headers, ...bodyOf(spec, init?.body) });
    watch.status = response.status;
    watch.heard();
    const type = response.headers.get("content-type") ?? "";
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new WrongAnswer(redirectWords(spec, response.headers.get("location")));
    }
    if (response.ok && /^text\/html\b/i.test(type)) {
      await response.body?.cancel();
      const where = shownUrl(spec.baseUrl);
      throw new WrongAnswer(`${where} answered with a web page: it is not the address of a model.`);
    }
    const { body } = response;
    if (body === null) return response;
    const watched = response.ok ? watchedStream(body, watch) : firstBytes(body, mostErrorBytes);
    if (!response.ok || !/\bjson\b/i.test(type)) return withBody(response, watched);
    return withBody(response, await unlessJson(watched));
  };
}

function agentOf({ headers }: ModelSpec): string {
  const [, own] = Object.entries(headers).find(([name]) => name.toLowerCase() === "user-agent") ?? [];
  return own ?? `tinman/${TINMAN_VERSION}`;
}

function addressOf(url: string, { query }: ModelSpec): string {
  return query === undefined ? url : `${url}${url.includes("?") ? "&" : "?"}${query}`;
}

function bodyOf({ extraArguments }: ModelSpec, body: unknown): { readonly body?: string } {
  if (typeof body !== "string" || Object.keys(extraArguments).length === 0) return {};
  return { body: JSON.stringify({ ...(JSON.parse(body) as Record<string, unknown>), ...extraArguments }) };
}

function redirectWords(spec: ModelSpec, location: string | null): string {
  const where = location !== null && URL.canParse(location, spec.baseUrl) ? new URL(location, spec.baseUrl).origin : "";
  const target = where === "" ? "elsewhere" : `to ${where}`;
  return `${shownUrl(spec.baseUrl)} redirects ${target}, and redirects are not followed. Check baseUrl.`;
}

/** Only what the SDK uses of an answer. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { ok, status, statusText, headers } = response;
  return { ok, status, statusText, headers, body } as Response;
}

function watchedStream(body: ReadableStream<Uint8Array>, watch: Watch): ReadableStream<Uint8Array> {
  let sinceEvent = 0;
  // As if a line had ended before the first one.
  let tail = Buffer.from("\n");
  return passedOn(body, (piece) => {
    watch.heard();
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const end = Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\n\r\n"), bytes.lastIndexOf("\r\r"));
    sinceEvent = end < 0 ? sinceEvent + bytes.length : bytes.length - end;
    if (sinceEvent > mostEventBytes) throw new WrongAnswer("It sent an event of more than 16 MB.");
    tail = Buffer.concat([tail, bytes.subarray(-tailBytes)]).subarray(-tailBytes);
    watch.saysDone = lastWord.test(tail.toString("latin1"));
    return piece;
  });
}

function firstBytes(body: ReadableStream<Uint8Array>, most: number): ReadableStream<Uint8Array> {
  let left = most;
  return passedOn(body, (piece) => {
    const taken = piece.subarray(0, left);
    left -= taken.length;
    return taken.length === 0 ? undefined : taken;
  });
}

/** Made by hand, as `pipeThrough` costs more. `undefined` ends it. */
function passedOn(
  body: ReadableStream<Uint8Array>,
  look: (piece: Uint8Array) => Uint8Array | undefined,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const stop = (reason?: unknown): void => void reader.cancel(reason).catch(() => undefined);
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read();
          const piece = done ? undefined : look(value);
          if (piece !== undefined) return controller.enqueue(piece);
          if (!done) stop();
          controller.close();
        } catch (error) {
          stop(error);
          controller.error(error);
        }
      },
      cancel: stop,
    },
    { highWaterMark: 0 },
  );
}

/** An answer that was not streamed: an error with a status that says otherwise, or a server that does not stream. */
async function unlessJson(body: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const text = await textOf(firstBytes(body, mostErrorBytes));
  if (/^\s*[{[]/.test(text)) throw new UnstreamedAnswer(text);
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

/** Thrown with the JSON that came where a stream should have. */
export class UnstreamedAnswer extends Error {
  readonly detail: unknown;

  constructor(text: string) {
    super("It did not stream its answer.");
    try {
      this.detail = JSON.parse(text);
    } catch {
      this.detail = undefined;
    }
  }
}

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  const reader = body.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  return Buffer.concat(pieces).toString("utf8");
}
