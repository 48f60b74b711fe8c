import type { SessionState } from "../log/history.ts";
import type { Message } from "../message.ts";
import type { ModelInfo, ModelRequest } from "../ports.ts";
import type { SessionSettings } from "../settings.ts";
import { tokensOf } from "./prune.ts";
import { estimateTokens, textTokens } from "./tokens.ts";

/** The user's settings for long conversations. */
export interface ContextOptions {
  /** Compact at this many tokens; up to 1, at this share of the model's window. */
  readonly compactAt?: number;
  /** The model that writes summaries. Default: the session's own. */
  readonly model?: string;
  /** Compact only on request. */
  readonly isOff?: boolean;
}

export interface Budget {
  readonly window: number;
  /** Reserved for the reply. */
  readonly reserve: number;
  /** Larger requests are compacted before they are sent. */
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

/** Whether compaction is automatic. */
export function compactsItself(settings: SessionSettings, { isOff = false }: ContextOptions = {}): boolean {
  return settings.compacts ?? !isOff;
}

/** Provider counts below this share of the estimate are ignored. */
const leastBelieved = 0.25;

/** Tokens of the next request: the provider's count of the last one, plus an estimate of what was added. */
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
  /** An estimate for the next request. */
  readonly tokens: number;
  readonly budget: Budget;
  /** Estimated tokens by part. */
  readonly parts: readonly { readonly kind: ContextPart; readonly tokens: number }[];
  /** Some of the text kept verbatim had to be cut. */
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

/** Whether a request leaves room for the reply, by the estimate. */
export function fitsWindow(request: ModelRequest, { window, reserve }: Budget): boolean {
  return estimateTokens(request) <= window - reserve;
}
