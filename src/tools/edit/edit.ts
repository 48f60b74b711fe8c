import { decodeText, splitLines } from "../../async/long-texts.ts";
import type { Preview } from "../../engine/permission.ts";
import { type DecidedScope, defineTool, failed, type ToolContext, type ToolOutput } from "../../engine/tool.ts";
import { shownName } from "../../text/shown-name.ts";
import { textStart } from "../../text/text-cut.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { halfCharacter, interrupted, isStopped, messageOf } from "../outcome.ts";
import { type Breathe, createPace } from "../pace.ts";
import { nearestPlace } from "../patch/patch-nearest.ts";
import { markOf, mostComparedBytes } from "../seen-files.ts";
import { previewLimit, previewText, readWhole } from "../text-file.ts";
import { z } from "../zod.ts";
import { changedLines, modelBounds } from "./changed-lines.ts";
import { editReport } from "./edit-report.ts";
import { type Replacing, replaceText } from "./edit-text.ts";
import { diffLines } from "./line-diff.ts";

const mostNearestLines = 12;
const mostLineCharacters = 200;

const input = z.strictObject({
  file_path: z.string("file_path is required and must be a string"),
  old_str: z.string("old_str is required and must be a string"),
  new_str: z.string("new_str is required and must be a string"),
  change_all: z.boolean("change_all must be true or false").optional(),
});
type Input = z.infer<typeof input>;

export const editTool = defineTool({
  input,

  async access(input, scope) {
    const read = await decideUse("read", input.file_path, scope);
    return [read, { ...read, type: "write" }];
  },

  preview,

  async run(input, context) {
    if (input.file_path.trim() === "") return failed("file_path is required and must be a string");
    if (input.old_str === "") return failed("old_str is empty. Use Create for a new file, or to replace a whole one.");
    if (input.old_str === input.new_str) return failed("old_str and new_str are the same, so nothing would change.");
    for (const name of ["old_str", "new_str"] as const) {
      const broken = halfCharacter(input[name]);
      if (broken !== undefined) return failed(`Cannot edit file: ${name} ${broken}`);
    }
    try {
      return await edit(input, context);
    } catch (error) {
      if (isStopped(error)) return interrupted();
      return failed(`Cannot edit file: ${messageOf(error)}`);
    }
  },
});

async function edit(input: Input, context: ToolContext): Promise<ToolOutput> {
  const { files } = context.host;
  const breathe = createPace(context.signal);
  const path = await decidedPath(input.file_path, context);
  const shown = shownName(path);
  const stat = await files.stat(path);
  if (stat === undefined) return failed(`Cannot edit file that does not exist: ${shown}. Use Create to make it.`);
  if (stat.kind !== "file") return failed(`Cannot edit ${shown}: it is not a regular file.`);
  if (stat.notWritable !== undefined) return failed(`Cannot edit ${shown}: it ${stat.notWritable}.`);
  const seen = context.seenFiles.get(path);
  if (seen === undefined)
    return failed(`Cannot edit file that has not been read first: ${shown}. Read it, then edit it.`);
  const changed = `Cannot edit file that has changed since it was read: ${shown}. Read it again, then edit it.`;

  const bytes = stat.size > mostComparedBytes ? undefined : await readWhole(files, path, mostComparedBytes);
  if (bytes === undefined)
    return failed(`Cannot edit ${shown}: it is larger than 10 MiB. Use Execute for such a change.`);
  if (seen !== (await markOf(bytes, breathe))) return failed(changed);
  const before = await decodeText(bytes, breathe);
  if (before === undefined) return failed(`Cannot edit ${shown}: it is not UTF-8 text. Use Execute for such a change.`);
  const replacement = await replaceText(replacingOf(before, input), breathe);
  if (!replacement.ok) {
    const nearest = replacement.isMissing === true ? await nearestLines(before, input.old_str, breathe) : "";
    return failed(replacement.message + nearest);
  }
  await breathe();
  const diff = await diffLines(before, replacement.text, breathe);
  const text = editReport(path, replacement.text, diff);
  const notes = replacement.note === undefined ? [] : [replacement.note];
  const forModel = [`Edited ${shown}`, ...notes, ...changedLines(diff, modelBounds).lines].join("\n");
  if ((await files.stat(path))?.version !== stat.version) return failed(changed);
  await files.write(path, replacement.text, { signal: context.signal });
  context.seenFiles.set(path, await markOf(replacement.text));
  return { status: "ok", text, forModel };
}

function replacingOf(text: string, { old_str, new_str, change_all = false }: Input): Replacing {
  return { text, oldText: old_str, newText: new_str, everywhere: change_all };
}

/** The place in the file most similar to a missing text, to follow a sentence. */
async function nearestLines(text: string, wanted: string, breathe: Breathe): Promise<string> {
  const [lines, wantedLines] = [await splitLines(text, breathe), await splitLines(wanted.trim(), breathe)];
  const place = await nearestPlace(lines, wantedLines, 0, breathe);
  if (place === undefined) return "";
  const shown = lines.slice(place, place + Math.min(wantedLines.length + 2, mostNearestLines));
  const numbered = shown.map((line, index) => `${place + index + 1}→${textStart(line, mostLineCharacters)}`);
  return ` The nearest place is:\n${numbered.join("\n")}`;
}

async function preview(input: Input, scope: DecidedScope): Promise<Preview> {
  const path = await decidedPath(input.file_path, scope).catch(() => input.file_path);
  const oldContent = await previewText(scope.host.files, path).catch(() => undefined);
  if (oldContent === undefined) return { type: "edit", path };
  if (input.old_str === "") return { type: "edit", path, oldContent };
  const replacement = await replaceText(replacingOf(oldContent, input), createPace());
  if (!replacement.ok || replacement.text.length > previewLimit) return { type: "edit", path, oldContent };
  return { type: "edit", path, oldContent, newContent: replacement.text };
}
