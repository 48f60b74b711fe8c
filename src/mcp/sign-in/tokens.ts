import type {
  AuthorizationServerMetadata,
  FetchLike,
  OAuthClientInformationMixed,
  OAuthTokens,
} from "@modelcontextprotocol/client";
import type { Authority } from "./authority.ts";
import { SignInFault } from "./faults.ts";
import type { Library } from "./library.ts";
import type { SignInServer } from "./server.ts";
import type { StoredTokens } from "./stored-sign-ins.ts";

interface Exchange {
  readonly server: SignInServer;
  readonly client: OAuthClientInformationMixed;
  readonly now: number;
  readonly fetch: FetchLike;
}

export interface CodeExchange extends Exchange {
  readonly authority: Authority;
  readonly code: string;
  readonly verifier: string;
  readonly redirectUri: string;
  /** The `iss` parameter of the answer; `false` where the client does not pass it on. */
  readonly issuer: string | undefined | false;
}

export async function tokensForCode(library: Library, exchange: CodeExchange): Promise<StoredTokens> {
  const { server, authority, client, code, verifier, redirectUri, issuer, now, fetch } = exchange;
  const metadata = ownMethod(authority.metadata, server, issuer === false);
  const { resource } = authority;
  const tokens = await library.exchangeAuthorization(authority.issuer, {
    ...(metadata === undefined ? {} : { metadata }),
    clientInformation: client,
    authorizationCode: code,
    codeVerifier: verifier,
    redirectUri,
    ...(issuer === false || issuer === undefined ? {} : { iss: issuer }),
    ...(resource === undefined ? {} : { resource }),
    fetchFn: fetch,
  });
  const about = { issuer: authority.issuer, clientId: client.client_id };
  return stored(tokens, now, { ...about, ...(resource === undefined ? {} : { resource }) });
}

export interface RefreshExchange extends Exchange {
  readonly tokens: StoredTokens;
  readonly refresh: string;
  readonly metadata: AuthorizationServerMetadata | undefined;
}

export async function refreshedTokens(library: Library, exchange: RefreshExchange): Promise<StoredTokens> {
  const { server, client, tokens, refresh, now, fetch } = exchange;
  const { issuer, clientId, resource, scope } = tokens;
  const metadata = ownMethod(exchange.metadata, server, false);
  const fresh = await library.refreshAuthorization(issuer, {
    ...(metadata === undefined ? {} : { metadata }),
    clientInformation: client,
    refreshToken: refresh,
    ...(resource === undefined ? {} : { resource }),
    fetchFn: fetch,
  });
  const about = { issuer, clientId, ...(resource === undefined ? {} : { resource }) };
  return stored(fresh, now, { ...about, ...(scope === undefined ? {} : { scope }) });
}

/** The configured method wins over the metadata's list. */
function ownMethod(
  metadata: AuthorizationServerMetadata | undefined,
  { oauth }: SignInServer,
  isIssuerUnknown: boolean,
): AuthorizationServerMetadata | undefined {
  if (metadata === undefined) return undefined;
  return {
    ...metadata,
    ...(oauth.authMethod === undefined ? {} : { token_endpoint_auth_methods_supported: [oauth.authMethod] }),
    ...(isIssuerUnknown ? { authorization_response_iss_parameter_supported: false } : {}),
  };
}

function stored(
  tokens: OAuthTokens,
  now: number,
  about: Pick<StoredTokens, "issuer" | "clientId" | "resource" | "scope">,
): StoredTokens {
  if (tokens.token_type.toLowerCase() !== "bearer") throw new SignInFault("the tokens are not bearer tokens");
  // It goes into a header.
  if (!/^[\x21-\x7e]+$/.test(tokens.access_token)) throw new SignInFault("the access token has invalid characters");
  const { expires_in: seconds, refresh_token: refresh, scope } = tokens;
  return {
    ...about,
    access: tokens.access_token,
    ...(refresh === undefined ? {} : { refresh }),
    ...(scope === undefined ? {} : { scope }),
    issuedAt: now,
    ...(seconds === undefined || !(seconds > 0) ? {} : { expiresAt: now + seconds * 1000 }),
  };
}
