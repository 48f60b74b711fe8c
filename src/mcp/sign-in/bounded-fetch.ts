import type { FetchLike } from "@modelcontextprotocol/client";
import type { Clock } from "../../engine/ports.ts";
import { errorMessage } from "../../text/values.ts";
import { checkedAddress } from "./addresses.ts";
import { SignInFault } from "./faults.ts";

const mostBytes = 1024 * 1024;
const limitMs = 30_000;
const withoutBody = new Set([204, 205, 304]);

export interface FetchParts {
  fetch(): Promise<typeof globalThis.fetch>;
  readonly clock: Clock;
}

export interface FetchLimits {
  readonly allowsLoopback: boolean;
  readonly signal?: AbortSignal;
  /** Bodies are not read: they may have no end. */
  readonly headersOnly?: boolean;
}

/**
 * `fetch` for metadata and tokens: every address is checked, also those of redirects, and answers are limited in size and time.
 * Rejects with `SignInFault`. The library follows redirects within an origin only.
 */
export function boundedFetch(parts: FetchParts, { allowsLoopback, signal, headersOnly }: FetchLimits): FetchLike {
  return async (input, init = {}) => {
    const url = checkedAddress(input, "an address of the authorization server", allowsLoopback);
    const limit = new AbortController();
    const stop = () => limit.abort();
    const cancel = parts.clock.after(limitMs, stop, { background: true });
    signal?.addEventListener("abort", stop);
    if (signal?.aborted === true) stop();
    try {
      const fetch = await parts.fetch();
      const { body, ...rest } = init;
      const isForm = body instanceof URLSearchParams;
      const sent = body === undefined || body === null ? {} : { body: isForm ? body.toString() : body };
      const response = await fetch(url, { ...rest, ...sent, redirect: "manual", signal: limit.signal });
      if (headersOnly === true) await response.body?.cancel();
      return await whole(response, url, headersOnly === true);
    } catch (error) {
      if (error instanceof SignInFault) throw error;
      if (limit.signal.aborted) throw new SignInFault(`${url.origin} did not answer within ${limitMs / 1000} seconds`);
      throw new SignInFault(`${url.origin} could not be reached: ${errorMessage(error)}`);
    } finally {
      cancel();
      signal?.removeEventListener("abort", stop);
    }
  };
}

/** The library tests for the platform's `Response`, which ours is not. */
async function whole(response: Response, url: URL, headersOnly: boolean): Promise<Response> {
  const { status } = response;
  const bytes = headersOnly ? null : await bounded(response, url);
  const headers = new Headers();
  for (const name of ["content-type", "location", "www-authenticate"]) {
    const value = response.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  if (status < 200 || status > 599) throw new SignInFault(`${url.origin} answered with status ${status}`);
  return new Response(withoutBody.has(status) ? null : bytes, { status, headers });
}

async function bounded(response: Response, url: URL): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  const reader = response.body?.getReader();
  for (let next = await reader?.read(); next !== undefined && !next.done; next = await reader?.read()) {
    length += next.value.byteLength;
    if (length > mostBytes) {
      await reader?.cancel();
      throw new SignInFault(`${url.origin} sent more than 1 MiB`);
    }
    pieces.push(next.value);
  }
  return new Uint8Array(Buffer.concat(pieces, length));
}
