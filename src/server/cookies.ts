import type { Credential } from "./credentials.ts";
import { hashOf, newToken } from "./token-file.ts";

const linkMs = 60_000;
const cookieMs = 30 * 24 * 3_600_000;
/** More would be no use to anybody; the oldest goes. That of the same credential first: nobody can push out others. */
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
 * A browser gets in by a link that works once, and stays in by the cookie that it gets there. Kept in memory by their
 * hashes, so that how long looking one up takes says nothing about any of them.
 */
export function createCookies({
  port,
  now = Date.now,
  random,
}: {
  /** Where the server listens: browsers keep one jar for all ports of a host, so that the name must tell servers apart. */
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
    /** A code that stands for this credential, once, for a minute. */
    link: (credential: Credential, origin: string) =>
      add(links, mostLinks, { credential, origin, until: now() + linkMs }),
    /** The `Set-Cookie` for a code; `undefined` when it was used, is too old, or its token is gone. */
    enter(code: string): string | undefined {
      const key = hashOf(code);
      const found = live(links.get(key));
      links.delete(key);
      if (found === undefined) return undefined;
      const secret = add(cookies, mostCookies, { ...found, until: now() + cookieMs });
      const secure = found.origin.startsWith("https:") ? "; Secure" : "";
      return `${cookieName()}=${secret}; Path=/; Max-Age=${cookieMs / 1_000}; HttpOnly; SameSite=Strict${secure}`;
    },
    /** Whose cookie this is, from the values of the `Cookie` header. */
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
    /** Nothing that stood for it does any longer. */
    drop(credential: Credential) {
      for (const entries of [links, cookies]) {
        for (const [key, entry] of entries) if (entry.credential === credential) entries.delete(key);
      }
    },
  };
}
