import { createPace } from "../../async/pace.ts";
import { errorMessage } from "../../text/values.ts";
import type { EventBody } from "../event.ts";
import type { ToolCallBlock, ToolResultBlock } from "../message.ts";
import type { Access, DecisionContext, PermissionPolicy, Preview } from "../permission.ts";
import type { Clock, Host } from "../ports.ts";
import type { Interactions } from "../session/interactions.ts";
import type { Mode } from "../settings.ts";
import { failed, type Tool, type ToolOutput, type ToolScope } from "../tool.ts";
import {
  askForThose,
  type Denial,
  denialOf,
  isHarmless,
  type Prepared,
  showable,
  turnedDown,
} from "./ask-for-calls.ts";
import { resultOf } from "./call-result.ts";
import { changedSince, isNoWorse, withEvidence } from "./evidence.ts";
import { changesSince, type FileChanges, writtenBefore } from "./file-changes.ts";
import { isOffered } from "./offered-tools.ts";
import { withProgress } from "./tool-progress.ts";

interface CallsContext {
  readonly sessionId: string;
  readonly cwd: string;
  /** The shared id of this reply's results. */
  readonly messageId: string;
  /** The model's tools in all modes. */
  readonly tools: ReadonlyMap<string, Tool>;
  /** False if it was removed since it was offered. */
  isThere(tool: Tool): boolean;
  /** The reply was cut at the output limit. */
  readonly isCut: boolean;
  readonly host: Host;
  readonly clock: Clock;
  readonly policy: PermissionPolicy;
  readonly interactions: Interactions;
  readonly seenFiles: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
  readonly onDenied: "stop" | "continue";
  /** Evaluated for every decision, because an answer may have raised the level. */
  decisionContext(tool: string): DecisionContext;
  emit(body: EventBody): Promise<void>;
  readonly briefing: {
    /** Instructions for these paths that the model has not read yet. */
    instructionsFor(paths: readonly string[]): Promise<readonly string[]>;
    /** The model's permissions, if they changed since they were last reported to it. */
    permissionsNews(): readonly string[];
  };
}

export interface CallsOutcome {
  readonly results: readonly ToolResultBlock[];
  readonly denials: readonly Denial[];
  /** Set when the turn must end here. */
  readonly end?:
    | { readonly reason: "denied" | "cancelled" }
    | { readonly reason: "planned"; readonly finalText: string };
}

const maxAtOnce = 8;

/** Runs all calls of a reply: parses, decides together, asks once, runs, and bounds the results, in the order of the calls. */
export async function runCalls(calls: readonly ToolCallBlock[], context: CallsContext): Promise<CallsOutcome> {
  const pace = createPace();
  const prepared: Prepared[] = [];
  for (const call of calls) {
    prepared.push(await prepare(call, context));
    await pace.rest();
  }
  const denials = prepared.flatMap(({ call, decision }) =>
    decision?.verdict === "deny" ? [denialOf(call, decision)] : [],
  );
  if (denials.length > 0 && context.onDenied === "stop") {
    const { results } = await runAll(prepared.map(withhold), context);
    return { results, denials, end: { reason: "denied" } };
  }
  const permitted = showable(prepared.map((entry) => (isForbidden(entry) ? withhold(entry) : entry)));
  const asked = await askForThose(permitted, context);
  const { results, end } = await runAll(asked.prepared, context);
  const ending = asked.end === undefined ? end : { reason: asked.end };
  return { results, denials: [...denials, ...asked.denials], ...(ending === undefined ? {} : { end: ending }) };
}

async function prepare(call: ToolCallBlock, context: CallsContext): Promise<Prepared> {
  const tool = context.tools.get(call.name);
  const { mode } = context.decisionContext(call.name);
  if (tool === undefined) {
    const names = [...context.tools.values()].filter((known) => isOffered(known, mode)).map(({ name }) => name);
    return { call, result: failed(`Unknown tool: ${call.name}. Available tools: ${names.join(", ")}`) };
  }
  // Don't decide on the remaining calls after an interrupt.
  if (context.signal.aborted) return { call, tool };
  const misplaced = goneAway(tool, context) ?? outsideItsMode(tool, mode);
  if (misplaced !== undefined) return { call, tool, result: misplaced };
  if (call.malformedInput !== undefined) {
    const why = context.isCut ? "were cut at the output limit. Write less at once" : "are not valid JSON";
    return { call, tool, result: failed(`The arguments of ${call.name} ${why}.`) };
  }
  const body = await tool.load().catch((error: unknown) => {
    if (context.isThere(tool)) throw error;
  });
  if (body === undefined) return { call, tool, result: gone(tool) };
  const parsed = body.input.safeParse(call.input);
  if (!parsed.success) {
    const words = parsed.error.issues.map(({ path, message }) => {
      const where = path.join(".");
      return where === "" || message.includes(where) ? message : `${where}: ${message}`;
    });
    return { call, tool, result: failed(words.slice(0, 5).join("; ")) };
  }
  const places = context.decisionContext(tool.name);
  const scope: ToolScope = { sessionId: context.sessionId, cwd: context.cwd, home: places.home, host: context.host };
  try {
    const accesses = await withEvidence(
      await body.access(parsed.data, scope),
      context.policy,
      context.host,
      places,
      context.signal,
    );
    const decision = context.policy.decide(accesses, context.decisionContext(tool.name));
    const shown = async () =>
      body.preview === undefined ? pathsOf(accesses) : await body.preview(parsed.data, { ...scope, accesses });
    const preview = decision.verdict === "ask" ? await shown() : undefined;
    return { call, tool, body, input: parsed.data, accesses, decision, ...(preview === undefined ? {} : { preview }) };
  } catch (error) {
    if (context.signal.aborted) return { call, tool };
    return { call, tool, result: failed(errorMessage(error)) };
  }
}

function goneAway(tool: Tool, context: CallsContext): ToolOutput | undefined {
  return context.isThere(tool) ? undefined : gone(tool);
}

function gone({ name }: Tool): ToolOutput {
  return failed(`The tool ${name} is no longer available. Nothing was run.`);
}

function outsideItsMode(tool: Tool, mode: Mode): ToolOutput | undefined {
  if (isOffered(tool, mode)) return undefined;
  return failed(
    `${tool.name} works only in ${tool.onlyIn} mode, but this session is in ${mode} mode. Nothing was done.`,
  );
}

/** Shows approvers the paths that were decided on, because the model's may lead anywhere. */
function pathsOf(accesses: readonly Access[]): Preview | undefined {
  const paths = pathsIn(accesses);
  return paths.length === 0 ? undefined : { type: "paths", paths };
}

function pathsIn(accesses: readonly Access[]): readonly string[] {
  return [...new Set(accesses.flatMap((access) => ("path" in access ? [access.path] : [])))];
}

function isForbidden({ decision }: Prepared): boolean {
  return decision?.verdict === "deny" || decision?.verdict === "refuse";
}

/** The result of a call that must not run, including harmless neighbours of a denied call. */
function withhold(entry: Prepared): Prepared {
  if (entry.result !== undefined) return entry;
  const text =
    entry.decision !== undefined && isForbidden(entry)
      ? `Error: ${entry.decision.why}`
      : "Error: Not run, because another call of the same reply was not allowed.";
  // The user chose spec mode; any other refusal counts as the call's failure.
  const isFault = entry.decision?.verdict === "refuse" && entry.decision.rule !== "spec-mode";
  return { ...entry, result: { text, status: isFault ? "failed" : "refused" } };
}

/** Runs adjacent concurrent calls together, and all others alone, in order. */
async function runAll(
  prepared: readonly Prepared[],
  context: CallsContext,
): Promise<{ results: readonly ToolResultBlock[]; end: ToolOutput["endTurn"] }> {
  const results: ToolResultBlock[] = [];
  let end: ToolOutput["endTurn"];
  let next = 0;
  while (next < prepared.length) {
    const group = prepared.slice(next, next + groupLength(prepared, next)).map((entry) => {
      const isStill = end === undefined || entry.result !== undefined || isHarmless(entry);
      return isStill ? entry : { ...entry, result: turnedDown };
    });
    next += group.length;
    const stop = new AbortController();
    // One signal per call, because hundreds of listeners on one signal look like a leak.
    const signal = (): AbortSignal => AbortSignal.any([context.signal, stop.signal]);
    const running = group.map((entry) => runOne(entry, { ...context, signal: signal() }));
    // Awaited in the order of the calls; a later one may fail meanwhile.
    for (const output of running) output.catch(() => undefined);
    try {
      for (const output of running) {
        const { block: own, endTurn, changes, seen } = await output;
        // A level raised by an answer or a client is reported before the next model call.
        const isLast = results.length === prepared.length - 1;
        const block = isLast ? withReminders(own, context.briefing.permissionsNews()) : own;
        results.push(block);
        end ??= endTurn;
        const { messageId } = context;
        const read = seen.size === 0 ? {} : { seen: Object.fromEntries(seen) };
        await context.emit({ type: "tool.ended", messageId, result: block, ...withoutEmpty(changes), ...read });
      }
    } catch (error) {
      // A storage failure ends the turn, so stop everything else.
      stop.abort(error);
      await Promise.allSettled(running);
      throw error;
    }
  }
  return { results, end };
}

function withReminders(block: ToolResultBlock, news: readonly string[]): ToolResultBlock {
  return news.length === 0 ? block : { ...block, reminders: [...(block.reminders ?? []), ...news] };
}

function withoutEmpty(changes: FileChanges): Partial<FileChanges> {
  return Object.fromEntries(Object.entries(changes).filter(([, paths]) => paths.length > 0));
}

function groupLength(prepared: readonly Prepared[], from: number): number {
  let length = 0;
  let own = 0;
  while (prepared[from + length]?.tool?.concurrent === true) {
    // Client-run calls cost nothing here, and the client may wait until it has received all of them.
    if (prepared[from + length]?.tool?.runBy !== "client") own += 1;
    if (own > maxAtOnce) break;
    length += 1;
  }
  return Math.max(1, length);
}

async function runOne(
  entry: Prepared,
  context: CallsContext,
): Promise<{
  block: ToolResultBlock;
  endTurn: ToolOutput["endTurn"];
  changes: FileChanges;
  seen: ReadonlyMap<string, string>;
}> {
  const { call, body, input } = entry;
  let before: Awaited<ReturnType<typeof writtenBefore>> = new Map();
  const seen = new Map<string, string>();
  const places = context.decisionContext(call.name);
  const { unsafe, ...homes } = places;
  let output = entry.result;
  if (output === undefined && context.signal.aborted) {
    output = { text: "Error: Tool execution cancelled by user", status: "interrupted" };
  }
  // An approved plan earlier in this reply may have ended the mode.
  if (entry.tool !== undefined) output ??= goneAway(entry.tool, context) ?? outsideItsMode(entry.tool, places.mode);
  output ??= overruled(entry, context);
  const changed = output === undefined ? await changedSince(entry.accesses ?? [], context.host) : undefined;
  // Earlier calls of this reply can change the evidence, so check only whether the call may still run.
  if (
    changed !== undefined &&
    entry.decision !== undefined &&
    !isNoWorse(entry.decision, context.policy.decide(changed.accesses, places))
  ) {
    output = failed(`${changed.path} has changed since this call was allowed. Nothing was run.`);
  }
  if (output === undefined && body !== undefined) {
    await context.emit({ type: "tool.started", callId: call.id, name: call.name });
    // Pending settings may have changed meanwhile.
    output = overruled(entry, context);
    if (output === undefined) before = await writtenBefore(entry.accesses ?? [], context.cwd, context.host);
    output ??= await withProgress(call, context, (progress) =>
      body.run(input, {
        sessionId: context.sessionId,
        cwd: context.cwd,
        home: places.home,
        host: context.host,
        accesses: entry.accesses ?? [],
        callId: call.id,
        signal: context.signal,
        mode: places.mode,
        seenFiles: {
          get: (path) => seen.get(path) ?? context.seenFiles.get(path),
          set: (path, mark) => seen.set(path, mark),
        },
        ...(entry.decision?.walls === undefined ? {} : { walls: entry.decision.walls }),
        protectedPlaces: unsafe ? [] : context.policy.protectedPlaces(homes),
        progress,
        ask: (interaction, withinMs) => context.interactions.ask(interaction, context.signal, withinMs),
      }),
    );
  }
  const finished = output ?? failed("The tool returned no result.");
  const reminders =
    output === entry.result ? [] : await context.briefing.instructionsFor(pathsIn(entry.accesses ?? []));
  const block = await resultOf(call, finished, context, reminders);
  return { block, endTurn: finished.endTurn, changes: await changesSince(before, context.host), seen };
}

/** A lowered level or spec mode applies to calls that have not started. Approvals still count. */
function overruled({ call, accesses = [], decision }: Prepared, context: CallsContext): ToolOutput | undefined {
  if (decision === undefined) return undefined;
  const now = context.policy.decide(accesses, context.decisionContext(call.name));
  if (now.verdict === "allow" || (now.verdict !== "refuse" && decision.verdict !== "allow")) return undefined;
  return { text: `Error: Not run, because the settings have changed. ${now.why}`, status: "refused" };
}
