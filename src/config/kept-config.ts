import {
  closeSync,
  constants,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { hasConfigShape } from "./config-shape.ts";
import type { UserConfig } from "./schema.ts";

/**
 * What a configuration means, kept beside the text that says it: reading YAML and checking it takes longer than all else that
 * is done before a model is asked.
 */
interface Kept {
  readonly version: string;
  readonly text: string;
  readonly config: UserConfig;
}

const mostBytes = 1024 * 1024;

const fileIn = (ownHome: string): string => join(ownHome, "cache", "config.json");

/** What was kept of exactly this text, by exactly this program. Never throws: whatever is odd about it is as good as nothing. */
export function keptConfig(ownHome: string, text: string): UserConfig | undefined {
  try {
    const kept: unknown = JSON.parse(readOwnFile(fileIn(ownHome)));
    return isKept(kept) && kept.version === ownVersion() && kept.text === text ? kept.config : undefined;
  } catch {
    return undefined;
  }
}

/** Never throws: what cannot be kept is read again. */
export function keepConfig(ownHome: string, text: string, config: UserConfig): void {
  const path = fileIn(ownHome);
  const draft = `${path}.${process.pid}-${Math.random().toString(36).slice(2)}`;
  try {
    const kept: Kept = { version: ownVersion(), text, config };
    const written = JSON.stringify(kept);
    // YAML can say what JSON cannot: an infinite number, a date.
    const isSame = isDeepStrictEqual((JSON.parse(written) as Kept).config, config);
    if (!isSame || Buffer.byteLength(written) > mostBytes) {
      forgetConfig(ownHome);
      return;
    }
    makeFolder(dirname(path));
    // Whole or not at all, also when several runs do it at the same time; and there may be keys in it.
    writeFileSync(draft, written, { mode: 0o600, flag: "wx" });
    renameSync(draft, path);
  } catch {
    // A home that cannot be written in is not the user's problem here.
    remove(draft);
  }
}

/** Whoever takes a key out of the configuration, or the configuration away, does not expect to find it here. Never throws. */
export function forgetConfig(ownHome: string): void {
  remove(fileIn(ownHome));
}

/** A file that this user has written and nobody else can have: anything else throws. */
function readOwnFile(path: string): string {
  const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = fstatSync(file);
    const isOwn = stats.isFile() && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0;
    if (!isOwn || stats.size > mostBytes) throw new Error("This is not what was kept.");
    return readFileSync(file, "utf8");
  } finally {
    closeSync(file);
  }
}

function isKept(value: unknown): value is Kept {
  if (typeof value !== "object" || value === null || Object.keys(value).length !== 3) return false;
  const { version, text, config } = value as Partial<Record<keyof Kept, unknown>>;
  return typeof version === "string" && typeof text === "string" && hasConfigShape(config);
}

/** Builds between two versions understand configurations differently, too. */
function ownVersion(): string {
  const { size, mtimeMs } = statSync(process.argv[1] ?? process.execPath);
  return `${TINMAN_VERSION} ${size} ${mtimeMs}`;
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // It was not there, or cannot be removed.
  }
}
