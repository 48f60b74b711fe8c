import type { RunOptions } from "../../engine/settings.ts";

/** Loads what reads entries only if it is needed. */
export async function givenServers(
  { mcpConfig }: { readonly mcpConfig?: readonly string[] },
  warn: (problem: string) => Promise<void>,
): Promise<Pick<RunOptions, "servers">> {
  if (mcpConfig === undefined) return {};
  return { servers: await (await import("./servers-in-files.ts")).serversInFiles(mcpConfig, warn) };
}
