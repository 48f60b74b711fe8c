import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { terminalLine, terminalText } from "../../../text/terminal-text.ts";
import { textStart } from "../../../text/text-cut.ts";

/* What somebody decides by must be seen as it is: see `terminalLine`. */

/** A title is one line; what it leaves out is in the content, or in the input. */
const longestTitle = 300;

export function shownTitle(title: string): string {
  // Cut before anything is written out, so that no half of an escape is left, nor of a character.
  const start = textStart(title, longestTitle);
  return terminalLine(title.length > start.length ? `${start}…` : title);
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** As it may stand in the middle of Markdown, whatever is in it. */
export function fenced(text: string): string {
  const fence = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return `${fence}\n${terminalText(text)}\n${fence}`;
}

/** Words of others as one line of Markdown, which they cannot make anything else of. */
export function plainLine(text: string): string {
  const line = terminalLine(text);
  if (!/[`<[\]*_#|~]/.test(line)) return line;
  const ticks = longestTicks(line);
  const fence = "`".repeat(ticks + 1);
  return ticks === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** In a row. One by one: there may be more rows than a call has room for arguments. */
function longestTicks(text: string): number {
  let longest = 0;
  for (const [row] of text.matchAll(/`+/g)) longest = Math.max(longest, row.length);
  return longest;
}
