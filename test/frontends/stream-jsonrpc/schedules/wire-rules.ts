import type { EngineEvent } from "../../../../src/engine/event.ts";
import { answeredId } from "../../../fakes/rpc/linked-client.ts";
import type { Notice, Received } from "../../../fakes/rpc/wire.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import type { Played, PlayedClient, Quiet } from "./play.ts";

/** Messages that can come while no turn runs. */
const outsideOfTurns: ReadonlySet<string> = new Set([
  "settings_updated",
  "session_title_updated",
  "mcp_status_changed",
  "queued_messages_discarded",
  "droid_working_state_changed",
]);

/** And for a turn whose start could not be written: only its end is sent. */
const ofUnwrittenTurns: ReadonlySet<string> = new Set(["session_token_usage_changed", "error"]);

/** How events look on the wire, one line each. */
const toldAs: { readonly [Type in EngineEvent["type"]]?: string } = {
  "prompt.taken": "create_message",
  "prompt.discarded": "queued_messages_discarded",
  "message.delta": "a piece of text",
  "message.ended": "create_message",
  "tool.ended": "tool_result",
  "request.opened": "request",
  "retry.scheduled": "llm_retry",
  "turn.ended": "agent_turn_completed",
};

const boundsOfTurns: ReadonlySet<string> = new Set(["turn.started", "turn.ended"]);

const opening = ["droid.initialize_session", "droid.load_session"];

/** Violations in the lines that each client received. */
export function brokenWireRules({ clients, sent, namesElsewhere, hasFailedWrites, afterwards }: Played): string[] {
  const repeated = repeatedNames(clients);
  return [
    ...afterwards,
    ...clients.flatMap((client, who) => {
      const lines = sent.filter((line) => line.client === who).map(({ message }) => message);
      const broken = [
        ...(client.isOver ? [] : ["the connection never came to its end"]),
        ...(client.late.length === 0 ? [] : [`sent after the end: ${client.late[0]}`]),
        ...brokenDelivery(client, lines),
        ...brokenAnswers(client, lines),
        ...followLines(client, lines, hasFailedWrites),
        ...(hasFailedWrites || client.left === "is gone" ? [] : brokenNames(client, lines, repeated, namesElsewhere)),
      ];
      return broken.map((words) => `client ${who + 1}: ${words}`);
    }),
  ];
}

/** Every sent line arrives, complete and in order, as long as the client reads. */
function brokenDelivery({ received, left }: PlayedClient, lines: readonly Received[]): string[] {
  const isWhole = left === "is gone" || received.length === lines.length;
  const isSame = received.every((line, index) => JSON.stringify(line) === JSON.stringify(lines[index]));
  return isWhole && isSame ? [] : ["what came is not what was sent"];
}

/** One response per request. A client that left or was stopped can miss some, but gets none twice. */
function brokenAnswers({ expected, left }: PlayedClient, lines: readonly Received[]): string[] {
  const owed = countOf(expected.map(String));
  const given = countOf(lines.filter(({ type }) => type === "response").map((line) => String(answeredId(line))));
  return [...new Set([...owed.keys(), ...given.keys()])].flatMap((id) => {
    const [due, came] = [owed.get(id) ?? 0, given.get(id) ?? 0];
    const isRight = left === "ends its input" ? came === due : came <= due;
    return isRight ? [] : [`${came} answers to ${due} request(s) ${id}`];
  });
}

function countOf(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Names under which the same text was sent more than once: it runs once, and both are answered. */
function repeatedNames(clients: readonly PlayedClient[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const prompts = clients.flatMap(({ asked }) => [...asked.values()].map(({ params }) => params));
  return new Set(
    prompts.flatMap((params) => {
      const key = JSON.stringify(params);
      const isFirst = !seen.has(key);
      seen.add(key);
      return isFirst ? [] : (nameIn(params) ?? []);
    }),
  );
}

/**
 * A client that names a turn whose prompt was taken gets its end once; if sent twice, at most once. Turns named
 * elsewhere come on top.
 */
function brokenNames(
  { asked }: PlayedClient,
  lines: readonly Received[],
  repeated: ReadonlySet<string>,
  elsewhere: readonly string[],
): string[] {
  const names = new Set([...asked.values()].flatMap(({ params }) => nameIn(params) ?? []));
  const taken = lines.flatMap(({ type, id, result }) =>
    type === "response" && result !== undefined ? (nameIn(asked.get(String(id))?.params) ?? []) : [],
  );
  const ended = noticesIn(lines).flatMap(({ type, turnId }) =>
    type === "agent_turn_completed" && names.has(String(turnId)) ? [String(turnId)] : [],
  );
  const [due, came] = [countOf(taken), countOf(ended)];
  const isRight = [...names].every((name) => {
    const [own, count] = [due.get(name) ?? 0, came.get(name) ?? 0];
    const others = elsewhere.filter((other) => other === name).length;
    return repeated.has(name) || others > 0 ? count <= own + others : count === own;
  });
  return isRight ? [] : [`the turns ${taken} were taken in, and ${ended} ended`];
}

function nameIn(params: unknown): string | undefined {
  const name = (params as { readonly messageId?: string } | undefined | null)?.messageId;
  return name === "" ? undefined : name;
}

/** At rest, everything that happened has been sent, and only what waits for something is unfinished. */
function brokenQuiet({ events, isWorking, isHeldUp }: Quiet, told: readonly string[], state = "idle"): string[] {
  const owed = events.flatMap((event) => {
    // An empty reply has no effect.
    if (event.type === "message.ended" && event.message.content.length === 0) return [];
    return toldAs[event.type] ?? [];
  });
  const [due, came] = [countOf(owed), countOf(told)];
  const isOver = events.findLast(({ type }) => boundsOfTurns.has(type))?.type !== "turn.started";
  return [
    ...[...due].flatMap(([type, count]) => {
      const given = came.get(type) ?? 0;
      return given === count ? [] : [`${given} times ${type}, and it happened ${count} times`];
    }),
    ...(isWorking || state === "idle" ? [] : [`${state} without a turn`]),
    ...(isWorking || isOver ? [] : ["a turn has no end"]),
    ...(isWorking && !isHeldUp ? ["a turn continues without waiting for anything"] : []),
  ];
}

/** Follows one client's lines, and reports impossible ones. */
function followLines({ asked, left, quiet }: PlayedClient, lines: readonly Received[], isFaulty: boolean): string[] {
  const broken: string[] = [];
  const announcements = announcementsIn(lines);
  let session: string | undefined;
  let state: string | undefined;
  let turn = newTurn();
  let isCompleted = false;
  /** The name of a dropped prompt: its end must follow at once. */
  let droppedName: string | undefined;
  const requestIds = new Set<string>();
  /** Events of this session, as in `toldAs`. */
  let told: string[] = [];
  const isWorking = (): boolean => state !== undefined && state !== "idle";

  const leaveSession = (where: string, say: (words: string) => void): void => {
    if (isWorking()) say(`${where} while it was ${state}`);
    [session, state, isCompleted] = [undefined, undefined, false];
    turn = newTurn();
    told = [];
  };

  const judgeQuiet = (count: number): void => {
    for (const moment of quiet.filter((each) => each.lines === count)) {
      const wrong = brokenQuiet(moment, told, state);
      broken.push(...wrong.map((words) => `when nothing moved after line ${count}: ${words}`));
    }
  };

  for (const [index, line] of lines.entries()) {
    judgeQuiet(index);
    const say = (words: string): void => void broken.push(`line ${index + 1}: ${words}`);
    const [notice] = noticesIn([line]);
    if (isCompleted && notice?.newState !== "idle") say("something between the end of a turn and idle");
    if (droppedName !== undefined && notice?.turnId !== droppedName) say(`no end of the dropped ${droppedName}`);
    if (line.type === "response") {
      const method = asked.get(String(line.id))?.method ?? "";
      const isResult = line.result !== undefined;
      if (isResult && method === "droid.close_session") leaveSession("closed", say);
      if (announcements.has(index)) {
        if (!isResult || !opening.includes(method)) say(`an announcement before the answer to ${method}`);
        leaveSession("another session was opened", say);
        session = line.id ?? undefined;
      } else if (isResult && method === "droid.initialize_session") say("a session without its announcement");
    } else if (line.type === "request") {
      if (!isWorking()) say("a request outside of a turn");
      if (state !== "waiting_for_tool_confirmation") say(`a request while ${state}`);
      if (requestIds.has(String(line.id))) say("a request twice");
      requestIds.add(String(line.id));
      told.push("request");
      turn.asked.set(String(line.id), String(line.method));
    } else if (notice !== undefined && !announcements.has(index)) {
      if (session === undefined) say(`${notice.type} without a session`);
      follow(notice, say);
    }
    if (notice?.type !== "queued_messages_discarded") droppedName = undefined;
  }

  function follow(notice: Notice, say: (words: string) => void): void {
    const { type } = notice;
    if (type === "agent_turn_completed" && droppedName !== undefined) return;
    // The end of a call that broke off while streaming is not an event of the session.
    const isCutCall = type === "tool_result" && String(notice.content).includes("broke off");
    if (!isCutCall) told.push(type.endsWith("_text_delta") ? "a piece of text" : type);
    if (type === "agent_turn_completed") {
      if (!isWorking() && !isFaulty) say("a turn ended that had not begun");
      if (!isFaulty) for (const words of turn.unfinished()) say(words);
      isCompleted = state !== "idle";
      return;
    }
    if (type === "droid_working_state_changed") {
      const next = String(notice.newState);
      if (next === state) say(`${next} twice`);
      const isUnwritten = isFaulty && next === "idle" && isCompleted;
      if (!isWorking() && !isUnwritten && next !== "streaming_assistant_message") say(`${next} after ${state}`);
      if (next === "idle" && !isCompleted) say("idle without the end of a turn");
      if (!isWorking()) turn = newTurn();
      [state, isCompleted] = [next, false];
      return;
    }
    if (type === "queued_messages_discarded") droppedName = nameIn(asked.get(String(notice.requestId))?.params);
    const isFree = outsideOfTurns.has(type) || (isFaulty && ofUnwrittenTurns.has(type));
    if (!isWorking() && !isFree) say(`${type} outside of a turn`);
    for (const words of turn.take(notice)) say(words);
  }

  judgeQuiet(lines.length);
  const say = (words: string): void => void broken.push(`at the end: ${words}`);
  if (left !== "is gone") {
    if (droppedName !== undefined || isCompleted) say("something is missing");
    leaveSession("left", say);
  }
  return broken;
}

/** Positions of the messages sent while a session opens, and of the response that ends it. */
function announcementsIn(lines: readonly Received[]): ReadonlySet<number> {
  const types = lines.map((line) => noticesIn([line])[0]?.type);
  const places = new Set<number>();
  for (const [index, type] of types.entries()) {
    if (type !== "mcp_status_changed") continue;
    const first = types[index - 1] === "session_title_updated" ? index - 2 : index - 1;
    for (let place = first; place <= index + 1; place += 1) places.add(place);
  }
  return places;
}

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly thinking?: string;
  readonly id?: string;
}

/** Parts that a turn has started on the wire and not finished. */
function newTurn() {
  /** By message and block. */
  const streamed = new Map<string, Map<number, string>>();
  const complete = new Set<string>();
  let calls: string[] = [];
  /** Announced calls without a result. */
  const announced = new Set<string>();
  const asked = new Map<string, string>();

  function takeMessage({ id, role, content }: { id: string; role: string; content: readonly Block[] }): string[] {
    if (role !== "assistant") return [];
    const pieces = streamed.get(id) ?? new Map<number, string>();
    streamed.delete(id);
    const whole = content.map(({ type, text, thinking }) => (type === "text" ? text : thinking) ?? "");
    const isSame = whole.every((text, index) => (pieces.get(index) ?? "") === text);
    const broken = isSame && pieces.size <= whole.length ? [] : [`the pieces of ${id} are not the message`];
    if (calls.length > 0) broken.push(`a reply before the results of ${calls}`);
    calls = content.flatMap(({ type, id: callId }) => (type === "tool_use" && callId !== undefined ? [callId] : []));
    return broken;
  }

  return {
    asked,
    unfinished: (): string[] => [
      ...[...asked.values()].filter((method) => method !== "droid.ask_user").map(() => "a request was never resolved"),
      ...[...streamed.keys()].map((id) => `${id} was streamed and never came`),
      ...(calls.length === 0 ? [] : [`the calls ${calls} have no result`]),
      ...[...announced].map((id) => `the call ${id} was announced and has no end`),
    ],
    take(notice: Notice): string[] {
      const { type, messageId, blockIndex } = notice;
      const place = `${messageId} ${blockIndex}`;
      if (type === "create_message") return takeMessage(notice.message as Parameters<typeof takeMessage>[0]);
      if (type.endsWith("_text_delta")) {
        const pieces = streamed.get(String(messageId)) ?? new Map<number, string>();
        streamed.set(String(messageId), pieces);
        pieces.set(Number(blockIndex), (pieces.get(Number(blockIndex)) ?? "") + String(notice.textDelta));
        return complete.has(place) ? [`${type} after the end of its block`] : [];
      }
      if (type.endsWith("_text_complete")) {
        if (complete.has(place)) return [`${type} twice`];
        complete.add(place);
      }
      if (type === "permission_resolved" && !asked.delete(String(notice.requestId))) {
        return ["permission_resolved of what was not open"];
      }
      if (type === "tool_call") announced.add((notice.toolUse as { id: string }).id);
      if (type !== "tool_result") return [];
      const isCut = announced.delete(String(notice.toolUseId)) && !calls.includes(String(notice.toolUseId));
      if (isCut) return [];
      const due = calls.shift();
      return due === notice.toolUseId ? [] : [`the result of ${notice.toolUseId} where that of ${due} was due`];
    },
  };
}
