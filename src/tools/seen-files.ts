import { createHash } from "node:crypto";
import { encodeText } from "../async/long-texts.ts";
import type { FileStat } from "../engine/files.ts";
import type { ToolContext } from "../engine/tool.ts";
import { type Breathe, createPace } from "./pace.ts";
import { readWhole } from "./text-file.ts";

/** Larger files are not edited, so their content is not compared. */
export const mostComparedBytes = 10 * 1024 * 1024;

/** Bytes hashed before yielding. */
const mostAtOnce = 1024 * 1024;

export async function markOf(content: Uint8Array | string, breathe: Breathe = createPace()): Promise<string> {
  const bytes = typeof content === "string" ? await encodeText(content, breathe) : content;
  const hash = createHash("sha256");
  for (let from = 0; from < bytes.length; from += mostAtOnce) {
    hash.update(bytes.subarray(from, from + mostAtOnce));
    await breathe();
  }
  return hash.digest("base64url");
}

/** Records that the model has read a file, unless it has changed since `stat`. Never rejects. */
export async function noteRead(path: string, stat: FileStat, { host, seenFiles }: ToolContext): Promise<void> {
  try {
    const mark = await currentMark(path, stat, host.files);
    if ((await host.files.stat(path))?.version === stat.version) seenFiles.set(path, mark);
  } catch {
    // A file that is gone or unreadable by now counts as not read.
  }
}

/** Identifies a file's content. */
export async function currentMark(path: string, stat: FileStat, files: ToolContext["host"]["files"]): Promise<string> {
  const bytes = stat.size > mostComparedBytes ? undefined : await readWhole(files, path, mostComparedBytes);
  return bytes === undefined ? `version ${stat.version}` : await markOf(bytes);
}
