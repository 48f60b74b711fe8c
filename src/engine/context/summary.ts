import type { Failure } from "../errors.ts";
import { type AssistantMessage, type Message, textOf, type Usage } from "../message.ts";
import type { Clock, ModelInfo, ModelPort, ModelRequest } from "../ports.ts";
import { notSilentFor } from "../turn/model-silence.ts";
import { readReply } from "../turn/reply.ts";
import summaryPrompt from "./prompts/summary.md";
import { fitResults, prune, tokensOf, withinTokens, withoutMedia } from "./prune.ts";
import { estimateTokens } from "./tokens.ts";

export interface SummaryParts {
  readonly model: ModelPort;
  /** Limit for the request in tokens. */
  readonly most: number;
  /** A request as long as this was refused, so images and files stay out. */
  readonly isRefused: boolean;
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
  const { model, most, clock, signal, silence, messageId } = parts;
  const text = parts.wish === undefined ? summaryPrompt : `${summaryPrompt}\n${parts.wish}`;
  const ask = { id: messageId, role: "user", content: [{ type: "text", text }], createdAt: clock.now() } as const;
  const fixed = estimateTokens(parts.request([ask]));
  const shorter = fitted(parts.isRefused ? withoutMedia(view, view.length).view : view, most - fixed);
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
  const written = isWhole && words !== "" ? words : undefined;
  const { usage, failure = written === undefined ? unwritten(reply.message.stop) : undefined, model: answered } = reply;
  return { text: written, failure, usage, model: answered };
}

function unwritten(stop: AssistantMessage["stop"]): Failure {
  const why = stop === "tool_calls" ? "called a tool instead of writing it" : "wrote none";
  return { code: "model_empty", message: `The model ${why}.` };
}

/** Results are shortened in these shares of the view, the oldest first, until it fits. */
const pruned = [0.25, 0.5, 0.75, 1];

/** As much of the view as fits: with old results shortened, then all results, then without the oldest replies. */
function fitted(view: readonly Message[], most: number): readonly Message[] {
  if (tokensOf(view) <= most) return view;
  const shorter = pruned.map((share) => prune(view, Math.ceil(view.length * share)).view);
  const enough = shorter.find((messages) => tokensOf(messages) <= most);
  return enough ?? withoutOldest(shorter.at(-1) ?? view, most);
}

function withoutOldest(pruned: readonly Message[], most: number): readonly Message[] {
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
