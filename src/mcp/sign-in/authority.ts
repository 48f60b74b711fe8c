import type {
  AuthorizationServerMetadata,
  FetchLike,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";
import { checkedAddress } from "./addresses.ts";
import { SignInFault } from "./faults.ts";
import type { Library } from "./library.ts";
import type { Challenge, SignInServer } from "./server.ts";

/** Who can give tokens for a server, and for what. */
export interface Authority {
  /** The identifier that tokens are bound to. */
  readonly issuer: string;
  readonly metadata?: AuthorizationServerMetadata;
  /** The resource indicator of requests. */
  readonly resource?: string;
  readonly scope?: string;
}

export interface Discovery {
  readonly server: SignInServer;
  readonly challenge: Challenge;
  /** The scopes of the present tokens. */
  readonly grantedScope?: string | undefined;
  readonly allowsLoopback: boolean;
  readonly fetch: FetchLike;
}

/** Asks the server for its authorization server, and that one for its metadata. */
export async function findAuthority(library: Library, discovery: Discovery): Promise<Authority> {
  const { server, allowsLoopback, fetch } = discovery;
  const protection = await protectionOf(library, discovery);
  const named = server.oauth.issuer ?? protection?.authorization_servers?.[0];
  const issuer = named ?? new URL("/", server.url).href;
  checkedAddress(issuer, "the authorization server's address", allowsLoopback);
  const metadata = await metadataOf(library, issuer, allowsLoopback, fetch);
  // Servers of the first protocol version had no metadata, and fixed paths.
  if (metadata === undefined && named !== undefined) throw new SignInFault(`${issuer} has no metadata for signing in`);
  const resource = resourceOf(server, protection);
  const scope = scopeOf(library, discovery, protection, metadata);
  return {
    issuer: metadata?.issuer ?? issuer,
    ...(metadata === undefined ? {} : { metadata }),
    ...(resource === undefined ? {} : { resource }),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** Of an authorization server that is known by its identifier. The library compares it with the metadata. */
export async function metadataOf(
  library: Library,
  issuer: string,
  allowsLoopback: boolean,
  fetch: FetchLike,
): Promise<AuthorizationServerMetadata | undefined> {
  const metadata = await library.discoverAuthorizationServerMetadata(issuer, { fetchFn: fetch });
  if (metadata === undefined) return undefined;
  checkedAddress(metadata.authorization_endpoint, "the authorization endpoint", allowsLoopback);
  checkedAddress(metadata.token_endpoint, "the token endpoint", allowsLoopback);
  if (metadata.registration_endpoint !== undefined) {
    checkedAddress(metadata.registration_endpoint, "the registration endpoint", allowsLoopback);
  }
  return metadata;
}

async function protectionOf(
  library: Library,
  { server, challenge, fetch }: Discovery,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  const { resourceMetadataUrl } = challenge;
  try {
    const about = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
    const protection = await library.discoverOAuthProtectedResourceMetadata(server.url, about, fetch);
    checkResource(library, server, protection.resource);
    return protection;
  } catch (error) {
    if (error instanceof SignInFault) throw error;
    // The library's errors don't tell missing metadata from others. Without them, the server is its own authority.
    return undefined;
  }
}

/** Tokens for another resource would let this server act there. */
function checkResource(library: Library, server: SignInServer, resource: string): void {
  if (resource === server.oauth.resource) return;
  const requestedResource = library.resourceUrlFromServerUrl(server.url);
  if (URL.canParse(resource) && library.checkResourceAllowed({ requestedResource, configuredResource: resource }))
    return;
  const origin = URL.canParse(resource) ? new URL(resource).origin : "an invalid address";
  throw new SignInFault(`${server.name} asks for access to another server (${origin})`);
}

function resourceOf(server: SignInServer, protection: OAuthProtectedResourceMetadata | undefined): string | undefined {
  const { resource } = server.oauth;
  if (resource === false) return undefined;
  // As text, because authorization servers compare it as text, and `URL` adds a slash to an origin.
  return resource ?? protection?.resource;
}

function scopeOf(
  library: Library,
  { server, challenge, grantedScope }: Discovery,
  protection: OAuthProtectedResourceMetadata | undefined,
  metadata: AuthorizationServerMetadata | undefined,
): string | undefined {
  const { scopes } = server.oauth;
  if (scopes !== undefined) return scopes.length === 0 ? undefined : scopes.join(" ");
  const kept = challenge.isStepUp === true ? grantedScope : undefined;
  const scope = library.computeScopeUnion(kept, challenge.scope) ?? protection?.scopes_supported?.join(" ");
  const offline = "offline_access";
  if (!scope || scope.split(" ").includes(offline)) return scope || undefined;
  return metadata?.scopes_supported?.includes(offline) === true ? `${scope} ${offline}` : scope;
}
