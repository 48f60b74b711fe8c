import { Tokenizer } from "htmlparser2";
import { endsInHalf } from "../../text/text-cut.ts";

/** A page's tokens. Character references are decoded. */
export type HtmlToken =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "open"; readonly name: string; readonly attributes: ReadonlyMap<string, string> }
  | { readonly type: "close"; readonly name: string };

/** Characters per batch, few enough to take only milliseconds. */
const stride = 4096;
/** Longer text is split into several tokens. */
const longestText = 64 * 1024;
const longestName = 40;
const mostAttributes = 60;
const longestValue = 10_000;

/**
 * Splits a page into tokens as browsers do, in batches so that the caller can yield. Time and memory grow only with the
 * page's length: tags are not matched, and long names, values and attributes are dropped.
 */
export function* htmlTokens(html: string): Generator<readonly HtmlToken[], void, undefined> {
  let found: HtmlToken[] = [];
  let text = "";
  let name = "";
  let attributes = new Map<string, string>();
  let key = "";
  let value = "";

  const nameAt = (start: number, end: number): string =>
    html.slice(start, Math.min(end, start + longestName)).toLowerCase();

  function add(token?: HtmlToken): void {
    if (text !== "") found.push({ type: "text", text });
    text = "";
    if (token !== undefined) found.push(token);
  }

  function addToValue(piece: string): void {
    if (value.length <= longestValue) value += piece;
  }

  function endTag(): void {
    add({ type: "open", name, attributes });
  }

  const tokenizer = new Tokenizer(
    {},
    {
      ontext(start, end) {
        text += html.slice(start, end);
      },
      ontextentity(code) {
        text += String.fromCodePoint(code);
      },
      onopentagname(start, end) {
        name = nameAt(start, end);
        attributes = new Map();
      },
      onattribname(start, end) {
        key = end - start > longestName ? "" : nameAt(start, end);
        value = "";
      },
      onattribdata: (start, end) => addToValue(html.slice(start, end)),
      onattribentity: (code) => addToValue(String.fromCodePoint(code)),
      onattribend() {
        if (key === "" || attributes.size >= mostAttributes || attributes.has(key)) return;
        // Too long to be useful: data instead of an address.
        attributes.set(key, value.length > longestValue ? "" : value);
      },
      onopentagend: endTag,
      onselfclosingtag: endTag,
      onclosetag: (start, end) => add({ type: "close", name: nameAt(start, end) }),
      oncdata() {},
      oncomment() {},
      ondeclaration() {},
      onprocessinginstruction() {},
      onend: () => add(),
    },
  );

  for (let at = 0; at < html.length; at += stride) {
    tokenizer.write(html.slice(at, at + stride));
    if (text.length > longestText && (isWhole(text) || text.length > 2 * longestText)) add();
    yield found;
    found = [];
  }
  tokenizer.end();
  yield found;
}

/** Whether later text cannot change the meaning of its end. */
function isWhole(text: string): boolean {
  return !endsInHalf(text) && !text.endsWith("\r");
}
