import { createPace } from "../../async/pace.ts";
import { textStart } from "../../text/text-cut.ts";
import {
  closedBlocks,
  codeElements,
  containerOf,
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
import { createInlineText } from "./html-inline.ts";
import { createHtmlTables } from "./html-table.ts";
import { type HtmlToken, htmlTokens } from "./html-tokens.ts";
import { createMarkdownWriter } from "./markdown-writer.ts";

interface MarkdownPage {
  readonly markdown: string;
  /** Whether there is more than a title. */
  readonly hasText: boolean;
  /** The page continues past the limit. */
  readonly truncated: boolean;
}

interface MarkdownOptions {
  /** The page's address, to resolve links. */
  readonly url: string;
  /** Characters of Markdown after which reading stops. */
  readonly limit: number;
  readonly signal?: AbortSignal;
}

/**
 * A page's text and structure, without what surrounds it. One pass without a tree, so that time and memory grow only
 * with the page's length. Yields to other work. Rejects on abort.
 */
export async function htmlToMarkdown(html: string, options: MarkdownOptions): Promise<MarkdownPage> {
  const { page, leftOut } = await convert(html, options, true);
  // The part to skip has no end, or is the whole page, so show everything.
  const lostText = leftOut === "endless" || (leftOut === "some" && !page.hasText);
  return lostText ? (await convert(html, options, false)).page : page;
}

type Open = HtmlToken & { type: "open" };
type Attributes = ReadonlyMap<string, string>;

const longestTitle = 300;

interface Converted {
  readonly page: MarkdownPage;
  readonly leftOut: "nothing" | "some" | "endless";
}

async function convert(html: string, { url, limit, signal }: MarkdownOptions, skipsNoise: boolean): Promise<Converted> {
  const page = createPage(url, limit);
  let truncated = false;
  let hasSkipped = false;
  let skipped: { readonly name: string; depth: number } | undefined;

  function take(token: HtmlToken): void {
    if (skipped !== undefined) {
      if (token.type === "text" || token.name !== skipped.name) return;
      skipped.depth += token.type === "open" ? 1 : -1;
      if (skipped.depth === 0) skipped = undefined;
    } else if (token.type === "text") page.text(token.text);
    else if (token.type === "close") page.close(token.name);
    else if (isLeftOut(token, skipsNoise)) {
      skipped = { name: token.name, depth: 1 };
      hasSkipped = true;
    } else page.open(token);
  }

  const pace = createPace(signal);
  for (const batch of htmlTokens(html)) {
    await pace.rest();
    for (const token of batch) {
      truncated = page.length > limit;
      if (truncated) break;
      take(token);
    }
    if (truncated) break;
  }
  const { markdown, text } = page.finish();
  return {
    page: { markdown, hasText: text !== "", truncated: truncated || text.length > limit },
    leftOut: skipped !== undefined ? "endless" : hasSkipped ? "some" : "nothing",
  };
}

/** Handles the tokens that are not skipped. */
function createPage(url: string, limit: number) {
  const main = createMarkdownWriter(limit);
  const tables = createHtmlTables(main, limit);
  const { out } = tables;
  const inline = createInlineText(out, (href) => linkTarget(href, base ?? url));
  let base: string | undefined;
  let title: string | undefined;
  let inTitle = false;
  let hasH1 = false;
  let pre: Preformatted | undefined;
  /** The element around the next code block. */
  let language = "";

  function endPre(): void {
    if (pre === undefined) return;
    const name = pre.language;
    const text = pre.pieces.join("").trimEnd();
    pre = undefined;
    language = "";
    if (text === "") return;
    if (tables.isInCell() && !text.includes("\n")) out().code(text);
    else {
      if (tables.isInCell()) tables.leave();
      out().codeBlock(text, name);
    }
  }

  function onText(text: string): void {
    if (inTitle) {
      const line = visible(text.slice(0, longestTitle * 10)).replace(/\s+/g, " ");
      title ??= textStart(line.trim(), longestTitle);
    } else if (pre !== undefined) addPre(pre, visible(text.replaceAll("\r\n", "\n")));
    else if (inline.text(text)) language = "";
  }

  function onOpen({ name, attributes }: Open): void {
    const emphasis = emphasisOf.get(name);
    if (name === "title") inTitle = title === undefined;
    else if (pre !== undefined) openInPre(name, attributes, pre);
    else if (headings.has(name)) {
      inline.endCode();
      tables.leave();
      hasH1 ||= name === "h1";
      main.heading(Number(name[1]));
    } else if (paragraphElements.has(name)) {
      if (!insideHeadings.has(name)) out().endHeading();
      inline.between(() => out().paragraph());
      language = languageOf(attributes) || language;
    } else if (preElements.has(name)) {
      inline.endCode();
      out().endHeading();
      pre = { pieces: [], length: 0, endsLine: false, language: languageOf(attributes) || language };
    } else if (emphasis !== undefined) out().emphasise(emphasis, 1);
    else if (codeElements.has(name)) inline.openCode();
    else if (Object.hasOwn(opensBlock, name)) {
      inline.endCode();
      opensBlock[name]?.(attributes);
    } else openInline(name, attributes);
  }

  function openInline(name: string, attributes: Attributes): void {
    if (name === "a") inline.between(() => inline.link(attributes.get("href")));
    else if (name === "br") inline.between(() => out().line());
    else if (name === "img") onText(attributes.get("alt") ?? "");
    else if (name === "q") onText('"');
    else if (name === "base") base ??= linkTarget(attributes.get("href") ?? "", url) ?? url;
    else if (name === "input" && attributes.get("type")?.toLowerCase() === "checkbox")
      out().taskBox(attributes.has("checked"));
  }

  const opensBlock: Readonly<Record<string, (attributes: Attributes) => void>> = {
    hr: () => (tables.isInCell() ? out().line() : main.rule()),
    ul: () => out().openList(undefined),
    dl: () => out().openList(undefined),
    ol: (attributes) => out().openList(startOf(attributes)),
    li: () => nextItem(() => out().openItem()),
    dt: () => nextItem(() => out().paragraph()),
    dd: () => nextItem(() => out().openItem(": ")),
    blockquote() {
      tables.leave();
      main.openQuote();
    },
    caption: () => out().paragraph(),
    table: () => tables.open(),
    tr: () => tables.openRow(),
    td: (attributes) => tables.openCell(Number(attributes.get("colspan") ?? 1)),
    th: (attributes) => tables.openCell(Number(attributes.get("colspan") ?? 1)),
  };

  function nextItem(open: () => void): void {
    out().close("item");
    open();
  }

  function onClose(name: string): void {
    const emphasis = emphasisOf.get(name);
    if (name === "title") inTitle = false;
    else if (pre !== undefined) {
      if (preElements.has(name)) endPre();
    } else if (paragraphElements.has(name)) inline.between(() => out().paragraph());
    else if (emphasis !== undefined) out().emphasise(emphasis, -1);
    else if (codeElements.has(name)) inline.endCode();
    else if (headings.has(name)) {
      inline.endCode();
      out().endHeading();
    } else if (name === "a") inline.between(() => inline.link(undefined));
    else if (name === "q") onText('"');
    else if (closedBlocks.has(name)) {
      inline.endCode();
      const container = containerOf.get(name);
      if (container !== undefined) out().close(container);
      else if (name === "caption") out().paragraph();
      else if (name === "table") tables.close();
      else tables.closeCell();
    }
  }

  return {
    get length() {
      return main.length + tables.length + (pre?.length ?? 0) + inline.length;
    },
    text: onText,
    open: onOpen,
    close: onClose,
    /** The title, then the text. */
    finish() {
      endPre();
      inline.endCode();
      tables.close();
      const text = main.finish();
      const heading = hasH1 || title === undefined || title === "" ? "" : `# ${title}`;
      const markdown = heading === "" || text === "" ? heading + text : `${heading}\n\n${text}`;
      return { markdown: markdown.toWellFormed(), text };
    },
  };
}

interface Preformatted {
  readonly pieces: string[];
  length: number;
  endsLine: boolean;
  language: string;
}

/** Without leading blank lines. */
function addPre(into: Preformatted, given: string): void {
  const text = into.length > 0 ? given : given.slice(leadingFeeds(given));
  if (text === "") return;
  into.pieces.push(text);
  into.length += text.length;
  into.endsLine = text.endsWith("\n");
}

function openInPre(name: string, attributes: Attributes, into: Preformatted): void {
  if (name === "br") addPre(into, "\n");
  else if (name === "code") into.language ||= languageOf(attributes);
  // Highlighters put each line into a block.
  else if ((paragraphElements.has(name) || name === "li" || name === "tr") && into.length > 0 && !into.endsLine)
    addPre(into, "\n");
}

function leadingFeeds(text: string): number {
  let count = 0;
  while (text[count] === "\n") count += 1;
  return count;
}
