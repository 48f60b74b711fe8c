import { open, readdir, readFile, readlink, stat, unlink, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { AgentError } from "../core/errors.ts";
import { fingerprint } from "./fingerprint.ts";
import { isMissing, storageError } from "./storage-error.ts";

/** The right to write one session. */
export interface Lease {
  /** True once somebody has taken it over, because this process seemed to be gone. */
  isLost(): boolean;
  /** Gives it back. Safe to call twice. Never rejects. */
  release(): Promise<void>;
}

/** How long the lock of an owner whose process cannot be looked at is believed. */
const believedMs = 60_000;
const defaultTouchMs = 15_000;
const attempts = 8;

/** Everything that a lock says is in its file name, so there is no moment at which it says half of it. */
interface Lock {
  readonly fileName: string;
  readonly pid: number;
  /** When the process started, as the system counts it; `0` where that cannot be known. */
  readonly start: string;
  readonly place: string;
}

/**
 * Takes the right to write a session. `folder` exists. Rejects with `session_in_use` while another owner is alive, in this
 * process or another one, and with `storage_failed`.
 *
 * Whoever wants the lease puts down a file of its own and then looks for others. Of two that come at once at least one sees
 * the other, so never do both go on; both may step back, and then try again after pauses of different length. Files of
 * dead owners are removed by their full name, which nobody else ever uses.
 */
export async function acquireLease(
  folder: string,
  sessionId: string,
  options: { readonly touchEveryMs?: number } = {},
): Promise<Lease> {
  const place = await currentPlace();
  const start = (await processStat(process.pid))?.start ?? "0";
  for (let attempt = 1; ; attempt++) {
    const fileName = `${sessionId}~${process.pid}-${start}-${place}-${crypto.randomUUID().replaceAll("-", "")}`;
    const path = join(folder, fileName);
    try {
      await (await open(path, "wx", 0o600)).close();
      const owner = await findOtherOwner(folder, sessionId, { fileName, place });
      if (owner === undefined) return holdLease(path, options.touchEveryMs ?? defaultTouchMs);
      await removeQuietly(path);
      if (attempt === attempts) throw inUse(sessionId, owner, place);
    } catch (error) {
      await removeQuietly(path);
      throw storageError("write", path, error);
    }
    await pause(1 + Math.floor(Math.random() * 8 * attempt));
  }
}

function holdLease(path: string, touchEveryMs: number): Lease {
  let lost = false;
  const timer = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch((error) => {
      lost ||= isMissing(error);
    });
  }, touchEveryMs);
  timer.unref();
  return {
    isLost: () => lost,
    async release() {
      clearInterval(timer);
      await removeQuietly(path);
    },
  };
}

async function findOtherOwner(
  folder: string,
  sessionId: string,
  mine: { readonly fileName: string; readonly place: string },
): Promise<Lock | undefined> {
  for (const fileName of await readdir(folder)) {
    if (fileName === mine.fileName || !fileName.startsWith(`${sessionId}~`)) continue;
    const lock = parseLock(fileName, sessionId);
    if (lock === undefined) continue;
    const path = join(folder, fileName);
    if (await (lock.place === mine.place ? isRunning(lock) : isFresh(path))) return lock;
    await removeQuietly(path);
  }
  return undefined;
}

function parseLock(fileName: string, sessionId: string): Lock | undefined {
  const match = /^(\d+)-(\d+)-([0-9a-f]+)-[0-9a-f]+$/.exec(fileName.slice(sessionId.length + 1));
  const [, pid, start, place] = match ?? [];
  if (pid === undefined || start === undefined || place === undefined) return undefined;
  return { fileName, pid: Number(pid), start, place };
}

async function isRunning(lock: Lock): Promise<boolean> {
  const found = await processStat(lock.pid);
  if (found === undefined || lock.start === "0") return processExists(lock.pid);
  // A process of the same number that started at another time is another process; a zombie writes no more.
  return found.start === lock.start && !found.ended;
}

async function isFresh(path: string): Promise<boolean> {
  try {
    return Date.now() - (await stat(path)).mtimeMs < believedMs;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function processExists(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

/** What Linux says of a process; `undefined` when there is no such process, or no such system. */
async function processStat(pid: number): Promise<{ readonly start: string; readonly ended: boolean } | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // The program's name comes second, in parentheses, and may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, start] = [fields[0], fields[19]];
  return state && start ? { start, ended: state === "Z" || state === "X" } : undefined;
}

/** Where process numbers mean the same: one boot of one machine, and one container on it. */
async function currentPlace(): Promise<string> {
  const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8").catch(() => "");
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return fingerprint(`${hostname()}\n${boot.trim()}\n${namespace}`);
}

function inUse(sessionId: string, owner: Lock, place: string): AgentError {
  const where = owner.place === place ? "" : " on another machine, or in another container";
  return new AgentError("session_in_use", `Session ${sessionId} is in use by process ${owner.pid}${where}.`);
}

async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => {});
}
