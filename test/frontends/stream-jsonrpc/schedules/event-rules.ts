import { isDeepStrictEqual } from "node:util";
import type { EngineEvent } from "../../../../src/engine/event.ts";
import { changeSettings } from "../../../../src/engine/log/history.ts";
import { callsOf } from "../../../../src/engine/message.ts";
import type { SessionSettings } from "../../../../src/engine/settings.ts";
import type { Played } from "./play.ts";
import type { WatchedSession } from "./world.ts";

/** Events that occur only during a turn. */
const ofTurns: ReadonlySet<EngineEvent["type"]> = new Set<EngineEvent["type"]>([
  "prompt.taken",
  "message.checkpoint",
  "message.ended",
  "usage.updated",
  "tool.started",
  "tool.ended",
  "request.opened",
  "request.closed",
  "retry.scheduled",
  "model.called",
  "message.started",
  "message.delta",
  "tool.input",
  "tool.progress",
  "tool.heartbeat",
]);

/** Violations in the sessions' events, and in what was stored of them. */
export function brokenEventRules(played: Played): string[] {
  return [
    ...played.sessions.flatMap((watched) => inOneSession(watched, played)),
    ...[...played.logs].flatMap(([id, log]) => {
      const wrong = log.findIndex(({ seq }, index) => seq !== index + 1);
      return wrong === -1 ? [] : [`record ${wrong + 1} in the log of ${id} has the number ${log[wrong]?.seq}`];
    }),
    ...repeated(played.commands).map((command) => `"${command}" ran twice`),
  ];
}

function repeated(values: readonly string[]): string[] {
  return values.filter((value, index) => values.indexOf(value) !== index);
}

interface Turn {
  readonly id: string;
  /** The last reply's calls without a result, in order. */
  open: string[];
  readonly started: Set<string>;
  /** Calls that began at settings that do not allow them. */
  readonly forbidden: Map<string, string>;
  readonly allowed: Set<string>;
  readonly asked: Map<string, readonly string[]>;
}

function newTurn(id: string): Turn {
  return { id, open: [], started: new Set(), forbidden: new Map(), allowed: new Set(), asked: new Map() };
}

function inOneSession(
  { session, events }: WatchedSession,
  { logs, promptsElsewhere, hasFailedWrites }: Played,
): string[] {
  const broken: string[] = [];
  const say = (words: string): void => void broken.push(`session ${session.id.slice(-4)}: ${words}`);
  const log = logs.get(session.id) ?? [];
  const first = events.find(({ seq }) => seq !== undefined)?.seq ?? 1;
  let lastSeq = first - 1;
  let turn: Turn | undefined;
  let settings = settingsBefore(log, first);
  let isClosed = false;
  const waiting = new Set<string>();
  const ended = new Set<string>();
  const calls = new Map<string, string>();
  const requestIds = new Set<string>();

  for (const event of events) {
    if (isClosed) say(`${event.type} after session.closed`);
    if (event.seq !== undefined) {
      if (event.seq !== lastSeq + 1) say(`number ${event.seq} follows ${lastSeq}`);
      lastSeq = event.seq;
      const stored = log[event.seq - 1];
      const isOwed = hasFailedWrites && (event.type === "turn.ended" || event.type === "prompt.discarded");
      if (!isOwed && !isDeepStrictEqual(plain(stored), plain(event))) {
        say(`number ${event.seq} was told as ${JSON.stringify(event)} and stored as ${JSON.stringify(stored)}`);
      }
    }
    if (ofTurns.has(event.type) && turn === undefined) say(`${event.type} outside of a turn`);
    switch (event.type) {
      case "session.updated":
        settings = changeSettings(settings, event.changes);
        break;
      case "prompt.accepted":
        if (waiting.has(event.messageId)) say(`the prompt ${event.messageId} was accepted twice`);
        ended.delete(event.messageId);
        // A session closed by another client keeps its last events for the next time.
        if (!promptsElsewhere.has(event.messageId)) waiting.add(event.messageId);
        break;
      case "prompt.discarded":
      case "prompt.taken":
        if (ended.has(event.messageId)) say(`${event.type} of a prompt that does not wait any more`);
        waiting.delete(event.messageId);
        ended.add(event.messageId);
        break;
      case "turn.started":
        if (turn !== undefined) say("a turn began in a turn");
        turn = newTurn(event.turnId);
        break;
      case "message.ended": {
        const own = callsOf(event.message);
        if (turn === undefined) break;
        if (turn.open.length > 0) say(`calls without a result before the next reply: ${turn.open}`);
        turn.open = own.map(({ id }) => id);
        turn.started.clear();
        turn.allowed.clear();
        turn.forbidden.clear();
        for (const { id, name } of own) calls.set(id, name);
        break;
      }
      case "tool.started": {
        const { callId } = event;
        if (turn === undefined) break;
        if (!turn.open.includes(callId)) say(`${callId} ran and was not to be run`);
        if (turn.started.has(callId)) say(`${callId} ran twice`);
        turn.started.add(callId);
        const name = calls.get(callId) ?? "";
        const isAllowed = runsUnasked(name, settings) || (turn.allowed.has(callId) && settings.mode === "auto");
        if (!isAllowed) turn.forbidden.set(callId, `${name} ran at ${settings.mode}, ${settings.autonomy}`);
        break;
      }
      case "tool.ended": {
        const { callId } = event.result;
        const next = turn?.open.shift();
        if (next !== callId) say(`the result of ${callId} came where that of ${next} was due`);
        // Settings that changed at the last moment are checked once a call has begun: it is refused then.
        if (event.result.status !== "refused" && turn?.forbidden.has(callId)) say(`${turn.forbidden.get(callId)}`);
        if (event.result.status === "ok" && turn?.started.has(callId) === false) {
          say(`${callId} has a good result and never ran`);
        }
        break;
      }
      case "request.opened": {
        if (requestIds.has(event.requestId)) say(`request ${event.requestId} was opened twice`);
        requestIds.add(event.requestId);
        const { interaction } = event;
        turn?.asked.set(
          event.requestId,
          interaction.kind === "permission" ? interaction.calls.map(({ call }) => call.id) : [],
        );
        break;
      }
      case "request.closed": {
        const asked = turn?.asked.get(event.requestId);
        if (asked === undefined) say("a request was closed that was not open");
        turn?.asked.delete(event.requestId);
        if (event.answer.kind === "allow") for (const id of asked ?? []) turn?.allowed.add(id);
        settings = changeSettings(settings, event.changes ?? {});
        break;
      }
      case "turn.ended":
        // A call whose start could not be stored is still reported as ended.
        if (turn === undefined && !hasFailedWrites) say("a turn ended that had not begun");
        else if (turn !== undefined && turn.id !== event.turnId) say("another turn ended than had begun");
        if (!hasFailedWrites && turn !== undefined) {
          if (turn.asked.size > 0) say("a turn ended before its requests were closed");
          if (turn.open.length > 0) say(`a turn ended before its calls had results: ${turn.open}`);
        }
        turn = undefined;
        for (const messageId of event.untaken ?? []) {
          if (!waiting.delete(messageId) && !promptsElsewhere.has(messageId))
            say(`a turn ended for ${messageId}, which did not wait`);
          ended.add(messageId);
        }
        break;
      case "session.closed":
        isClosed = true;
        break;
    }
  }
  if (turn !== undefined) say("a turn never ended");
  if (!isClosed) say("it was never closed");
  if (waiting.size > 0) say(`prompts were neither run nor dropped: ${[...waiting]}`);
  if (!hasFailedWrites && log.length < lastSeq) say(`${lastSeq} events were told and ${log.length} stored`);
  return broken;
}

/** As stored: without absent values. */
function plain(event: EngineEvent | undefined): unknown {
  return event === undefined ? undefined : JSON.parse(JSON.stringify(event));
}

/** For a resumed session: the state from its log. */
function settingsBefore(log: readonly EngineEvent[], first: number): SessionSettings {
  let settings: SessionSettings = { modelId: "", reasoningEffort: "none", autonomy: "off", mode: "auto" };
  for (const event of log) {
    if ((event.seq ?? 0) >= first) break;
    if (event.type === "session.opened") settings = event.settings;
    if (event.type === "session.updated") settings = changeSettings(settings, event.changes);
    if (event.type === "request.closed") settings = changeSettings(settings, event.changes ?? {});
  }
  return settings;
}

/** The calls of these schedules, written by hand instead of by the policy, which is under test. */
function runsUnasked(name: string, { autonomy, mode }: SessionSettings): boolean {
  if (name === "Execute") return mode === "auto" && autonomy === "high";
  if (name === "Create") return mode === "auto" && autonomy !== "off";
  return true;
}
