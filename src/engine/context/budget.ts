import type { SessionState } from "../log/history.ts";
import type { Message } from "../message.ts";
import type { ModelInfo, ModelRequest } from "../ports.ts";
import type { SessionSettings } from "../settings.ts";
import { tokensOf } from "./prune.ts";
import { estimateTokens, textTokens } from "./tokens.ts";

/** What the user's configuration says about long conversations. */
export interface ContextOptions {
  /** Compact at so many tokens; up to 1, at this share of the model's window. */
  readonly compactAt?: number;
  /** The model that writes summaries; the session's own when absent. */
  readonly model?: string;
  /** Nothing is compacted unless somebody asks. */
  readonly isOff?: boolean;
}

export interface Budget {
  readonly window: number;
  /** Kept free for the answer. */
  readonly reserve: number;
  /** A request of more tokens is compacted before it is sent. */
  readonly limit: number;
}

export function budgetOf(
  model: ModelInfo,
  settings: Pick<SessionSettings, "compactAt"> = {},
  { compactAt }: ContextOptions = {},
): Budget {
  const window = model.contextWindow;
  const reserve = Math.min(model.maxOutputTokens, Math.floor(window / 4));
  const configured = compactAt !== undefined && compactAt <= 1 ? compactAt * window : compactAt;
  const wanted = settings.compactAt ?? configured ?? Number.POSITIVE_INFINITY;
  return { window, reserve, limit: Math.min(window - reserve, wanted) };
}

/** Whether compaction happens by itself. */
export function compactsItself(settings: SessionSettings, { isOff = false }: ContextOptions = {}): boolean {
  return settings.compacts ?? !isOff;
}

/** A provider that counts less than this share of the estimate is not believed. */
const leastBelieved = 0.25;

/** Tokens of the next request: the provider's own count of the last one, and an estimate for what has come since. */
export function contextTokens(
  { measured, view }: Pick<SessionState, "measured" | "view">,
  request: ModelRequest,
): number {
  const estimate = estimateTokens(request);
  if (measured === undefined) return estimate;
  const tokens = measured.tokens + tokensOf(view.slice(measured.messages));
  return tokens < estimate * leastBelieved ? estimate : tokens;
}

export interface ContextUse {
  readonly model: ModelInfo;
  /** Of the next request, as far as that can be known before it is sent. */
  readonly tokens: number;
  readonly budget: Budget;
  /** What they are for, by the estimate. */
  readonly parts: readonly { readonly kind: ContextPart; readonly tokens: number }[];
  /** Something that is kept word for word had to be cut. */
  readonly isShortened: boolean;
}

export type ContextPart = "system" | "tools" | "notes" | "kept" | "prompts" | "replies" | "results";

export function contextUse({
  model,
  state,
  request,
  options,
}: {
  readonly model: ModelInfo;
  readonly state: SessionState;
  readonly request: ModelRequest;
  readonly options: ContextOptions | undefined;
}): ContextUse {
  const { standIn, view } = state;
  const [first] = standIn !== undefined && view[0]?.id === standIn.messageId ? view : [];
  const [notes] = first?.content ?? [];
  const notesTokens = notes?.type === "reminder" ? textTokens(notes.text) : 0;
  const rest = first === undefined ? view : view.slice(1);
  const of = (role: Message["role"]): number => tokensOf(rest.filter((message) => message.role === role));
  const empty = { ...request, messages: [] };
  return {
    model,
    tokens: contextTokens(state, request),
    budget: budgetOf(model, state.settings, options),
    isShortened: standIn?.isShortened === true,
    parts: [
      { kind: "system", tokens: textTokens(request.system) },
      { kind: "tools", tokens: estimateTokens({ ...empty, system: "" }) },
      { kind: "notes", tokens: notesTokens },
      { kind: "kept", tokens: first === undefined ? 0 : tokensOf([first]) - notesTokens },
      { kind: "prompts", tokens: of("user") },
      { kind: "replies", tokens: of("assistant") },
      { kind: "results", tokens: of("tool") },
    ],
  };
}

/** Whether a request leaves room for the answer, by the estimate. */
export function fitsWindow(request: ModelRequest, { window, reserve }: Budget): boolean {
  return estimateTokens(request) <= window - reserve;
}
