import { isLoopbackAddress } from "./addresses.ts";
import { boundedFetch, type FetchParts } from "./bounded-fetch.ts";
import type { Library } from "./library.ts";
import type { Challenge, SignInServer } from "./server.ts";

export function challengeOf(library: Library, response: Response): Challenge {
  const { resourceMetadataUrl, scope } = library.extractWWWAuthenticateParams(response);
  return {
    ...(resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl }),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** Asks the server without tokens, so that it says what it needs. Rejects with `SignInFault` if it is unreachable. */
export async function askForChallenge(
  library: Library,
  parts: FetchParts & { readonly server: SignInServer },
  signal: AbortSignal,
): Promise<Challenge> {
  const { url } = parts.server;
  const fetch = boundedFetch(parts, { allowsLoopback: isLoopbackAddress(url), signal, headersOnly: true });
  const response = await fetch(url, { headers: { accept: "application/json, text/event-stream" } });
  return challengeOf(library, response);
}
