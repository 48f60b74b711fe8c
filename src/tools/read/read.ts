import { extname } from "node:path";
import type { FileStat } from "../../engine/files.ts";
import type { ImageBlock } from "../../engine/message.ts";
import { defineTool, failed, type ToolContext, type ToolOutput } from "../../engine/tool.ts";
import { outputLimit } from "../../text/output.ts";
import { shownName } from "../../text/shown-name.ts";
import { decidedPath, decideUse } from "../decided-path.ts";
import { interrupted, messageOf } from "../outcome.ts";
import { noteRead } from "../seen-files.ts";
import { z } from "../zod.ts";
import { type LineWindow, piecesOf, readLineWindow } from "./line-window.ts";
import { fromUtf16, utf16Of } from "./utf16.ts";

const defaultLines = 2400;
const sniffedBytes = 8192;
const spaceForNotes = 1000;
/** Enough to recognise text; other readers detect the remaining types. */
const imageSigns = ["\x89PNG", "\xff\xd8\xff", "GIF8", "RIFF"];

export const readTool = defineTool({
  input: z.strictObject({
    file_path: z.string("file_path is required and must be a string"),
    offset: z.number("offset must be a number of lines").optional(),
    limit: z.number("limit must be a number of lines").optional(),
    image_quality: z.enum(["default", "high"]).optional(),
  }),

  async access(input, scope) {
    return [await decideUse("read", input.file_path, scope)];
  },

  async run(input, context) {
    if (input.file_path.trim() === "") return failed("file_path is required and must be a string");
    const skip = Math.floor(input.offset ?? 0);
    const limit = Math.floor(input.limit ?? defaultLines);
    if (skip < 0) return failed("offset is the number of lines to skip: 0 or more");
    if (limit < 1) return failed("limit is the number of lines to return: 1 or more");
    try {
      const path = await decidedPath(input.file_path, context);
      const stat = await context.host.files.stat(path);
      if (stat === undefined) return failed(`Error reading file: ENOENT: no such file: ${shownName(path)}`);
      if (stat.kind === "directory")
        return failed(`Error reading file: ${shownName(path)} is a directory. Use LS to list it.`, "is_directory");
      if (stat.kind === "other") return failed(`Error reading file: ${shownName(path)} is not a regular file.`);
      const output = await readFile({ path, stat, skip, limit, context });
      if (output.status === "ok") await noteRead(path, stat, context);
      return output;
    } catch (error) {
      return context.signal.aborted ? interrupted() : failed(`Error reading file: ${messageOf(error)}`);
    }
  },
});

interface Reading {
  readonly path: string;
  readonly stat: FileStat;
  readonly skip: number;
  readonly limit: number;
  readonly context: ToolContext;
}

/** By content; only a notebook, being JSON, is recognised by its name. */
async function readFile(reading: Reading): Promise<ToolOutput> {
  const { path, context } = reading;
  const { files } = context.host;
  const start = await files.read(path, { maxBytes: sniffedBytes });
  if (beginsWith(start, imageSigns)) {
    const { readImage } = await import("./read-image.ts");
    const image = await readImage(files, path, start);
    if (image !== undefined) return image;
  }
  if (beginsWith(start, ["%PDF-"])) {
    const { openPdf } = await import("./read-pdf.ts");
    const { pieces, ...frame } = await openPdf(context.host, path, context.signal);
    return show(reading, pieces, { subject: "text", ...frame });
  }
  if (extname(path).toLowerCase() === ".ipynb") return readNotebook(reading, start);
  const encoding = utf16Of(start);
  if (encoding !== undefined) {
    const notes = () => ["[The file is UTF-16, which Edit cannot change.]"];
    return show(reading, fromUtf16(piecesOf(files, path), encoding), { subject: "file", notes });
  }
  return readText(reading, start);
}

function beginsWith(start: Uint8Array, signs: readonly string[]): boolean {
  const first = Buffer.from(start.buffer, start.byteOffset, start.byteLength).toString("latin1", 0, 8);
  return signs.some((sign) => first.startsWith(sign));
}

async function readText(reading: Reading, start: Uint8Array, note?: string): Promise<ToolOutput> {
  const { path, context } = reading;
  if (start.includes(0)) {
    const { whyNoImage } = await import("./read-image.ts");
    const why = "is a binary file (or text that is not UTF-8). Use Execute with a program that understands it.";
    return failed(`Error reading file: ${shownName(path)} ${whyNoImage(path, start) ?? why}`);
  }
  const notes = () => (note === undefined ? [] : [note]);
  return show(reading, piecesOf(context.host.files, path), { subject: "file", notes });
}

async function readNotebook(reading: Reading, start: Uint8Array): Promise<ToolOutput> {
  const { path, skip, context } = reading;
  const { openNotebook } = await import("./read-notebook.ts");
  const notebook = await openNotebook(context.host.files, path);
  if (typeof notebook === "string") return readText(reading, start, `[Not shown as a notebook: ${notebook}.]`);
  let media: readonly ImageBlock[] = [];
  const output = await show(reading, notebook.pieces, {
    subject: "text",
    header: notebook.header,
    notes(window) {
      const pictures = notebook.picturesIn(window, skip);
      media = pictures.media;
      return pictures.notes;
    },
  });
  return media.length === 0 ? output : { ...output, media };
}

interface Frame {
  /** The source of the lines. */
  readonly subject: "file" | "text";
  readonly header?: string;
  /** Why the lines end early; `undefined` if they do not. */
  unread?(): string | undefined;
  notes(window: LineWindow): readonly string[];
}

async function show(reading: Reading, pieces: AsyncIterable<Uint8Array>, frame: Frame): Promise<ToolOutput> {
  const { path, skip, limit, context } = reading;
  const request = { skip, limit, maxJsonBytes: outputLimit - spaceForNotes };
  const window = await readLineWindow(pieces, request, context.signal);
  if (skip > 0 && window.lines.length === 0) {
    const unread = frame.unread?.();
    const end = unread === undefined ? `${shownName(path)} has` : `of ${shownName(path)} could be read`;
    const why = unread === undefined ? "" : ` ${unread}`;
    return failed(`Error reading file: offset ${skip} is past the end: ${end} ${window.passed} lines.${why}`);
  }
  const head = frame.header === undefined ? "" : `${frame.header}\n`;
  const plain = textOf(window.lines, window);
  const end = ending(notesOf(window, skip, frame, plain === ""), plain);
  const output = { status: "ok", text: head + plain + end } as const;
  if (frame.subject === "text" || plain === "") return output;
  return { ...output, forModel: textOf(numbered(window.lines, skip + 1), window) + end };
}

function textOf(lines: readonly string[], { finalNewline }: LineWindow): string {
  return lines.join("\n") + (finalNewline && lines.length > 0 ? "\n" : "");
}

/** Each line after its number in the file. */
function numbered(lines: readonly string[], first: number): readonly string[] {
  const width = String(first + lines.length - 1).length;
  return lines.map((line, index) => `${String(first + index).padStart(width)}→${line}`);
}

function notesOf(window: LineWindow, skip: number, frame: Frame, isEmpty: boolean): readonly string[] {
  const notes: string[] = [];
  const last = skip + window.lines.length;
  const { subject } = frame;
  const unread = frame.unread?.();
  if (window.more)
    notes.push(`[Lines ${skip + 1}-${last}. The ${subject} continues: Read it with offset ${last} for the rest.]`);
  else if (unread !== undefined) notes.push(unread);
  else if (skip > 0) notes.push(`[Lines ${skip + 1}-${last}, the last of the ${subject}.]`);
  else if (isEmpty) notes.push(`[The ${subject} is empty.]`);
  if (window.invalid) notes.push("[Some bytes are not UTF-8 and are shown as \uFFFD.]");
  notes.push(...frame.notes(window));
  return notes;
}

function ending(notes: readonly string[], text: string): string {
  if (notes.length === 0) return "";
  const gap = text === "" ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return gap + notes.join("\n");
}
