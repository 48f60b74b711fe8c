/** The part that the tests use. The package has no types of its own. */
declare module "oidc-provider" {
  import type { IncomingMessage, ServerResponse } from "node:http";

  interface AccessToken {
    readonly aud: string;
    readonly clientId: string;
    readonly scope: string;
    destroy(): Promise<void>;
  }

  export default class Provider {
    constructor(issuer: string, configuration: object);
    callback(): (request: IncomingMessage, response: ServerResponse) => void;
    readonly AccessToken: { find(token: string): Promise<AccessToken | undefined> };
    readonly Client: { find(id: string): Promise<unknown>; adapter: { destroy(id: string): Promise<void> } };
    on(event: string, listener: (...values: readonly { readonly message?: string }[]) => void): void;
  }
}
