import type { AgentError } from "../../engine/errors.ts";
import { terminalLine } from "../../text/terminal-text.ts";
import { textStart } from "../../text/text-cut.ts";
import { fieldsOf, isText, parsedJson, textOf } from "../../text/values.ts";

/** A failure whose message is safe to show. It has no `cause`: the library's errors can hold tokens. */
export class SignInFault extends Error {
  override readonly name = "SignInFault";
}

/** A server refuses requests until the user signs in. */
export class SignInNeeded extends Error {
  override readonly name = "SignInNeeded";
}

const longestText = 200;
const shortestSecret = 6;

/**
 * The reason of a failure, without secrets. The library's own messages can contain whole responses, so only those of known
 * kinds are used.
 */
export function reasonOf(error: unknown, secrets: readonly (string | undefined)[] = []): string {
  if (error instanceof SignInFault || isAgentError(error)) return error.message.replace(/\.$/, "");
  const { name, code, message, status, body, kind, expected } = fieldsOf(error);
  if (isText(code) && name === "OAuthError") {
    // What the library says about a body that is no OAuth error. The rest of its message is that body.
    const status = /^HTTP (\d{3}): Invalid OAuth error response/.exec(textOf(message) ?? "")?.[1];
    if (status !== undefined) return `the authorization server answered with HTTP ${status}`;
    return `the authorization server refused the request ${detail(code, textOf(message), secrets)}`;
  }
  if (isText(body) && typeof status === "number") {
    const answer = fieldsOf(parsedJson(body));
    const about = detail(textOf(answer.error) ?? `HTTP ${status}`, textOf(answer.error_description), secrets);
    return `the authorization server did not register Tinman as a client ${about}`;
  }
  if (kind === "metadata") return `the metadata of ${shown(textOf(expected) ?? "", secrets)} name another issuer`;
  if (kind === "authorization_response") return "the answer came from another authorization server";
  return "the authorization server's answer was not understood";
}

/** The authorization server does not know Tinman's client, any longer or for this. */
export function isClientUnknown(error: unknown): boolean {
  const { name, code } = fieldsOf(error);
  return name === "OAuthError" && (code === "invalid_client" || code === "unauthorized_client");
}

/** An error code of a server, with its description. */
export function detail(
  code: string,
  description: string | undefined,
  secrets: readonly (string | undefined)[],
): string {
  const text = shown(description ?? "", secrets);
  return text === "" || text === code ? `(${shown(code, secrets)})` : `(${shown(code, secrets)}: ${text})`;
}

function shown(text: string, secrets: readonly (string | undefined)[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret === undefined || secret.length < shortestSecret) continue;
    for (const form of [secret, encodeURIComponent(secret)]) clean = clean.replaceAll(form, "…");
  }
  return textStart(terminalLine(clean).trim(), longestText).replace(/\.$/, "");
}

function isAgentError(error: unknown): error is AgentError {
  return error instanceof Error && error.name === "AgentError";
}
