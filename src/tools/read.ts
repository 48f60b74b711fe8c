import { extname } from "node:path";
import { outputLimit } from "../core/output.ts";
import { defineTool, failed, succeeded } from "../core/tool.ts";
import { decidedPath, decidePath } from "./decided-path.ts";
import { type LineWindow, readLineWindow } from "./line-window.ts";
import { interrupted, messageOf } from "./outcome.ts";
import { z } from "./zod.ts";

const defaultLines = 2400;
const sniffedBytes = 8192;
const spaceForNotes = 1000;
const imageExtensions: ReadonlySet<string> = new Set([
  ".png",
  ".jpg",
  ".jpeg",
  ".gif",
  ".webp",
  ".bmp",
  ".ico",
  ".tiff",
]);

export const readTool = defineTool({
  input: z.strictObject({
    file_path: z.string("file_path is required and must be a string"),
    offset: z.number("offset must be a number of lines").optional(),
    limit: z.number("limit must be a number of lines").optional(),
    image_quality: z.enum(["default", "high"]).optional(),
  }),

  async access(input, scope) {
    return [{ type: "read", path: await decidePath(input, input.file_path, scope) }];
  },

  async run(input, context) {
    if (input.file_path.trim() === "") return failed("file_path is required and must be a string");
    const skip = Math.floor(input.offset ?? 0);
    const limit = Math.floor(input.limit ?? defaultLines);
    if (skip < 0) return failed("offset is the number of lines to skip: 0 or more");
    if (limit < 1) return failed("limit is the number of lines to return: 1 or more");
    const { files } = context.host;
    try {
      const path = await decidedPath(input, input.file_path, context);
      const stat = await files.stat(path);
      if (stat === undefined) return failed(`Error reading file: ENOENT: there is no file ${path}`);
      if (stat.kind === "directory") return failed(`Error reading file: ${path} is a directory. Use LS to list it.`);
      if (stat.kind === "other") return failed(`Error reading file: ${path} is not a regular file.`);
      const start = await files.read(path, { maxBytes: sniffedBytes });
      if (start.includes(0)) return failed(`Error reading file: ${path} ${whyUnreadable(path)}`);
      const window = await readLineWindow(
        files,
        path,
        { skip, limit, maxJsonBytes: outputLimit - spaceForNotes },
        context.signal,
      );
      if (skip > 0 && window.lines.length === 0)
        return failed(`Error reading file: offset ${skip} is past the end: ${path} has ${window.passed} lines.`);
      context.seenFiles.set(path, stat.version);
      return succeeded(render(window, skip));
    } catch (error) {
      return context.signal.aborted ? interrupted() : failed(`Error reading file: ${messageOf(error)}`);
    }
  },
});

function whyUnreadable(path: string): string {
  if (imageExtensions.has(extname(path).toLowerCase())) return "is an image. Images are not supported yet.";
  return "is a binary file (or text that is not UTF-8). Use Execute with a program that understands it.";
}

function render(window: LineWindow, skip: number): string {
  const text = window.lines.join("\n") + (window.finalNewline && window.lines.length > 0 ? "\n" : "");
  const notes: string[] = [];
  const last = skip + window.lines.length;
  if (window.more)
    notes.push(`[Lines ${skip + 1}-${last}. The file goes on: Read it with offset ${last} for what follows.]`);
  else if (skip > 0) notes.push(`[Lines ${skip + 1}-${last}, the last of the file.]`);
  else if (text === "") notes.push("[The file is empty.]");
  if (window.invalid) notes.push("[Some bytes are not UTF-8 and are shown as \uFFFD.]");
  if (notes.length === 0) return text;
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return text + gap + notes.join("\n");
}
