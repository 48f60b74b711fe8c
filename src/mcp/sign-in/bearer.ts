import { createHash } from "node:crypto";
import { join } from "node:path";
import type { AuthProvider } from "@modelcontextprotocol/client";
import { fieldsOf } from "../../text/values.ts";
import { isLoopbackAddress } from "./addresses.ts";
import { metadataOf } from "./authority.ts";
import { boundedFetch, type FetchParts } from "./bounded-fetch.ts";
import { challengeOf } from "./challenge.ts";
import { clientOfTokens } from "./client.ts";
import { isClientUnknown, reasonOf, SignInFault, SignInNeeded } from "./faults.ts";
import { loadLibrary } from "./library.ts";
import type { WithLock } from "./lock.ts";
import type { Challenge, SignInServer } from "./server.ts";
import { type StoredSignIn, type StoredTokens, withoutTokens } from "./stored-sign-ins.ts";
import type { TokenStore } from "./token-store.ts";
import { refreshedTokens } from "./tokens.ts";

/** Tokens are refreshed this long before they expire, or in the last tenth of a short life. */
const marginMs = 60_000;
/** Tokens younger than this are not refreshed again: the server refuses them for another reason. */
const youngMs = 5_000;

export interface BearerParts extends FetchParts {
  readonly server: SignInServer;
  readonly store: TokenStore;
  readonly home: string;
  readonly withLock: WithLock;
  /** The server refused a request. */
  challenged(challenge: Challenge): void;
}

/** The stored tokens, if they were issued for this server as it is configured now. */
export function usableTokens(server: SignInServer, stored: StoredSignIn | undefined): StoredTokens | undefined {
  const tokens = stored?.tokens;
  if (stored === undefined || tokens === undefined) return undefined;
  const { issuer, resource } = server.oauth;
  if (issuer !== undefined && issuer !== tokens.issuer) return undefined;
  if (typeof resource === "string" && resource !== tokens.resource) return undefined;
  return clientOfTokens(server, stored, tokens) === undefined ? undefined : tokens;
}

/** Gives a transport its access token, and refreshes it before it expires and when the server refuses it. */
export function createBearer(parts: BearerParts): AuthProvider {
  const { server, store, clock } = parts;
  let sent: string | undefined;

  const current = async () => usableTokens(server, await store.read(server));

  async function token(): Promise<string | undefined> {
    const tokens = await current();
    if (tokens === undefined) return undefined;
    const { access, refresh, issuedAt, expiresAt } = tokens;
    const now = clock.now();
    if (expiresAt === undefined) return access;
    if (now < expiresAt - Math.min(marginMs, (expiresAt - issuedAt) / 10)) return access;
    if (refresh === undefined) return now < expiresAt ? access : undefined;
    try {
      return (await refreshTokens(parts, access))?.access;
    } catch (error) {
      // The authorization server may be back before the tokens expire.
      if (now < expiresAt) return access;
      throw error;
    }
  }

  return {
    async token() {
      sent = await token();
      return sent;
    },
    async onUnauthorized({ response }) {
      parts.challenged(challengeOf(await loadLibrary(), response));
      const tokens = await current();
      if (tokens !== undefined && tokens.access !== sent) return;
      if (tokens !== undefined && sent !== undefined && clock.now() - tokens.issuedAt >= youngMs) {
        if ((await refreshTokens(parts, sent)) !== undefined) return;
      }
      throw new SignInNeeded(`${server.name} needs a sign-in.`);
    },
  };
}

/**
 * One process refreshes at a time: authorization servers revoke everything when a refresh token is used twice. `undefined` if a
 * sign-in is needed.
 */
async function refreshTokens(parts: BearerParts, stale: string): Promise<StoredTokens | undefined> {
  const { server, store, home, withLock } = parts;
  const name = createHash("sha256").update(`${server.name}\n${server.url}`).digest("hex").slice(0, 16);
  return withLock(join(home, "mcp"), `refresh-${name}`, async () => {
    const stored = await store.read(server);
    const tokens = usableTokens(server, stored);
    if (stored === undefined || tokens === undefined) return undefined;
    if (tokens.access !== stale) return tokens;
    const fresh = await refreshed(parts, stored, tokens);
    // A sign-out in the meantime wins.
    const saved = await store.update(server, (now) => {
      if (now === undefined || now.tokens?.access !== stale) return now;
      if ("tokens" in fresh) return { ...now, tokens: fresh.tokens };
      return fresh.isClientUnknown ? undefined : withoutTokens(now);
    });
    return usableTokens(server, saved);
  });
}

type Refreshed = { readonly tokens: StoredTokens } | { readonly isClientUnknown: boolean };

async function refreshed(parts: BearerParts, stored: StoredSignIn, tokens: StoredTokens): Promise<Refreshed> {
  const { server, clock } = parts;
  const client = clientOfTokens(server, stored, tokens);
  const { refresh } = tokens;
  if (client === undefined || refresh === undefined) return { isClientUnknown: false };
  const allowsLoopback = isLoopbackAddress(server.url) || isLoopbackAddress(server.oauth.issuer);
  const fetch = boundedFetch(parts, { allowsLoopback });
  try {
    const library = await loadLibrary();
    // Of the issuer that gave the tokens: the server can't name another one now.
    const metadata = await metadataOf(library, tokens.issuer, allowsLoopback, fetch);
    const exchange = { server, client, tokens, refresh, metadata, now: clock.now(), fetch };
    return { tokens: await refreshedTokens(library, exchange) };
  } catch (error) {
    const { name, code } = fieldsOf(error);
    if (name === "OAuthError" && code === "invalid_grant") return { isClientUnknown: false };
    if (isClientUnknown(error)) return { isClientUnknown: true };
    const reason = reasonOf(error, [refresh, tokens.access, client.client_secret]);
    throw new SignInFault(`The sign-in to ${server.name} could not be renewed: ${reason}.`);
  }
}
