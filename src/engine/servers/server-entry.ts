/** How a server is reached. */
export type ServerKind = "stdio" | "http" | "sse";

export interface ServerOAuth {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly scopes?: readonly string[];
  readonly resource?: string | false;
  readonly issuer?: string;
  readonly clientMetadataUrl?: string;
  readonly callbackPort?: number;
  readonly authMethod?: "none" | "client_secret_basic" | "client_secret_post";
}

/** How a server is started or reached. */
export type ServerEntry = (
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** It runs in the sandbox. */
      readonly contained?: boolean;
    }
  | {
      readonly kind: "http" | "sse";
      readonly url: string;
      readonly headers: Readonly<Record<string, string>>;
      /** `false`: never sign in. */
      readonly oauth?: ServerOAuth | false;
    }
) & {
  /** Configured, but not used until enabled. */
  readonly isDisabled?: boolean;
  /** Classes by the server's tool name. They replace our own judgement. */
  readonly tools?: Readonly<Record<string, "read" | "low" | "medium" | "high">>;
};

export interface NamedServer {
  readonly name: string;
  readonly entry: ServerEntry;
}

/** A server that a client named but that cannot be used. */
export interface UnusableServer {
  readonly name: string;
  readonly kind: ServerKind;
  /** One sentence. */
  readonly problem: string;
}

const longestName = 64;

/** Why a server cannot have this name: completes "the name …". */
export function serverNameFault(name: string): string | undefined {
  if (name === "") return "must not be empty";
  if (name.length > longestName) return `must have at most ${longestName} characters`;
  if (!/^[A-Za-z0-9._-]+$/.test(name)) return "can only have letters, digits, dots, - and _";
  if (name.startsWith(".")) return "must not start with a dot";
  // A tool is named <server>___<tool>, and a pattern a___* must not fit the server a_.
  if (name.includes("___")) return "must not contain ___";
  if (name.endsWith("_")) return "must not end with _";
  return name === "__proto__" ? "cannot be used" : undefined;
}
