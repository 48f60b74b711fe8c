import type { Denial } from "../calls/ask-for-calls.ts";
import { isAlias, normaliseCalls } from "../calls/normalise.ts";
import type { CallsOutcome } from "../calls/tool-calls.ts";
import { budgetOf } from "../context/budget.ts";
import { Compactor, type CompactorParts, type Refusal } from "../context/compactor.ts";
import { remindersWithin } from "../context/kept.ts";
import { buildRequest, chosenModel } from "../context/request.ts";
import { estimateTokens } from "../context/tokens.ts";
import type { Failure } from "../errors.ts";
import { AgentError, failureOf } from "../errors.ts";
import type { EndCause, EndReason, EventBody } from "../event.ts";
import type { SessionState } from "../log/history.ts";
import type { Message, ToolCallBlock, ToolResultBlock, Usage } from "../message.ts";
import { addUsage, callsOf, noUsage, textOf, totalTokens } from "../message.ts";
import type { Clock, Ids, ModelCatalog, ModelInfo } from "../ports.ts";
import { sizeOf } from "../session/prompt-queue.ts";
import type { OfferedTools } from "../session/session-tools.ts";
import type { ModelByDefault, ModelSilence, TurnLimits } from "../settings.ts";
import { costOf } from "./cost.ts";
import { notSilentFor } from "./model-silence.ts";
import { readReply } from "./reply.ts";
import { isToolError } from "./run-failure.ts";
import type { TurnOutcome } from "./turn-outcome.ts";

/** A turn's dependencies on its session. */
interface TurnParts {
  readonly turnId: string;
  readonly state: SessionState;
  /** Waiting prompts that this turn takes up, in order. */
  readonly promptIds: readonly string[];
  readonly limits: TurnLimits;
  readonly models: ModelCatalog;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The user named no model: a prompt that the offline model does not understand fails. */
  readonly modelByDefault: ModelByDefault | undefined;
  readonly silence?: ModelSilence;
  /** Aborted by an interrupt; its reason can be an AgentError with details. */
  readonly signal: AbortSignal;
  offer(model: ModelInfo): OfferedTools;
  /**
   * Runs a reply's calls with the tools offered for it. `isCut`: the reply was truncated at the output limit, perhaps
   * within a call.
   */
  runCalls(calls: readonly ToolCallBlock[], offered: OfferedTools, isCut: boolean): Promise<CallsOutcome>;
  reminders(): Promise<readonly string[]>;
  /** Resolves when no tool server is connecting any more, or the time limit for waiting has passed. Never rejects. */
  toolsSettled(): Promise<void>;
  readonly compaction: Pick<CompactorParts, "options" | "ofCall" | "instructions">;
  /** Prompts that arrived while calls ran and belong to this turn. */
  takeJoining(fits: (messageId: string) => boolean): readonly string[];
  emit(body: EventBody): Promise<void>;
  room(): Promise<void> | undefined;
}

interface End {
  readonly reason: EndReason;
  readonly failure?: Failure;
  readonly cause?: EndCause;
  readonly finalText?: string;
}

const nothingSaid: Failure = {
  code: "model_empty",
  message: "The model returned an empty reply.",
  cause: "empty_response",
};

function noModel({ reason, remedy }: ModelByDefault): Failure {
  return { code: "no_model", message: `${reason}, and the offline model did not understand the prompt. ${remedy}` };
}

/** The least tokens a conversation needs. */
const leastRoom = 500;

/** How often a reply that was truncated at the output limit is continued. */
const maxContinuations = 3;

/** THE LOOP: call the model and run its tool calls until it stops. Exactly one `turn.ended` follows `turn.started`. */
export async function runTurn(parts: TurnParts): Promise<TurnOutcome> {
  const { turnId, state, clock, ids, signal, emit, limits } = parts;
  const startedAt = clock.monotonic();
  let usage = noUsage;
  let cost: number | undefined;
  let isPriced = true;
  let modelCalls = 0;
  let finalText = "";
  let continuations = 0;
  const denials: Denial[] = [];
  let failedTool: ToolResultBlock | undefined;
  const promptIds = [...parts.promptIds];
  const spent = (paidFor: Usage, paid: number | undefined): void => {
    usage = addUsage(usage, paidFor);
    if (paid === undefined) isPriced = false;
    else cost = (cost ?? 0) + paid;
  };
  const compactor = new Compactor({ ...parts, ...parts.compaction, spent });

  const step = async (): Promise<End | undefined> => {
    if (signal.aborted) return interrupted(signal);
    const usedUp = overLimit(limits, modelCalls, usage);
    if (usedUp !== undefined) return { reason: "limit", failure: usedUp };
    const model = await parts.models.resolve(chosenModel(state.settings).id);
    const offered = parts.offer(model.info);
    const asking = { model, request: (messages: readonly Message[]) => buildRequest(state, messages, offered.specs) };
    const request = await compactor.fittingRequest(asking);
    if (signal.aborted) return interrupted(signal);
    if (request === undefined) return tooSmallWindow(model.info) ?? contextFull(model.info, !compactor.isOn);

    modelCalls += 1;
    const messageId = ids.next();
    await emit({ type: "model.called", messageId, model: model.info.id });
    const { silence } = parts;
    const isWatched = silence !== undefined && (silence.isChosen || model.boundsSilence !== true);
    const stream = isWatched
      ? notSilentFor(silence, clock, signal, (own, heard) => model.stream(request, own, heard))
      : model.stream(request, signal);
    const { clientRunsTools = false } = state.settings;
    const own = { ...offered, cwd: state.cwd, clientRunsTools };
    const isHidden = (tool: string): boolean => isAlias(tool, own);
    const { room } = parts;
    const reply = await readReply(stream, { messageId, model: model.info, clock, signal, emit, room, isHidden });
    const message = await normaliseCalls(reply.message, own);
    const told = [emit({ type: "message.ended", message })];
    if (reply.usage !== undefined) {
      const paid = reply.model.prices && costOf(reply.usage, reply.model.prices);
      spent(reply.usage, paid);
      const total = addUsage(state.usage, reply.usage);
      told.push(
        emit({ type: "usage.updated", call: reply.usage, total, ...(paid === undefined ? {} : { cost: paid }) }),
      );
    }
    await Promise.all(told);
    const { stop } = reply.message;
    const text = textOf(reply.message.content);
    if (text.trim() !== "") finalText = continuations > 0 ? finalText + text : text;
    if (reply.usage === undefined) isPriced = false;
    if (stop === "interrupted") return interrupted(signal);
    const refusal = reply.failure && reply.message.content.length === 0 ? refusalOf(reply.failure) : undefined;
    if (refusal !== undefined) {
      if (await compactor.madeRoomAfterRefusal(asking, refusal)) return undefined;
      if (signal.aborted) return interrupted(signal);
    }
    if (reply.failure !== undefined) return failedWith(reply.failure);
    compactor.answered();

    const calls = callsOf(message);
    const isContinued = continuations > 0;
    continuations = stop === "length" ? continuations + 1 : 0;
    const isOver = continuations > maxContinuations;
    if (calls.length > 0) {
      const outcome = await parts.runCalls(calls, offered, stop === "length");
      denials.push(...outcome.denials);
      failedTool = outcome.results.find(isToolError);
      if (signal.aborted) return interrupted(signal);
      if (outcome.end !== undefined) return endOf(outcome.end, outcome.denials);
      const joining = parts.takeJoining((messageId) => roomBeside(messageId, model.info, []) >= 0);
      promptIds.push(...joining);
      for (const messageId of joining) await emit({ type: "prompt.taken", messageId, reminders: [] });
      return isOver ? outputLimit() : undefined;
    }
    if (isOver) return outputLimit();
    if (stop === "length") return undefined;
    if (stop === "refusal") return refused(text);
    // Text before a call announces the work; only the text after the last call is the answer.
    if (text.trim() === "" && (finalText === "" || !isContinued)) return failedWith(nothingSaid);
    if (!reply.understood && parts.modelByDefault !== undefined) return failedWith(noModel(parts.modelByDefault));
    return { reason: "completed" };
  };

  /** The system prompt and the tools leave too little room, so only another model helps. */
  const tooSmallWindow = (model: ModelInfo): End | undefined => {
    const fixed = estimateTokens(buildRequest(state, [], parts.offer(model).specs));
    const { window, reserve } = budgetOf(model, state.settings);
    return window - reserve - fixed < leastRoom ? windowTooSmall(model, fixed, reserve) : undefined;
  };

  /** Tokens that a prompt leaves in an empty conversation; below 0, no turn could run once it is taken. */
  const roomBeside = (id: string, model: ModelInfo, reminders: readonly string[]): number => {
    const { content = [], at = 0 } = state.waiting.get(id) ?? {};
    const others = reminders.reduce((sum, text) => sum + text.length, 0);
    // A token has at least one character, so most prompts need no counting.
    if (sizeOf(content) + others <= model.contextWindow / 4) return Number.POSITIVE_INFINITY;
    const message = { id, role: "user", content, createdAt: at } as const;
    const { window, reserve } = budgetOf(model, state.settings);
    return window - reserve - estimateTokens(buildRequest(state, [message], parts.offer(model).specs));
  };

  let end: End | undefined;
  try {
    // Gathers the model's context while the turn's start is being stored.
    const begun = emit({
      type: "turn.started",
      turnId,
      model: chosenModel(state.settings).id,
      prompts: parts.promptIds,
    });
    // An unknown model fails when it is called, with its prompt in the conversation.
    const resolved = parts.models.resolve(chosenModel(state.settings).id).catch(() => undefined);
    let [reminders, model] = await Promise.all([parts.reminders(), resolved, begun]);
    for (const messageId of parts.promptIds) {
      const room = model === undefined ? Number.POSITIVE_INFINITY : roomBeside(messageId, model.info, reminders);
      if (model !== undefined && room < 0) {
        end = tooSmallWindow(model.info) ?? promptTooLarge(model.info.contextWindow);
        break;
      }
      await emit({ type: "prompt.taken", messageId, reminders: remindersWithin(reminders, room) });
      reminders = [];
    }
    await parts.toolsSettled();
    while (end === undefined) end = await step();
  } catch (error) {
    end = failedWith(failureOf(error));
  }

  const durationMs = Math.round(clock.monotonic() - startedAt);
  const facts = ({
    reason,
    failure,
  }: End): Pick<TurnOutcome, "turnId" | "reason" | "failure" | "usage" | "durationMs"> => {
    return { turnId, reason, usage, durationMs, ...(failure === undefined ? {} : { failure }) };
  };
  // No other turn will take them up. Their senders get this failure.
  const untaken = promptIds.filter((messageId) => state.waiting.has(messageId));
  const joined = promptIds.slice(parts.promptIds.length).filter((messageId) => !untaken.includes(messageId));
  const prompts = { ...(untaken.length === 0 ? {} : { untaken }), ...(joined.length === 0 ? {} : { joined }) };
  try {
    const cause = end.cause === undefined ? {} : { cause: end.cause };
    await emit({ type: "turn.ended", ...facts(end), ...cause, ...prompts });
  } catch (error) {
    end = failedWith(failureOf(error));
  }
  return {
    ...facts(end),
    finalText: trimmed(end.finalText ?? finalText),
    ...(cost === undefined || !isPriced ? {} : { cost }),
    modelCalls,
    denials,
    ...(failedTool === undefined ? {} : { failedTool }),
  };
}

/** Trims blank lines before the text and white space after it, but keeps the first line's indentation. */
function trimmed(text: string): string {
  return text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
}

function overLimit(limits: TurnLimits, modelCalls: number, usage: Usage): Failure | undefined {
  if (limits.maxModelCalls !== undefined && modelCalls >= limits.maxModelCalls) {
    return {
      code: "limit_turns",
      message: `Stopped after ${modelCalls} model ${modelCalls === 1 ? "call" : "calls"} (the limit).`,
    };
  }
  const tokens = totalTokens(usage);
  if (limits.maxTokens !== undefined && tokens >= limits.maxTokens) {
    return { code: "limit_tokens", message: `Stopped after ${tokens} tokens; the limit is ${limits.maxTokens}.` };
  }
  return undefined;
}

/** A deadline or an ending process interrupts with its own error; any other reason is a plain interrupt. */
function interrupted(signal: AbortSignal): End {
  const cause: unknown = signal.reason;
  if (cause instanceof AgentError && cause.code === "timeout") return { reason: "limit", failure: cause.failure };
  if (cause instanceof AgentError && cause.code === "interrupted")
    return { reason: "interrupted", failure: cause.failure, cause: "process_ended" };
  return { reason: "interrupted", failure: { code: "interrupted", message: "The run was interrupted." } };
}

/** Whether a smaller request can help. */
function refusalOf({ code, cause }: Failure): Refusal | undefined {
  if (code === "context_full") return "tokens";
  return cause === "too_large" ? "bytes" : undefined;
}

function failedWith(failure: Failure): End {
  return { reason: failure.code === "context_full" ? "context_full" : "failed", failure };
}

function refused(text: string): End {
  const message =
    text.trim() === ""
      ? "The model declined to answer."
      : "The model, or its provider, stopped answering after some text.";
  return { reason: "refused", failure: { code: "model_refused", message } };
}

function contextFull({ contextWindow }: ModelInfo, isCompactionOff: boolean): End {
  const first = isCompactionOff
    ? "Compaction is switched off: switch it on, or compact on request. Otherwise start"
    : "Start";
  const message =
    `The conversation no longer fits the model's window of ${contextWindow} tokens. ` +
    `${first} a new session, or continue with a model that has a larger one.`;
  return { reason: "context_full", failure: { code: "context_full", message } };
}

function windowTooSmall({ id, contextWindow }: ModelInfo, fixed: number, reserve: number): End {
  const message =
    `The window of ${id} (${contextWindow} tokens) is too small: the system prompt and the tools take about ` +
    `${fixed}, and ${reserve} are kept for the answer. Use a model with a larger window, offer fewer tools, or correct ` +
    "contextWindow of its entry in config.yaml.";
  return { reason: "context_full", failure: { code: "context_full", message } };
}

function promptTooLarge(window: number): End {
  const message =
    `The prompt alone does not fit the model's window of ${window} tokens, and was not added to the conversation. ` +
    "Send less, or continue with a model that has a larger one.";
  return { reason: "context_full", failure: { code: "context_full", message } };
}

function outputLimit(): End {
  const message = `The reply was truncated at the model's output limit ${maxContinuations + 1} times in a row.`;
  return { reason: "length", failure: { code: "output_limit", message } };
}

function endOf(end: NonNullable<CallsOutcome["end"]>, denials: readonly Denial[]): End {
  if (end.reason === "planned") return { reason: "planned", finalText: end.finalText };
  if (end.reason === "cancelled") return { reason: "cancelled" };
  return { reason: "denied", failure: { code: "denied", message: denials.map((denial) => denial.why).join(" ") } };
}
