import { existsSync } from "node:fs";
import { mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Sandbox } from "../engine/containment.ts";
import type { Guards, Host, Processes, Search, Web } from "../engine/ports.ts";
import type { StartServerProgram } from "../engine/servers/server-program.ts";
import type { Network } from "../net/network.ts";
import { createFiles } from "./files/files.ts";
import type { HostSandbox } from "./sandbox/sandbox.ts";
import { sessionTemp } from "./sandbox/session-temp.ts";

const longestName = 60;

interface NodeHostOptions {
  /** For complete tool outputs, with a folder per session. */
  readonly outputsDir: string;
  /** Keeps a file's new text until it is in place. Default: beside the file. */
  readonly unfinishedDir?: string;
  /** For approved plans. Without it, saving one fails. */
  readonly specsDir?: string;
  /** Variables passed to commands although they look like credentials. */
  readonly passEnvironment?: readonly string[];
  /** Variables withheld from commands unless `passEnvironment` names them. */
  readonly hideEnvironment?: readonly string[];
  /** Our settings file for the ripgrep that commands run. */
  readonly ripgrepSettings?: string;
  readonly fetch?: {
    /** Private servers that can be fetched from: names, addresses, `host:port`, blocks, or `*`. */
    readonly allowPrivate?: readonly string[];
  };
  /** Default: the network that this process's environment configures. */
  openNetwork?(): Promise<Network>;
}

/** A safe file name for any text. */
function plainName(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^\.+/, "_");
  return plain === "" ? "_" : plain;
}

async function highestNumber(folder: string): Promise<number> {
  const numbers = (await readdir(folder)).map((name) => Number.parseInt(name, 10)).filter(Number.isSafeInteger);
  return numbers.reduce((highest, number) => Math.max(highest, number), 0);
}

function createOutputPaths(outputsDir: string): Host["outputPath"] {
  /** The last number used per folder, because a path is given out before its file exists. */
  const last = new Map<string, Promise<number>>();
  return async (sessionId, name) => {
    const named = join(outputsDir, plainName(sessionId).slice(0, 200));
    await mkdir(named, { recursive: true, mode: 0o700 });
    // Files are written by canonical paths only, and the user's folders may be links.
    const folder = await realpath(named);
    const number = (last.get(folder) ?? highestNumber(folder)).then((highest) => highest + 1);
    last.set(folder, number);
    try {
      return join(folder, `${await number}-${plainName(name).slice(0, longestName)}.txt`);
    } catch (error) {
      last.delete(folder);
      throw error;
    }
  };
}

/** Loads once, on first use: most runs need only a few of the host's parts. */
function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: Promise<T> | undefined;
  return () => {
    loaded ??= load();
    return loaded;
  };
}

function lazyProcesses(options: NodeHostOptions, sandbox: () => Promise<HostSandbox>): Processes {
  const load = lazily(async () => (await import("./processes/processes.ts")).createProcesses({ ...options, sandbox }));
  return {
    run: async (spec, signal) => (await load()).run(spec, signal),
    startBackground: async (spec) => (await load()).startBackground(spec),
  };
}

/** The usual programs that contain commands. */
const launchers: { readonly [Platform in NodeJS.Platform]?: readonly string[] } = {
  linux: ["/usr/bin/bwrap", "/bin/bwrap"],
  darwin: ["/usr/bin/sandbox-exec"],
};

/** Loads the sandbox with the first contained command. Before that, there is nothing to end. */
function lazySandbox(): { readonly load: () => Promise<HostSandbox>; readonly sandbox: Sandbox } {
  let loaded: HostSandbox | undefined;
  const load = lazily(async () => {
    loaded = (await import("./sandbox/sandbox.ts")).createHostSandbox();
    return loaded;
  });
  const sandbox: Sandbox = {
    status: async () => (await load()).status(),
    seemsToWork: () => (launchers[process.platform] ?? []).some((path) => existsSync(path)),
    tempOf: sessionTemp,
    hasServers: (sessionId) => loaded?.hasServers(sessionId) === true,
    endSession: async (sessionId) => loaded?.endSession(sessionId),
  };
  return { load, sandbox };
}

function lazySearch(): Search {
  const load = lazily(async () => (await import("./search/ripgrep.ts")).createSearch());
  return {
    grep: async (query, signal) => (await load()).grep(query, signal),
    glob: async (query, signal) => (await load()).glob(query, signal),
  };
}

function lazyGuards(): Guards {
  const load = () => import("./place-guards.ts");
  return {
    leadTo: async (places) => (await load()).leadTo(places),
    async fromEnvironment(places, home) {
      const { environmentPlaces } = await import("./environment/environment-places.ts");
      const { ownProgram } = await import("./environment/own-program.ts");
      const found = environmentPlaces(process.env, places, home);
      return { ...found, programs: [...found.programs, ownProgram()] };
    },
    way: async (path) => (await load()).way(path),
    repositories: async (paths, options) => (await load()).repositories(paths, options),
  };
}

async function ownNetwork(): Promise<Network> {
  return (await import("../net/network.ts")).createNetwork(process.env);
}

function lazyWeb({ fetch = {}, openNetwork = ownNetwork }: NodeHostOptions): Web {
  const load = lazily(async () => {
    const [{ createWeb }, network] = await Promise.all([import("./web/web.ts"), openNetwork()]);
    return createWeb({ network, ...fetch });
  });
  return { get: async (url, options, signal) => (await load()).get(url, options, signal) };
}

function lazyPdfPages(): Host["pdfPages"] {
  const load = lazily(async () => (await import("./pdf/pdf-pages.ts")).createPdfPages());
  return async function* pdfPages(...asked) {
    yield* (await load())(...asked);
  };
}

function lazySavePlan({ specsDir }: NodeHostOptions): Host["savePlan"] {
  return async (plan) => {
    if (specsDir === undefined) throw new Error("no folder for plans is configured");
    return (await import("./files/save-plan.ts")).savePlan(specsDir, plan);
  };
}

function lazyServerStarter(options: NodeHostOptions, sandbox: () => Promise<HostSandbox>): StartServerProgram {
  const load = lazily(async () =>
    (await import("./processes/server-process.ts")).createServerStarter({ ...options, sandbox }),
  );
  return async (spec) => (await load())(spec);
}

export interface NodeHost extends Host {
  readonly startServer: StartServerProgram;
}

/** This process's machine. */
export function createNodeHost(options: NodeHostOptions): NodeHost {
  const { load, sandbox } = lazySandbox();
  return {
    files: createFiles(options.unfinishedDir === undefined ? {} : { unfinishedDir: options.unfinishedDir }),
    processes: lazyProcesses(options, load),
    sandbox,
    search: lazySearch(),
    web: lazyWeb(options),
    lookUp: async (lookup) => (await import("./look-up.ts")).lookUp(lookup),
    guards: lazyGuards(),
    pdfPages: lazyPdfPages(),
    outputPath: createOutputPaths(options.outputsDir),
    savePlan: lazySavePlan(options),
    startServer: lazyServerStarter(options, load),
  };
}
