import { lstatSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import { join } from "node:path";
import type { Containment } from "../../../engine/containment.ts";
import { liesBelow } from "../../files/where-it-leads.ts";

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

/** The processes that hold these sockets, by inode. Leaves out processes that we cannot inspect. */
async function holdersOf(inodes: ReadonlySet<string>): Promise<ReadonlyMap<string, readonly string[]>> {
  const holders = new Map<string, string[]>();
  const look = async (pid: string) => {
    const folder = `/proc/${pid}/fd`;
    const names = await readdir(folder).catch(() => []);
    const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => "")));
    for (const link of new Set(links)) {
      const inode = /^socket:\[(\d+)\]$/.exec(link)?.[1];
      if (inode !== undefined && inodes.has(inode)) holders.set(inode, [...(holders.get(inode) ?? []), pid]);
    }
  };
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  await Promise.all(pids.map(look));
  return holders;
}

interface Bound {
  readonly inode: string;
  readonly path: string;
}

/** The paths of sockets that were bound by a relative name, which starts at the process's working directory. */
async function relativeSockets(bound: readonly Bound[]): Promise<readonly string[]> {
  if (bound.length === 0) return [];
  const holders = await holdersOf(new Set(bound.map(({ inode }) => inode)));
  const paths = bound.flatMap(({ inode, path }) =>
    (holders.get(inode) ?? []).map(async (pid) => {
      const cwd = await readlink(`/proc/${pid}/cwd`).catch(() => undefined);
      return cwd === undefined ? [] : [join(cwd, path)];
    }),
  );
  return (await Promise.all(paths)).flat();
}

/** In `/proc/net/unix`: the flag of a listening socket, and the type of a datagram socket. */
const [listens, datagrams] = ["00010000", "0002"];

/** Git's file-system monitor listens here. It runs nothing for its clients. */
const gits = "/.git/";

/**
 * Sockets that commands must not reach, because a read-only mount does not close them: those with a listening process,
 * and those that a container engine mounted. `/proc/net/unix` doesn't list the session's own servers, which listen in
 * another network namespace. With the machine's network, a command keeps the sockets in its writable folders.
 */
export async function listeningSockets({
  writable,
  network,
}: Pick<Containment, "writable" | "network">): Promise<readonly string[]> {
  const [unix, mounts] = await Promise.all(
    ["/proc/net/unix", "/proc/self/mountinfo"].map((file) => readFile(file, "utf8").catch(() => "")),
  );
  const bound = (unix ?? "").split("\n").flatMap((line): readonly Bound[] => {
    const [, flags, type, inode, path] = /^(?:\S+ +){3}(\S+) +(\S+) +\S+ +(\d+) ([^@\s].*)$/.exec(line) ?? [];
    const accepts = flags === listens || type === datagrams;
    return inode === undefined || path === undefined || !accepts ? [] : [{ inode, path }];
  });
  const absolute = bound.map(({ path }) => path).filter((path) => path.startsWith("/"));
  const relative = await relativeSockets(bound.filter(({ path }) => !path.startsWith("/")));
  const mounted = (mounts ?? "").split("\n").map((line) => unescaped(line.split(" ")[4] ?? ""));
  const isOpen = (path: string) => network === "host" || path.includes(gits);
  return [...new Set([...absolute, ...relative, ...mounted])].filter(
    (path) =>
      path.startsWith("/") && isSocket(path) && !(isOpen(path) && writable.some((folder) => liesBelow(path, folder))),
  );
}
