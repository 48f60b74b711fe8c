import type { WebPage } from "../../engine/ports.ts";
import { defineTool, failed, succeeded } from "../../engine/tool.ts";
import { textStart } from "../../text/text-cut.ts";
import { interrupted, messageOf } from "../outcome.ts";
import { z } from "../zod.ts";
import { readPage } from "./page-text.ts";

const mostBytes = 5 * 1024 * 1024;
/** Limit for the file of a long result. The engine cuts the text that the model gets at once. */
const longestText = 400_000;
const longestErrorText = 10_000;
const accept =
  "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5";

export const fetchUrlTool = defineTool({
  input: z.strictObject({
    url: z.url("url is required and must be a whole address, such as https://example.com/page"),
  }),

  async access(input) {
    const address = webAddress(input.url);
    return "fault" in address ? [] : [{ type: "fetch", url: address.url }];
  },

  async preview(input) {
    const address = webAddress(input.url);
    return { type: "fetch", url: "fault" in address ? "" : address.url };
  },

  async run(input, context) {
    const address = webAddress(input.url);
    if ("fault" in address) return failed(`FetchUrl failed: ${address.fault}`);
    try {
      const page = await context.host.web.get(address.url, { maxBytes: mostBytes, accept }, context.signal);
      const isGood = page.status >= 200 && page.status <= 299;
      const text = await textOf(page, isGood ? longestText : longestErrorText, context.signal);
      // Our own lines come first: everything after the first "Markdown content:" is the page's, so its end needs no
      // mark. A page gains nothing by imitating the notes after it.
      const head = [`URL Content from: "${onOneLine(input.url)}"`, `Status: ${page.status}`];
      if (page.url !== address.url) head.push(`Redirected to: ${page.url}`);
      const result = [...head, "Markdown content:", "", text].join("\n");
      return isGood ? succeeded(result) : failed(`The server responded with status ${page.status}.\n${result}`);
    } catch (error) {
      return context.signal.aborted ? interrupted() : failed(`FetchUrl failed: ${messageOf(error)}`);
    }
  },
});

function onOneLine(url: string): string {
  return url.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "");
}

/** The requested address: without its fragment, which is not sent. */
function webAddress(text: string): { readonly url: string } | { readonly fault: string } {
  if (!URL.canParse(text)) return { fault: "The url is not a complete address." };
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return { fault: `Only https:// and http:// addresses can be read, not ${url.protocol}` };
  if (url.username !== "" || url.password !== "")
    return { fault: "The url contains a user name or password, which are never sent. Remove them." };
  url.hash = "";
  return { url: url.href };
}

async function textOf(page: WebPage, limit: number, signal: AbortSignal): Promise<string> {
  const read = readPage(page);
  if ("type" in read) return describeFile(page, read.type);
  const { visible } = await import("./html-elements.ts");
  const notes: string[] = [];
  // Line ends and tabs are the only control characters of text: others could control a reader's terminal.
  const plain = (words: string): string => visible(words.replace(/\r\n?|\f/g, "\n"));
  let text = read.isHtml ? read.text : plain(read.text);
  let truncated = false;
  if (read.isHtml) {
    const { htmlToMarkdown } = await import("./html-to-markdown.ts");
    const converted = await htmlToMarkdown(text, { url: page.url, limit, signal });
    text = plain(converted.markdown);
    truncated = converted.truncated;
    if (!converted.hasText) notes.push("[The page has no text. It may need scripts, which are not run.]");
  } else if (text.trim() === "") notes.push("[The response is empty.]");
  if (text.length > limit) {
    text = textStart(text, limit);
    truncated = true;
  }
  if (truncated) notes.push(`[The page continues; these are its first ${text.length} characters.]`);
  else if (page.truncated) notes.push(`[Only the first ${mostBytes / 1024 / 1024} MB of the page were read.]`);
  return [...(text === "" ? [] : [text]), ...notes].join("\n\n");
}

function describeFile(page: WebPage, type: string): string {
  const size = page.truncated ? `more than ${mostBytes / 1024 / 1024} MB` : `${page.body.length} bytes`;
  const isPdf = type === "application/pdf";
  const what = isPdf ? "a PDF" : `a file of type ${type}`;
  // In shell quotes, only the quote itself is special.
  const command = `curl -fsSL -o ${isPdf ? "page.pdf" : "file"} '${page.url.replaceAll("'", "%27")}'`;
  return `[This is ${what} (${size}), not text. To get it, use Execute: ${command}${isPdf ? ", and then Read it" : ""}.]`;
}
