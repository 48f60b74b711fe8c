import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { deferred } from "../../async/promises.ts";
import type { PendingSignIn } from "../../engine/servers/server-state.ts";
import { checkedAddress, checkedCallback, isLoopbackAddress } from "./addresses.ts";
import { findAuthority } from "./authority.ts";
import { boundedFetch, type FetchParts } from "./bounded-fetch.ts";
import { type Callback, openCallback } from "./callback.ts";
import { askForChallenge } from "./challenge.ts";
import { clientFor } from "./client.ts";
import { detail, isClientUnknown, reasonOf, SignInFault } from "./faults.ts";
import { loadLibrary } from "./library.ts";
import type { Challenge, SignInAnswer, SignInEnd, SignInServer } from "./server.ts";
import { withoutClient } from "./stored-sign-ins.ts";
import type { TokenStore } from "./token-store.ts";
import { tokensForCode } from "./tokens.ts";

const limitMinutes = 5;

export interface RunningParts extends FetchParts {
  readonly server: SignInServer;
  /** `undefined`: the server was not asked yet. */
  readonly challenge: Challenge | undefined;
  readonly store: TokenStore;
}

/** One sign-in, from asking the server for its authorization server to stored tokens. */
export interface RunningSignIn {
  /** Never rejects. */
  readonly ended: Promise<SignInEnd>;
  /** Resolves when the user can sign in; `undefined` if the sign-in ends first. */
  readonly ready: Promise<PendingSignIn | undefined>;
  pending(): PendingSignIn | undefined;
  /** Takes the first answer with the right state; `undefined` for others. */
  take(state: string, answer: SignInAnswer, isIssuerPassedOn: boolean): Promise<SignInEnd> | undefined;
  /** False if it has ended, or its tokens are being stored. */
  cancel(): boolean;
}

export function runSignIn(parts: RunningParts): RunningSignIn {
  const { server, clock, store } = parts;
  const { name } = server;
  const state = randomBytes(32).toString("base64url");
  const stop = new AbortController();
  const answered = deferred<{ readonly answer: SignInAnswer; readonly isIssuerPassedOn: boolean }>();
  const ready = deferred<PendingSignIn | undefined>();
  const secrets: (string | undefined)[] = [state, server.oauth.clientSecret];
  let stopped: SignInEnd | undefined;
  let pending: PendingSignIn | undefined;
  let isAnswered = false;
  let isStoring = false;

  function end(outcome: "cancelled" | "failed", message: string): boolean {
    if (stopped !== undefined || isStoring) return false;
    stopped = { outcome, message };
    stop.abort();
    return true;
  }

  async function signIn(): Promise<void> {
    // A damaged store is reported before the user does anything.
    const stored = await store.read(server);
    const isLocal = isLoopbackAddress(server.url) || isLoopbackAddress(server.oauth.issuer);
    checkedAddress(server.url, `the address of ${name}`, true);
    const fetch = boundedFetch(parts, { allowsLoopback: isLocal, signal: stop.signal });
    const library = await loadLibrary();
    const challenge = parts.challenge ?? (await askForChallenge(library, parts, stop.signal));
    const grantedScope = stored?.tokens?.scope;
    const authority = await findAuthority(library, { server, challenge, grantedScope, allowsLoopback: isLocal, fetch });
    const callback = await callbackOf(stored?.client?.redirectUri);
    try {
      const { uri: redirectUri } = callback;
      const request = { server, authority, stored, redirectUri, now: clock.now(), fetch };
      const { information, registered } = await clientFor(library, request);
      secrets.push(information.client_secret);
      if (registered !== undefined) await store.update(server, (now) => ({ ...now, ...key, client: registered }));
      const { issuer, metadata, resource, scope } = authority;
      const { authorizationUrl, codeVerifier } = await library.startAuthorization(issuer, {
        ...(metadata === undefined ? {} : { metadata }),
        clientInformation: information,
        redirectUrl: redirectUri,
        state,
        ...(scope === undefined ? {} : { scope }),
        ...(resource === undefined ? {} : { resource }),
      });
      secrets.push(codeVerifier);
      const url = checkedAddress(authorizationUrl, "the address of the sign-in page", isLocal);
      if (stop.signal.aborted) return;
      pending = { url: url.href, message: `Authentication required for ${name}`, state };
      ready.resolve(pending);
      const { answer, isIssuerPassedOn } = await answered.promise;
      pending = undefined;
      if (stop.signal.aborted) return;
      if ("error" in answer) throw new SignInFault(refusal(answer));
      secrets.push(answer.code);
      const code = { code: answer.code, verifier: codeVerifier, redirectUri, client: information };
      const from = answer.issuer ?? (isIssuerPassedOn ? undefined : (false as const));
      const exchange = { server, authority, ...code, issuer: from, now: clock.now(), fetch };
      const tokens = await tokensForCode(library, exchange).catch(async (error: unknown) => {
        // The next sign-in registers again.
        if (isClientUnknown(error)) await store.update(server, (now) => now && withoutClient(now));
        throw error;
      });
      if (stop.signal.aborted) return;
      isStoring = true;
      secrets.push(tokens.access, tokens.refresh);
      await store.update(server, (now) => ({ ...now, ...key, tokens }));
    } finally {
      callback.close();
    }
  }

  const key = { name, url: server.url };

  async function callbackOf(lastUri: string | undefined): Promise<Callback> {
    const { callbackUri, oauth } = server;
    if (callbackUri !== undefined) return { uri: checkedCallback(callbackUri), close: () => {} };
    // Authorization servers that compare ports know the one of the registered client.
    const lastPort = isLoopbackAddress(lastUri) && lastUri !== undefined ? Number(new URL(lastUri).port) : undefined;
    return openCallback({ port: oauth.callbackPort, lastPort, take: (given, answer) => take(given, answer, true) });
  }

  function take(given: string, answer: SignInAnswer, isIssuerPassedOn: boolean): Promise<SignInEnd> | undefined {
    if (pending === undefined || isAnswered || !isSame(given, state)) return undefined;
    isAnswered = true;
    answered.resolve({ answer, isIssuerPassedOn });
    return ended;
  }

  async function run(): Promise<SignInEnd> {
    const late = `Sign-in to ${name} failed: it was not completed within ${limitMinutes} minutes.`;
    const forget = clock.after(limitMinutes * 60_000, () => void end("failed", late), { background: true });
    const refuse = (): void => answered.resolve({ answer: { error: "stopped" }, isIssuerPassedOn: true });
    stop.signal.addEventListener("abort", refuse);
    try {
      await signIn();
      return stopped ?? { outcome: "success", message: `Signed in to ${name}.` };
    } catch (error) {
      return stopped ?? { outcome: "failed", message: `Sign-in to ${name} failed: ${reasonOf(error, secrets)}.` };
    } finally {
      forget();
      pending = undefined;
      ready.resolve(undefined);
    }
  }

  const ended = run();
  return {
    ended,
    ready: ready.promise,
    pending: () => (isAnswered ? undefined : pending),
    take,
    cancel: () => end("cancelled", `Sign-in to ${name} was cancelled.`),
  };
}

function refusal({ error, description }: { readonly error: string; readonly description?: string }): string {
  if (error === "access_denied") return "access was denied";
  return `the authorization server refused it ${detail(error, description, [])}`;
}

/** In constant time. */
function isSame(a: string, b: string): boolean {
  const [first, second] = [a, b].map((text) => createHash("sha256").update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
