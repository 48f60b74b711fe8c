import { shownUrl } from "../calls/redact.ts";
import type { ModelSpec, Wire } from "../providers/model-spec.ts";
import { responsesRepair } from "./responses-repair.ts";
import { eventsOfWhole } from "./whole-answer.ts";

type Fetch = typeof globalThis.fetch;

/** Facts about one response that the SDK doesn't expose. */
export interface Watch {
  /** The server's HTTP status. */
  status: number;
  /** The stream ended with `[DONE]`, as chat completions do. */
  saysDone: boolean;
  /** Called when the response starts, and for each chunk. */
  heard(): void;
}

/** No model sends larger events or errors. */
const maxEventBytes = 16 * 1024 * 1024;
const maxErrorBytes = 1024 * 1024;
const tailBytes = 64;
/** Matches only a whole event: within JSON, the same text never starts a line. */
const doneEvent = /[\r\n]data:[ \t]*\[DONE\][ \t]*(?:[\r\n]|$)/;

/** The response can't come from a model, so a retry won't help. */
export class WrongAnswer extends Error {
  override readonly name = "WrongAnswer";
}

/** Adds the entry's headers, query and arguments to a request, and checks the response before the SDK reads it. */
export function watchedFetch(spec: ModelSpec, fetch: Fetch, watch: Watch): Fetch {
  return async (url, init) => {
    const headers = { ...(init?.headers as Readonly<Record<string, string>>), "user-agent": agentOf(spec) };
    const response = await fetch(addressOf(String(url), spec), { ...init, headers, ...bodyOf(spec, init?.body) });
    watch.status = response.status;
    watch.heard();
    const type = response.headers.get("content-type") ?? "";
    if (response.status >= 300 && response.status < 400) {
      await response.body?.cancel();
      throw new WrongAnswer(redirectMessage(spec, response.headers.get("location")));
    }
    if (response.ok && /^text\/html\b/i.test(type)) {
      await response.body?.cancel();
      const where = shownUrl(spec.baseUrl);
      throw new WrongAnswer(`${where} returned a web page, so it is not a model's address. Check baseUrl.`);
    }
    const { body } = response;
    if (body === null) return response;
    if (!response.ok) return withBody(response, firstBytes(body, maxErrorBytes));
    const watched = watchedStream(body, watch);
    const events = /\bjson\b/i.test(type) ? await eventsInJson(watched, spec.wire) : watched;
    const needsRepair = spec.wire === "openai-responses" && !isOpenAI(spec);
    return withBody(response, needsRepair ? passedOn(events, responsesRepair()) : events);
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

function redirectMessage(spec: ModelSpec, location: string | null): string {
  const where = location !== null && URL.canParse(location, spec.baseUrl) ? new URL(location, spec.baseUrl).origin : "";
  const target = where === "" ? "elsewhere" : `to ${where}`;
  return `${shownUrl(spec.baseUrl)} redirects ${target}, and redirects are not followed. Check baseUrl.`;
}

/** Keeps only the fields that the SDK reads. */
function withBody(response: Response, body: ReadableStream<Uint8Array>): Response {
  const { ok, status, statusText, headers } = response;
  return { ok, status, statusText, headers, body } as Response;
}

function watchedStream(body: ReadableStream<Uint8Array>, watch: Watch): ReadableStream<Uint8Array> {
  let sinceEvent = 0;
  // Lets `doneEvent` match at the start of the stream.
  let tail = Buffer.from("\n");
  return passedOn(body, (piece) => {
    watch.heard();
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const end = Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\n\r\n"), bytes.lastIndexOf("\r\r"));
    sinceEvent = end < 0 ? sinceEvent + bytes.length : bytes.length - end;
    if (sinceEvent > maxEventBytes) throw new WrongAnswer("It sent an event of more than 16 MB.");
    tail = Buffer.concat([tail, bytes.subarray(-tailBytes)]).subarray(-tailBytes);
    watch.saysDone = doneEvent.test(tail.toString("latin1"));
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

/** Hand-made, because `pipeThrough` is slower. `look` returns `undefined` to end the stream. */
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

function isOpenAI({ baseUrl }: ModelSpec): boolean {
  return URL.canParse(baseUrl) && new URL(baseUrl).hostname === "api.openai.com";
}

/** Also reads servers that don't stream. Throws `UnstreamedAnswer` for other JSON, such as an error. */
async function eventsInJson(body: ReadableStream<Uint8Array>, wire: Wire): Promise<ReadableStream<Uint8Array>> {
  const text = await textOf(firstBytes(body, maxEventBytes));
  const events = /^\s*[{[]/.test(text) ? eventsOfWhole(text, wire) : text;
  if (events === undefined) throw new UnstreamedAnswer(text);
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(events));
      controller.close();
    },
  });
}

/** Holds the JSON that was sent instead of a stream. */
export class UnstreamedAnswer extends Error {
  readonly detail: unknown;

  constructor(text: string) {
    super("It did not stream its reply.");
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
