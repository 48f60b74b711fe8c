import { mkdir, readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import type { Guards, Host, Processes, Search, Web } from "../engine/ports.ts";
import type { Network } from "../net/network.ts";
import { createFiles } from "./files/files.ts";

const longestName = 60;

export interface NodeHostOptions {
  /** Where whole outputs of tools go, in a folder for each session. */
  readonly outputsDir: string;
  /** Where the new text of a file is kept until it is in place; without it, beside the file. */
  readonly unfinishedDir?: string;
  /** Where approved plans go; without it none can be kept. */
  readonly specsDir?: string;
  /** Variables that commands get although their names or values look like credentials. */
  readonly passEnvironment?: readonly string[];
  /** Variables that commands never get unless they are passed. */
  readonly hideEnvironment?: readonly string[];
  /** A file of ours for the settings of the ripgrep that commands run. */
  readonly ripgrepSettings?: string;
  readonly fetch?: {
    /** Servers on this machine and in private networks that may be asked: names, addresses, `host:port`, blocks, or `*`. */
    readonly allowPrivate?: readonly string[];
  };
  /** How other machines are reached; without it, as this process's environment says. */
  openNetwork?(): Promise<Network>;
}

/** Something that is one plain name in a path, whatever came in. */
function plainName(text: string): string {
  const plain = text.replace(/[^A-Za-z0-9._-]+/g, "_").replace(/^\.+/, "_");
  return plain === "" ? "_" : plain;
}

async function highestNumber(folder: string): Promise<number> {
  const numbers = (await readdir(folder)).map((name) => Number.parseInt(name, 10)).filter(Number.isSafeInteger);
  return numbers.reduce((highest, number) => Math.max(highest, number), 0);
}

function createOutputPaths(outputsDir: string): Host["outputPath"] {
  /** The last number given out, by folder. A path may be given out long before there is a file. */
  const last = new Map<string, Promise<number>>();
  return async (sessionId, name) => {
    const named = join(outputsDir, plainName(sessionId).slice(0, 200));
    await mkdir(named, { recursive: true, mode: 0o700 });
    // The user's own folders may be links, and files are written by canonical paths only.
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

/** Most runs start no program, and then they do not pay for loading what it takes. */
function lazyProcesses(options: NodeHostOptions): Processes {
  const { passEnvironment = [], hideEnvironment = [], ripgrepSettings } = options;
  let loaded: Promise<Processes> | undefined;
  const load = (): Promise<Processes> => {
    loaded ??= import("./processes/processes.ts").then(({ createProcesses }) =>
      createProcesses({
        passEnvironment,
        hideEnvironment,
        ...(ripgrepSettings === undefined ? {} : { ripgrepSettings }),
      }),
    );
    return loaded;
  };
  return {
    run: async (spec, signal) => (await load()).run(spec, signal),
    startBackground: async (spec) => (await load()).startBackground(spec),
  };
}

function lazySearch(): Search {
  let loaded: Promise<Search> | undefined;
  const load = (): Promise<Search> => {
    loaded ??= import("./search/ripgrep.ts").then(({ createSearch }) => createSearch());
    return loaded;
  };
  return {
    grep: async (query, signal) => (await load()).grep(query, signal),
    glob: async (query, signal) => (await load()).glob(query, signal),
  };
}

function lazyGuards(): Guards {
  const load = () => import("./place-guards.ts");
  return {
    leadTo: async (places) => (await load()).leadTo(places),
    fromEnvironment: async (places, home) =>
      (await import("./environment/environment-places.ts")).environmentPlaces(process.env, places, home),
    way: async (path) => (await load()).way(path),
    repositories: async (paths, options) => (await load()).repositories(paths, options),
  };
}

async function ownNetwork(): Promise<Network> {
  return (await import("../net/network.ts")).createNetwork(process.env);
}

function lazyWeb({ fetch = {}, openNetwork = ownNetwork }: NodeHostOptions): Web {
  let loaded: Promise<Web> | undefined;
  const load = (): Promise<Web> => {
    loaded ??= Promise.all([import("./web/web.ts"), openNetwork()]).then(([{ createWeb }, network]) =>
      createWeb({ network, ...fetch }),
    );
    return loaded;
  };
  return { get: async (url, options, signal) => (await load()).get(url, options, signal) };
}

function lazyPdfPages(): Host["pdfPages"] {
  let loaded: Promise<Host["pdfPages"]> | undefined;
  return async function* pdfPages(...asked) {
    loaded ??= import("./pdf/pdf-pages.ts").then(({ createPdfPages }) => createPdfPages());
    yield* (await loaded)(...asked);
  };
}

function lazySavePlan({ specsDir }: NodeHostOptions): Host["savePlan"] {
  return async (plan) => {
    if (specsDir === undefined) throw new Error("there is no folder for plans");
    return (await import("./files/save-plan.ts")).savePlan(specsDir, plan);
  };
}

/** The machine that this process runs on. */
export function createNodeHost(options: NodeHostOptions): Host {
  return {
    files: createFiles(options.unfinishedDir === undefined ? {} : { unfinishedDir: options.unfinishedDir }),
    processes: lazyProcesses(options),
    search: lazySearch(),
    web: lazyWeb(options),
    lookUp: async (lookup) => (await import("./look-up.ts")).lookUp(lookup),
    guards: lazyGuards(),
    pdfPages: lazyPdfPages(),
    outputPath: createOutputPaths(options.outputsDir),
    savePlan: lazySavePlan(options),
  };
}
