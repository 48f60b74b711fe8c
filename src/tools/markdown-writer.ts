export type Emphasis = "strong" | "em" | "strike";

export interface Link {
  readonly href: string;
}

/**
 * Puts Markdown together from what comes in the order of reading. Marks, line breaks and list markers are written only when
 * text follows that needs them, so nothing empty is left behind, and a mark never reaches over the end of a paragraph.
 * Text is not escaped: it is read by a model, and `snake_case` should look like it.
 */
export interface MarkdownWriter {
  /** Text in which white space is only a gap. */
  text(text: string): void;
  /** A code span. */
  code(text: string): void;
  codeBlock(text: string, language: string): void;
  /** Lines that are Markdown already, as a block of their own. */
  block(markdown: string): void;
  /** What follows begins a new line, after a blank one with `paragraph`. */
  line(): void;
  paragraph(): void;
  rule(): void;
  heading(level: number): void;
  endHeading(): void;
  /** Begins (1) or ends (-1) it; it may be nested in itself. */
  emphasise(emphasis: Emphasis, change: 1 | -1): void;
  link(link: Link | undefined): void;
  openList(first: number | undefined): void;
  /** An item of the innermost list; `marker` for one that has its own. */
  openItem(marker?: string): void;
  /** The box of a task, at the beginning of an item; elsewhere boxes are controls. */
  taskBox(isChecked: boolean): void;
  openQuote(): void;
  /** Ends the innermost one and all in it. Does nothing when there is none; an item is not looked for outside its list. */
  close(kind: "list" | "item" | "quote"): void;
  /** How many characters there are. */
  readonly length: number;
  finish(): string;
}

interface Container {
  readonly kind: "list" | "item" | "quote";
  /** Before its first line, and before the others. */
  readonly first: string;
  readonly rest: string;
  isFresh: boolean;
  /** Of an ordered list: the number of its next item. */
  next?: number;
  hasItems?: boolean;
}

/** Deeper nesting is written as if it were this deep. */
const deepest = 24;
const marks: Readonly<Record<Emphasis, string>> = { strong: "**", em: "*", strike: "~~" };
const order: readonly Emphasis[] = ["strong", "em", "strike"];

/** `limit`: characters after which it may forget what it is given; its length then is more than that. */
export function createMarkdownWriter(limit: number): MarkdownWriter {
  const pieces: string[] = [];
  let length = 0;
  const containers: Container[] = [];
  /** Opened beyond the deepest level, by kind: their ends must not end others. */
  const beyond = { list: 0, item: 0, quote: 0 };
  const depths: Record<Emphasis, number> = { strong: 0, em: 0, strike: 0 };
  let wantedLink: Link | undefined;
  /** Marks that stand open in the text, outermost first. */
  let open: (Emphasis | Link)[] = [];
  /** Line feeds before the next text. */
  let breaks = 0;
  let gap = false;
  let headingMark = "";
  let inHeading = false;

  /** Nothing is kept of what is far beyond the limit. */
  function put(text: string): void {
    const kept = text.slice(0, Math.max(0, limit + 1 - length));
    pieces.push(kept);
    length += kept.length;
  }

  function prefix(): string {
    return containers
      .map((container) => {
        const text = container.isFresh ? container.first : container.rest;
        container.isFresh = false;
        return text;
      })
      .join("");
  }

  /** A blank line belongs to what was there before it. */
  function blankPrefix(): string {
    const fresh = containers.findIndex((container) => container.isFresh);
    const old = fresh < 0 ? containers : containers.slice(0, fresh);
    return old
      .map((container) => container.rest)
      .join("")
      .trimEnd();
  }

  function isWanted(mark: Emphasis | Link): boolean {
    return typeof mark === "object" ? mark === wantedLink : depths[mark] > 0 && !(inHeading && mark === "strong");
  }

  function closeFrom(index: number): void {
    for (const mark of open.slice(index).reverse()) put(typeof mark === "object" ? `](${mark.href})` : marks[mark]);
    open = open.slice(0, index);
  }

  /** Everything that has to stand before the next text. */
  function prepare(takesMarks = true): void {
    const isNewLine = breaks > 0 || length === 0;
    if (isNewLine) {
      closeFrom(0);
      if (length > 0) put(breaks > 1 ? `\n${blankPrefix()}\n` : "\n");
      put(prefix() + headingMark);
      headingMark = "";
    } else {
      const stale = open.findIndex((mark) => !isWanted(mark));
      if (stale >= 0) closeFrom(stale);
      // A link goes around emphasis, not into it.
      if (wantedLink !== undefined && !open.includes(wantedLink)) closeFrom(0);
      if (gap) put(" ");
    }
    breaks = 0;
    gap = false;
    if (!takesMarks) return;
    if (wantedLink !== undefined && !open.includes(wantedLink)) {
      open.push(wantedLink);
      put("[");
    }
    for (const mark of order) {
      if (!isWanted(mark) || open.includes(mark)) continue;
      open.push(mark);
      put(marks[mark]);
    }
  }

  function breakLines(count: number): void {
    if (inHeading) gap = true;
    // A marker that was not written yet waits for text on its own line.
    else if (!containers.some(({ isFresh }) => isFresh)) breaks = Math.max(breaks, count);
  }

  function endHeading(): void {
    if (!inHeading) return;
    inHeading = false;
    headingMark = "";
    breakLines(2);
  }

  function push(container: Container): void {
    if (containers.length >= deepest) beyond[container.kind] += 1;
    else containers.push(container);
  }

  function insideLists(): boolean {
    return containers.some(({ kind }) => kind === "item");
  }

  function block(lines: readonly string[]): void {
    endHeading();
    breakLines(2);
    prepare(false);
    const indent = containers.map((container) => container.rest).join("");
    for (const [index, line] of lines.entries()) {
      if (length > limit) break;
      if (index > 0) put(line === "" ? `\n${indent.trimEnd()}` : `\n${indent}`);
      put(line);
    }
    breaks = 2;
  }

  return {
    text(given) {
      // Blank by blank: for megabytes of them in one match the engine may not have the stack.
      const text = given.replace(/[ \t\n\r\f\u00a0](?=[ \t\n\r\f\u00a0])/g, "").replace(/[\t\n\r\f\u00a0]/g, " ");
      const bare = text.trim();
      if (text.startsWith(" ")) gap = true;
      if (bare === "") return;
      prepare();
      put(wantedLink === undefined ? bare : bare.replace(/[[\]]/g, "\\$&"));
      gap = text.endsWith(" ");
    },
    code(given) {
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
    codeBlock(text, language) {
      const kept = text.slice(0, Math.max(0, limit + 1 - length));
      const fence = "`".repeat(Math.max(3, longestRun(kept) + 1));
      block([fence + language, ...kept.split("\n"), fence]);
    },
    block: (markdown) => block(markdown.split("\n")),
    line: () => breakLines(1),
    paragraph: () => breakLines(2),
    rule: () => block(["---"]),
    heading(level) {
      endHeading();
      breakLines(2);
      headingMark = `${"#".repeat(level)} `;
      inHeading = true;
    },
    endHeading,
    emphasise(emphasis, change) {
      depths[emphasis] = Math.max(0, depths[emphasis] + change);
    },
    link(link) {
      wantedLink = link;
    },
    openList(first) {
      endHeading();
      breakLines(insideLists() ? 1 : 2);
      push({ kind: "list", first: "", rest: "", isFresh: false, ...(first === undefined ? {} : { next: first }) });
    },
    openItem(given) {
      endHeading();
      const outer = containers.findLast(({ kind }) => kind !== "item");
      const list = outer?.kind === "list" ? outer : undefined;
      breakLines(1);
      // Items follow each other line by line, also where each is a paragraph.
      if (list?.hasItems === true) breaks = Math.min(breaks, 1);
      let marker = given ?? "- ";
      if (list !== undefined) {
        list.hasItems = true;
        if (given === undefined && list.next !== undefined) marker = `${list.next++}. `;
      }
      push({ kind: "item", first: marker, rest: " ".repeat(marker.length), isFresh: true });
    },
    taskBox(isChecked) {
      const inner = containers.at(-1);
      if (inner?.kind !== "item" || !inner.isFresh) return;
      prepare();
      put(isChecked ? "[x]" : "[ ]");
      gap = true;
    },
    openQuote() {
      endHeading();
      breakLines(2);
      push({ kind: "quote", first: "> ", rest: "> ", isFresh: true });
    },
    close(kind) {
      endHeading();
      if (beyond[kind] > 0) {
        beyond[kind] -= 1;
        return;
      }
      const index = containers.findLastIndex((container) => container.kind === kind);
      if (index < 0) return;
      if (kind === "item" && containers.slice(index).some((container) => container.kind === "list")) return;
      containers.length = index;
      breakLines(kind === "quote" || (kind === "list" && !insideLists()) ? 2 : 1);
    },
    get length() {
      return length;
    },
    finish() {
      closeFrom(0);
      return pieces.join("");
    },
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
