import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The connection broke before the answer was complete. */
  readonly broken: boolean;
}

/** One plain request. An object is sent as JSON. Rejects if no header arrives. */
export function send(
  url: string,
  options: {
    readonly key?: string;
    readonly body?: unknown;
    readonly headers?: Record<string, string>;
    readonly method?: string;
  },
): Promise<Answer> {
  const { key, body, headers = {}, method = body === undefined ? "GET" : "POST" } = options;
  const authorization = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const contentType = body === undefined ? {} : { "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, agent: false, headers: { ...authorization, ...contentType, ...headers } });
    sent.on("error", reject);
    sent.on("response", (response) => {
      const chunks: Buffer[] = [];
      const finish = (broken: boolean) => {
        const text = Buffer.concat(chunks).toString("utf8");
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, broken });
      };
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => finish(false));
      response.on("error", () => finish(true));
    });
    if (body === undefined) sent.end();
    else sent.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

export interface StreamEvent {
  readonly name: string | undefined;
  /** Parsed, or the text if it is not JSON. */
  readonly data: unknown;
}

/** Server-sent events as in the standard, without comments. */
export function eventsOf(text: string): StreamEvent[] {
  return text
    .split("\n\n")
    .map((block) => block.split("\n").filter((line) => line !== "" && !line.startsWith(":")))
    .filter((lines) => lines.length > 0)
    .map((lines) => {
      const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
      const data = field("data") ?? "";
      return { name: field("event"), data: data.startsWith("{") ? parsed(data) : data };
    });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
