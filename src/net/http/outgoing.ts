import { place } from "../connect/place.ts";
import type { Route } from "../connect/route.ts";
import { NetworkError } from "../network-error.ts";
import type { HttpRequest } from "./http-request.ts";

export interface Outgoing {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Headers of the connection or the body's framing, which we set. */
const ours = new Set(
  (
    "connection content-length expect host keep-alive proxy-authorization " +
    "proxy-connection te trailer transfer-encoding upgrade"
  ).split(" "),
);

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const notInAValue = /[^\t\x20-\x7e\x80-\xff]/;

/** Throws `NetworkError` of kind `invalid` for a request that can't be sent. */
export function checkRequest({ url, method }: HttpRequest): void {
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new NetworkError("invalid", `Unsupported scheme "${url.protocol}". Use "http:" or "https:".`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new NetworkError("invalid", `The address of ${url.host} contains a user or password. Send them in a header.`);
  }
  if (!token.test(method) || ["CONNECT", "TRACE", "TRACK"].includes(method.toUpperCase())) {
    throw new NetworkError("invalid", `Unsupported method for a request to ${url.host}.`);
  }
}

/** The request line and headers for this route. */
export function outgoing(r: HttpRequest, route: Route): Outgoing {
  const { url, method } = r;
  const wholeAddress = route.proxy !== undefined && !route.tunnel;
  const target = `${url.pathname}${url.search}`;
  const headers: Record<string, string> = { Host: url.host };
  for (const [name, value] of Object.entries(r.headers)) {
    checkHeader(name, value, route);
    if (!ours.has(name.toLowerCase())) headers[name] = value;
  }
  const length = bodyLength(r);
  if (length !== undefined) headers["Content-Length"] = String(length);
  if (wholeAddress && route.proxy?.authorization !== undefined)
    headers["Proxy-Authorization"] = route.proxy.authorization;
  return { method, path: wholeAddress ? `http://${url.host}${target}` : target, headers };
}

function checkHeader(name: string, value: string, route: Route): void {
  const to = `The request to ${place(route.host, route.port)}`;
  if (!token.test(name)) throw new NetworkError("invalid", `${to} has a header whose name cannot be sent.`);
  if (notInAValue.test(value)) {
    const words = `${to} has a character in its header "${name}" that cannot be sent, such as a line break at the end of a key.`;
    throw new NetworkError("invalid", words);
  }
}

/** Methods that usually have a body need an explicit length of 0. */
function bodyLength({ method, body }: HttpRequest): number | undefined {
  if (body !== undefined) return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
  return ["POST", "PUT", "PATCH"].includes(method.toUpperCase()) ? 0 : undefined;
}
