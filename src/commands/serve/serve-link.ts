import { request } from "node:http";
import { ownHomes } from "../../config/own-homes.ts";
import { AgentError } from "../../engine/errors.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import { readToken, tokenFile } from "../../server/token-file.ts";
import type { GivenServeLink } from "./serve-options.ts";

const patienceMs = 10_000;
const mostBytes = 64 * 1024;

/** Asks a server on this machine for a link, using the machine's own token. */
export async function printServeLink(
  { host, port }: GivenServeLink,
  io: Io,
  env: NodeJS.ProcessEnv = process.env,
): Promise<number> {
  const path = tokenFile(ownHomes(env).own);
  const token = await readToken(path);
  if (token === undefined)
    throw new AgentError("usage", `${path} does not exist. tinman serve creates it when it starts.`);
  const { code, body } = await askForLink(host, port, token);
  const url = code === 200 ? urlIn(body) : undefined;
  if (url === undefined) throw new AgentError("usage", refusal(code, place(host, port)));
  await io.stdout.write(`${url}\n`);
  return exitCodes.success;
}

function askForLink(
  host: string,
  port: number,
  token: string,
): Promise<{ readonly code: number | undefined; readonly body: string }> {
  const failed = (error: Error): AgentError =>
    new AgentError("usage", `No server answers at ${place(host, port)}: ${error.message}`, { cause: error });
  return new Promise((resolve, reject) => {
    const asked = request({
      host: host.replace(/^\[(.*)\]$/, "$1"),
      port,
      path: "/links",
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
      agent: false,
      signal: AbortSignal.timeout(patienceMs),
    });
    asked.on("error", (error) => reject(failed(error)));
    asked.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => {
        body += text;
        if (body.length > mostBytes) asked.destroy(new Error("not an answer of tinman serve"));
      });
      response.on("error", (error) => reject(failed(error)));
      response.on("end", () => resolve({ code: response.statusCode, body }));
    });
    asked.end();
  });
}

/** Users open the URL in a browser, so it is validated. */
function urlIn(body: string): string | undefined {
  try {
    const { url } = JSON.parse(body) as { url?: unknown };
    return typeof url === "string" && /^https?:\/\/[\w.:[\]-]+\/enter\?code=[\w-]+$/.test(url) ? url : undefined;
  } catch {
    return undefined;
  }
}

function refusal(code: number | undefined, at: string): string {
  if (code === 401)
    return `The server at ${at} rejected this machine's token. It probably runs with another TINMAN_HOME.`;
  return `The server at ${at} is not tinman serve (it answered with ${code}).`;
}

function place(host: string, port: number): string {
  return `${host}, port ${port}`;
}
