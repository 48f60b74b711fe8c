import { createHash, randomBytes } from "node:crypto";

/** A secret that nobody guesses: 32 random bytes. */
export function newToken(random: (bytes: number) => Buffer = randomBytes): string {
  return random(32).toString("base64url");
}

/** What is kept of a token: whoever reads it does not know the token. As `serve.users` has it. */
export function hashOf(token: string): string {
  return `sha256:${createHash("sha256").update(token).digest("hex")}`;
}
