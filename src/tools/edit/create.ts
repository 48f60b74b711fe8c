import type { FileStat } from "../../engine/files.ts";
import { defineTool, failed, succeeded, type ToolContext } from "../../engine/tool.ts";
import { shownName } from "../../text/shown-name.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { halfCharacter, interrupted, isStopped, messageOf } from "../outcome.ts";
import { currentMark, markOf } from "../seen-files.ts";
import { previewText } from "../text-file.ts";
import { z } from "../zod.ts";

export const createTool = defineTool({
  input: z.strictObject({
    file_path: z.string("file_path is required and must be a string"),
    content: z.string("content is required and must be a string"),
  }),

  async access(input, scope) {
    return [await decideUse("write", input.file_path, scope)];
  },

  async preview(input, scope) {
    const path = await decidedPath(input.file_path, scope).catch(() => input.file_path);
    const oldContent = await previewText(scope.host.files, path).catch(() => undefined);
    return { type: "create", path, content: input.content, ...(oldContent === undefined ? {} : { oldContent }) };
  },

  async run(input, context) {
    if (input.file_path.trim() === "") return failed("file_path is required and must be a string");
    const broken = halfCharacter(input.content);
    if (broken !== undefined) return failed(`Cannot create file: content ${broken}`);
    const { files } = context.host;
    try {
      const path = await decidedPath(input.file_path, context);
      const stat = await files.stat(path);
      const shown = shownName(path);
      if (stat?.kind === "directory") return failed(`Cannot create file: ${shown} is a directory.`);
      if (stat?.kind === "other") return failed(`Cannot create file: ${shown} exists and is not a regular file.`);
      if (stat?.notWritable !== undefined) return failed(`Cannot create file: ${shown} ${stat.notWritable}.`);
      if (stat !== undefined && stat.size > 0) {
        const unseen = await whyUnseen(path, stat, context);
        if (unseen !== undefined) return failed(unseen, "not_read");
      }
      await files.write(path, input.content, { signal: context.signal });
      context.seenFiles.set(path, await markOf(input.content));
      return succeeded("File created successfully");
    } catch (error) {
      if (isStopped(error)) return interrupted();
      return failed(`Cannot create file: ${messageOf(error)}`);
    }
  },
});

/** A model can replace a file only if it knows the content. */
async function whyUnseen(path: string, stat: FileStat, { host, seenFiles }: ToolContext): Promise<string | undefined> {
  const seen = seenFiles.get(path);
  const advice = "then create it, or use Edit to change a part of it";
  if (seen === undefined)
    return `Cannot replace a file that has not been read: ${shownName(path)}. Read it first, ${advice}. Nothing was changed.`;
  if (seen === (await currentMark(path, stat, host.files))) return undefined;
  return `Cannot replace a file that has changed since it was read: ${shownName(path)}. Read it again, ${advice}. Nothing was changed.`;
}
