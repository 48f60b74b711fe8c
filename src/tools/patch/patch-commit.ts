import type { Files } from "../../engine/files.ts";
import type { SeenFiles } from "../../engine/tool.ts";
import { isStopped, messageOf } from "../outcome.ts";
import { markOf } from "../seen-files.ts";
import type { PlannedFile } from "./patch-plan.ts";

/** A change that was made to one file, so that it can be undone. */
interface Done {
  readonly file: PlannedFile;
  /** Absent if it was removed. */
  version?: string;
  /** The file before it was moved. */
  readonly source?: PlannedFile;
}

/**
 * Applies the planned moves and writes, removals last, so that every text is on disk at every moment. On a failure or an
 * abort, undoes the earlier changes. Returns what went wrong, or `undefined`. Never rejects.
 */
export async function commitPatch(
  planned: readonly PlannedFile[],
  files: Files,
  seenFiles: SeenFiles,
  signal: AbortSignal,
): Promise<string | undefined> {
  const changed = planned.filter(isChanged);
  const done: Done[] = [];
  /** As a phrase: "write a.txt". */
  let doing = "";
  const isMoved = (file: PlannedFile): boolean => done.some(({ source }) => source === file);

  async function write(file: PlannedFile, after: string): Promise<void> {
    const source = sourceOf(file, changed);
    if (source !== undefined) doing = `move ${source.name} to ${file.name}`;
    const version = source && (await moved(source, file, files, signal));
    doing = `write ${file.name}`;
    if (source !== undefined && version !== undefined) {
      const entry: Done = { file, version, source };
      done.push(entry);
      if (source.before?.text !== after) entry.version = await files.write(file.path, after, { signal });
      return;
    }
    const mode = file.movedFrom === undefined ? {} : { mode: file.movedFrom.mode };
    done.push({ file, version: await files.write(file.path, after, { signal, ...mode }) });
  }

  const writes = changed.filter((file) => file.after !== undefined);
  const removals = changed.filter((file) => file.after === undefined);
  for (const file of [...writes, ...removals]) {
    if (isMoved(file)) continue;
    doing = `${file.after === undefined ? "remove" : "write"} ${file.name}`;
    try {
      await requireUntouched(file, files);
      if (file.after !== undefined) await write(file, file.after);
      else {
        await files.remove(file.path, { signal });
        done.push({ file });
      }
    } catch (error) {
      const words = isStopped(error) ? "" : `Cannot ${doing}: ${sentence(messageOf(error))} `;
      return `${words}${await putBack(done, files)}`;
    }
  }
  for (const { file } of done) if (file.after !== undefined) seenFiles.set(file.path, await markOf(file.after));
  return undefined;
}

/** The source of this file, if a rename is enough. */
function sourceOf({ name, before, movedFrom }: PlannedFile, changed: readonly PlannedFile[]): PlannedFile | undefined {
  if (before !== undefined || movedFrom === undefined) return undefined;
  return changed.find(({ path, after, movedTo }) => {
    return path === movedFrom.path && after === undefined && movedTo === name;
  });
}

/** The new version; `undefined` if the system cannot rename, so a copy is needed. */
async function moved(
  source: PlannedFile,
  { path }: PlannedFile,
  files: Files,
  signal: AbortSignal,
): Promise<string | undefined> {
  await requireUntouched(source, files);
  return files.move(source.path, path, { signal }).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && (error.code === "EXDEV" || error.code === "EBUSY"))
      return undefined;
    throw error;
  });
}

export function isChanged({ before, after }: PlannedFile): boolean {
  return before?.text !== after;
}

/** Another program can have changed the file since it was read. */
async function requireUntouched({ path, before }: PlannedFile, files: Files): Promise<void> {
  const version = (await files.stat(path))?.version;
  if (version === before?.version) return;
  throw new Error(before === undefined ? "it was created in the meantime" : "it changed in the meantime");
}

/** One sentence about the changes that were undone, and those that were not. */
async function putBack(done: readonly Done[], files: Files): Promise<string> {
  if (done.length === 0) return "Nothing was changed.";
  const failures: string[] = [];
  for (const one of done) {
    try {
      await undo(one, files);
    } catch (error) {
      failures.push(`${one.file.name} was not restored: ${sentence(messageOf(error))}`);
    }
  }
  const madeFiles = done.some(({ file }) => file.before === undefined);
  const folders = madeFiles ? " Empty folders made for new files may remain." : "";
  if (failures.length === 0) return `The earlier changes were undone, so nothing is changed.${folders}`;
  const others = failures.length < done.length ? "The others were restored." : "";
  return `Not all earlier changes could be undone! ${failures.join(" ")} ${others}${folders}`.trim();
}

async function undo({ file, version, source }: Done, files: Files): Promise<void> {
  const { path, before } = source ?? file;
  if ((await files.stat(file.path))?.version !== version) throw new Error("another program has changed it since");
  if (before === undefined) return files.remove(path);
  const isSame = source !== undefined && file.after === before.text;
  if (!isSame) await files.write(file.path, before.text, { mode: before.mode });
  if (source !== undefined) await files.move(file.path, path);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
