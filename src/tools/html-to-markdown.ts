import { decodeHTML, decodeHTMLAttribute } from "entities/decode";
import { createPace } from "../core/pace.ts";
import { textStart } from "../core/text-cut.ts";
import {
  anchorSigns,
  codeElements,
  emphasisOf,
  headings,
  insideHeadings,
  isLeftOut,
  languageOf,
  linkTarget,
  paragraphElements,
  preElements,
  startOf,
  visible,
} from "./html-elements.ts";
import { createHtmlTable, type HtmlTable } from "./html-table.ts";
import { type HtmlToken, htmlTokens } from "./html-tokens.ts";
import { createMarkdownWriter, type MarkdownWriter } from "./markdown-writer.ts";

export interface MarkdownPage {
  readonly markdown: string;
  /** Whether there is more than a title. */
  readonly hasText: boolean;
  /** The page goes on behind the limit. */
  readonly truncated: boolean;
}

export interface MarkdownOptions {
  /** Where the page came from: links are told in full. */
  readonly url: string;
  /** Characters of Markdown after which no more is read. */
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/**
 * The text of a page and its structure, without what surrounds it. One pass and no tree, so that time and memory grow with
 * the page's length and nothing else, whatever a hostile page does. Others can work meanwhile. Rejects when it is aborted.
 */
export async function htmlToMarkdown(html: string, options: MarkdownOptions): Promise<MarkdownPage> {
  const { page, leftOut } = await convert(html, options, true);
  // What was to be left out has no end, or is all there is: then all of it is shown.
  const lostText = leftOut === "endless" || (leftOut === "some" && !page.hasText);
  return lostText ? (await convert(html, options, false)).page : page;
}

type Open = HtmlToken & { type: "open" };
type Attributes = ReadonlyMap<string, string>;

interface Preformatted {
  readonly pieces: string[];
  length: number;
  endsLine: boolean;
  language: string;
}

const longestTitle = 300;
/** Further ones are written as paragraphs: a page with so many uses them for its looks. */
const mostTables = 2000;
/** To look at the clock costs about as much as a token. */
const tokensInARow = 100;
const noAttributes: Attributes = new Map();

interface Converted {
  readonly page: MarkdownPage;
  readonly leftOut: "nothing" | "some" | "endless";
}

async function convert(html: string, { url, limit, signal }: MarkdownOptions, skipsNoise: boolean): Promise<Converted> {
  const main = createMarkdownWriter(limit);
  let table: HtmlTable | undefined;
  let tables = 0;
  let base: string | undefined;
  let title: string | undefined;
  let inTitle = false;
  let hasH1 = false;
  let truncated = false;
  let hasSkipped = false;
  let skipped: { readonly name: string; depth: number } | undefined;
  let pre: Preformatted | undefined;
  /** Of an element around the next block of code. */
  let language = "";
  /** The text of a code span that has no end yet. */
  let code: string | undefined;
  let inAnchor = false;
  /** Where a link leads, as it is written, until the link has text. */
  let waitingHref: string | undefined;

  const out = (): MarkdownWriter => table?.cell() ?? main;

  function endCode(): void {
    if (code !== undefined && code !== "") {
      takeHref();
      out().code(visible(code));
    }
    code = undefined;
  }

  /** Code goes on behind what happens in the middle of it. */
  function between(action: () => void): void {
    const goesOn = code !== undefined;
    endCode();
    action();
    if (goesOn) code = "";
  }

  /** A table with blocks in its cells cannot be written as one. */
  function leaveTable(): void {
    const left = table;
    table = undefined;
    left?.giveUp(main);
  }

  function endTable(): void {
    table?.finish(main);
    table = undefined;
    main.paragraph();
  }

  function addPre(text: string): void {
    if (pre === undefined || text === "") return;
    pre.pieces.push(text);
    pre.length += text.length;
    pre.endsLine = text.endsWith("\n");
  }

  function endPre(): void {
    if (pre === undefined) return;
    const { pieces, language: name } = pre;
    pre = undefined;
    language = "";
    const given = pieces.join("").trimEnd();
    if (given === "") return;
    const text = given.slice(given.search(/[^\n]/));
    if (table?.cell() !== undefined) {
      if (!text.includes("\n")) {
        out().code(text);
        return;
      }
      leaveTable();
    }
    out().codeBlock(text, name);
  }

  function onText(raw: string): void {
    if (inTitle) {
      const line = visible(decodeHTML(raw.slice(0, longestTitle * 10))).replace(/\s+/g, " ");
      title ??= textStart(line.trim(), longestTitle);
      return;
    }
    const text = raw.includes("&") ? decodeHTML(raw) : raw;
    if (pre !== undefined) addPre(visible(text.replaceAll("\r\n", "\n")));
    else if (code !== undefined) code += text;
    else if (!(inAnchor && anchorSigns.has(text.trim()))) {
      if (text.trim() !== "") {
        language = "";
        takeHref();
      }
      out().text(visible(text));
    }
  }

  function openLink(attributes: Attributes): void {
    waitingHref = attributes.get("href")?.trim();
    inAnchor = waitingHref?.startsWith("#") === true;
    out().link(undefined);
  }

  function takeHref(): void {
    if (waitingHref === undefined) return;
    const href = linkTarget(decodeHTMLAttribute(waitingHref), base ?? url);
    waitingHref = undefined;
    out().link(href === undefined ? undefined : { href });
  }

  function openInPre({ name, attributes }: Open, into: Preformatted): void {
    if (name === "br") addPre("\n");
    else if (name === "code") into.language ||= languageOf(attributes);
    // Highlighters put lines into blocks of their own.
    else if ((paragraphElements.has(name) || name === "li" || name === "tr") && into.length > 0 && !into.endsLine)
      addPre("\n");
  }

  function onOpen(token: Open): void {
    const { name, attributes } = token;
    const emphasis = emphasisOf.get(name);
    if (isLeftOut(token, skipsNoise)) {
      skipped = { name, depth: 1 };
      hasSkipped = true;
    } else if (name === "title") inTitle = title === undefined;
    else if (pre !== undefined) openInPre(token, pre);
    else if (headings.has(name)) {
      endCode();
      leaveTable();
      hasH1 ||= name === "h1";
      main.heading(Number(name[1]));
    } else if (paragraphElements.has(name)) {
      if (!insideHeadings.has(name)) out().endHeading();
      between(() => out().paragraph());
      language = languageOf(attributes) || language;
    } else if (preElements.has(name)) {
      endCode();
      out().endHeading();
      pre = { pieces: [], length: 0, endsLine: false, language: languageOf(attributes) || language };
    } else if (emphasis !== undefined) out().emphasise(emphasis, 1);
    else if (codeElements.has(name)) code ??= "";
    else if (Object.hasOwn(openers, name)) openers[name]?.(attributes);
  }

  const openers: Readonly<Record<string, (attributes: Attributes) => void>> = {
    a: (attributes) => between(() => openLink(attributes)),
    br: () => between(() => out().line()),
    img: (attributes) => onText(attributes.get("alt") ?? ""),
    q: () => onText('"'),
    input(attributes) {
      if (attributes.get("type")?.toLowerCase() === "checkbox") out().taskBox(attributes.has("checked"));
    },
    base(attributes) {
      base ??= linkTarget(decodeHTMLAttribute(attributes.get("href") ?? ""), url) ?? url;
    },
    hr: block(() => {
      if (table?.cell() === undefined) main.rule();
      else out().line();
    }),
    ul: block(() => out().openList(undefined)),
    dl: block(() => out().openList(undefined)),
    ol: block((attributes) => out().openList(startOf(attributes))),
    li: block(() => {
      out().close("item");
      out().openItem();
    }),
    dt: block(() => {
      out().close("item");
      out().paragraph();
    }),
    dd: block(() => {
      out().close("item");
      out().openItem(": ");
    }),
    blockquote: block(() => {
      leaveTable();
      main.openQuote();
    }),
    caption: block(() => out().paragraph()),
    table: block(() => {
      leaveTable();
      main.endHeading();
      tables += 1;
      if (tables <= mostTables) table = createHtmlTable(limit);
    }),
    tr: block(() => {
      if (table === undefined) main.paragraph();
      else table.openRow();
    }),
    td: block(openCell),
    th: block(openCell),
  };

  const closers: Readonly<Record<string, () => void>> = {
    a: () => between(() => openLink(noAttributes)),
    q: () => onText('"'),
    ul: block(() => out().close("list")),
    ol: block(() => out().close("list")),
    dl: block(() => out().close("list")),
    li: block(() => out().close("item")),
    dd: block(() => out().close("item")),
    blockquote: block(() => out().close("quote")),
    caption: block(() => out().paragraph()),
    td: block(() => table?.closeCell()),
    th: block(() => table?.closeCell()),
    table: block(endTable),
  };

  /** What ends a code span. */
  function block<Given extends readonly unknown[]>(action: (...given: Given) => void): (...given: Given) => void {
    return (...given) => {
      endCode();
      action(...given);
    };
  }

  function openCell(attributes: Attributes): void {
    if (table === undefined) main.paragraph();
    else table.openCell(Number(attributes.get("colspan") ?? 1));
  }

  function onClose(name: string): void {
    const emphasis = emphasisOf.get(name);
    if (name === "title") inTitle = false;
    else if (pre !== undefined) {
      if (preElements.has(name)) endPre();
    } else if (paragraphElements.has(name)) between(() => out().paragraph());
    else if (emphasis !== undefined) out().emphasise(emphasis, -1);
    else if (codeElements.has(name)) endCode();
    else if (headings.has(name)) {
      endCode();
      out().endHeading();
    } else if (Object.hasOwn(closers, name)) closers[name]?.();
  }

  const pace = createPace(signal);
  let tokens = 0;
  for (const token of htmlTokens(html)) {
    tokens += 1;
    if (tokens % tokensInARow === 0) await pace.rest();
    if (main.length + (table?.length ?? 0) + (pre?.length ?? 0) + (code?.length ?? 0) > limit) {
      truncated = true;
      break;
    }
    if (skipped !== undefined) {
      if (token.type === "text" || token.name !== skipped.name) continue;
      skipped.depth += token.type === "open" ? 1 : -1;
      if (skipped.depth === 0) skipped = undefined;
    } else if (token.type === "text") onText(token.text);
    else if (token.type === "open") onOpen(token);
    else onClose(token.name);
  }
  endPre();
  endCode();
  endTable();
  const text = main.finish();
  const heading = hasH1 || title === undefined || title === "" ? "" : `# ${title}`;
  const markdown = heading === "" || text === "" ? heading + text : `${heading}\n\n${text}`;
  return {
    page: { markdown: markdown.toWellFormed(), hasText: text !== "", truncated: truncated || text.length > limit },
    leftOut: skipped !== undefined ? "endless" : hasSkipped ? "some" : "nothing",
  };
}
