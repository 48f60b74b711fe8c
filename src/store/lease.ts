import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";
import { stat, unlink, utimes } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { AgentError } from "../engine/errors.ts";
import { errorCode, isMissing } from "../text/system-errors.ts";
import { fingerprint } from "./listing/fingerprint.ts";
import { storageError } from "./storage-error.ts";

/** The right to write one session. */
export interface Lease {
  /** True once another process has taken it over because this one seemed dead. */
  isLost(): boolean;
  /** Idempotent. Never rejects. */
  release(): Promise<void>;
}

interface LeaseOptions {
  readonly touchEveryMs?: number;
  readonly now?: () => number;
}

/** How long the lock of an owner on another machine stays valid without a touch. */
const believedMs = 60_000;
const defaultTouchMs = 15_000;
const attempts = 8;

/** All of a lock's data is in its file name, so it can't be read half-written. */
interface Lock {
  readonly fileName: string;
  readonly pid: number;
  /** The process's start time in system units; `0` if unknown. */
  readonly start: string;
  readonly place: string;
}

/**
 * Takes the lease; `folder` must exist. Rejects with `session_in_use` while another owner, even in this process, is alive, or
 * with `storage_failed`.
 *
 * Each contender creates its own file, then looks for others. Of two at once, at least one sees the other and backs off, so
 * both can't win. If both do, they retry after random pauses. Dead owners' files have unique names, so removing them is safe.
 */
export async function acquireLease(folder: string, sessionId: string, options: LeaseOptions = {}): Promise<Lease> {
  const place = currentPlace();
  const start = processStat(process.pid)?.start ?? "0";
  for (let attempt = 1; ; attempt++) {
    const fileName = `${sessionId}~${process.pid}-${start}-${place}-${nextNonce()}`;
    const path = join(folder, fileName);
    try {
      // Synchronous, because such small operations are faster than a thread hop.
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
      // After a suspend, another process may have taken the lease before this timer ran.
      if (!lost && now() - touchedAt > believedMs / 2) lost = isGone(path);
      return lost;
    },
    async release() {
      clearInterval(timer);
      await giveBack(path, touchEveryMs);
    },
  };
}

/** Locks that this process released but could not remove, for example on a read-only disk. */
const unremoved = new Set<string>();

/** Removes this process's lock. If that fails, it retries later; until then only this process treats the lock as free. */
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
  // Another start time means that the pid was reused. A zombie can't write.
  return found.start === lock.start && !found.ended;
}

/** False if unknown, for example on an unresponsive disk. */
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
    // A time in the future comes from a wrong clock. Reset it, so that the lock of a dead owner expires.
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
    return errorCode(error) === "EPERM";
  }
}

/** Process state from `/proc`; `undefined` if the process is gone, or on other systems. */
function processStat(pid: number): { readonly start: string; readonly ended: boolean } | undefined {
  const text = textOf(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  // The second field is the program's name in parentheses, which can contain spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [state, start] = [fields[0], fields[19]];
  return state && start ? { start, ended: state === "Z" || state === "X" } : undefined;
}

/** Identifies a pid namespace: one boot of one machine, and one container on it. */
function currentPlace(): string {
  const boot = textOf(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8"));
  const namespace = textOf(() => readlinkSync("/proc/self/ns/pid"));
  return fingerprint(`${hostname()}\n${boot.trim()}\n${namespace}`);
}

let nonces = 0;

/** Unique for each attempt, even if a pid is reused. */
function nextNonce(): string {
  nonces += 1;
  return `${Date.now().toString(16)}${nonces.toString(16).padStart(4, "0")}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** For kernel files, which never block. */
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
