import type { HtmlToken } from "./html-tokens.ts";
import type { Container } from "./markdown-containers.ts";
import type { Emphasis } from "./markdown-writer.ts";

type Open = HtmlToken & { type: "open" };
type Attributes = ReadonlyMap<string, string>;

function names(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}

/** Nothing to read in them, ever. */
const neverText = names("iframe noembed noframes script style textarea");
/** What a page shows around its text. */
const around = names(
  "audio button canvas datalist dialog map menu nav object optgroup option select svg template video",
);
const rolesAround = names("navigation search menu menubar tooltip");
const voidElements = names("area base br col embed hr img input link meta param source track wbr");

export const paragraphElements = names(
  "address article aside body center details dir div fieldset figcaption figure footer form header hgroup html main p section summary",
);
/** Blocks that may stand inside a heading without ending it. */
export const insideHeadings = names("body div hgroup html");
export const codeElements = names("code kbd samp tt");
export const preElements = names("listing pre xmp");
export const containerOf: ReadonlyMap<string, Container> = new Map([
  ["ul", "list"],
  ["ol", "list"],
  ["dl", "list"],
  ["li", "item"],
  ["dd", "item"],
  ["blockquote", "quote"],
]);
/** Blocks whose ends mean something: the end of a row, for instance, is that of its last cell. */
export const closedBlocks: ReadonlySet<string> = new Set([...containerOf.keys(), "caption", "table", "td", "th"]);
export const headings = names("h1 h2 h3 h4 h5 h6");
export const emphasisOf: ReadonlyMap<string, Emphasis> = new Map([
  ["b", "strong"],
  ["strong", "strong"],
  ["em", "em"],
  ["i", "em"],
  ["del", "strike"],
  ["s", "strike"],
  ["strike", "strike"],
]);
/** What stands for "link to this heading" beside it. */
export const anchorSigns: ReadonlySet<string> = new Set(["#", "¶", "§", "🔗"]);

const longestHref = 2000;

/** Whether an element is left out with all that is in it: what nobody would see, and with `skipsNoise` what is around the text. */
export function isLeftOut({ name, attributes }: Open, skipsNoise: boolean): boolean {
  if (neverText.has(name)) return true;
  if (!skipsNoise || voidElements.has(name)) return false;
  if (around.has(name)) return true;
  if (attributes.size === 0) return false;
  if (attributes.has("hidden") || attributes.get("aria-hidden")?.toLowerCase() === "true") return true;
  if (rolesAround.has(attributes.get("role")?.toLowerCase() ?? "")) return true;
  const style = attributes.get("style");
  return style !== undefined && /(?:^|[;\s])(?:display\s?:\s?none|visibility\s?:\s?hidden)/i.test(style);
}

/** The address that a link leads to, in full; `undefined` where it leads nowhere that could be fetched or written to. */
export function linkTarget(href: string, base: string): string | undefined {
  if (href === "" || href.startsWith("#") || href.length > longestHref) return undefined;
  try {
    const url = new URL(href, base);
    if (!["http:", "https:", "mailto:"].includes(url.protocol)) return undefined;
    return url.href.replace(/[()]/g, (bracket) => (bracket === "(" ? "%28" : "%29"));
  } catch {
    return undefined;
  }
}

/** What a highlighter calls the language of a block of code. */
export function languageOf(attributes: Attributes): string {
  const found = /(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s?)([\w+#.-]{1,30})/i.exec(
    attributes.get("class") ?? "",
  )?.[1];
  return found === undefined || ["none", "default", "notranslate"].includes(found) ? "" : found.toLowerCase();
}

export function startOf(attributes: Attributes): number {
  const start = Number(attributes.get("start") ?? 1);
  return Number.isSafeInteger(start) && start >= 0 ? start : 1;
}

/** Without characters that show nothing: they hide text from people, or turn it around. */
export function visible(text: string): string {
  return text.replace(
    /(?![\t\n\r\f])[\p{Cc}\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu,
    "",
  );
}
