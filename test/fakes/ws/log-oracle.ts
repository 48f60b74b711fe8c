import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/*
 * The frames that clients of `/ws` must get from a session, according to its log and docs/sessions.md. Deliberately shares no code
 * with the server.
 */

export interface Line {
  readonly type: string;
  readonly seq: number;
  readonly turnId?: string;
  readonly messageId?: string;
  readonly message?: { readonly content: readonly { readonly type: string; readonly text?: string }[] };
  readonly interaction?: { readonly kind: string; readonly call?: { readonly id: string } };
  readonly result?: { readonly callId: string };
  readonly reason?: string;
  readonly failure?: { readonly code: string; readonly message: string };
  readonly cause?: string;
  readonly untaken?: readonly string[];
}

export interface Logged {
  /** Name and number of every event that a client gets when it starts from the beginning. */
  readonly told: (readonly [method: string, seq: number])[];
  readonly accepted: string[];
  readonly discarded: string[];
  /** Accepted, but no turn has begun with it. */
  readonly waiting: string[];
  readonly answers: Map<string, { text: string; messageId: string | undefined; ends: string[] }>;
  readonly isDense: boolean;
  readonly lastType: string;
}

/** The log's location; a session has one. */
export function logFile(home: string, sessionId: string): string {
  const folders = readdirSync(join(home, "sessions"));
  const found = folders.flatMap((folder) => {
    const names = readdirSync(join(home, "sessions", folder)).filter((name) => name === `${sessionId}.jsonl`);
    return names.map((name) => join(home, "sessions", folder, name));
  });
  if (found[0] === undefined || found.length > 1) throw new Error(`${found.length} logs of ${sessionId}`);
  return found[0];
}

export function loggedOf(home: string, sessionId: string): Logged {
  return loggedIn(readFileSync(logFile(home, sessionId), "utf8").split("\n").flatMap(whole));
}

export function loggedIn(lines: readonly Line[]): Logged {
  const logged: Logged = {
    told: [],
    accepted: [],
    discarded: [],
    waiting: [],
    answers: new Map(),
    isDense: lines.every(({ seq }, index) => seq === index + 1),
    lastType: lines.at(-1)?.type ?? "",
  };
  const asked = new Set<string>();
  for (const line of lines) add(logged, line, asked);
  return logged;
}

function add({ told, accepted, discarded, waiting, answers }: Logged, line: Line, asked: Set<string>): void {
  const { type, seq, turnId = "", messageId = "" } = line;
  const answer = answers.get(turnId);
  const drop = (id = messageId): void => void waiting.splice(waiting.indexOf(id), 1);
  if (type === "prompt.accepted") {
    accepted.push(messageId);
    waiting.push(messageId);
    told.push(["UserMessageNotification", seq]);
  } else if (type === "prompt.discarded") {
    discarded.push(messageId);
    drop();
    told.push(["AIMessageChunkNotification", seq]);
  } else if (type === "turn.started") {
    answers.set(turnId, { text: "", messageId: undefined, ends: [] });
  } else if (type === "prompt.taken") {
    drop();
    if (answer !== undefined) answer.messageId = messageId;
  } else if (type === "message.ended") {
    const text = (line.message?.content ?? []).flatMap((block) => (block.type === "text" ? (block.text ?? "") : []));
    if (answer !== undefined) answer.text += text.join("");
    if (text.join("") !== "") told.push(["AIMessageChunkNotification", seq]);
  } else if (type === "request.opened" && line.interaction?.kind === "tool") {
    asked.add(line.interaction.call?.id ?? "");
    told.push(["ToolCallNotification", seq]);
  } else if (type === "tool.ended" && asked.delete(line.result?.callId ?? "")) {
    told.push(["ToolResultNotification", seq]);
  } else if (type === "turn.ended") {
    const end = endOf(line);
    const untaken = line.untaken ?? [];
    answer?.ends.push(end);
    for (const id of untaken) drop(id);
    const count = untaken.length + (untaken.length === 0 || answer?.messageId !== undefined ? 1 : 0);
    for (let index = 0; index < count; index += 1) {
      told.push(["AIMessageChunkNotification", seq]);
      if (end === "error" || end === "timeout") told.push(["SessionStatusNotification", seq]);
    }
  }
}

function endOf({ reason, failure, cause }: Line): string {
  if (failure?.code === "timeout") return "timeout";
  // An empty answer is an answer.
  if (reason === "completed" || failure?.code === "model_empty") return "completed";
  if (reason !== "interrupted") return "error";
  return cause === "process_ended" ? "interrupted" : "cancelled";
}

/** Skips a line that was not written completely. */
function whole(text: string): Line[] {
  try {
    return [JSON.parse(text) as Line];
  } catch {
    return [];
  }
}
