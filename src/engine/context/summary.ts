import type { Failure } from "../errors.ts";
import { type Message, textOf, type Usage } from "../message.ts";
import type { Clock, ModelInfo, ModelPort, ModelRequest } from "../ports.ts";
import { notSilentFor } from "../turn/model-silence.ts";
import { readReply } from "../turn/reply.ts";
import type { Budget } from "./budget.ts";
import summaryPrompt from "./prompts/summary.md";
import { fitResults, prune, tokensOf, withinTokens } from "./prune.ts";
import { estimateTokens } from "./tokens.ts";

export interface SummaryParts {
  readonly model: ModelPort;
  readonly budget: Budget;
  /** The focus of the summary, as the user asked. */
  readonly wish?: string;
  readonly clock: Clock;
  readonly messageId: string;
  readonly silence?: { readonly ms: number; readonly key: string };
  readonly signal: AbortSignal;
  /** The conversation's request with these messages: its prefix is the one in the provider's cache. */
  request(messages: readonly Message[]): ModelRequest;
  /** The call's retries and notices. */
  emit: Parameters<typeof readReply>[1]["emit"];
}

export interface Summary {
  /** `undefined` without a summary. */
  readonly text: string | undefined;
  readonly failure: Failure | undefined;
  readonly usage: Usage | undefined;
  readonly model: ModelInfo;
}

/** Requests a summary of the conversation from a model. */
export async function summaryOf(view: readonly Message[], parts: SummaryParts): Promise<Summary> {
  const { model, budget, clock, signal, silence, messageId } = parts;
  const text = parts.wish === undefined ? summaryPrompt : `${summaryPrompt}\n${parts.wish}`;
  const ask = { id: messageId, role: "user", content: [{ type: "text", text }], createdAt: clock.now() } as const;
  const fixed = estimateTokens(parts.request([ask]));
  const shorter = fitted(view, budget.window - budget.reserve - fixed);
  const request: ModelRequest = { ...parts.request([...shorter, ask]), purpose: "summary" };
  const stream =
    silence === undefined
      ? model.stream(request, signal)
      : notSilentFor(silence, clock, signal, (own, heard) => model.stream(request, own, heard));
  const reply = await readReply(stream, {
    messageId,
    model: model.info,
    clock,
    signal,
    emit: async (body) => {
      if (body.type === "notice" || body.type === "retry.scheduled") await parts.emit(body);
    },
    room: () => undefined,
  });
  const isWhole = reply.message.stop === "end" || reply.message.stop === "length";
  const words = textOf(reply.message.content).trim();
  const { usage, failure, model: answered } = reply;
  return { text: isWhole && words !== "" ? words : undefined, failure, usage, model: answered };
}

/** As much of the view as fits: with old results shortened, then all results, then without the oldest replies. */
function fitted(view: readonly Message[], most: number): readonly Message[] {
  if (tokensOf(view) <= most) return view;
  const pruned = prune(view, view.length).view;
  const cut = fitResults(pruned, 0, most).view;
  // The start stays: it has the notes of everything earlier, and providers need a user message first.
  const [first, ...rest] = cut.map((message, at) => (at === 0 ? shortened(message, most / 2) : message));
  let from = 0;
  let tokens = tokensOf(cut) - tokensOf(cut.slice(0, 1)) + tokensOf(first === undefined ? [] : [first]);
  while (from < rest.length && (tokens > most || rest[from]?.role === "tool")) {
    tokens -= tokensOf(rest.slice(from, from + 1));
    from += 1;
  }
  return first?.role === "user" ? [first, ...rest.slice(from)] : rest.slice(from);
}

function shortened(message: Message, most: number): Message {
  if (message.role !== "user" || tokensOf([message]) <= most) return message;
  const each = Math.floor(most / message.content.length) - 8;
  const content = message.content.map((block) =>
    "text" in block ? { ...block, text: withinTokens(block.text, each) } : block,
  );
  return { ...message, content };
}
