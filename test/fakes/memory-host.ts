import { posix } from "node:path";
import type { SandboxStatus } from "../../src/engine/containment.ts";
import type { DirectoryEntry, FileStat } from "../../src/engine/files.ts";
import type { Lookup, ProtectedPaths } from "../../src/engine/permission.ts";
import type { CommandResult, CommandSpec, Host, WebPage } from "../../src/engine/ports.ts";
import { readPdfPages } from "../../src/pdf/pages.ts";

type Content = string | Uint8Array;
type Entry =
  | { readonly kind: "file"; readonly bytes: Buffer; readonly version: number }
  | { readonly kind: "directory" }
  | { readonly kind: "other" }
  | { readonly kind: "link"; readonly target: string };

export interface MemoryHostOptions {
  /** Link path -> target. */
  readonly links?: Readonly<Record<string, string>>;
  /** Paths that are neither file nor directory, like a pipe. */
  readonly others?: readonly string[];
  /** Files that cannot be written, with the words that follow their names. */
  readonly notWritable?: Readonly<Record<string, string>>;
  /** Places that the user's environment names. */
  readonly environment?: Partial<ProtectedPaths>;
  /** Protected paths of the repositories around these paths. Default: none. */
  repositories?(paths: readonly string[]): Partial<ProtectedPaths>;
  /** Whether the repository around a folder runs programs. Default: false. */
  runsPrograms?(cwd: string): boolean;
  /** Address -> its server's page, or a failure. Others are refused. Default: status 200, HTML. */
  readonly pages?: Readonly<Record<string, MemoryPage | Error>>;
  /** Whether commands can be contained. Default: they cannot. */
  readonly sandbox?: SandboxStatus;
  /** How a command ends. Default: exit code 0 and no output. */
  onCommand?(command: string, spec: CommandSpec): Partial<CommandResult> | Promise<Partial<CommandResult>>;
}

export interface MemoryPage extends Partial<Omit<WebPage, "body">> {
  readonly body: Content;
}

export interface MemoryHost extends Host {
  /** Writes like another program: the version changes. */
  put(path: string, content: Content): void;
  link(path: string, target: string): void;
  text(path: string): string | undefined;
  /** The commands that `processes` ran or started. */
  readonly commands: CommandSpec[];
  /** The sessions whose sandbox was ended. */
  readonly endedSandboxes: string[];
  /** The requests to `web`. */
  readonly fetched: { readonly url: string; readonly maxBytes: number; readonly accept: string }[];
  readonly backgrounds: Parameters<Host["processes"]["startBackground"]>[0][];
}

export const fixedMtime = Date.UTC(2026, 0, 2, 3, 4, 5);

/** A machine in memory. Parents of the given files exist; the root always does. */
export function createMemoryHost(
  files: Readonly<Record<string, Content>> = {},
  options: MemoryHostOptions = {},
): MemoryHost {
  const entries = new Map<string, Entry>([["/", { kind: "directory" }]]);
  const commands: CommandSpec[] = [];
  const endedSandboxes: string[] = [];
  const fetched: MemoryHost["fetched"] = [];
  const backgrounds: MemoryHost["backgrounds"] = [];
  let counter = 0;

  function add(path: string, entry: Entry): void {
    const parent = posix.dirname(path);
    if (entries.get(parent)?.kind === "file") throw nodeError("ENOTDIR", "not a directory", path, "mkdir");
    if (!entries.has(parent)) add(parent, { kind: "directory" });
    entries.set(path, entry);
  }

  function put(path: string, content: Content): void {
    counter += 1;
    const bytes = typeof content === "string" ? Buffer.from(content) : Buffer.from(content);
    add(path, { kind: "file", bytes, version: counter });
  }

  /** Resolves every link on the way, even a dangling one. */
  function follow(path: string, hops = 0): string {
    if (hops > 40) throw nodeError("ELOOP", "too many symbolic links encountered", path);
    let done = "/";
    const parts = path.split("/").filter((part) => part !== "");
    for (const [index, part] of parts.entries()) {
      const next = posix.join(done, part);
      const entry = entries.get(next);
      if (entry?.kind === "link") return follow(posix.resolve(done, entry.target, ...parts.slice(index + 1)), hops + 1);
      done = next;
    }
    return done;
  }

  function fileAt(path: string): Extract<Entry, { kind: "file" }> {
    const entry = entries.get(follow(path));
    if (entry === undefined) throw nodeError("ENOENT", "no such file or directory", path, "open");
    if (entry.kind !== "file") throw nodeError("EISDIR", "illegal operation on a directory", path, "open");
    return entry;
  }

  function statOf(path: string): FileStat | undefined {
    const entry = entries.get(follow(path));
    if (entry === undefined || entry.kind === "link") return undefined;
    const common = { mtimeMs: fixedMtime, mode: entry.kind === "directory" ? 0o40755 : 0o100644 };
    if (entry.kind === "file") {
      const why = options.notWritable?.[follow(path)];
      const file = { kind: "file", size: entry.bytes.length, version: `v${entry.version}`, ...common } as const;
      return why === undefined ? file : { ...file, notWritable: why };
    }
    return { kind: entry.kind, size: 0, version: "v0", ...common };
  }

  const fileAccess: Host["files"] = {
    canonical: async (path, base) => follow(posix.resolve(base, path)),
    stat: async (path) => statOf(path),
    async list(path) {
      const folder = follow(path);
      if (entries.get(folder)?.kind !== "directory") throw nodeError("ENOTDIR", "not a directory", path, "scandir");
      return [...entries].flatMap(([child, entry]): DirectoryEntry[] => {
        if (child === "/" || posix.dirname(child) !== folder) return [];
        const size = entry.kind === "file" ? entry.bytes.length : 0;
        const mode = entry.kind === "directory" ? 0o40755 : entry.kind === "link" ? 0o120777 : 0o100644;
        const linkTarget = entry.kind === "link" ? { linkTarget: entry.target } : {};
        return [{ name: posix.basename(child), kind: entry.kind, size, mtimeMs: fixedMtime, mode, ...linkTarget }];
      });
    },
    read: async (path, { from = 0, maxBytes }) => fileAt(path).bytes.subarray(from, from + maxBytes),
    async write(path, text, how) {
      requireGoing(how?.signal);
      const target = follow(path);
      if (entries.get(target)?.kind === "directory")
        throw nodeError("EISDIR", "illegal operation on a directory", path, "open");
      put(target, text);
      return `v${counter}`;
    },
    async move(from, to, how) {
      requireGoing(how?.signal);
      const { bytes } = fileAt(from);
      if (entries.has(to)) throw nodeError("EEXIST", "file already exists", to, "rename");
      put(to, bytes);
      entries.delete(from);
      return `v${counter}`;
    },
    async remove(path, how) {
      requireGoing(how?.signal);
      fileAt(path);
      entries.delete(follow(path));
    },
  };

  /** Every file at or below a path, as `./relative` with its text. */
  function* under(path: string): Generator<readonly [string, string]> {
    const root = follow(path);
    const base = entries.get(root)?.kind === "file" ? posix.dirname(root) : root;
    for (const name of [...entries.keys()].sort()) {
      const entry = entries.get(name);
      if (entry?.kind !== "file" || (name !== root && !name.startsWith(root === "/" ? "/" : `${root}/`))) continue;
      yield [`./${posix.relative(base, name)}`, entry.bytes.toString()];
    }
  }

  /** Line by line, without context lines, file types or `.gitignore`. */
  const search: Host["search"] = {
    async grep(query) {
      const source = query.fixedString ? query.pattern.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") : query.pattern;
      const expression = new RegExp(source, query.caseInsensitive ? "i" : "");
      const found: string[] = [];
      for (const [path, text] of under(query.path)) {
        if (query.globs.length > 0 && !query.globs.some((glob) => matches(glob, path))) continue;
        const hits = text.split("\n").flatMap((line, index) => (expression.test(line) ? [{ line, index }] : []));
        if (query.mode === "file_paths") found.push(...(hits.length > 0 ? [path] : []));
        else found.push(...hits.map(({ line, index }) => `${path}:${query.lineNumbers ? `${index + 1}:` : ""}${line}`));
      }
      return { lines: found.slice(0, query.limit), truncated: found.length > query.limit };
    },
    async glob({ folder, include, exclude, limit }) {
      const found = [...under(folder)]
        .map(([path]) => path)
        .filter((path) => include.some((glob) => matches(glob, path)) && !exclude.some((glob) => matches(glob, path)));
      return { lines: found.slice(0, limit), truncated: found.length > limit };
    },
  };

  /** Resolves links in paths, and a program to its name. Finds nothing else. */
  function answer({ what, path }: Lookup): readonly string[] | undefined {
    if (what === "signatures") return [];
    if (what === "git") return options.runsPrograms?.(path) === true ? undefined : [];
    if (what === "program" || what === "unsaved") return [path];
    if (what === "existing") return entries.has(posix.normalize(path)) ? [path] : [];
    return what === "path" ? [follow(posix.normalize(path))] : [];
  }

  const nothing: ProtectedPaths = { closed: [], kept: [], programs: [], links: [] };
  /** Follows only whole places, and reports only where a path leads. */
  const guards: Host["guards"] = {
    leadTo: async ({ closed, kept, programs }) => {
      const elsewhere = (places: readonly string[]) =>
        places.flatMap((place) => (follow(place) === place ? [] : [follow(place)]));
      return { closed: elsewhere(closed), kept: elsewhere(kept), programs: elsewhere(programs), links: [] };
    },
    fromEnvironment: async () => ({ ...nothing, ...options.environment }),
    way: async (path) => [follow(posix.normalize(path))],
    repositories: async (paths) => ({ ...nothing, ...options.repositories?.(paths) }),
  };

  for (const [path, content] of Object.entries(files)) put(path, content);
  for (const [path, target] of Object.entries(options.links ?? {})) add(path, { kind: "link", target });
  for (const path of options.others ?? []) add(path, { kind: "other" });

  return {
    files: fileAccess,
    search,
    lookUp: async (lookup) => answer(lookup),
    guards,
    processes: {
      /** An abort ends a command that is still running. */
      async run(spec, signal) {
        commands.push(spec);
        const aborted = new Promise<Partial<CommandResult>>((done) => {
          const stop = (): void => done({ end: { type: "aborted" } });
          if (signal.aborted) stop();
          else signal.addEventListener("abort", stop, { once: true });
        });
        return { ...silentSuccess, ...(await Promise.race([aborted, options.onCommand?.(spec.command, spec) ?? {}])) };
      },
      async startBackground(spec) {
        backgrounds.push(spec);
        return { pid: 4000 + backgrounds.length };
      },
    },
    sandbox: {
      status: async () => options.sandbox ?? { works: false, why: "The memory host has none.", advice: "" },
      seemsToWork: () => options.sandbox?.works === true,
      tempOf: (sessionId) => `/tmp/${sessionId}`,
      hasServers: () => backgrounds.some(({ contained }) => contained !== undefined),
      async endSession(sessionId) {
        endedSandboxes.push(sessionId);
      },
    },
    web: {
      async get(url, asked, signal) {
        fetched.push({ url, ...asked });
        signal.throwIfAborted();
        const page = options.pages?.[url] ?? new Error(`The server at ${new URL(url).host} refused the connection.`);
        if (page instanceof Error) throw page;
        const bytes = Buffer.from(page.body);
        const body = bytes.subarray(0, asked.maxBytes);
        const common = { url, status: 200, contentType: "text/html", truncated: bytes.length > asked.maxBytes };
        return { ...common, ...page, body };
      },
    },
    pdfPages: readPdfPages,
    outputPath: async (sessionId, name) => `/outputs/${sessionId}/${name}-${++counter}.txt`,
    async savePlan({ text }) {
      const path = `/specs/plan-${counter + 1}.md`;
      put(path, text);
      return path;
    },
    put,
    link: (path, target) => add(path, { kind: "link", target }),
    text: (path) => (statOf(path)?.kind === "file" ? fileAt(path).bytes.toString() : undefined),
    commands,
    fetched,
    backgrounds,
    endedSandboxes,
  };
}

function nodeError(code: string, words: string, path: string, action = "access"): Error {
  return Object.assign(new Error(`${code}: ${words}, ${action} '${path}'`), { code });
}

function requireGoing(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw Object.assign(new Error("Stopped."), { code: "ABORT_ERR" });
}

/** A pattern without a slash matches the name at any depth. */
function matches(glob: string, path: string): boolean {
  const source = glob
    .replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*\*\/|\*\*|\*|\?/g, (wild) => wildcards[wild] ?? "");
  return new RegExp(`^${source}$`).test(glob.includes("/") ? path.slice(2) : posix.basename(path));
}

const silentSuccess: CommandResult = {
  end: { type: "exit", code: 0 },
  head: "",
  tail: "",
  skippedBytes: 0,
  skippedLines: 0,
  totalBytes: 0,
};

const wildcards: Readonly<Record<string, string>> = { "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]" };
