import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import nodeModule from "node:module";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";

/** Keeps what was compiled in this run; to be called when all else is done. Never throws. */
export type KeepCompiled = () => void;

interface Loaded {
  readonly exports: unknown;
  require(id: string): unknown;
  _compile(source: string, filename: string): void;
}

/** Parts of Node's module loader. `enableCompileCache` is there since Node 22. */
const loader = nodeModule as unknown as {
  wrap(source: string): string;
  readonly _extensions: Record<string, (module: Loaded, filename: string) => void>;
  enableCompileCache?(folder: string): unknown;
};

/**
 * Lets later runs start with the code that earlier ones compiled: compiling is half of a short run. `command` is the word
 * that says what will be needed. Only in a home of ours that is there, and never for files that are not this program's.
 */
export function enableCompileCache(command: string | undefined): KeepCompiled {
  const nothing = (): void => undefined;
  try {
    const home = ownHome();
    if (home === undefined) return nothing;
    const folder = join(home, "cache", "compiled");
    if (loader.enableCompileCache === undefined) return compileFrom(folder, command);
    if (existsSync(home)) loader.enableCompileCache(folder);
    return nothing;
  } catch {
    return nothing;
  }
}

function ownHome(): string | undefined {
  const home = process.env.TINMAN_HOME || join(homedir(), ".tinman");
  return isAbsolute(home) ? home : undefined;
}

/** For Node 20, which can do it and has no switch for it. */
function compileFrom(root: string, command: string | undefined): KeepCompiled {
  const program = __dirname;
  const { checksum, crc32 } = checksums();
  const place = `${TINMAN_VERSION}-${process.version}-${process.arch}-${crc32(Buffer.from(program)).toString(36)}`;
  const folder = join(root, place, /^[a-z]{1,20}$/.test(command ?? "") ? String(command) : "other");
  // Where every run has a home of its own, keeping it would cost each of them a good part of its time, for nothing.
  const isFirstRun = !existsSync(dirname(dirname(root)));
  const compiled: { readonly path: string; readonly stamp: Buffer; readonly script: Script }[] = [];

  const kept = (path: string, stamp: Buffer): Buffer | undefined => {
    try {
      const bytes = readOwnFile(path);
      const code = bytes.subarray(stampBytes + checksumBytes);
      return bytes.subarray(0, -code.length).equals(Buffer.concat([stamp, checksum(code)])) ? code : undefined;
    } catch {
      return undefined;
    }
  };

  const compile = (source: string, filename: string): Script => {
    const wrapped = loader.wrap(source);
    if (source.length < littleSource) return new Script(wrapped, { filename });
    const path = join(folder, basename(filename));
    const stamp = stampOf(filename);
    const cachedData = kept(path, stamp);
    const script = new Script(wrapped, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    if (cachedData === undefined || script.cachedDataRejected === true) compiled.push({ path, stamp, script });
    return script;
  };

  loader._extensions[".cjs"] = (module, filename) => {
    const source = readFileSync(filename, "utf8");
    // Code that comes from a cache cannot import ES modules.
    if (dirname(filename) !== program || source.includes("import(")) {
      module._compile(source, filename);
      return;
    }
    const run = compile(source, filename).runInThisContext() as (...given: readonly unknown[]) => void;
    run.call(module.exports, module.exports, (id: string) => module.require(id), module, filename, program);
  };

  return () => {
    try {
      if (compiled.length === 0 || isFirstRun) return;
      removeOlder(root);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const { path, stamp, script } of compiled) {
        // Whole or not at all, also when several runs do it at the same time.
        const draft = `${path}.${process.pid}`;
        const code = script.createCachedData();
        try {
          writeFileSync(draft, Buffer.concat([stamp, checksum(code), code]), { mode: 0o600 });
          renameSync(draft, path);
        } catch (error) {
          // Half of it would only keep a full disk full.
          rmSync(draft, { force: true });
          throw error;
        }
      }
    } catch {
      // A full disk or a home that is not ours to write in: the next run compiles again.
    }
  };
}

const littleSource = 2_000;
const stampBytes = 16;
const checksumBytes = 8;

/** It is code: only what this user has written, and nobody else can have, is read. Throws otherwise. */
function readOwnFile(path: string): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    const isOwn = stats.isFile() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
    if (!isOwn) throw new Error("This is not what was kept.");
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** Of the source that was compiled; V8 itself only looks at its length. */
function stampOf(filename: string): Buffer {
  const { size, mtimeMs } = statSync(filename);
  const stamp = Buffer.alloc(stampBytes);
  stamp.writeDoubleBE(size, 0);
  stamp.writeDoubleBE(mtimeMs, 8);
  return stamp;
}

/** V8 does not survive code that is damaged. Loaded when it is needed: `--version` needs none. */
function checksums() {
  const { crc32 } = process.getBuiltinModule("node:zlib") as unknown as { crc32(data: Buffer): number };
  const checksum = (code: Buffer): Buffer => {
    const sum = Buffer.alloc(checksumBytes);
    sum.writeDoubleBE(crc32(code), 0);
    return sum;
  };
  return { checksum, crc32 };
}

function removeOlder(root: string): void {
  if (!existsSync(root)) return;
  const old = readdirSync(root).filter((name) => !name.startsWith(`${TINMAN_VERSION}-`));
  for (const name of old) rmSync(join(root, name), { recursive: true, force: true });
}
