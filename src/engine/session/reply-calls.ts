import { callableTools } from "../calls/client-tools.ts";
import { decisionPlaces } from "../calls/evidence.ts";
import type { SessionSandbox } from "../calls/session-sandbox.ts";
import { type CallsOutcome, runCalls } from "../calls/tool-calls.ts";
import type { Briefing } from "../context/briefing.ts";
import type { EngineParts } from "../engine-parts.ts";
import type { Journal } from "../log/journal.ts";
import type { ToolCallBlock } from "../message.ts";
import type { Approvals } from "../servers/approvals.ts";
import type { RunOptions } from "../settings.ts";
import type { Tool } from "../tool.ts";
import type { Interactions } from "./interactions.ts";
import type { SessionTools } from "./session-tools.ts";

interface Around {
  readonly parts: EngineParts;
  readonly journal: Journal;
  readonly run: RunOptions;
  readonly briefing: Briefing;
  readonly interactions: Interactions;
  readonly tools: SessionTools;
  readonly sandbox: SessionSandbox;
  readonly approvals: Approvals;
}

/** Runs the tool calls of a session's replies. */
export class ReplyCalls {
  private readonly around: Around;
  private running = false;

  constructor(around: Around) {
    this.around = around;
  }

  get areRunning(): boolean {
    return this.running;
  }

  /** `offered`: the tools of the model call that they belong to. */
  async run(
    calls: readonly ToolCallBlock[],
    offered: readonly Tool[],
    isCut: boolean,
    signal: AbortSignal,
  ): Promise<CallsOutcome> {
    this.running = true;
    try {
      return await this.runNow(calls, offered, isCut, signal);
    } finally {
      this.running = false;
    }
  }

  /** Ends what its commands left running. */
  async close(): Promise<void> {
    await this.around.sandbox.close();
  }

  private async runNow(
    calls: readonly ToolCallBlock[],
    offered: readonly Tool[],
    isCut: boolean,
    signal: AbortSignal,
  ): Promise<CallsOutcome> {
    const { parts, journal, run, briefing, interactions } = this.around;
    const { state } = journal;
    const rules = await briefing.rules();
    const tools = callableTools(offered, calls, state.settings, run);
    const places = await decisionPlaces(parts, state, briefing.isHere);
    const containing = await this.around.sandbox.situation(calls, tools);
    const text = this.around.sandbox.whyNot(containing, state.settings);
    if (text !== undefined) await briefing.notice({ type: "notice", level: "warning", text });
    return runCalls(calls, {
      sessionId: state.id,
      cwd: state.cwd,
      messageId: parts.ids.next(),
      tools,
      isThere: (tool) => this.around.tools.isThere(tool),
      isCut,
      host: parts.host,
      clock: parts.clock,
      policy: parts.policy,
      interactions,
      seenFiles: state.seenFiles,
      signal,
      onDenied: run.onDenied ?? "stop",
      decisionContext: (tool) => ({
        tool,
        autonomy: state.settings.autonomy,
        mode: state.settings.mode,
        cwd: state.cwd,
        ...places,
        ...containing,
        approver: interactions.canAsk("permission"),
        unsafe: run.unsafe ?? false,
        rules,
        enabledTools: run.enabledTools ?? [],
        approved: this.around.approvals.all,
      }),
      emit: (body) => journal.emit(body),
      briefing,
    });
  }
}
