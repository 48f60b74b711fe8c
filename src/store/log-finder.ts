import { lstat, realpath } from "node:fs/promises";
import { basename, join } from "node:path";
import type { AgentError } from "../engine/errors.ts";
import { isMissing } from "../text/system-errors.ts";
import { logSuffix } from "./listing/layout.ts";
import { inBatches, namesIn } from "./listing/session-list.ts";
import { storageError } from "./storage-error.ts";

export interface FoundLog {
  readonly path: string;
  readonly bytes: number;
}

/**
 * Searches the folders of all working directories for a validated id. Prefers a non-empty file. An unreadable folder is
 * reported as the obstacle but doesn't end the search.
 */
export async function findLog(
  sessions: string,
  id: string,
): Promise<{ readonly log?: FoundLog; readonly obstacle?: AgentError }> {
  const logs: FoundLog[] = [];
  const obstacles: AgentError[] = [];
  const folders = await namesIn(sessions).catch((error) => {
    throw storageError("read", sessions, error);
  });
  await inBatches(folders, async (folder) => {
    const path = join(sessions, folder, id + logSuffix);
    try {
      const stat = await lstat(path);
      // On a case-insensitive file system, this name can match another session's log.
      if (stat.isFile() && basename(await realpath(path)) === basename(path)) logs.push({ path, bytes: stat.size });
    } catch (error) {
      if (!isMissing(error)) obstacles.push(storageError("read", path, error));
    }
  });
  const log = logs.find(({ bytes }) => bytes > 0) ?? logs[0];
  const obstacle = obstacles[0];
  return { ...(log && { log }), ...(obstacle && { obstacle }) };
}
