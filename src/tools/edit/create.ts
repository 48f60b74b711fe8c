import { defineTool, failed, succeeded } from "../../engine/tool.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { halfCharacter, interrupted, isStopped, messageOf } from "../outcome.ts";
import { previewText } from "../text-file.ts";
import { z } from "../zod.ts";

export const createTool = defineTool({
  input: z.strictObject({
    file_path: z.string("file_path is required and must be a string"),
    content: z.string("content is required and must be a string"),
  }),

  async access(input, scope) {
    return [await decideUse("write", input, input.file_path, scope)];
  },

  async preview(input, scope) {
    const path = await decidedPath(input, input.file_path, scope).catch(() => input.file_path);
    const oldContent = await previewText(scope.host.files, path).catch(() => undefined);
    return { type: "create", path, content: input.content, ...(oldContent === undefined ? {} : { oldContent }) };
  },

  async run(input, context) {
    if (input.file_path.trim() === "") return failed("file_path is required and must be a string");
    const broken = halfCharacter(input.content);
    if (broken !== undefined) return failed(`Cannot create file: content ${broken}`);
    const { files } = context.host;
    try {
      const path = await decidedPath(input, input.file_path, context);
      const stat = await files.stat(path);
      if (stat?.kind === "directory") return failed(`Cannot create file: ${path} is a directory.`);
      if (stat?.kind === "other") return failed(`Cannot create file: ${path} is there and is not a regular file.`);
      if (stat?.notWritable !== undefined) return failed(`Cannot create file: ${path} ${stat.notWritable}.`);
      context.seenFiles.set(path, await files.write(path, input.content, { signal: context.signal }));
      return succeeded("File created successfully");
    } catch (error) {
      if (isStopped(error)) return interrupted();
      return failed(`Cannot create file: ${messageOf(error)}`);
    }
  },
});
