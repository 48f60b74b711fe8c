import type { Briefing } from "../context/briefing.ts";
import { type ContextUse, contextUse } from "../context/budget.ts";
import { isJustCompacted } from "../context/compaction.ts";
import { Compactor, type CompactorParts } from "../context/compactor.ts";
import { buildRequest, chosenModel } from "../context/request.ts";
import type { EngineParts } from "../engine-parts.ts";
import { AgentError } from "../errors.ts";
import type { Journal } from "../log/journal.ts";
import type { Message } from "../message.ts";
import type { RunOptions } from "../settings.ts";
import type { SessionTools } from "./session-tools.ts";

/** How much of its model's window a session uses, and compaction on request. */
export class ModelView {
  private readonly parts: EngineParts;
  private readonly journal: Journal;
  private readonly briefing: Briefing;
  private readonly tools: SessionTools;
  private readonly run: RunOptions;

  constructor(parts: EngineParts, own: { journal: Journal; briefing: Briefing; tools: SessionTools; run: RunOptions }) {
    this.parts = parts;
    this.journal = own.journal;
    this.briefing = own.briefing;
    this.tools = own.tools;
    this.run = own.run;
  }

  /** An estimate for the next call. Rejects with `model_unknown`. */
  async use(): Promise<ContextUse> {
    const { state } = this.journal;
    const { info } = await this.model();
    const request = buildRequest(state, state.view, this.tools.offer(info, state.settings.mode).specs);
    return contextUse({ model: info, state, request, options: this.parts.compaction });
  }

  /** What turns need to compact the conversation. */
  get compaction(): Pick<CompactorParts, "options" | "silence" | "ofCall" | "instructions"> {
    const { modelSilence: silence } = this.run;
    return {
      options: this.parts.compaction ?? {},
      ...(silence === undefined ? {} : { silence }),
      ofCall: (call, result) => {
        const tool = this.parts.tools.list().find(({ name }) => name === call.name);
        return result.status === "ok" ? tool?.kept?.(call.input, result) : undefined;
      },
      instructions: () => this.briefing.instructions(),
    };
  }

  /** Throws `usage` when there is nothing to compact. */
  checkCompactable(): void {
    const { state } = this.journal;
    const nothing = (why: string): AgentError => new AgentError("usage", `Nothing to compact — ${why}.`);
    if (state.messages.length === 0) throw nothing("the conversation is empty");
    if (isJustCompacted(state)) throw nothing("almost nothing follows the last summary");
  }

  /** Compacts on request; `wish` is the focus of the summary. Resolves with the messages that left the view. */
  async compact(signal: AbortSignal, wish: string | undefined): Promise<{ readonly removed: number }> {
    const { parts, journal } = this;
    const { state } = journal;
    const model = await this.model();
    const { specs } = this.tools.offer(model.info, state.settings.mode);
    const compactor = new Compactor({
      ...this.compaction,
      state,
      models: parts.models,
      clock: parts.clock,
      ids: parts.ids,
      signal,
      emit: (body) => (body.type === "notice" ? this.briefing.notice(body) : journal.emit(body)),
      spent: () => undefined,
    });
    const asking = { model, request: (messages: readonly Message[]) => buildRequest(state, messages, specs) };
    const done = await compactor.compact("user", asking, model.info.contextWindow, wish);
    if (signal.aborted) throw new AgentError("interrupted", "The compaction was interrupted.");
    return { removed: done?.summary?.removed ?? 0 };
  }

  private model(): ReturnType<EngineParts["models"]["resolve"]> {
    return this.parts.models.resolve(chosenModel(this.journal.state.settings).id);
  }
}
