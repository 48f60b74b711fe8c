import type { MemoryHost } from "../../fakes/memory-host.ts";

/** A patch of these lines. */
export function patch(...lines: readonly string[]): string {
  return ["*** Begin Patch", ...lines, "*** End Patch"].join("\n");
}

/** The files in `/project`, by name. */
export async function contents(host: MemoryHost, folder = "/project"): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const { name, kind } of await host.files.list(folder)) {
    const path = `${folder}/${name}`;
    if (kind === "directory") Object.assign(found, await contents(host, path));
    else if (kind === "file") found[path.slice("/project/".length)] = host.text(path) ?? "";
  }
  return found;
}
