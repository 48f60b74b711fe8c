import { homedir } from "node:os";
import { resolve } from "node:path";
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import type { PermissionCall } from "../../../sdk/types.ts";
import { type PatchHunk, type PatchSection, parsePatch } from "../../../text/patch-parse.ts";
import { expandHome } from "../../../text/user-words.ts";
import { isText } from "../../../text/values.ts";
import { fenced, plainLine, textContent } from "./shown-text.ts";

/** The changes of a call as an editor shows them: diffs, and text for changes without a diff. */

type Details = PermissionCall["details"];
type Input = Readonly<Record<string, unknown>>;

export interface Changes {
  /** Every file that is changed, as written in the call. */
  readonly paths: readonly string[];
  readonly content: readonly ToolCallContent[];
}

const none: Changes = { paths: [], content: [] };

/** From a permission request, which has whole files. Undefined if it names none. */
export function changesOfDetails(details: Details, cwd: string): Changes | undefined {
  switch (details.type) {
    case "create": {
      const { filePath, oldContent, content } = details;
      return { paths: [filePath], content: [diff(cwd, filePath, oldContent, content)] };
    }
    case "edit":
      return { paths: [details.filePath], content: contentOfFile({ ...details, change: "update" }, cwd) };
    case "apply_patch": {
      const { files = [{ ...details, change: "update" as const }], patchContent } = details;
      const isWhole = files.every((file) => file.oldContent !== undefined || file.newContent !== undefined);
      return {
        paths: files.flatMap(({ filePath, movedTo }) => (movedTo === undefined ? [filePath] : [filePath, movedTo])),
        content: [
          ...files.flatMap((file) => contentOfFile(file, cwd)),
          ...(isWhole ? [] : [textContent(fenced(patchContent))]),
        ],
      };
    }
    default:
      return undefined;
  }
}

interface ChangedFile {
  readonly filePath: string;
  readonly change: "add" | "update" | "delete";
  readonly movedTo?: string;
  readonly oldContent?: string;
  readonly newContent?: string;
}

/** Adds text for deletions, moves, and contents that are missing or too large to show. */
function contentOfFile(file: ChangedFile, cwd: string): readonly ToolCallContent[] {
  const { filePath, change, movedTo, oldContent, newContent } = file;
  const isShown = oldContent !== undefined || newContent !== undefined;
  return [
    ...(isShown ? [diff(cwd, movedTo ?? filePath, oldContent, newContent ?? "")] : []),
    ...inWords(change, filePath, movedTo),
    ...(isShown || change === "delete" ? [] : [textContent(`${plainLine(filePath)} is shown only in part.`)]),
  ];
}

function inWords(change: ChangedFile["change"], path: string, movedTo: string | undefined): readonly ToolCallContent[] {
  return [
    ...(change === "delete" ? [textContent(`${plainLine(path)} is deleted.`)] : []),
    ...(movedTo === undefined ? [] : [textContent(`${plainLine(path)} is moved to ${plainLine(movedTo)}.`)]),
  ];
}

/** From a call's input, which has only pieces of a file. `replaced` is the previous content of an overwritten file. */
export function changesOfInput(name: string, input: Input, cwd: string, replaced?: string): Changes {
  const { file_path: path, content, old_str: before, new_str: after, edits } = input;
  if (name === "ApplyPatch") return changesOfPatch(input, cwd);
  if (!isText(path)) return none;
  const of = (...diffs: readonly ToolCallContent[]): Changes => ({ paths: [path], content: diffs });
  switch (name) {
    case "Create":
    case "Write":
      // If the new text is in the file already, the old one is unknown.
      return isText(content) ? of(diff(cwd, path, replaced === content ? undefined : replaced, content)) : of();
    case "Edit":
      return isText(before) && isText(after) ? of(diff(cwd, path, before, after)) : of();
    case "MultiEdit":
      return of(
        ...(Array.isArray(edits) ? edits : []).flatMap((edit: unknown) => {
          return changesOfInput("Edit", { ...Object(edit), file_path: path }, cwd).content;
        }),
      );
    default:
      return none;
  }
}

/** The absolute path, as far as it can be known here. */
export function placeOf(path: string, cwd: string): string {
  try {
    return resolve(cwd, expandHome(path, homedir()));
  } catch {
    return resolve(cwd, path);
  }
}

/** The file that a call overwrites, once its path is complete. */
export function wholeFileOf(name: string, { file_path: path, content }: Input, cwd: string): string | undefined {
  const isWhole = (name === "Create" || name === "Write") && isText(path) && isText(content);
  return isWhole ? placeOf(path, cwd) : undefined;
}

/** Parsed like the tool does. An invalid or incomplete patch has no changes. */
function changesOfPatch(input: Input, cwd: string): Changes {
  const sections = sectionsIn(input.input ?? input.patch);
  return {
    paths: sections.flatMap((section) =>
      section.change === "update" && section.movedTo !== undefined ? [section.path, section.movedTo] : [section.path],
    ),
    content: sections.flatMap((section) => contentOfSection(section, cwd)),
  };
}

function sectionsIn(patch: unknown): readonly PatchSection[] {
  try {
    return isText(patch) ? parsePatch(patch) : [];
  } catch {
    return [];
  }
}

function contentOfSection(section: PatchSection, cwd: string): readonly ToolCallContent[] {
  const { change, path } = section;
  if (change === "delete") return inWords(change, path, undefined);
  if (change === "add") return [diff(cwd, path, undefined, section.content)];
  const { hunks, movedTo } = section;
  const side = (sign: string): string => hunks.map((hunk) => linesOf(hunk, sign)).join("\n…\n");
  const changed = hunks.length === 0 ? [] : [diff(cwd, movedTo ?? path, side("-"), side("+"))];
  return [...changed, ...inWords(change, path, movedTo)];
}

function linesOf({ lines }: PatchHunk, sign: string): string {
  return lines
    .filter((line) => line.startsWith(" ") || line.startsWith(sign))
    .map((line) => line.slice(1))
    .join("\n");
}

/** Backends are untrusted and can send anything as text. */
function diff(cwd: string, path: string, oldText: unknown, newText: unknown): ToolCallContent {
  return {
    type: "diff",
    path: placeOf(path, cwd),
    oldText: isText(oldText) ? oldText : null,
    newText: isText(newText) ? newText : "",
  };
}
