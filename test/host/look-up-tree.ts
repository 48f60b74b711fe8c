import { mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Lookup } from "../../src/engine/permission.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { tempFolder } from "./support.ts";

const host = createNodeHost({ outputsDir: "/nowhere" });

export function ask(what: Lookup["what"], path: string): Promise<readonly string[] | undefined> {
  return host.lookUp({ what, path });
}

/** A folder with these files (a name with a trailing slash is a folder) and links, and one beside it. */
export async function tree(
  files: readonly string[],
  links: Readonly<Record<string, string>> = {},
): Promise<{ ws: string; out: string }> {
  const base = await tempFolder();
  const [ws, out] = [join(base, "ws"), join(base, "out")];
  for (const folder of [ws, out, join(base, "ws-other")]) await mkdir(folder);
  await writeFile(join(out, "secret"), "secret");
  for (const name of files) {
    await mkdir(join(ws, name.endsWith("/") ? name : dirname(name)), { recursive: true });
    if (!name.endsWith("/")) await writeFile(join(ws, name), "");
  }
  for (const [name, target] of Object.entries(links)) await symlink(target.replace("OUT", out), join(ws, name));
  return { ws, out };
}
