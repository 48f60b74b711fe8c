import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import { hashOf, newToken } from "../../server/token-file.ts";
import type { GivenServeToken } from "./serve-options.ts";

/** Prints a new token. The token is not stored; only its hash goes into the configuration. */
export async function printServeToken({ json }: GivenServeToken, io: Io): Promise<number> {
  const token = newToken();
  const hash = hashOf(token);
  await io.stdout.write(json ? `${JSON.stringify({ token, hash })}\n` : `token  ${token}\nhash   ${hash}\n`);
  return exitCodes.success;
}
