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
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import nodeModule from "node:module";
import { homedir } from "node:os";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Script } from "node:vm";

/** Stores the code compiled in this run, as its last step. Never throws. */
type KeepCompiled = () => void;

interface Loaded {
  readonly exports: unknown;
  require(id: string): unknown;
  _compile(source: string, filename: string): void;
}

/** Parts of Node's module loader. */
const loader = nodeModule as unknown as {
  wrap(source: string): string;
  readonly _extensions: Record<string, (module: Loaded, filename: string) => void>;
};

/**
 * Loads compiled code, because compiling takes half of a short run: first from the user's home, where each command
 * stores its own, then from `compiled/`, made by the build. Node's own compile cache saves only half as much.
 */
export function enableCompileCache(command: string | undefined): KeepCompiled {
  try {
    const home = process.env.TINMAN_HOME || join(homedir(), ".tinman");
    return isAbsolute(home) ? compileFrom(home, command) : () => undefined;
  } catch {
    return () => undefined;
  }
}

function compileFrom(home: string, command: string | undefined): KeepCompiled {
  const program = __dirname;
  const { checksum, crc32 } = checksums();
  const root = join(home, "cache", "compiled");
  const node = `${process.version}-${process.arch}`;
  const place = `${TINMAN_VERSION}-${node}-${crc32(Buffer.from(program)).toString(36)}`;
  const folder = join(root, place, /^[a-z]{1,20}$/.test(command ?? "") ? String(command) : "other");
  const compiled: { readonly path: string; readonly stamp: Buffer; readonly script: Script }[] = [];

  const kept = (path: string, stamp: Buffer, isTrusted: Trust): Buffer | undefined => {
    try {
      const bytes = readTrusted(path, isTrusted);
      const code = bytes.subarray(stampBytes + checksumBytes);
      return bytes.subarray(0, -code.length).equals(Buffer.concat([stamp, checksum(code)])) ? code : undefined;
    } catch {
      return undefined;
    }
  };

  const compile = (bytes: Buffer, source: string, filename: string): Script => {
    const wrapped = loader.wrap(source);
    if (source.length < littleSource) return new Script(wrapped, { filename });
    const path = join(folder, basename(filename));
    const stamp = Buffer.alloc(stampBytes);
    stamp.writeDoubleBE(bytes.length, 0);
    stamp.writeDoubleBE(crc32(bytes), 8);
    const own = kept(path, stamp, isOfUser);
    const cachedData = own ?? kept(join(program, "compiled", node, basename(filename)), stamp, isOfProgram);
    const script = new Script(wrapped, { filename, ...(cachedData === undefined ? {} : { cachedData }) });
    const isEnough = cachedData !== undefined && (own !== undefined || command === "exec");
    if (!isEnough || script.cachedDataRejected === true) compiled.push({ path, stamp, script });
    return script;
  };

  loader._extensions[".cjs"] = (module, filename) => {
    const bytes = readFileSync(filename);
    const source = bytes.toString();
    // Cached code cannot import ES modules.
    if (dirname(filename) !== program || source.includes("import(")) {
      module._compile(source, filename);
      return;
    }
    const run = compile(bytes, source, filename).runInThisContext() as (...given: readonly unknown[]) => void;
    run.call(module.exports, module.exports, (id: string) => module.require(id), module, filename, program);
  };

  return () => {
    try {
      if (compiled.length === 0 || !existsSync(home)) return;
      // CI homes are new for every run. Writing takes a tenth of a run, so the first one only leaves a mark.
      if (!existsSync(root)) {
        mkdirSync(root, { recursive: true, mode: 0o700 });
        return;
      }
      removeOlder(root);
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      for (const { path, stamp, script } of compiled) {
        // Atomic, because several runs can do this at once.
        const draft = `${path}.${process.pid}`;
        const code = script.createCachedData();
        try {
          writeFileSync(draft, Buffer.concat([stamp, checksum(code), code]), { mode: 0o600 });
          renameSync(draft, path);
        } catch (error) {
          // A partial file would only keep a full disk full.
          rmSync(draft, { force: true });
          throw error;
        }
      }
    } catch {
      // The disk is full or the home is read-only. The next run compiles again.
    }
  };
}

const littleSource = 2_000;
const stampBytes = 16;
const checksumBytes = 8;

type Trust = (file: Stats) => boolean;

/** It is executed: in a home, trust only files that this user wrote and others cannot change. */
const isOfUser: Trust = ({ uid, mode }) => uid === process.getuid?.() && (mode & 0o077) === 0;

/** Beside the program, trust files that only its owner can change, who could also change the program. */
const isOfProgram: Trust = ({ uid, mode }) => (mode & 0o022) === 0 && uid === statSync(__filename).uid;

/** Throws if the file is missing or untrusted. */
function readTrusted(path: string, isTrusted: Trust): Buffer {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() || !isTrusted(stats)) throw new Error("Damaged cache file.");
    return readFileSync(file);
  } finally {
    closeSync(file);
  }
}

/** V8 crashes on damaged code. Loaded on demand, because `--version` needs no hash. */
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
