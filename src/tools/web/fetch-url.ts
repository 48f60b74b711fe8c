import type { WebPage } from "../../engine/ports.ts";
import { defineTool, failed, succeeded } from "../../engine/tool.ts";
import { textStart } from "../../text/text-cut.ts";
import { interrupted, messageOf } from "../outcome.ts";
import { z } from "../zod.ts";
import { readPage } from "./page-text.ts";

const mostBytes = 5 * 1024 * 1024;
/** What a file of a long result holds. What the model gets at once is less, and cut by the engine. */
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
      // All of ours stands in front: what comes after the first "Markdown content:" is the page's, whatever it looks like,
      // so that no mark is needed for its end. The notes behind it say nothing that a page could gain by saying it.
      const head = [`URL Content from: "${onOneLine(input.url)}"`, `Status: ${page.status}`];
      if (page.url !== address.url) head.push(`Redirected to: ${page.url}`);
      const result = [...head, "Markdown content:", "", text].join("\n");
      return isGood ? succeeded(result) : failed(`The server answered with status ${page.status}.\n${result}`);
    } catch (error) {
      return context.signal.aborted ? interrupted() : failed(`FetchUrl failed: ${messageOf(error)}`);
    }
  },
});

function onOneLine(url: string): string {
  return url.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, "");
}

/** The address as it is asked for: without its fragment, which no server sees. */
function webAddress(text: string): { readonly url: string } | { readonly fault: string } {
  if (!URL.canParse(text)) return { fault: "The url is not a whole address." };
  const url = new URL(text);
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return { fault: `Only addresses that begin with https:// or http:// can be read, not ${url.protocol}` };
  if (url.username !== "" || url.password !== "")
    return { fault: "The url holds a user name or password, and those are never sent. Leave them out." };
  url.hash = "";
  return { url: url.href };
}

async function textOf(page: WebPage, limit: number, signal: AbortSignal): Promise<string> {
  const read = readPage(page);
  if ("type" in read) return describeFile(page, read.type);
  const { visible } = await import("./html-elements.ts");
  const notes: string[] = [];
  // Of the control characters only line ends and tabs are text: others steer the terminal of whoever looks at the result.
  const plain = (words: string): string => visible(words.replace(/\r\n?|\f/g, "\n"));
  let text = read.isHtml ? read.text : plain(read.text);
  let truncated = false;
  if (read.isHtml) {
    const { htmlToMarkdown } = await import("./html-to-markdown.ts");
    const converted = await htmlToMarkdown(text, { url: page.url, limit, signal });
    text = plain(converted.markdown);
    truncated = converted.truncated;
    if (!converted.hasText) notes.push("[The page has no text of its own. It may need scripts, which are not run.]");
  } else if (text.trim() === "") notes.push("[The answer is empty.]");
  if (text.length > limit) {
    text = textStart(text, limit);
    truncated = true;
  }
  if (truncated) notes.push(`[The page goes on; this is its beginning, ${text.length} characters.]`);
  else if (page.truncated) notes.push(`[Only the first ${mostBytes / 1024 / 1024} MB of the page were read.]`);
  return [...(text === "" ? [] : [text]), ...notes].join("\n\n");
}

function describeFile(page: WebPage, type: string): string {
  const size = page.truncated ? `more than ${mostBytes / 1024 / 1024} MB` : `${page.body.length} bytes`;
  const isPdf = type === "application/pdf";
  const what = isPdf ? "a PDF" : `a file of type ${type}`;
  // Between quotes of the shell nothing has a meaning but the quote itself.
  const command = `curl -fsSL -o ${isPdf ? "page.pdf" : "file"} '${page.url.replaceAll("'", "%27")}'`;
  return `[This is ${what} (${size}), not text. To get it, use Execute: ${command}${isPdf ? ", and then Read it" : ""}.]`;
}
