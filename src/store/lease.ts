import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { stat, unlink, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { AgentError } from "../core/errors.ts";
import { isMissing } from "./listing/file-errors.ts";
import { fingerprint } from "./listing/fingerprint.ts";
import { storageError } from "./storage-error.ts";

/** The right to write one session. */
export interface Lease {
  /** True once somebody has taken it over, because this process seemed to be gone. */
  isLost(): boolean;
  /** Gives it back. Safe to call twice. Never rejects. */
  release(): Promise<void>;
}

export interface LeaseOptions {
  readonly touchEveryMs?: number;
  readonly now?: () => number;
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
export async function acquireLease(folder: string, sessionId: string, options: LeaseOptions = {}): Promise<Lease> {
  const place = currentPlace();
  const start = processStat(process.pid)?.start ?? "0";
  for (let attempt = 1; ; attempt++) {
    const fileName = `${sessionId}~${process.pid}-${start}-${place}-${nextNonce()}`;
    const path = join(folder, fileName);
    try {
      // One small file and one small folder: quicker done than handed to another thread.
      closeSync(openSync(path, "wx", 0o600));
      const owner = await findOtherOwner(folder, sessionId, { fileName, place });
      if (owner === undefined) return holdLease(path, options);
      await giveBack(path);
      if (attempt === attempts) throw inUse(sessionId, owner, place);
    } catch (error) {
      await giveBack(path);
      throw storageError("write", path, error);
    }
    await pause(1 + Math.floor(Math.random() * 8 * attempt));
  }
}

function holdLease(path: string, { touchEveryMs = defaultTouchMs, now = Date.now }: LeaseOptions): Lease {
  let lost = false;
  let touchedAt = now();
  const timer = setInterval(() => {
    const at = now();
    touch(path).then(
      () => {
        touchedAt = at;
      },
      (error) => {
        lost ||= isMissing(error);
      },
    );
  }, touchEveryMs);
  timer.unref();
  return {
    isLost() {
      // After a pause, as of a suspended machine, the timer has not run yet, and another owner may have come.
      if (!lost && now() - touchedAt > believedMs / 2) lost = isGone(path);
      return lost;
    },
    async release() {
      clearInterval(timer);
      await giveBack(path, touchEveryMs);
    },
  };
}

/** Locks that this process gave back but could not remove, for example because the disk had become read-only. */
const unremoved = new Set<string>();

/** Removes a lock of this process. While that fails it counts as free here, and other processes wait for the next try. */
async function giveBack(path: string, retryMs = defaultTouchMs): Promise<void> {
  try {
    await unlink(path);
    unremoved.delete(path);
  } catch (error) {
    if (isMissing(error)) {
      unremoved.delete(path);
      return;
    }
    unremoved.add(path);
    setTimeout(() => void giveBack(path, retryMs), retryMs).unref();
  }
}

async function findOtherOwner(
  folder: string,
  sessionId: string,
  mine: { readonly fileName: string; readonly place: string },
): Promise<Lock | undefined> {
  for (const fileName of readdirSync(folder)) {
    if (fileName === mine.fileName || !fileName.startsWith(`${sessionId}~`)) continue;
    const lock = parseLock(fileName, sessionId);
    if (lock === undefined) continue;
    const path = join(folder, fileName);
    if (unremoved.has(path)) continue;
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

function isRunning(lock: Lock): boolean {
  const found = processStat(lock.pid);
  if (found === undefined || lock.start === "0") return processExists(lock.pid);
  // A process of the same number that started at another time is another process; a zombie writes no more.
  return found.start === lock.start && !found.ended;
}

/** False where that cannot be told, as on a disk that does not answer. */
function isGone(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

async function isFresh(path: string): Promise<boolean> {
  try {
    const age = Date.now() - (await stat(path)).mtimeMs;
    // A clock was wrong when it was touched, or is now. From here on it ages like any other, unless its owner is alive.
    if (age < -believedMs) await touch(path).catch(() => {});
    return age < believedMs;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

function touch(path: string): Promise<void> {
  const now = new Date();
  return utimes(path, now, now);
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
function processStat(pid: number): { readonly start: string; readonly ended: boolean } | undefined {
  const text = textOf(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The program's name comes second, in parentheses, and may itself contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, start] = [fields[0], fields[19]];
  return state && start ? { start, ended: state === "Z" || state === "X" } : undefined;
}

/** Where process numbers mean the same: one boot of one machine, and one container on it. */
function currentPlace(): string {
  const boot = textOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const namespace = textOf(() => readlinkSync("/proc/self/ns/pid"));
  return fingerprint(`${hostname()}\n${boot.trim()}\n${namespace}`);
}

let nonces = 0;

/** Tells the attempts of this process apart, and it from a dead one of the same number. */
function nextNonce(): string {
  nonces += 1;
  return `${Date.now().toString(16)}${nonces.toString(16).padStart(4, "0")}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The kernel answers at once, so there is nothing to be gained by waiting in another thread. */
function textOf(read: () => string): string {
  try {
    return read();
  } catch {
    return "";
  }
}

function inUse(sessionId: string, owner: Lock, place: string): AgentError {
  const where = owner.place === place ? "" : " on another machine, or in another container";
  return new AgentError("session_in_use", `Session ${sessionId} is in use by process ${owner.pid}${where}.`);
}

async function removeQuietly(path: string): Promise<void> {
  await unlink(path).catch(() => {});
}
