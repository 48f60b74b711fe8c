import type { Files } from "../core/ports.ts";
import { messageOf } from "./outcome.ts";
import type { PlannedFile } from "./patch-plan.ts";

/** What was done to one file, so that it can be undone. */
interface Done {
  readonly file: PlannedFile;
  /** Absent when it was removed. */
  readonly version?: string;
}

/**
 * Writes what was planned, removals last, so that at every moment each text is on the disk. When one fails, those before it
 * are put back. Returns words on what went wrong, or `undefined` when all is done. Never rejects.
 */
export async function commitPatch(
  planned: readonly PlannedFile[],
  files: Files,
  seenFiles: Map<string, string>,
): Promise<string | undefined> {
  const changed = planned.filter(isChanged);
  const done: Done[] = [];
  const writes = changed.filter((file) => file.after !== undefined);
  const removals = changed.filter((file) => file.after === undefined);
  for (const file of [...writes, ...removals]) {
    try {
      await requireUntouched(file, files);
      if (file.after === undefined) {
        await files.remove(file.path);
        done.push({ file });
      } else {
        const options = file.movedFrom === undefined ? {} : { mode: file.movedFrom.mode };
        done.push({ file, version: await files.write(file.path, file.after, options) });
      }
    } catch (error) {
      const verb = file.after === undefined ? "remove" : "write";
      const words = `Cannot ${verb} ${file.name}: ${sentence(messageOf(error))}`;
      return `${words} ${await putBack(done, files, seenFiles)}`;
    }
  }
  for (const { file, version } of done) {
    if (version === undefined) seenFiles.delete(file.path);
    else seenFiles.set(file.path, version);
  }
  return undefined;
}

export function isChanged({ before, after }: PlannedFile): boolean {
  return before?.text !== after;
}

/** Somebody else may have been at the file since it was read. */
async function requireUntouched({ path, before }: PlannedFile, files: Files): Promise<void> {
  const version = (await files.stat(path))?.version;
  if (version === before?.version) return;
  throw new Error(before === undefined ? "it has come to be meanwhile" : "it was changed meanwhile");
}

/** In words: what was put back, and what could not be. */
async function putBack(done: readonly Done[], files: Files, seenFiles: Map<string, string>): Promise<string> {
  if (done.length === 0) return "Nothing was changed.";
  const failures: string[] = [];
  for (const one of done) {
    try {
      await undo(one, files, seenFiles);
    } catch (error) {
      failures.push(`${one.file.name} was not put back: ${sentence(messageOf(error))}`);
    }
  }
  const madeFiles = done.some(({ file }) => file.before === undefined);
  const folders = madeFiles ? " Folders that were made for new files may be left, empty." : "";
  if (failures.length === 0) return `What had been changed before it was put back, so nothing is changed.${folders}`;
  const others = failures.length < done.length ? "The others are as before." : "";
  return `Before it other files had been changed, and not all are as they were! ${failures.join(" ")} ${others}${folders}`.trim();
}

async function undo({ file, version }: Done, files: Files, seenFiles: Map<string, string>): Promise<void> {
  const { path, before } = file;
  if ((await files.stat(path))?.version !== version) throw new Error("somebody else has changed it since");
  if (before === undefined) return files.remove(path);
  const restored = await files.write(path, before.text, { mode: before.mode });
  // The model knows this text, so it still has seen the file.
  if (seenFiles.get(path) === before.version) seenFiles.set(path, restored);
}

function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
