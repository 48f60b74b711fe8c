import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { terminalLine, terminalText } from "../../../text/terminal-text.ts";
import { textStart } from "../../../text/text-cut.ts";

/** Users must see the exact text they decide on: see `terminalLine`. */

/** A title is one line; the rest is in the content or the input. */
const longestTitle = 300;

export function shownTitle(title: string): string {
  // Cut before escaping, so that no escape or character is split.
  const start = textStart(title, longestTitle);
  return terminalLine(title.length > start.length ? `${start}…` : title);
}

export function textContent(text: string): ToolCallContent {
  return { type: "content", content: { type: "text", text } };
}

/** Safe to embed in Markdown. */
export function fenced(text: string): string {
  const fence = "`".repeat(Math.max(3, longestTicks(text) + 1));
  return `${fence}\n${terminalText(text)}\n${fence}`;
}

/** Untrusted text as one line of Markdown without markup. */
export function plainLine(text: string): string {
  const line = terminalLine(text);
  if (!/[`<[\]*_#|~]/.test(line)) return line;
  const ticks = longestTicks(line);
  const fence = "`".repeat(ticks + 1);
  return ticks === 0 ? `${fence}${line}${fence}` : `${fence} ${line} ${fence}`;
}

/** The longest run of backticks. A loop, because there may be more runs than a call can have arguments. */
function longestTicks(text: string): number {
  let longest = 0;
  for (const [row] of text.matchAll(/`+/g)) longest = Math.max(longest, row.length);
  return longest;
}
