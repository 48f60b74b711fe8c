import type { RequestListener } from "node:http";
import type { WebPage } from "../../src/engine/ports.ts";
import { createWeb, type WebOptions } from "../../src/host/web/web.ts";
import { patient, testNetwork } from "../net/support.ts";

export const timeouts = { ...patient, overallMs: 25_000 };
export const asking = { maxBytes: 1000, accept: "text/html" };

/** Names with their addresses; `asked`: the names looked up. */
export function names(table: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = [];
  const lookUpAll = async (name: string) => {
    asked.push(name);
    const found = table[name] ?? (/^[\d.]+$|:/.test(name) ? [name] : undefined);
    if (found === undefined) throw new Error("getaddrinfo ENOTFOUND");
    return found.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  };
  return { asked, lookUpAll };
}

export function get(
  url: string,
  options: Partial<WebOptions> = {},
  signal = new AbortController().signal,
): Promise<WebPage> {
  const web = createWeb({ network: testNetwork(), allowPrivate: ["127.0.0.0/8"], timeouts, ...options });
  return web.get(url, asking, signal);
}

export async function wordsOf(work: Promise<unknown>): Promise<string> {
  return work.then(
    () => "It did not fail.",
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
}

export const plain = (page: WebPage) => ({ ...page, body: Buffer.from(page.body).toString() });

export const answering =
  (body: string, headers: Record<string, string> = { "content-type": "text/plain" }): RequestListener =>
  (_, response) => {
    response.writeHead(200, headers);
    response.end(body);
  };
