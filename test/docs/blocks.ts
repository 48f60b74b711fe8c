/** A fenced block of a page, with the directives from the comments before it. */
export interface Block {
  readonly page: string;
  /** Line of the opening fence, from 1. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
  readonly directives: Directives;
}

/**
 * The comments right before a block. `docs-blocks.test.ts` also runs blocks without any.
 *
 *     <!-- run: exit 5 -->              it ends with this code instead of 0
 *     <!-- run: prints "OK" -->         standard output contains this (a JSON string); may be repeated
 *     <!-- run: continues -->           the shell blocks before it, up to one without this, ran first in the same shell
 *     <!-- setup: file a.txt "hi\n" --> the workspace has this file
 *     <!-- setup: copy examples/x.yaml --> the workspace has a copy of this file of the repository, by its last name
 *     <!-- setup: git -->               the workspace is a git repository with one commit
 *     <!-- file: plan.yaml -->          this block is a file in the workspaces of all later blocks of the page
 *     <!-- output -->                   this block is what the one before it prints; … matches anything
 *     <!-- no-run: why -->              only its syntax is checked
 */
export interface Directives {
  readonly exitCode: number;
  readonly prints: readonly string[];
  readonly continues: boolean;
  readonly files: Readonly<Record<string, string>>;
  readonly copies: readonly string[];
  readonly git: boolean;
  readonly fileName?: string;
  readonly isOutput: boolean;
  readonly noRun?: string;
  /** Malformed directives. */
  readonly faults: readonly string[];
}

const comment = /^\s*<!--\s*(.*?)\s*-->\s*$/;
const fence = /^(\s*)(`{3,}|~{3,})\s*([^\s`]*)/;

export function blocksOf(page: string, markdown: string): readonly Block[] {
  const lines = markdown.split("\n");
  const blocks: Block[] = [];
  let comments: string[] = [];
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? "";
    const open = fence.exec(line);
    if (open) {
      const [, indent = "", mark = "", language = ""] = open;
      const end = closingLine(lines, at + 1, mark);
      const body = lines.slice(at + 1, end).map((text) => (text.startsWith(indent) ? text.slice(indent.length) : text));
      blocks.push({ page, line: at + 1, language, text: `${body.join("\n")}\n`, directives: directivesOf(comments) });
      at = end;
      comments = [];
    } else if (comment.test(line)) comments.push(comment.exec(line)?.[1] ?? "");
    else if (line.trim() !== "") comments = [];
  }
  return blocks;
}

function closingLine(lines: readonly string[], from: number, mark: string): number {
  for (let at = from; at < lines.length; at++) {
    const line = (lines[at] ?? "").trim();
    if (line.startsWith(mark) && line.replaceAll(mark.charAt(0), "") === "") return at;
  }
  return lines.length;
}

const none: Directives = {
  exitCode: 0,
  prints: [],
  continues: false,
  files: {},
  copies: [],
  git: false,
  isOutput: false,
  faults: [],
};

type Reader = readonly [RegExp, (found: Directives, first: string, second: string) => Directives];

const readers: readonly Reader[] = [
  [/^run: exit (\d+)$/, (found, code) => ({ ...found, exitCode: Number(code) })],
  [/^run: prints (".+")$/, (found, text) => ({ ...found, prints: [...found.prints, parseString(text)] })],
  [/^run: continues$/, (found) => ({ ...found, continues: true })],
  [
    /^setup: file (\S+) (".*")$/,
    (found, name, text) => ({ ...found, files: { ...found.files, [name]: parseString(text) } }),
  ],
  [/^setup: copy (\S+)$/, (found, path) => ({ ...found, copies: [...found.copies, path] })],
  [/^setup: git$/, (found) => ({ ...found, git: true })],
  [/^file: ([\w.-]+)$/, (found, fileName) => ({ ...found, fileName })],
  [/^output$/, (found) => ({ ...found, isOutput: true })],
  [/^no-run: (\S.*)$/, (found, noRun) => ({ ...found, noRun })],
];

function parseString(text: string): string {
  return String(JSON.parse(text));
}

function directivesOf(comments: readonly string[]): Directives {
  return comments.filter((text) => /^(?:run|setup|file|output|no-run)\b/.test(text)).reduce(readDirective, none);
}

function readDirective(found: Directives, text: string): Directives {
  const fault = (why: string): Directives => ({ ...found, faults: [...found.faults, `<!-- ${text} -->: ${why}`] });
  for (const [pattern, read] of readers) {
    const match = pattern.exec(text);
    if (!match) continue;
    try {
      return read(found, match[1] ?? "", match[2] ?? "");
    } catch (error) {
      return fault(String(error));
    }
  }
  return fault("unknown directive");
}

/** Whether the output matches the block that shows it. `…` matches any text over any number of lines. */
export function looksLike(shown: string, output: string): boolean {
  const [first = "", ...rest] = shown.trimEnd().split("…");
  const text = output.trimEnd();
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - last.length >= at && text.endsWith(last);
}
