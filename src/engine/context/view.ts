import type { DurableEvent, ShortenedResult } from "../event.ts";
import type { Message, ToolResultBlock, UserMessage } from "../message.ts";

type Compacted = DurableEvent & { readonly type: "context.compacted" };

/** The model's view after a compaction. Unchanged messages stay the same objects. */
export function compactedView(
  view: readonly Message[],
  { results, media, summary }: Pick<Compacted, "results" | "media" | "summary">,
): readonly Message[] {
  const last = summary === undefined ? -1 : view.findLastIndex(({ id }) => id === summary.through);
  const rest = shortened(view.slice(last + 1), results, media);
  // A damaged log can lack the message where the summary ends.
  return summary === undefined || last < 0 ? rest : [summary.message, ...rest];
}

export function shortened(
  view: readonly Message[],
  results: readonly ShortenedResult[],
  media: readonly string[],
): readonly Message[] {
  if (results.length === 0 && media.length === 0) return view;
  const texts = new Map(results.map(({ messageId, callId, text }) => [`${messageId} ${callId}`, text]));
  const withoutMedia = new Set(media);
  return view.map((message) => {
    if (message.role === "user") return withoutMedia.has(message.id) ? withWordsForMedia(message) : message;
    if (message.role !== "tool") return message;
    const content = message.content.map((result) =>
      shortenedResult(result, texts.get(`${message.id} ${result.callId}`)),
    );
    return content.every((result, index) => result === message.content[index]) ? message : { ...message, content };
  });
}

function shortenedResult(result: ToolResultBlock, text: string | undefined): ToolResultBlock {
  if (text === undefined) return result;
  const { media: _, forModel: __, ...rest } = result;
  return { ...rest, text };
}

function withWordsForMedia(message: UserMessage): UserMessage {
  const content = message.content.map((block) => {
    if (!isMedia(block)) return block;
    const what = block.type === "image" ? "An image" : `A file${block.name === undefined ? "" : ` (${block.name})`}`;
    return { type: "reminder", text: `${what} that the user attached here is no longer in your view.` } as const;
  });
  return { ...message, content };
}

export function hasMedia(message: UserMessage): boolean {
  return message.content.some(isMedia);
}

function isMedia(block: UserMessage["content"][number]): block is Extract<typeof block, { readonly data: string }> {
  return block.type === "image" || block.type === "document";
}
