import { resolve } from "node:path";
import type { Diff } from "@agentclientprotocol/sdk";
import type { PermissionCall } from "../../sdk/types.ts";

/* What a call changes, as an editor shows it. */

type Details = PermissionCall["details"];

/** From a permission request, which has whole files. Empty when it says nothing of them. */
export function diffsOfDetails(details: Details, cwd: string): readonly Diff[] {
  switch (details.type) {
    case "create":
      return [diff(cwd, details.filePath, details.oldContent, details.content)];
    case "edit":
      return wholeFiles([details], cwd);
    case "apply_patch":
      return wholeFiles(details.files ?? [details], cwd);
    default:
      return [];
  }
}

interface WholeFile {
  readonly filePath: string;
  readonly oldContent?: string;
  readonly newContent?: string;
  readonly movedTo?: string;
}

/** A file without contents is too large to be shown; one that has only an old one is deleted. */
function wholeFiles(files: readonly WholeFile[], cwd: string): readonly Diff[] {
  return files.flatMap(({ filePath, oldContent, newContent, movedTo }) =>
    oldContent === undefined && newContent === undefined
      ? []
      : [diff(cwd, movedTo ?? filePath, oldContent, newContent ?? "")],
  );
}

/**
 * From a call's own input: the pieces that it names, because nobody knows the rest of the file. `replaced` is what was in
 * the file that it writes as a whole.
 */
export function diffsOfInput(
  name: string,
  input: Readonly<Record<string, unknown>>,
  cwd: string,
  replaced?: string,
): readonly Diff[] {
  const { file_path: path, content, old_str: before, new_str: after } = input;
  switch (name) {
    case "Create":
    case "Write":
      // The same text may be the new one already: then nobody knows what was there.
      return isText(path) && isText(content)
        ? [diff(cwd, path, replaced === content ? undefined : replaced, content)]
        : [];
    case "Edit":
      return isText(path) && isText(before) && isText(after) ? [diff(cwd, path, before, after)] : [];
    case "MultiEdit":
      return isText(path) && Array.isArray(input.edits)
        ? input.edits.flatMap((edit: unknown) => diffsOfInput("Edit", { ...Object(edit), file_path: path }, cwd))
        : [];
    case "ApplyPatch":
      return patchedFiles(patchOf(input)).map(({ path: file, before: old, after: now }) => diff(cwd, file, old, now));
    default:
      return [];
  }
}

/** The file that a call writes as a whole, once its path is known to its end. */
export function wholeFileOf(
  name: string,
  { file_path: path, content }: Readonly<Record<string, unknown>>,
  cwd: string,
) {
  const isWhole = (name === "Create" || name === "Write") && isText(path) && isText(content);
  return isWhole ? resolve(cwd, path) : undefined;
}

/** The text of a patch is the only thing that its call has, under whatever name. */
export function patchOf(input: Readonly<Record<string, unknown>>): string {
  const [text] = Object.values(input).filter((value) => isText(value) && value.includes("*** "));
  return isText(text) ? text : "";
}

interface PatchedFile {
  readonly path: string;
  readonly before: string | undefined;
  readonly after: string;
}

const fileLine = /^\*\*\* (Add|Update|Delete) File: (.+)$/;

/** What is told of each file of a patch: lines that go, lines that come, and what stands around them. */
export function patchedFiles(patch: string): readonly PatchedFile[] {
  const files: { path: string; kind: string; before: string[]; after: string[] }[] = [];
  for (const line of patch.split(/\r?\n/)) {
    const [, kind, path] = fileLine.exec(line) ?? [];
    if (kind !== undefined && path !== undefined) {
      files.push({ path: path.trim(), kind, before: [], after: [] });
      continue;
    }
    const file = files.at(-1);
    if (file === undefined || line.startsWith("*** ")) continue;
    const text = line.slice(1);
    if (line.startsWith("+")) file.after.push(text);
    else if (line.startsWith("-")) file.before.push(text);
    else if (line.startsWith(" ")) {
      file.before.push(text);
      file.after.push(text);
    } else if (line.startsWith("@@") && file.before.length > 0) {
      file.before.push("…");
      file.after.push("…");
    }
  }
  return files.map(({ path, kind, before, after }) => ({
    path,
    before: kind === "Add" ? undefined : before.join("\n"),
    after: after.join("\n"),
  }));
}

function diff(cwd: string, path: string, oldText: string | undefined, newText: string): Diff {
  return { path: resolve(cwd, path), oldText: oldText ?? null, newText };
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}
