import { failureOf } from "../errors.ts";
import type { CompactionTrigger, EventBody } from "../event.ts";
import type { SessionState } from "../log/history.ts";
import { addUsage, type Message, type Usage } from "../message.ts";
import type { Clock, Ids, ModelCatalog, ModelInfo, ModelPort, ModelRequest } from "../ports.ts";
import type { ModelSilence } from "../settings.ts";
import { costOf } from "../turn/cost.ts";
import { type Budget, budgetOf, type ContextOptions, compactsItself, contextTokens, fitsWindow } from "./budget.ts";
import { type CompactedBody, compact, compactMedia } from "./compaction.ts";
import type { KeptOfCall } from "./kept.ts";
import { type Summary, summaryOf } from "./summary.ts";
import { estimateTokens } from "./tokens.ts";

export interface CompactorParts {
  readonly state: SessionState;
  readonly models: ModelCatalog;
  readonly options: ContextOptions;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly silence?: ModelSilence;
  readonly signal: AbortSignal;
  readonly ofCall: KeptOfCall;
  /** The current environment and AGENTS.md. */
  instructions(): Promise<readonly string[]>;
  emit(body: EventBody): Promise<void>;
  /** A paid summary. `cost` is `undefined` if prices are unknown. */
  spent(usage: Usage, cost: number | undefined): void;
}

/** A model about to be called, and how. */
export interface Asking {
  readonly model: ModelPort;
  request(messages: readonly Message[]): ModelRequest;
}

/** After this many failed summaries, a turn compacts without one. */
const mostFailures = 2;
/** How much a view must grow after a compaction before the next one, as a share of the limit. */
const leastGrowth = 0.1;
/** The share of the conversation's room that can be used before it is compacted. */
const filled = 0.9;
/** After a "too long" error: the window is smaller than assumed, or the provider counts more tokens. */
const afterTooLong = 0.7;
/** Requests of this share of a refused one are compacted before they are sent. */
const belowRefused = 0.9;

/** Why a provider refused a request: too many tokens, or too many bytes. */
export type Refusal = "tokens" | "bytes";

/** Makes room in the model's view during one turn, or once on request. */
export class Compactor {
  private readonly parts: CompactorParts;
  private failures = 0;
  private tokensAfter = 0;
  private isRefused = false;
  /** The last request that was too long for the provider: its estimated tokens, and as the provider counts. */
  private refused = { estimate: Number.POSITIVE_INFINITY, counted: Number.POSITIVE_INFINITY };
  /** The configured summary model has failed. */
  private isOwn = false;

  constructor(parts: CompactorParts) {
    this.parts = parts;
  }

  /** Whether it compacts automatically. */
  get isOn(): boolean {
    return compactsItself(this.parts.state.settings, this.parts.options);
  }

  /** The next request, after making room if needed. `undefined` if it still does not fit. */
  async fittingRequest(asking: Asking): Promise<ModelRequest | undefined> {
    const { state } = this.parts;
    const budget = this.budget(asking.model.info);
    let request = asking.request(state.view);
    const limit = this.limit(asking, budget);
    if (this.isOn && this.isDue(request, budget, limit)) {
      await this.compact("window", asking, limit);
      request = asking.request(state.view);
    }
    return fitsWindow(request, budget) ? request : undefined;
  }

  /** Compacts after a provider refused the request, at most once per reply. Returns whether that made room. */
  async madeRoomAfterRefusal(asking: Asking, why: Refusal): Promise<boolean> {
    const { state } = this.parts;
    if (this.isRefused || !this.isOn) return false;
    this.isRefused = true;
    if (why === "bytes") return this.droppedMedia(asking);
    const request = asking.request(state.view);
    this.learn(request, contextTokens(state, request));
    const limit = Math.floor(estimateTokens(request) * afterTooLong);
    return (await this.compact("provider", asking, limit)) !== undefined;
  }

  private async droppedMedia({ request }: Asking): Promise<boolean> {
    const { state, emit } = this.parts;
    const body = compactMedia({ state, trigger: "provider", fixed: estimateTokens(request([])) });
    if (body !== undefined) await emit(body);
    return body !== undefined;
  }

  private learn(request: ModelRequest, counted: number): void {
    this.refused = { estimate: estimateTokens(request), counted };
  }

  answered(): void {
    this.isRefused = false;
  }

  /** The result; `undefined` if there was nothing to gain. */
  async compact(
    trigger: CompactionTrigger,
    { model, request }: Asking,
    limit: number,
    wish?: string,
  ): Promise<CompactedBody | undefined> {
    const { state, emit, ids, clock, signal, ofCall } = this.parts;
    const fixed = estimateTokens(request([]));
    const { window, reserve } = this.budget(model.info);
    // A limit below the size of prompt and tools would leave no room for a conversation.
    const least = fixed + Math.floor((window - reserve - fixed) / 4);
    const counted = contextTokens(state, request(state.view)) / Math.max(1, estimateTokens(request(state.view)));
    await emit({ type: "compaction.started", trigger });
    try {
      const body = await compact({
        state,
        trigger,
        window,
        fixed,
        limit: trigger === "provider" ? limit : Math.max(least, Math.floor(limit / Math.max(1, counted))),
        own: { id: ids.next(), createdAt: clock.now() },
        instructions: await this.parts.instructions(),
        ofCall,
        gainedNothing: () => {
          this.failures += 1;
        },
        summarise: (view) => this.summarise(view, { model, request }, wish),
      });
      if (body === undefined || signal.aborted) return undefined;
      await emit(body);
      this.tokensAfter = contextTokens(state, request(state.view));
      return body;
    } finally {
      await emit({ type: "compaction.ended" });
    }
  }

  private budget(model: ModelInfo): Budget {
    return budgetOf(model, this.parts.state.settings, this.parts.options);
  }

  /** Compacts before the window is full, so that the summary request fits after the provider's cached prefix. */
  private limit({ request }: Asking, { window, reserve, limit }: Budget): number {
    const fixed = estimateTokens(request([]));
    const refused = Math.floor(this.refused.counted * belowRefused);
    return Math.min(limit, refused, fixed + Math.floor((window - reserve - fixed) * filled));
  }

  private isDue(request: ModelRequest, budget: Budget, limit: number): boolean {
    if (!fitsWindow(request, budget)) return true;
    const grown = this.tokensAfter + (this.tokensAfter === 0 ? 0 : leastGrowth * limit);
    return contextTokens(this.parts.state, request) > Math.max(limit, Math.min(grown, budget.window - budget.reserve));
  }

  private async summarise(
    view: readonly Message[],
    own: Asking,
    wish: string | undefined,
  ): Promise<string | undefined> {
    if (this.failures >= mostFailures) return undefined;
    const { signal, emit } = this.parts;
    const chosen = await this.summariser(own);
    let { text, failure } = await this.fittingSummary(view, chosen, wish);
    if (failure !== undefined && chosen.model !== own.model && !signal.aborted) {
      this.isOwn = true;
      await this.tellOwn(failure.message);
      ({ text, failure } = await this.fittingSummary(view, own, wish));
    }
    if (text === undefined) this.failures += 1;
    if (failure !== undefined && !signal.aborted) {
      const words = `The conversation is compacted without a summary. ${failure.message}`;
      await emit({ type: "notice", level: "warning", text: words });
    }
    return text;
  }

  /** Asks once more with less, if a provider with a smaller window refuses the request. */
  private async fittingSummary(view: readonly Message[], asking: Asking, wish: string | undefined): Promise<Summary> {
    const summary = await this.askForSummary(view, asking, wish);
    const { failure } = summary;
    if (failure?.code !== "context_full" && failure?.cause !== "too_large") return summary;
    const { window, reserve } = this.budget(asking.model.info);
    const refused = Math.min(estimateTokens(asking.request(view)), this.refused.estimate * afterTooLong);
    this.refused = { ...this.refused, estimate: Math.min(refused, window - reserve) };
    return this.askForSummary(view, asking, wish);
  }

  private async askForSummary(
    view: readonly Message[],
    { model, request }: Asking,
    wish: string | undefined,
  ): Promise<Summary> {
    const { clock, ids, signal, silence, emit, state } = this.parts;
    const isWatched = silence !== undefined && (silence.isChosen || model.boundsSilence !== true);
    const { window, reserve } = this.budget(model.info);
    const summary = await summaryOf(view, {
      model,
      request,
      most: Math.min(window - reserve, Math.floor(this.refused.estimate * afterTooLong)),
      isRefused: this.refused.estimate !== Number.POSITIVE_INFINITY,
      ...(wish === undefined ? {} : { wish }),
      clock,
      messageId: ids.next(),
      ...(isWatched ? { silence } : {}),
      signal,
      emit,
    });
    const { usage, model: answered } = summary;
    if (usage !== undefined) {
      const cost = answered.prices && costOf(usage, answered.prices);
      const paid = cost === undefined ? {} : { cost };
      const total = addUsage(state.usage, usage);
      await emit({ type: "usage.updated", call: usage, total, ...paid, purpose: "summary" });
      this.parts.spent(usage, cost);
    }
    return summary;
  }

  /** The configured model, or the session's own if that is unavailable. */
  private async summariser(own: Asking): Promise<Asking> {
    const { options, models } = this.parts;
    if (this.isOwn || options.model === undefined || options.model === own.model.info.id) return own;
    try {
      return { ...own, model: await models.resolve(options.model) };
    } catch (error) {
      await this.tellOwn(failureOf(error).message);
      return own;
    }
  }

  private tellOwn(why: string): Promise<void> {
    const text = `context.model: ${why} The session's own model writes the summary.`;
    return this.parts.emit({ type: "notice", level: "warning", text });
  }
}
