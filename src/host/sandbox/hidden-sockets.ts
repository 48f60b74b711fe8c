import { lstatSync } from "node:fs";
import { readFile } from "node:fs/promises";

/** Folders where the system's daemons listen: D-Bus, Docker, systemd, Podman. */
export const runFolders = ["/run", "/var/run"] as const;

function isSocket(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true;
  } catch {
    return false;
  }
}

const unescaped = (path: string) =>
  path.replace(/\\([0-7]{3})/g, (_, octal) => String.fromCharCode(parseInt(octal, 8)));

/**
 * Sockets in the file system, which a read-only mount does not close: those that someone on this machine listens on,
 * and those mounted by a container engine.
 */
export async function listeningSockets(): Promise<readonly string[]> {
  const [unix, mounts] = await Promise.all(
    ["/proc/net/unix", "/proc/self/mountinfo"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const bound = (unix ?? "").split("\n").flatMap((line) => /^(?:\S+ +){7}(\/.*)$/.exec(line)?.[1] ?? []);
  const mounted = (mounts ?? "").split("\n").flatMap((line) => unescaped(line.split(" ")[4] ?? ""));
  return [...new Set([...bound, ...mounted])].filter((path) => path.startsWith("/") && isSocket(path));
}
