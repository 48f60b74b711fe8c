import { stat } from "node:fs/promises";
import { isAbsolute, join, resolve, sep } from "node:path";
import { createInterface } from "node:readline/promises";
import { printable } from "../../config/check/visible.ts";
import { AgentError } from "../../engine/errors.ts";
import { exitCodes } from "../../frontends/exit-codes.ts";
import type { Io } from "../../frontends/front-end.ts";
import { variablesIn } from "../../mcp/entries/expand-entry.ts";
import type { WrittenServer } from "../../mcp/entries/sourced-server.ts";
import { addTrust } from "../../mcp/entries/trust.ts";
import type { GivenTrust } from "./mcp-options.ts";
import { serversHere, word } from "./servers-here.ts";

type Offered = WrittenServer & Required<Pick<WrittenServer, "offer">>;

/**
 * `tinman mcp trust`: shows exactly what a repository's servers would start or reach, and stores the user's yes. What is
 * stored is what was shown, even if the file changes meanwhile.
 */
export async function trustServers(name: string | undefined, { yes }: GivenTrust, io: Io): Promise<number> {
  const { sources, home, cwd } = await serversHere();
  const { servers, problems } = await sources.written(cwd);
  for (const problem of problems) await io.stderr.write(`tinman: ${printable(problem)}\n`);
  const offered = servers.filter((server): server is Offered => server.offer !== undefined);
  const waiting = offered.filter(({ offer }) => offer.trust !== "trusted");
  const chosen = name === undefined ? waiting : offered.filter((server) => server.name === name);
  if (name !== undefined && chosen.length === 0) {
    throw new AgentError("usage", `No .mcp.json here names an MCP server ${JSON.stringify(name)}.`);
  }
  if (chosen.length === 0) {
    const what =
      offered.length === 0 ? "No .mcp.json here names MCP servers." : "All servers of .mcp.json are trusted.";
    await io.stdout.write(`${what}\n`);
    return exitCodes.success;
  }
  const asks = process.stdin.isTTY === true && io.stdout.isTerminal;
  for (const server of chosen) {
    await io.stdout.write(await description(server));
    if (server.offer.trust === "trusted") {
      await io.stdout.write("It is trusted already.\n");
      continue;
    }
    if (yes !== true && !asks) continue;
    if (yes !== true && !(await confirmed(server.name))) {
      await io.stdout.write(`${server.name} is not trusted.\n`);
      continue;
    }
    await addTrust(home, [{ name: server.name, entry: server.entry, folder: server.offer.folder }]);
    await io.stdout.write(`${server.name} is trusted in ${printable(server.offer.folder)}, until its entry changes.\n`);
  }
  if (yes === true || asks || chosen.every(({ offer }) => offer.trust === "trusted")) return exitCodes.success;
  throw new AgentError(
    "usage",
    "Nothing was trusted, because there is no terminal to ask. Add --yes to trust what is shown.",
  );
}

async function confirmed(name: string): Promise<boolean> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  try {
    return /^y(es)?$/i.test((await terminal.question(`Trust ${name}? [y/N] `)).trim());
  } catch {
    // Ctrl+C, or the input has ended.
    return false;
  } finally {
    terminal.close();
  }
}

async function description({ name, entry, offer }: Offered): Promise<string> {
  const head = offer.trust === "changed" ? " has changed since you trusted it" : "";
  const rows: (readonly [string, string])[] = [];
  const add = (key: string, value: string): void => void rows.push([key, value]);
  if (entry.kind === "stdio") {
    add("command", word(entry.command));
    if (entry.args.length > 0) add("arguments", entry.args.map(word).join(" "));
    for (const [key, value] of Object.entries(entry.env)) add("environment", `${word(key)}=${word(value)}`);
    add("sandbox", entry.contained === true ? "yes" : "no: it runs with all your rights");
    const inside = await wordsInside(offer.folder, [entry.command, ...entry.args]);
    if (inside.length > 0) add("note", `${inside.map(word).join(", ")} can change with the repository`);
  } else {
    add("address", entry.url);
    if (entry.kind === "sse") add("type", "sse");
    for (const [key, value] of Object.entries(entry.headers)) add("header", `${key}: ${value}`);
    if (entry.oauth !== undefined) add("sign-in", entry.oauth === false ? "never" : JSON.stringify(entry.oauth));
  }
  const variables = variablesIn(entry);
  if (variables.length > 0) add("receives", `${variables.join(", ")} of your environment`);
  const lines = rows.map(([key, value]) => `  ${key.padEnd(12)} ${printable(value)}\n`);
  return `${name}${head} (${printable(join(offer.folder, ".mcp.json"))})\n${lines.join("")}`;
}

/** Words that name existing files below a folder. Trust does not cover their content. */
async function wordsInside(folder: string, words: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(
    words.map(async (text) => {
      if (!text.includes("/") && !text.includes(".")) return false;
      const path = isAbsolute(text) ? text : resolve(folder, text);
      if (!path.startsWith(`${folder}${sep}`)) return false;
      return (await stat(path).catch(() => undefined))?.isFile() === true;
    }),
  );
  return words.filter((_, index) => found[index] === true);
}
