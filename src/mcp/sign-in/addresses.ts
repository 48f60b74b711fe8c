import { SignInFault } from "./faults.ts";

const longestAddress = 16_384;

/** Only names and addresses that stay on this machine without asking a name server. */
export function isLoopback(url: URL): boolean {
  const { hostname } = url;
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

export function isLoopbackAddress(text: string | undefined): boolean {
  return text !== undefined && URL.canParse(text) && isLoopback(new URL(text));
}

/**
 * An address that tokens, codes or the user's browser can go to: https, or http on this machine. `what` is its name in the
 * message. Throws `SignInFault`.
 */
export function checkedAddress(address: string | URL, what: string, allowsLoopback: boolean): URL {
  const text = String(address);
  if (text.length > longestAddress) throw new SignInFault(`${what} is too long`);
  if (!URL.canParse(text)) throw new SignInFault(`${what} is not a URL`);
  const url = new URL(text);
  const isLocal = url.protocol === "http:" && isLoopback(url);
  if (url.protocol !== "https:" && !isLocal) throw new SignInFault(`${what} must use https, got ${url.protocol}`);
  if (isLocal && !allowsLoopback) {
    throw new SignInFault(`${what} is on this machine (${url.origin}), but the server is not`);
  }
  if (url.username !== "" || url.password !== "") throw new SignInFault(`${what} must not contain a user name`);
  if (url.hash !== "") throw new SignInFault(`${what} must not have a fragment`);
  return url;
}

/** Schemes that a browser would not hand to another program. */
const browserSchemes = new Set([
  "about:",
  "blob:",
  "data:",
  "file:",
  "ftp:",
  "javascript:",
  "vbscript:",
  "ws:",
  "wss:",
]);

/** Where a client receives answers: https, http on this machine, or the client's own scheme. Throws `SignInFault`. */
export function checkedCallback(text: string): string {
  if (!URL.canParse(text)) throw new SignInFault("the callback address is not a URL");
  const url = new URL(text);
  if (url.protocol === "http:" || url.protocol === "https:") checkedAddress(url, "the callback address", true);
  if (browserSchemes.has(url.protocol)) throw new SignInFault(`the callback address can't use ${url.protocol}`);
  return text;
}
