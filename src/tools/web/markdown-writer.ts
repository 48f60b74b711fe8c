import { type Container, createContainers } from "./markdown-containers.ts";

export type Emphasis = "strong" | "em" | "strike";

interface Link {
  readonly href: string;
}

export type MarkdownWriter = ReturnType<typeof createMarkdownWriter>;

const marks: Readonly<Record<Emphasis, string>> = { strong: "**", em: "*", strike: "~~" };
const order: readonly Emphasis[] = ["strong", "em", "strike"];

/**
 * Builds Markdown in reading order. Marks and breaks wait until text needs them, so nothing empty remains. Text is not
 * escaped, because a model reads it. `limit`: characters after which it may drop input.
 */
export function createMarkdownWriter(limit: number) {
  const pieces: string[] = [];
  let length = 0;
  const containers = createContainers();
  const opened = createMarks(put);
  /** Line feeds before the next text. */
  let breaks = 0;
  let gap = false;
  let headingMark = "";
  let inHeading = false;

  /** Drops everything far beyond the limit. */
  function put(text: string): void {
    const kept = text.slice(0, Math.max(0, limit + 1 - length));
    pieces.push(kept);
    length += kept.length;
  }

  /** Everything that must come before the next text. */
  function prepare(takesMarks = true): void {
    if (breaks > 0 || length === 0) {
      opened.close();
      if (length > 0) put(breaks > 1 ? `\n${containers.beforeBlank()}\n` : "\n");
      put(containers.beforeText() + headingMark);
      headingMark = "";
    } else {
      opened.closeStale(inHeading);
      if (gap) put(" ");
    }
    breaks = 0;
    gap = false;
    if (takesMarks) opened.open(inHeading);
  }

  function breakLines(count: number): void {
    if (inHeading) gap = true;
    // An unwritten marker waits for text on its own line.
    else if (!containers.hasFresh()) breaks = Math.max(breaks, count);
  }

  function endHeading(): void {
    if (!inHeading) return;
    inHeading = false;
    headingMark = "";
    breakLines(2);
  }

  function block(lines: readonly string[]): void {
    endHeading();
    breakLines(2);
    prepare(false);
    const indent = containers.beforeNext();
    for (const [index, line] of lines.entries()) {
      if (length > limit) break;
      if (index > 0) put(line === "" ? `\n${indent.trimEnd()}` : `\n${indent}`);
      put(line);
    }
    breaks = 2;
  }

  return {
    /** Text in which white space only separates words. */
    text(given: string): void {
      // One blank at a time, because matching megabytes of them could overflow the regexp stack.
      const text = given.replace(/[ \t\n\r\f\u00a0](?=[ \t\n\r\f\u00a0])/g, "").replace(/[\t\n\r\f\u00a0]/g, " ");
      const bare = text.trim();
      if (text.startsWith(" ")) gap = true;
      if (bare === "") return;
      prepare();
      put(opened.isInLink() ? bare.replace(/[[\]]/g, "\\$&") : bare);
      gap = text.endsWith(" ");
    },
    /** Writes a code span. */
    code(given: string): void {
      const text = given.slice(0, limit).replace(/\s+/g, " ");
      if (text.trim() === "") {
        gap ||= text !== "";
        return;
      }
      prepare();
      const fence = "`".repeat(longestRun(text) + 1);
      const pad = text.startsWith("`") || text.endsWith("`") ? " " : "";
      put(fence + pad + text.trim() + pad + fence);
    },
    codeBlock(text: string, language: string): void {
      const kept = text.slice(0, Math.max(0, limit + 1 - length));
      const fence = "`".repeat(Math.max(3, longestRun(kept) + 1));
      block([fence + language, ...kept.split("\n"), fence]);
    },
    /** Lines of finished Markdown, as a block. */
    block: (markdown: string): void => block(markdown.split("\n")),
    /** The next text starts a new line, after a blank one with `paragraph`. */
    line: (): void => breakLines(1),
    paragraph: (): void => breakLines(2),
    rule: (): void => block(["---"]),
    heading(level: number): void {
      endHeading();
      breakLines(2);
      headingMark = `${"#".repeat(level)} `;
      inHeading = true;
    },
    endHeading,
    emphasise: opened.emphasise,
    link: opened.link,
    openList(first: number | undefined): void {
      endHeading();
      breakLines(containers.hasItem() ? 1 : 2);
      containers.openList(first);
    },
    /** An item of the innermost list; `marker` if it has its own. */
    openItem(marker?: string): void {
      endHeading();
      breakLines(1);
      // Items follow each other line by line, even if they are paragraphs.
      if (containers.openItem(marker)) breaks = Math.min(breaks, 1);
    },
    /** A task's check box, only at the start of an item; elsewhere boxes are controls. */
    taskBox(isChecked: boolean): void {
      if (!containers.isFreshItem()) return;
      prepare();
      put(isChecked ? "[x]" : "[ ]");
      gap = true;
    },
    openQuote(): void {
      endHeading();
      breakLines(2);
      containers.openQuote();
    },
    close(kind: Container): void {
      endHeading();
      if (!containers.close(kind)) return;
      breakLines(kind === "quote" || (kind === "list" && !containers.hasItem()) ? 2 : 1);
    },
    /** Number of characters. */
    get length() {
      return length;
    },
    finish(): string {
      opened.close();
      return pieces.join("");
    },
  };
}

/** Emphasis and links: the marks that the next text needs, and those that are open before it. */
function createMarks(put: (text: string) => void) {
  const depths: Record<Emphasis, number> = { strong: 0, em: 0, strike: 0 };
  let wantedLink: Link | undefined;
  /** Outermost first. */
  let open: (Emphasis | Link)[] = [];

  /** Headings are strong already. */
  function isWanted(mark: Emphasis | Link, inHeading: boolean): boolean {
    return typeof mark === "object" ? mark === wantedLink : depths[mark] > 0 && !(inHeading && mark === "strong");
  }

  function close(from = 0): void {
    for (const mark of open.slice(from).reverse()) put(typeof mark === "object" ? `](${mark.href})` : marks[mark]);
    open = open.slice(0, from);
  }

  return {
    close,
    closeStale(inHeading: boolean): void {
      const stale = open.findIndex((mark) => !isWanted(mark, inHeading));
      if (stale >= 0) close(stale);
      // A link goes around emphasis, not inside.
      if (wantedLink !== undefined && !open.includes(wantedLink)) close();
    },
    open(inHeading: boolean): void {
      if (wantedLink !== undefined && !open.includes(wantedLink)) {
        open.push(wantedLink);
        put("[");
      }
      for (const mark of order) {
        if (!isWanted(mark, inHeading) || open.includes(mark)) continue;
        open.push(mark);
        put(marks[mark]);
      }
    },
    /** Begins (1) or ends (-1) it; it can be nested in itself. */
    emphasise(emphasis: Emphasis, change: 1 | -1): void {
      depths[emphasis] = Math.max(0, depths[emphasis] + change);
    },
    link(link: Link | undefined): void {
      wantedLink = link;
    },
    isInLink: (): boolean => wantedLink !== undefined,
  };
}

function longestRun(text: string): number {
  let longest = 0;
  let run = 0;
  for (let index = 0; index < text.length; index += 1) {
    run = text.charCodeAt(index) === 0x60 ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return longest;
}
