import type { FetchLike, OAuthClientInformationMixed } from "@modelcontextprotocol/client";
import type { Authority } from "./authority.ts";
import { SignInFault } from "./faults.ts";
import type { Library } from "./library.ts";
import type { SignInServer } from "./server.ts";
import type { StoredClient, StoredSignIn, StoredTokens } from "./stored-sign-ins.ts";

/** Tinman, as the authorization server knows it. */
export interface SignInClient {
  readonly information: OAuthClientInformationMixed;
  /** To store: it was registered just now. */
  readonly registered?: StoredClient;
}

export interface ClientRequest {
  readonly server: SignInServer;
  readonly authority: Authority;
  readonly stored: StoredSignIn | undefined;
  readonly redirectUri: string;
  readonly now: number;
  readonly fetch: FetchLike;
}

/** The configured client, else the published one, else one that was registered, now or before. */
export async function clientFor(library: Library, request: ClientRequest): Promise<SignInClient> {
  const { server, authority, stored, redirectUri, now } = request;
  const configured = configuredClient(server);
  if (configured !== undefined) return { information: configured };
  const { clientMetadataUrl } = server.oauth;
  if (clientMetadataUrl !== undefined && authority.metadata?.client_id_metadata_document_supported === true) {
    return { information: { client_id: clientMetadataUrl } };
  }
  const known = stored?.client;
  const fits = known?.issuer === authority.issuer && known.redirectUri === redirectUri;
  if (known !== undefined && fits && !((known.secretExpiresAt ?? now + 1) <= now)) return { information: given(known) };
  const registered = await register(library, request);
  return { information: given(registered), registered };
}

/** The client that these tokens were issued to; `undefined` if the configuration has changed since. */
export function clientOfTokens(
  server: SignInServer,
  stored: StoredSignIn,
  tokens: StoredTokens,
): OAuthClientInformationMixed | undefined {
  const configured = configuredClient(server);
  if (configured !== undefined) return configured.client_id === tokens.clientId ? configured : undefined;
  if (server.oauth.clientMetadataUrl === tokens.clientId) return { client_id: tokens.clientId };
  const { client } = stored;
  return client?.id === tokens.clientId && client.issuer === tokens.issuer ? given(client) : undefined;
}

function configuredClient({ oauth }: SignInServer): OAuthClientInformationMixed | undefined {
  const { clientId, clientSecret, authMethod } = oauth;
  if (clientId === undefined) return undefined;
  return {
    client_id: clientId,
    ...(clientSecret === undefined ? {} : { client_secret: clientSecret }),
    ...(authMethod === undefined ? {} : { token_endpoint_auth_method: authMethod }),
  };
}

function given({ id, secret, authMethod }: StoredClient): OAuthClientInformationMixed {
  return {
    client_id: id,
    ...(secret === undefined ? {} : { client_secret: secret }),
    ...(authMethod === undefined ? {} : { token_endpoint_auth_method: authMethod }),
  };
}

async function register(library: Library, request: ClientRequest): Promise<StoredClient> {
  const { server, authority, redirectUri, fetch } = request;
  const { issuer, metadata, scope } = authority;
  if (metadata !== undefined && metadata.registration_endpoint === undefined) {
    throw new SignInFault(`${issuer} registers no clients. Set oauth.clientId for ${server.name}`);
  }
  const methods = metadata?.token_endpoint_auth_methods_supported ?? [];
  // A program on the user's machine can't keep a secret, so it asks for one only where it must.
  const method = server.oauth.authMethod ?? (methods.length === 0 || methods.includes("none") ? "none" : undefined);
  const clientMetadata = library.resolveClientMetadata({
    redirectUrl: redirectUri,
    clientMetadata: {
      client_name: "Tinman",
      redirect_uris: [redirectUri],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      ...(method === undefined ? {} : { token_endpoint_auth_method: method }),
    },
  });
  const options = { clientMetadata, ...(scope === undefined ? {} : { scope }), fetchFn: fetch };
  const full =
    metadata === undefined
      ? await library.registerClient(issuer, options).catch(() => {
          // The server has no metadata, and this was a guess.
          throw new SignInFault(`${server.name} does not describe how to sign in`);
        })
      : await library.registerClient(issuer, { ...options, metadata });
  const { client_secret: secret, client_secret_expires_at: expires = 0, token_endpoint_auth_method: authMethod } = full;
  return {
    issuer,
    id: full.client_id,
    redirectUri,
    ...(secret === undefined ? {} : { secret }),
    ...(secret === undefined || expires === 0 ? {} : { secretExpiresAt: expires * 1000 }),
    ...(authMethod === undefined ? {} : { authMethod }),
  };
}
