import type { IncomingHttpHeaders } from "node:http";
import { request } from "node:http";

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** Why the answer broke off, if it did. */
  readonly broken?: string;
}

/** One plain request on its own connection, with the whole response. Rejects without any response. */
export function post(
  url: string,
  headers: Readonly<Record<string, string>>,
  body: unknown,
  method = "POST",
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      const answer = (broken?: string) => {
        const text = Buffer.concat(chunks).toString("utf8");
        const whole = { status: response.statusCode ?? 0, headers: response.headers, text };
        resolve(broken === undefined ? whole : { ...whole, broken });
      };
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => answer());
      response.on("error", (error: NodeJS.ErrnoException) => answer(error.code ?? error.message));
    });
    sent.on("error", reject);
    sent.end(typeof body === "string" ? body : JSON.stringify(body));
  });
}

/** The events of a server-sent stream: their names, if any, and their data as JSON. */
export function eventsOf(text: string): { event?: string; data: unknown }[] {
  return text
    .split(/\r?\n\r?\n/)
    .filter((block) => block !== "")
    .map((block) => {
      const event = /^event: (.*)$/m.exec(block)?.[1];
      const data: unknown = JSON.parse(/^data: (.*)$/m.exec(block)?.[1] ?? "null");
      return event === undefined ? { data } : { event, data };
    });
}
