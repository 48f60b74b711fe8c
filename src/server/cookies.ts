import type { Credential } from "./credentials.ts";
import { hashOf, newToken } from "./token-file.ts";

const linkMs = 60_000;
const cookieMs = 30 * 24 * 3_600_000;
/** At a limit, the credential's oldest entry is dropped, so users cannot push out each other's. */
const mostLinks = { each: 10, all: 1_000 };
const mostCookies = { each: 100, all: 10_000 };

interface Entry {
  readonly credential: Credential;
  readonly until: number;
  /** How the browser reaches the server. */
  readonly origin: string;
}

export type Cookies = ReturnType<typeof createCookies>;

/**
 * A browser signs in with a one-time link and stays signed in with a cookie. Both are stored as hashes, so that lookup time
 * reveals nothing.
 */
export function createCookies({
  port,
  now = Date.now,
  random,
}: {
  /** Part of the cookie's name, because browsers share cookies between all ports of a host. */
  readonly port: () => number;
  readonly now?: () => number;
  readonly random?: (bytes: number) => Buffer;
}) {
  const cookieName = (): string => `tinman-${port()}`;
  const links = new Map<string, Entry>();
  const cookies = new Map<string, Entry>();

  function add(entries: Map<string, Entry>, most: typeof mostLinks, entry: Entry): string {
    for (const [key, { until }] of entries) if (until <= now()) entries.delete(key);
    const keys = [...entries.keys()];
    const own = keys.filter((key) => entries.get(key)?.credential === entry.credential);
    const [oldest] = own.length >= most.each ? own : keys.length >= most.all ? keys : [];
    if (oldest !== undefined) entries.delete(oldest);
    const secret = newToken(random);
    entries.set(hashOf(secret), entry);
    return secret;
  }

  function live(entry: Entry | undefined): Entry | undefined {
    return entry !== undefined && entry.until > now() ? entry : undefined;
  }

  return {
    /** A one-time code for a credential, valid for a minute. */
    link: (credential: Credential, origin: string) =>
      add(links, mostLinks, { credential, origin, until: now() + linkMs }),
    /** The `Set-Cookie` for a code; undefined if it was used, expired or revoked. */
    enter(code: string): string | undefined {
      const key = hashOf(code);
      const found = live(links.get(key));
      links.delete(key);
      if (found === undefined) return undefined;
      const secret = add(cookies, mostCookies, { ...found, until: now() + cookieMs });
      const secure = found.origin.startsWith("https:") ? "; Secure" : "";
      return `${cookieName()}=${secret}; Path=/; Max-Age=${cookieMs / 1_000}; HttpOnly; SameSite=Strict${secure}`;
    },
    /** The credential of a cookie, from the values of the `Cookie` header. */
    find(headers: readonly string[]): Credential | undefined {
      const own = cookieName();
      for (const pair of headers.join(";").split(";")) {
        const [name, value] = pair.split("=", 2);
        if (name?.trim() !== own || value === undefined) continue;
        const found = live(cookies.get(hashOf(value.trim())));
        if (found !== undefined) return found.credential;
      }
      return undefined;
    },
    /** Revokes all links and cookies of a credential. */
    drop(credential: Credential) {
      for (const entries of [links, cookies]) {
        for (const [key, entry] of entries) if (entry.credential === credential) entries.delete(key);
      }
    },
  };
}
