import { realpathSync } from "node:fs";
import { delimiter } from "node:path";
import { liesBelow } from "../../files/where-it-leads.ts";
import { runFolders } from "./hidden-sockets.ts";

function leadsTo(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}

/** The folder right below `/run` that holds a path, such as NixOS's `/run/current-system`. */
function partOfRun(path: string): string | undefined {
  const run = runFolders.find((folder) => liesBelow(path, folder) && path !== folder);
  return run === undefined
    ? undefined
    : path
        .split("/")
        .slice(0, run.split("/").length + 1)
        .join("/");
}

/** The parts of `/run` that commands need: the settings of name resolution, and the programs on PATH. */
export function neededOfRun(path: string | undefined): readonly string[] {
  const folders = ["/run/current-system", ...(path ?? "").split(delimiter)];
  const programs = folders.flatMap((folder) => partOfRun(folder) ?? []).flatMap((folder) => leadsTo(folder) ?? []);
  const names = leadsTo("/etc/resolv.conf");
  return [...programs, ...(names !== undefined && partOfRun(names) !== undefined ? [names] : [])];
}
