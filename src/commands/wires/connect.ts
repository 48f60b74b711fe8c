import { readFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import { ownHomes } from "../../config/own-homes.ts";
import { defaultAddress, isLoopback, parseAddress } from "../../connect/address.ts";
import { type ConnectOptions, runConnect } from "../../connect/connect.ts";
import type { Target } from "../../connect/socket.ts";
import { AgentError } from "../../engine/errors.ts";
import type { Io } from "../../frontends/front-end.ts";
import { errorMessage } from "../../text/values.ts";
import type { GivenConnect } from "./connect-options.ts";

export async function connect(given: GivenConnect, io: Io): Promise<number> {
  if (given.after !== undefined && given.resume === undefined) throw new AgentError("usage", "--after needs --resume.");
  const url = parseAddress(given.address ?? defaultAddress);
  const target = { url, ...(await findToken(given.tokenFile, url)) };
  if (target.token !== undefined && url.protocol === "ws:" && !isLoopback(url))
    await io.stderr.write(`tinman: The token is sent to ${url.host} unencrypted. Use wss:// to encrypt it.\n`);
  return runConnect(io, {
    target,
    start: { userId: given.user ?? loginName(), sessionParams: await sessionParams(given) },
    ...(given.resume !== undefined && {
      resume: { sessionId: given.resume, ...(given.after !== undefined && { afterSeq: given.after }) },
    }),
    isJson: given.outputFormat === "json",
    ...(given.toolCommand !== undefined && { toolCommand: given.toolCommand }),
    input: openInput(),
  });
}

function openInput(): ConnectOptions["input"] {
  const { stdin, stderr } = process;
  return stdin.isTTY === true ? { terminal: { input: stdin, output: stderr } } : { lines: stdin };
}

/** The machine's own token is sent to this machine only. */
async function findToken(file: string | undefined, url: URL): Promise<Omit<Target, "url">> {
  const given = process.env.TINMAN_TOKEN;
  const own = join(ownHomes(process.env).own, "serve-token");
  if (file !== undefined) {
    const text = await readText(file, "--token-file");
    return { token: checked(text, file), tokenWords: `The token came from ${file}.` };
  }
  if (given !== undefined && given !== "")
    return { token: checked(given, "TINMAN_TOKEN"), tokenWords: "The token came from the variable TINMAN_TOKEN." };
  const text = isLoopback(url) ? await readFile(own, "utf8").catch(() => undefined) : undefined;
  if (text !== undefined) return { token: checked(text, own), tokenWords: `The token came from ${own}.` };
  return {
    token: undefined,
    tokenWords: `No token given. Set TINMAN_TOKEN, or name a file with --token-file. On the server's machine, the token is in ${own}.`,
  };
}

function checked(text: string, source: string): string {
  const token = text.trim();
  if (!/^[\x21-\x7e]+$/.test(token)) throw new AgentError("usage", `No token in ${source}.`);
  return token;
}

async function readText(path: string, option: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new AgentError("usage", `${option}: ${errorMessage(error)}`);
  }
}

async function sessionParams({ language, model, context, tools, toolExecution }: GivenConnect) {
  return {
    ...(language !== undefined && { language }),
    ...(model !== undefined && { model }),
    ...(context !== undefined && { context }),
    ...(tools !== undefined && { tools: await readTools(tools) }),
    ...(toolExecution !== undefined && { toolExecution }),
  };
}

async function readTools(path: string): Promise<readonly unknown[]> {
  const text = await readText(path, "--tools");
  let tools: unknown;
  try {
    tools = JSON.parse(text);
  } catch {
    throw new AgentError("usage", `--tools: ${path} is not valid JSON.`);
  }
  if (!Array.isArray(tools) || !tools.every((tool) => typeof tool?.name === "string"))
    throw new AgentError("usage", `--tools: ${path} must be a list of objects with a "name".`);
  return tools;
}

function loginName(): string {
  try {
    return userInfo().username || "local";
  } catch {
    // Containers run users without a name.
    return "local";
  }
}
