import type { ServerOAuth } from "../../engine/servers/server-entry.ts";
import type { SignInOutcome } from "../../engine/servers/server-state.ts";

/** A server that the user can sign in to. */
export interface SignInServer {
  readonly name: string;
  readonly url: string;
  readonly oauth: ServerOAuth;
  /** Where the client receives answers. Default: a port of this machine. */
  readonly callbackUri?: string;
}

/** What a server said when it refused a request. */
export interface Challenge {
  readonly resourceMetadataUrl?: URL;
  readonly scope?: string;
  /** The tokens are valid, but need more scopes. */
  readonly isStepUp?: boolean;
}

export type SignInAnswer =
  /** `issuer`: the `iss` parameter, if the client knows it. */
  { readonly code: string; readonly issuer?: string } | { readonly error: string; readonly description?: string };

export interface SignInEnd {
  readonly outcome: SignInOutcome;
  /** One sentence. */
  readonly message: string;
}
