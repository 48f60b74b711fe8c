import { shownWritten } from "./shown-name.ts";
import { textStart } from "./text-cut.ts";
/** A parsed patch, not yet compared with files. */
export type PatchSection =
  | { readonly change: "add"; readonly path: string; readonly content: string }
  | { readonly change: "delete"; readonly path: string }
  | {
      readonly change: "update";
      readonly path: string;
      readonly movedTo?: string;
      /** Can be empty if the file is moved. */
      readonly hunks: readonly PatchHunk[];
    };

export interface PatchHunk {
  /** Its first line in the patch, from 1. */
  readonly patchLine: number;
  /** Lines to find first, from the outside in: a class, then its function. */
  readonly headers: readonly string[];
  /** Each starts with a space, `-` or `+`. Without line ends. */
  readonly lines: readonly string[];
  readonly atEnd: boolean;
}

const beginMark = "*** Begin Patch";
const endMark = "*** End Patch";
const endOfFileMark = "*** End of File";
const moveMark = "*** Move to:";
const sectionMarks = [
  ["*** Add File:", "add"],
  ["*** Update File:", "update"],
  ["*** Delete File:", "delete"],
] as const;

/** More would be too many accesses for one decision. */
const mostPaths = 1000;
/** Because reading a patch blocks everything else. Models write far less at once. */
const mostLines = 300_000;

/** Throws an error with a message for the model. Ignores commands wrapped around the patch. */
export function parsePatch(text: string): readonly PatchSection[] {
  if (hasMoreLines(text, mostLines))
    throw new Error(`The patch has more than ${mostLines} lines. Give it in several patches.`);
  const source = openPatch(text);
  const sections: PatchSection[] = [];
  for (let line = source.peek(); line !== undefined; line = source.peek()) {
    if (line.trim() === "") source.next();
    else sections.push(parseSection(source, line));
  }
  if (sections.length === 0) throw new Error("The patch names no files.");
  if (pathsOf(sections).length > mostPaths)
    throw new Error(`The patch names more than ${mostPaths} files. Split it into several patches.`);
  return sections;
}

/** All named paths, without duplicates, in order. */
export function pathsOf(sections: readonly PatchSection[]): readonly string[] {
  const paths = new Set<string>();
  for (const section of sections) {
    paths.add(section.path);
    if (section.change === "update" && section.movedTo !== undefined) paths.add(section.movedTo);
  }
  return [...paths];
}

function hasMoreLines(text: string, most: number): boolean {
  let feed = -1;
  for (let lines = 0; lines < most; lines += 1) {
    feed = text.indexOf("\n", feed + 1);
    if (feed === -1) return false;
  }
  return true;
}

/** The lines between the marks. */
interface Source {
  /** The next line without its line end; `undefined` after the last one. */
  peek(): string | undefined;
  next(): void;
  /** The same line as content of a new file, with its carriage return. */
  content(): string;
  /** The next line's number, from 1. */
  number(): number;
  /** An error about the next line. */
  fault(words: string): Error;
}

function openPatch(text: string): Source {
  const lines = text.split("\n");
  const begin = lines.findIndex((line) => line.trim() === beginMark);
  if (begin === -1) throw new Error(`The patch must begin with the line "${beginMark}".`);
  const end = lines.findLastIndex((line) => line.trim() === endMark);
  if (end < begin) throw new Error(`The patch has no line "${endMark}": it may have been cut off.`);
  requireWrapping(lines, begin, end);
  // If even the marks have carriage returns, they came from the transport.
  const isCrlf = lines[begin]?.endsWith("\r") ?? false;
  let at = begin + 1;
  const peek = (): string | undefined => (at < end ? withoutReturn(lines[at] ?? "") : undefined);
  return {
    peek,
    next() {
      at += 1;
    },
    content: () => (isCrlf ? (peek() ?? "") : (lines[at] ?? "")),
    number: () => at + 1,
    fault: (words) => new Error(`Line ${at + 1} of the patch, ${quoted(lines[at] ?? "")}: ${words}`),
  };
}

/** Removes text that may surround a patch: a program's name, a here-document, a fence. */
function requireWrapping(lines: readonly string[], begin: number, end: number): void {
  const closers = new Set([""]);
  for (const [index, line] of lines.entries()) {
    if (index === begin) break;
    const opener =
      line.length > 100 ? null : /^(`{3,}[\w-]*|(?:apply_?patch)?\s*(?:<<-?\s*(['"]?)(\w+)\2)?)$/i.exec(line.trim());
    if (opener === null) throw new Error(`Line ${index + 1}, ${quoted(line)}, is before "${beginMark}".`);
    if (opener[3] !== undefined) closers.add(opener[3]);
  }
  for (let index = end + 1; index < lines.length; index += 1) {
    const line = (lines[index] ?? "").trim();
    if (!closers.has(line) && !/^`{3,}$/.test(line))
      throw new Error(`Line ${index + 1}, ${quoted(line)}, is after "${endMark}".`);
  }
}

function parseSection(source: Source, line: string): PatchSection {
  const mark = sectionMarks.find(([words]) => line.startsWith(words));
  if (mark === undefined)
    throw source.fault(
      'expected "*** Add File: path", "*** Update File: path", "*** Delete File: path" or "*** End Patch".',
    );
  const path = pathBehind(source, mark[0]);
  switch (mark[1]) {
    case "add":
      return { change: "add", path, content: parseContent(source) };
    case "delete":
      return { change: "delete", path };
    case "update": {
      const movedTo = source.peek()?.startsWith(moveMark) ? pathBehind(source, moveMark) : undefined;
      const hunks = parseHunks(source);
      if (hunks.length === 0 && movedTo === undefined)
        throw new Error(`The patch has no changes for ${shownWritten(path)}. They must follow "*** Update File".`);
      return { change: "update", path, hunks, ...(movedTo === undefined ? {} : { movedTo }) };
    }
  }
}

function pathBehind(source: Source, mark: string): string {
  const path = source.peek()?.slice(mark.length).trim() ?? "";
  if (path === "") throw source.fault("the path is missing.");
  source.next();
  return path;
}

function parseContent(source: Source): string {
  const content: string[] = [];
  let blanks = 0;
  for (let line = source.peek(); line !== undefined; line = source.peek()) {
    if (line.startsWith("+")) {
      // Blank lines without a sign count in the middle. After the last line they only separate sections.
      for (; blanks > 0; blanks -= 1) content.push("");
      content.push(source.content().slice(1));
    } else if (line.trim() === "") blanks += 1;
    else if (line.trimEnd() !== endOfFileMark) {
      if (line.startsWith("*** ")) break;
      throw source.fault("every line of a new file must begin with +.");
    }
    source.next();
  }
  return content.length === 0 ? "" : `${content.join("\n")}\n`;
}

interface OpenHunk {
  readonly patchLine: number;
  readonly headers: string[];
  readonly lines: string[];
}

function parseHunks(source: Source): readonly PatchHunk[] {
  const hunks: PatchHunk[] = [];
  let open: OpenHunk | undefined;
  const start = (): OpenHunk => ({ patchLine: source.number(), headers: [], lines: [] });
  const close = (atEnd: boolean): void => {
    if (open === undefined) return;
    if (open.lines.length === 0) throw new Error(`Line ${open.patchLine} of the patch: no changes follow "@@".`);
    hunks.push({ ...open, atEnd });
    open = undefined;
  };
  for (let line = source.peek(); line !== undefined; line = source.peek()) {
    const sign = line.charAt(0);
    if (line.startsWith("@@")) {
      if (open !== undefined && open.lines.length > 0) close(false);
      open ??= start();
      const header = headerOf(line);
      if (header !== undefined) open.headers.push(header);
    } else if (line.trimEnd() === endOfFileMark) close(true);
    else if (line.startsWith("*** ")) break;
    else if (sign === " " || sign === "+" || sign === "-") {
      open ??= start();
      open.lines.push(line);
    } else if (line.trim() === "") open?.lines.push(" ");
    // Other formats' note about a missing newline: the file keeps its end.
    else if (!line.startsWith("\\ "))
      throw source.fault("a line of a hunk must begin with a space (context), - (removed) or + (added).");
    source.next();
  }
  close(false);
  return hunks;
}

/** The text after `@@`. Ignores other formats' line numbers, because the lines themselves are searched for. */
function headerOf(line: string): string | undefined {
  let header = line.slice(2);
  if (header.startsWith(" ")) header = header.slice(1);
  if (/^-\d+(?:,\d+)? \+\d+(?:,\d+)? @@/.test(header)) return undefined;
  if (header.endsWith(" @@")) header = header.slice(0, -3);
  return header.trim() === "" ? undefined : header;
}

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}

function quoted(line: string): string {
  const text = line.trim();
  return JSON.stringify(text.length > 80 ? `${textStart(text, 80)}…` : text);
}
