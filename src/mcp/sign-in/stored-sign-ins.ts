import { AgentError } from "../../engine/errors.ts";
import { type Fields, isRecord, isText, listOf, numberOf, parsedJson, textOf } from "../../text/values.ts";

/** Tinman as a client that an authorization server has registered. */
export interface StoredClient {
  readonly issuer: string;
  readonly id: string;
  readonly secret?: string;
  /** Milliseconds since 1970. */
  readonly secretExpiresAt?: number;
  readonly authMethod?: string;
  readonly redirectUri: string;
}

/** Bound to the authorization server, the client and the resource that they were issued for. */
export interface StoredTokens {
  readonly issuer: string;
  readonly clientId: string;
  readonly resource?: string;
  readonly access: string;
  readonly refresh?: string;
  readonly scope?: string;
  /** Milliseconds since 1970. */
  readonly issuedAt: number;
  readonly expiresAt?: number;
}

export interface StoredSignIn {
  readonly name: string;
  readonly url: string;
  readonly client?: StoredClient;
  readonly tokens?: StoredTokens;
}

/** `undefined` if nothing is left. */
export function withoutTokens({ tokens: _, ...rest }: StoredSignIn): StoredSignIn | undefined {
  return rest.client === undefined ? undefined : rest;
}

export function withoutClient({ client: _, ...rest }: StoredSignIn): StoredSignIn | undefined {
  return rest.tokens === undefined ? undefined : rest;
}

const version = 1;

export function encodeSignIns(servers: readonly StoredSignIn[]): string {
  return `${JSON.stringify({ version, servers }, undefined, 2)}\n`;
}

/** Throws `config_invalid` for anything that this version did not write, so that it is never overwritten. */
export function decodeSignIns(text: string, path: string): StoredSignIn[] {
  const file = parsedJson(text);
  if (isRecord(file) && typeof file.version === "number" && file.version > version) {
    throw new AgentError("config_invalid", `${path} was written by a later version of Tinman. Update Tinman.`);
  }
  const servers = isRecord(file) && file.version === version ? listOf(file.servers).map(signInOf) : [undefined];
  if (!isRecord(file) || !Array.isArray(file.servers) || !servers.every((entry) => entry !== undefined)) {
    throw new AgentError("config_invalid", `${path} is damaged. Delete it, and sign in again.`);
  }
  return servers;
}

function signInOf(value: unknown): StoredSignIn | undefined {
  if (!isRecord(value) || !isText(value.name) || !isText(value.url)) return undefined;
  const client = clientOf(value.client);
  const tokens = tokensOf(value.tokens);
  if (client === null || tokens === null) return undefined;
  return {
    name: value.name,
    url: value.url,
    ...(client === undefined ? {} : { client }),
    ...(tokens === undefined ? {} : { tokens }),
  };
}

/** `null` if damaged. */
function clientOf(value: unknown): StoredClient | undefined | null {
  if (value === undefined) return undefined;
  if (!isRecord(value)) return null;
  const { issuer, id, redirectUri } = value;
  if (!isText(issuer) || !isText(id) || !isText(redirectUri)) return null;
  return { issuer, id, redirectUri, ...texts(value, "secret", "authMethod"), ...numbers(value, "secretExpiresAt") };
}

function tokensOf(value: unknown): StoredTokens | undefined | null {
  if (value === undefined) return undefined;
  if (!isRecord(value)) return null;
  const { issuer, clientId, access, issuedAt } = value;
  if (!isText(issuer) || !isText(clientId) || !isText(access) || typeof issuedAt !== "number") return null;
  const others = { ...texts(value, "resource", "refresh", "scope"), ...numbers(value, "expiresAt") };
  return { issuer, clientId, access, issuedAt, ...others };
}

function texts<Key extends string>(fields: Fields, ...keys: readonly Key[]): { [name in Key]?: string } {
  const found: { [name in Key]?: string } = {};
  for (const key of keys) {
    const text = textOf(fields[key]);
    if (text !== undefined) found[key] = text;
  }
  return found;
}

function numbers<Key extends string>(fields: Fields, ...keys: readonly Key[]): { [name in Key]?: number } {
  const found: { [name in Key]?: number } = {};
  for (const key of keys) {
    const number = numberOf(fields[key]);
    if (number !== undefined) found[key] = number;
  }
  return found;
}
