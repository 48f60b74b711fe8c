import { rm } from "node:fs/promises";
import { join } from "node:path";
import { scanLines } from "./listing/line-scanner.ts";
import { logsIn, namesIn, startOf } from "./listing/session-list.ts";

/**
 * Removes the tool outputs of a session and of its deleted origins. Keeps outputs that another session may refer to, because a
 * fork starts with its origins' results.
 */
export async function removeOutputs(
  layout: { readonly sessions: string; readonly outputs: string },
  id: string,
  origins: readonly string[],
): Promise<void> {
  const folders = (await namesIn(layout.sessions)).map((folder) => join(layout.sessions, folder));
  const others = (await logsIn(folders)).filter((log) => log.id !== id);
  const needed = new Set(others.map((log) => log.id));
  for (const log of others) for (const origin of await originsOf(log.path, log.id)) needed.add(origin);
  for (const gone of [id, ...origins].filter((session) => !needed.has(session))) {
    await rm(join(layout.outputs, gone), { recursive: true, force: true });
  }
}

/** The sessions that a session was forked from, directly or indirectly. Empty for an unreadable log. */
export async function originsOf(path: string, id: string): Promise<readonly string[]> {
  let origins: readonly string[] = [];
  const visit = (line: Buffer | undefined): "enough" => {
    const start = startOf(line, id);
    const forkOf = start.kind === "event" ? start.event.forkOf : undefined;
    if (forkOf !== undefined) origins = [forkOf.sessionId, ...(forkOf.before ?? [])];
    return "enough";
  };
  await scanLines(path, visit, 64 * 1024).catch(() => undefined);
  return origins;
}
