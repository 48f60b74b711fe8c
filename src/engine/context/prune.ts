import { textStart } from "../../text/text-cut.ts";
import type { ShortenedResult } from "../event.ts";
import { callsOf, type Message, modelText, type ToolCallBlock, type ToolResultBlock } from "../message.ts";
import { messageTokens, resultTokens, textTokens } from "./tokens.ts";
import { hasMedia, shortened } from "./view.ts";

/** The pruned results, and the view after pruning. */
export interface Pruned {
  readonly view: readonly Message[];
  readonly results: readonly ShortenedResult[];
  readonly media: readonly string[];
}

/** A smaller result takes hardly more room than the line that would replace it. */
const smallResult = 120;

/** Replaces large results before `end` by a line each, and removes earlier images and files but those of `kept`. */
export function prune(view: readonly Message[], end: number, kept: readonly string[] = []): Pruned {
  const results: ShortenedResult[] = [];
  forEachResult(view.slice(0, end), (result, messageId, call) => {
    if (resultTokens(result) <= smallResult) return;
    results.push({ messageId, callId: result.callId, text: lineFor(result, call) });
  });
  const media = mediaOf(view.slice(0, end), kept);
  return { view: shortened(view, results, media), results, media };
}

function mediaOf(messages: readonly Message[], kept: readonly string[]): readonly string[] {
  return messages.flatMap((message) =>
    message.role === "user" && hasMedia(message) && !kept.includes(message.id) ? [message.id] : [],
  );
}

/** Removes the images and files before `end`, but those of `kept`. */
export function withoutMedia(view: readonly Message[], end: number, kept: readonly string[] = []): Pruned {
  const old = view.slice(0, end);
  const media = mediaOf(old, kept);
  const results: ShortenedResult[] = [];
  forEachResult(old, (result, messageId) => {
    if (result.media === undefined) return;
    const text = `${modelText(result)}\n[It was removed to save room. Call the tool again if you need it.]`;
    results.push({ messageId, callId: result.callId, text });
  });
  return { view: shortened(view, results, media), results, media };
}

/** Cuts the largest results from `from` on to head and tail until those messages take `most` tokens, if possible. */
export function fitResults(view: readonly Message[], from: number, most: number): Pruned {
  const tail = view.slice(from);
  const total = tokensOf(tail);
  const all: { readonly result: ToolResultBlock; readonly messageId: string; readonly tokens: number }[] = [];
  forEachResult(tail, (result, messageId) => all.push({ result, messageId, tokens: resultTokens(result) }));
  if (total <= most || all.length === 0) return { view, results: [], media: [] };
  const cap = evenCap(
    all.map(({ tokens }) => tokens),
    total - most,
  );
  const results = all
    .filter(({ tokens }) => tokens > cap)
    .map(({ result, messageId }) => ({ messageId, callId: result.callId, text: cutResult(result, cap) }));
  return { view: [...view.slice(0, from), ...shortened(tail, results, [])], results, media: [] };
}

/** The size to which the largest of these must be cut to save this much in total. */
function evenCap(sizes: readonly number[], toSave: number): number {
  const sorted = [...sizes].sort((a, b) => b - a);
  let above = 0;
  for (const [index, size] of sorted.entries()) {
    above += size;
    const cap = (above - toSave) / (index + 1);
    if (cap >= (sorted[index + 1] ?? 0)) return Math.max(cap, smallResult);
  }
  return smallResult;
}

export function tokensOf(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** A text cut to its head and tail of about this many tokens. */
export function withinTokens(text: string, most: number, where = ""): string {
  const tokens = textTokens(text);
  if (tokens <= most) return text;
  const note = `\n[… shortened to save room${where} …]\n`;
  const characters = Math.max(0, Math.floor((text.length * (most - textTokens(note))) / tokens));
  const head = textStart(text, Math.ceil(characters * 0.6));
  const tail = text.slice(text.length - Math.floor(characters * 0.4)).toWellFormed();
  return head + note + tail;
}

function cutResult(result: ToolResultBlock, most: number): string {
  const { fullTextPath, forModel = result.text } = result;
  return withinTokens(forModel, most - 20, fullTextPath === undefined ? "" : `; the full text is in ${fullTextPath}`);
}

function lineFor({ name, status, text, fullTextPath }: ToolResultBlock, call: ToolCallBlock | undefined): string {
  const what = `${name} ${shownInput(call)}`;
  const size = `${text.length} characters${status === "ok" ? "" : `, ${status}`}`;
  const again =
    fullTextPath === undefined ? "Call the tool again if you need it." : `The whole output is in ${fullTextPath}.`;
  return `[The result of ${what} (${size}) was removed to save room. ${again}]`;
}

const mostInput = 200;

/** The arguments of a call in short. */
export function shownInput(call: ToolCallBlock | undefined): string {
  const text = call?.malformedInput ?? JSON.stringify(call?.input ?? {});
  return text.length <= mostInput ? text : `${textStart(text, mostInput)}…`;
}

export function forEachResult(
  messages: readonly Message[],
  visit: (result: ToolResultBlock, messageId: string, call: ToolCallBlock | undefined) => void,
): void {
  let calls: readonly ToolCallBlock[] = [];
  for (const message of messages) {
    if (message.role === "assistant") calls = callsOf(message);
    if (message.role !== "tool") continue;
    for (const result of message.content) {
      visit(
        result,
        message.id,
        calls.find(({ id }) => id === result.callId),
      );
    }
  }
}
