import type { HtmlToken } from "./html-tokens.ts";
import type { Container } from "./markdown-containers.ts";
import type { Emphasis } from "./markdown-writer.ts";

type Open = HtmlToken & { type: "open" };
type Attributes = ReadonlyMap<string, string>;

function names(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}

/** Elements that never contain readable text. */
const neverText = names("iframe noembed noframes script style textarea");
/** Elements around a page's text. */
const around = names(
  "audio button canvas datalist dialog map menu nav object optgroup option select svg template video",
);
const rolesAround = names("navigation search menu menubar tooltip");
const voidElements = names("area base br col embed hr img input link meta param source track wbr");

export const paragraphElements = names(
  "address article aside body center details dir div fieldset figcaption figure footer form header hgroup html main p section summary",
);
/** Blocks that can be inside a heading without ending it. */
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
/** Blocks whose end tags matter: the end of a row, for example, also ends its last cell. */
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
/** Labels of a heading's "link to this heading". */
export const anchorSigns: ReadonlySet<string> = new Set(["#", "¶", "§", "🔗"]);

const longestHref = 2000;

/** Whether an element is skipped with its content: invisible ones, and with `skipsNoise` those around the text. */
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

/** A link's full address; `undefined` unless it can be fetched or written to. */
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

/** A highlighter's name for the language of a code block. */
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

/** Without invisible characters, which hide text or reverse it. */
export function visible(text: string): string {
  return text.replace(
    /(?![\t\n\r\f])[\p{Cc}\u00ad\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/gu,
    "",
  );
}
