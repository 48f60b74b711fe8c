/** What a page is made of. Text and values are as they stand in the source, character references and all. */
export type HtmlToken =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open"; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly type: "close"; readonly name: string };

/** Elements whose content is text up to their own end tag, whatever it looks like. */
const rawElements: ReadonlySet<string> = new Set("script style textarea title xmp iframe noembed noframes".split(" "));

const longestName = 40;
const mostAttributes = 60;
const longestValue = 10_000;
const none: ReadonlyMap<string, string> = new Map();

/**
 * Takes a page apart as browsers do, as far as its text depends on it. Every character is looked at a bounded number of
 * times, whatever the page: the position only goes forward, and what was not found once is not looked for again.
 */
export function* htmlTokens(html: string): Generator<HtmlToken, void, undefined> {
  let at = 0;
  while (at < html.length) {
    const start = markupFrom(html, at);
    if (start > at) yield { type: "text", text: html.slice(at, start) };
    if (start === html.length) return;
    const next = html.charCodeAt(start + 1);
    if (next === exclamation || next === question) {
      at = afterComment(html, start);
    } else if (next === slash) {
      const tag = readTag(html, start + 2);
      if (tag === undefined) return;
      if (tag.name !== "") yield { type: "close", name: tag.name };
      at = tag.end;
    } else {
      const tag = readTag(html, start + 1);
      if (tag === undefined) return;
      yield { type: "open", name: tag.name, attributes: tag.attributes };
      at = tag.end;
      if (!rawElements.has(tag.name)) continue;
      const end = rawEnd(html, at, tag.name);
      if (end > at) yield { type: "text", text: html.slice(at, end) };
      at = end;
    }
  }
}

const exclamation = 0x21;
const slash = 0x2f;
const question = 0x3f;
const greater = 0x3e;
const equals = 0x3d;

function isLetter(code: number): boolean {
  return (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
}

function isSpace(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d && code !== 0x0b);
}

/** Where the next tag or comment begins: a `<` that stands for itself is none. */
function markupFrom(html: string, from: number): number {
  for (let at = html.indexOf("<", from); at >= 0; at = html.indexOf("<", at + 1)) {
    const next = html.charCodeAt(at + 1);
    if (isLetter(next) || next === slash || next === exclamation || next === question) return at;
  }
  return html.length;
}

/** A comment that does not end is all of the rest. */
function afterComment(html: string, start: number): number {
  if (!html.startsWith("<!--", start)) return after(html.indexOf(">", start), 1, html);
  // `<!-->` and `<!--->` are whole comments.
  const end = html.indexOf("-->", start + 2);
  return after(end, 3, html);
}

function after(found: number, length: number, html: string): number {
  return found < 0 ? html.length : found + length;
}

interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly end: number;
}

/** From behind `<` or `</`. A tag that does not end is none, and nothing follows it. `</` before anything but a name is a comment. */
function readTag(html: string, start: number): Tag | undefined {
  if (!isLetter(html.charCodeAt(start))) {
    const end = html.indexOf(">", start);
    return end < 0 ? undefined : { name: "", attributes: none, end: end + 1 };
  }
  let at = nameEnd(html, start, false);
  const name = html.slice(start, Math.min(at, start + longestName)).toLowerCase();
  let attributes: Map<string, string> | undefined;
  while (at < html.length) {
    const code = html.charCodeAt(at);
    if (code === greater) return { name, attributes: attributes ?? none, end: at + 1 };
    if (isSpace(code) || code === slash) {
      at += 1;
      continue;
    }
    const keyStart = at;
    at = nameEnd(html, at + 1, true);
    const keyEnd = at;
    while (isSpace(html.charCodeAt(at))) at += 1;
    let valueStart = at;
    let valueEnd = at;
    if (html.charCodeAt(at) === equals) {
      at += 1;
      while (isSpace(html.charCodeAt(at))) at += 1;
      const quote = html[at];
      if (quote === '"' || quote === "'") {
        valueStart = at + 1;
        valueEnd = html.indexOf(quote, valueStart);
        if (valueEnd < 0) return undefined;
        at = valueEnd + 1;
      } else {
        valueStart = at;
        while (at < html.length && !isSpace(html.charCodeAt(at)) && html.charCodeAt(at) !== greater) at += 1;
        valueEnd = at;
      }
    }
    attributes ??= new Map();
    if (attributes.size >= mostAttributes || keyEnd - keyStart > longestName) continue;
    const key = html.slice(keyStart, keyEnd).toLowerCase();
    // Too long to be of use: data in place of an address.
    const value = valueEnd - valueStart > longestValue ? "" : html.slice(valueStart, valueEnd);
    if (!attributes.has(key)) attributes.set(key, value);
  }
  return undefined;
}

function nameEnd(html: string, from: number, isAttribute: boolean): number {
  let at = from;
  while (at < html.length) {
    const code = html.charCodeAt(at);
    if (isSpace(code) || code === slash || code === greater || (isAttribute && code === equals)) break;
    at += 1;
  }
  return at;
}

/** Where the end tag of a raw element begins; without one, the end of the page. */
function rawEnd(html: string, from: number, name: string): number {
  for (let at = html.indexOf("</", from); at >= 0; at = html.indexOf("</", at + 2)) {
    const end = at + 2 + name.length;
    const next = html.charCodeAt(end);
    const isEnd = Number.isNaN(next) || isSpace(next) || next === slash || next === greater;
    if (isEnd && html.slice(at + 2, end).toLowerCase() === name) return at;
  }
  return html.length;
}
