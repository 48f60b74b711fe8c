import { basename, dirname, join } from "node:path";
import { decodeText } from "../../async/long-texts.ts";
import type { FileStat } from "../../engine/files.ts";
import type { FileChange } from "../../engine/permission.ts";
import type { ToolScope } from "../../engine/tool.ts";
import type { PatchHunk, PatchSection } from "../../text/patch-parse.ts";
import { shownName, shownWritten } from "../../text/shown-name.ts";
import { canonicalOf } from "../decided-path.ts";
import { isStopped, messageOf } from "../outcome.ts";
import type { Breathe } from "../pace.ts";
import { readWhole } from "../text-file.ts";
import { applyHunks } from "./patch-apply.ts";
import { createBudget } from "./patch-match.ts";

const mostBytes = 10 * 1024 * 1024;
/** Limit for all files together, because they stay in memory until the last one is written. */
const mostBytesTogether = 32 * 1024 * 1024;

/** The combined effect of all sections on one file. */
export interface PlannedFile {
  /** Canonical. */
  readonly path: string;
  /** As named in the patch, on one line. */
  readonly name: string;
  /** The file on disk; absent if missing. */
  readonly before?: { readonly text: string; readonly version: string; readonly mode: number };
  /** Absent if the file will be removed. */
  readonly after?: string;
  readonly movedFrom?: { readonly path: string; readonly name: string; readonly text: string; readonly mode: number };
  readonly movedTo?: string;
}

interface PlanOptions {
  readonly scope: ToolScope;
  /** The canonical path of one named in the patch. */
  resolve(path: string): Promise<string>;
  /** Called for each section, in order, with the text before and after. */
  onSection?(change: FileChange): void;
  readonly breathe?: Breathe;
}

/** A file after the sections so far. */
interface State {
  readonly path: string;
  readonly name: string;
  readonly stat: FileStat | undefined;
  disk?: { readonly text: string; readonly version: string; readonly mode: number };
  isThere: boolean;
  text: string;
  /** Why it no longer exists. */
  gone: "deleted" | "moved" | undefined;
  /** The file that its text came from, and the one that it went to. */
  movedFrom: State | undefined;
  movedTo: State | undefined;
}

/**
 * Reads a patch's files and computes their new texts, section by section. Writes nothing. Rejects with a message for
 * the model if something does not fit.
 */
export async function planPatch(
  sections: readonly PatchSection[],
  options: PlanOptions,
): Promise<readonly PlannedFile[]> {
  const { files } = options.scope.host;
  const budget = createBudget(options.breathe);
  const states = new Map<string, State>();
  const stateByName = new Map<string, State>();
  let bytesTogether = 0;

  async function look(name: string): Promise<State> {
    const known = stateByName.get(name);
    if (known !== undefined) return known;
    const path = await options.resolve(name);
    const shown = shownWritten(name);
    let state = states.get(path);
    if (state === undefined) {
      const stat = await files.stat(path);
      if (stat?.kind === "directory") throw new Error(`${shown} is a directory.`);
      if (stat?.kind === "other") throw new Error(`${shown} is not a regular file.`);
      const fresh = { text: "", gone: undefined, movedFrom: undefined, movedTo: undefined };
      state = { path, name: shown, stat, isThere: stat !== undefined, ...fresh };
      states.set(path, state);
    }
    stateByName.set(name, state);
    return state;
  }

  /** A file whose text is needed. */
  async function open(name: string, mark: string): Promise<State> {
    const state = await look(name);
    if (!state.isThere) {
      const why = state.gone === undefined ? "does not exist" : `was ${state.gone} by an earlier section`;
      throw new Error(`${state.name} ${why}, so "${mark}" cannot be done.${mark === "*** Update File" ? addHint : ""}`);
    }
    if (state.stat === undefined || state.disk !== undefined) return state;
    if (state.stat.notWritable !== undefined) throw new Error(`${state.name} ${state.stat.notWritable}.`);
    const bytes = state.stat.size > mostBytes ? undefined : await readWhole(files, state.path, mostBytes);
    if (bytes === undefined) throw new Error(`${state.name} is larger than 10 MiB. Use Execute for such a change.`);
    bytesTogether += bytes.length;
    if (bytesTogether > mostBytesTogether)
      throw new Error("The files of the patch are larger than 32 MiB together. Split it into several patches.");
    const text = await decodeText(bytes, budget.breathe);
    if (text === undefined || text.includes("\0"))
      throw new Error(`${state.name} is not UTF-8 text. Use Execute for such a change.`);
    state.disk = { text, version: state.stat.version, mode: state.stat.mode };
    state.text = text;
    return state;
  }

  async function requireNoLink(name: string, path: string, what: string): Promise<void> {
    if ([".", "..", ""].includes(basename(name))) return;
    const own = join(await canonicalOf(dirname(name), options.scope), basename(name));
    if (own !== path)
      throw new Error(
        `${shownWritten(name)} is a link to ${shownName(path)}, so it cannot be ${what}. Use Execute for the link.`,
      );
  }

  async function add(section: PatchSection & { change: "add" }): Promise<void> {
    const state = await look(section.path);
    if (state.isThere) {
      const since = state.stat === undefined ? "by an earlier section" : "already";
      throw new Error(`${state.name} exists ${since}. Use "*** Update File" to change it.`);
    }
    state.isThere = true;
    state.text = section.content;
    options.onSection?.({ path: state.path, change: "add", newContent: section.content });
  }

  async function remove(section: PatchSection & { change: "delete" }): Promise<void> {
    const state = await open(section.path, "*** Delete File");
    if (state.disk === undefined)
      throw new Error(`${state.name} was created by an earlier section, so it cannot be deleted.`);
    await requireNoLink(section.path, state.path, "deleted");
    options.onSection?.({ path: state.path, change: "delete", oldContent: state.text });
    leave(state, "deleted");
  }

  async function update({ path: name, movedTo, hunks }: PatchSection & { change: "update" }): Promise<void> {
    const state = await open(name, "*** Update File");
    const oldContent = state.text;
    const newContent = hunks.length === 0 ? oldContent : await changedText(state.name, oldContent, hunks);
    const target = movedTo === undefined ? state : await look(movedTo);
    const moves = target === state ? {} : { movedTo: target.path };
    if (target !== state) {
      if (target.isThere) throw new Error(`${state.name} cannot be moved to ${target.name}, which already exists.`);
      await requireNoLink(name, state.path, "moved");
      target.movedFrom = state.movedFrom ?? state;
      target.movedFrom.movedTo = target;
      target.isThere = true;
      leave(state, "moved");
    }
    target.text = newContent;
    options.onSection?.({ path: state.path, ...moves, change: "update", oldContent, newContent });
  }

  async function changedText(name: string, text: string, hunks: readonly PatchHunk[]): Promise<string> {
    try {
      return await applyHunks(text, hunks, budget);
    } catch (error) {
      if (isStopped(error)) throw error;
      throw new Error(`In ${name}: ${messageOf(error)}`);
    }
  }

  for (const section of sections) {
    if (section.change === "add") await add(section);
    else if (section.change === "delete") await remove(section);
    else await update(section);
  }
  requireNoFolders(states);
  return [...states.values()].map(plannedOf);
}

function leave(state: State, how: "deleted" | "moved"): void {
  state.isThere = false;
  state.gone = how;
  state.movedFrom = undefined;
}

const addHint = ' Use "*** Add File" to create it.';

/** A name cannot be both a file and a folder, and a file replaced by a folder could not be restored. */
function requireNoFolders(states: ReadonlyMap<string, State>): void {
  for (const { path, name, isThere } of states.values()) {
    if (!isThere) continue;
    for (let folder = dirname(path); folder !== dirname(folder); folder = dirname(folder)) {
      const file = states.get(folder);
      if (file !== undefined)
        throw new Error(`${name} is inside ${file.name}, which the patch treats as a file. Split it into two patches.`);
    }
  }
}

function plannedOf({ path, name, disk, isThere, text, movedFrom, movedTo }: State): PlannedFile {
  return {
    path,
    name,
    ...(disk === undefined ? {} : { before: disk }),
    ...(isThere ? { after: text } : {}),
    ...(movedFrom?.disk === undefined
      ? {}
      : {
          movedFrom: {
            path: movedFrom.path,
            name: movedFrom.name,
            text: movedFrom.disk.text,
            mode: movedFrom.disk.mode,
          },
        }),
    ...(!isThere && movedTo?.isThere ? { movedTo: movedTo.name } : {}),
  };
}
