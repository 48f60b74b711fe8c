import { access, constants, mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type CommandVariables, type Composition, compose, firstLine } from "../compose.ts";
import { ownHomes } from "../config/own-homes.ts";
import { failureOf } from "../engine/errors.ts";
import { makeFolders } from "../engine/make-folders.ts";
import type { Host } from "../engine/ports.ts";
import { exitCodes } from "../frontends/exit-codes.ts";
import type { Io } from "../frontends/front-end.ts";
import { terminalLine } from "../text/terminal-text.ts";

interface Check {
  readonly name: string;
  readonly status: "ok" | "warning" | "failed";
  readonly detail: string;
}

/** Checks by trial what Tinman needs from this machine. Exit code 1 if something is missing. */
export async function runDoctor(options: { readonly json?: boolean }, io: Io): Promise<number> {
  const composed = compose();
  composed.catch(() => undefined);
  const variables = composed.then(({ commandVariables }) => commandVariables()).then(sorted, () => undefined);
  const all = await Promise.all([
    check("node", true, async () => checkNode()),
    check("home", true, checkHome),
    check("configuration", true, async () => {
      const { homes, config, inspectModels } = await composed;
      (await inspectModels()).check(config.models ?? {});
      return `${join(homes.own, "config.yaml")} is valid`;
    }),
    check("model", true, async () => {
      const { models, defaultModel, inspectModels } = await composed;
      const { id } = (await models.resolve(defaultModel)).info;
      const problem = (await inspectModels()).status(id)?.problem;
      if (problem !== undefined) throw new Error(`default model ${id} is unusable. ${problem}`);
      return `${id} is the default`;
    }),
    check("sessions", true, async () => {
      const sessions = await (await composed).store.list();
      return `${sessions.length} sessions can be listed`;
    }),
    check("shell", true, async () => firstLine("sh", ["-c", "/bin/bash --version || echo /bin/sh"], process.cwd())),
    check("search", true, async () => checkSearch((await composed).host)),
    check("sandbox", false, async () => checkSandbox(await composed)),
    check("writes", false, async () => checkWrites(await (await composed).unfinishedWrites())),
    check("git", false, async () => firstLine("git", ["--version"], process.cwd())),
    check("mcp", false, async () => checkServers(await composed)),
  ]);
  // Without servers, their row would say nothing.
  const checks = all.filter(({ name, detail }) => name !== "mcp" || detail !== "");
  const environment = await variables;
  if (options.json === true)
    await io.stdout.write(`${JSON.stringify({ version: TINMAN_VERSION, checks, environment })}\n`);
  else {
    const rows = checks.map(
      ({ name, status, detail }) => `${status.padEnd(8)} ${name.padEnd(14)} ${terminalLine(detail)}\n`,
    );
    const shown = environment === undefined ? "" : variableLines(environment);
    await io.stdout.write(`tinman ${TINMAN_VERSION}\n${rows.join("")}${shown}`);
  }
  return checks.some(({ status }) => status === "failed") ? exitCodes.failed : exitCodes.success;
}

function sorted({ passed, withheld }: CommandVariables): CommandVariables {
  return {
    passed: passed.toSorted(),
    withheld: withheld.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

const reasons = {
  name: "its name",
  value: "its value",
  model: "named by a model's or MCP server's entry",
  tinman: "used by Tinman itself",
  meaning: "changes how commands behave",
} as const satisfies Record<CommandVariables["withheld"][number]["why"], string>;

/** Names only, because any value may be a secret. */
function variableLines({ passed, withheld }: CommandVariables): string {
  const rows = withheld.map(({ name, why, kind }) => {
    return `  ${terminalLine(name)}: ${reasons[why]}${kind === undefined ? "" : ` (${kind})`}\n`;
  });
  const names = passed.map(terminalLine).join(" ");
  return `\nVariables that commands get:\n  ${names}\n\nVariables that commands do not get:\n${rows.join("") || "  none\n"}`;
}

async function check(name: string, isNeeded: boolean, find: () => Promise<string>): Promise<Check> {
  try {
    return { name, status: "ok", detail: await find() };
  } catch (error) {
    const detail = failureOf(error).message.split("\n")[0] ?? "";
    return { name, status: isNeeded ? "failed" : "warning", detail };
  }
}

function checkNode(): string {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19))
    throw new Error(`${process.version} is too old. Install 20.19 or later`);
  return `${process.version} on ${process.platform} ${process.arch}`;
}

async function checkHome(): Promise<string> {
  const { own } = ownHomes(process.env);
  await makeFolders(own, (folder) => mkdir(folder, { mode: 0o700 }));
  await access(own, constants.R_OK | constants.W_OK);
  const probe = join(own, `.doctor-${process.pid}`);
  await writeFile(probe, "", { mode: 0o600 });
  await rm(probe);
  return `${own} is writable`;
}

async function checkSearch(host: Host): Promise<string> {
  const query = { folder: process.cwd(), include: ["*"], exclude: [], limit: 1 };
  await host.search.glob(query, AbortSignal.timeout(5_000));
  return "file search works";
}

async function checkSandbox({ host, sandboxMode }: Composition): Promise<string> {
  if (sandboxMode === "off") return "off, as configured: commands run with all your rights";
  const status = await host.sandbox.status();
  if (status.works && status.weakness !== undefined) throw new Error(status.weakness);
  if (status.works) return `commands are contained by ${status.mechanism}`;
  throw new Error(`${status.why} ${status.advice}`.trimEnd());
}

/** Empty without servers. Starts and reaches none. */
async function checkServers({ homes, config }: Composition): Promise<string> {
  const { createServerSources } = await import("../mcp/entries/sources.ts");
  const sources = createServerSources({ home: homes.own, config: config.mcp, env: process.env });
  const { servers, problems } = await sources.list(process.cwd());
  if (problems.length > 0) throw new Error(problems.join(" "));
  const used = servers.filter(({ entry }) => entry.isDisabled !== true).map(({ name }) => name);
  const off = servers.length - used.length;
  if (servers.length === 0) return "";
  return `servers: ${used.length === 0 ? "none" : used.join(", ")}${off === 0 ? "" : `; ${off} disabled`}`;
}

function checkWrites(unfinished: Awaited<ReturnType<Composition["unfinishedWrites"]>>): string {
  const [first, ...others] = unfinished;
  if (first === undefined) return "no interrupted writes to files";
  const more = others.length === 0 ? "" : ` (and ${others.length} more in that folder)`;
  const words = `${first.path} may be half-written; its complete new text is in ${first.copy}${more}`;
  throw new Error(terminalLine(words));
}
