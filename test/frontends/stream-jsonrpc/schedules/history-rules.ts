import type { Received } from "../../../fakes/rpc/wire.ts";
import { noticesIn } from "../../../fakes/rpc/wire.ts";
import type { Link } from "../connection/told-history.ts";
import { chainOf, createToldHistory, loadedHistory } from "../connection/told-history.ts";
import type { Played } from "./play.ts";
import { openedBy } from "./play.ts";

/** Differences between notifications and the loaded history. */
export function brokenHistoryRules({ clients, sent, reloaded, hasFailedWrites }: Played): string[] {
  const broken: string[] = [];
  const histories = new Map<string, ReturnType<typeof createToldHistory>>();
  const current: (string | undefined)[] = [];

  const compare = (sessionId: string, answer: Received, where: string): void => {
    const { loaded, loadedParents } = loadedHistory(answer);
    const history = histories.get(sessionId) ?? createToldHistory(loaded);
    histories.set(sessionId, history);
    if (!isChain(loaded, loadedParents)) broken.push(`${where}: the messages do not name the ones before them`);
    const isSame = hasFailedWrites ? isPartOf(history.told, loaded) : same(history.told, loaded);
    if (isSame) return;
    broken.push(`${where}: told was\n${linesOf(history.told)}\nand loaded is\n${linesOf(loaded)}`);
    histories.set(sessionId, createToldHistory(loaded));
  };

  for (const { client, message } of sent) {
    const asked = clients[client]?.asked.get(String(message.id));
    const sessionId = message.result === undefined ? undefined : openedBy(asked, message);
    if (sessionId !== undefined) {
      current[client] = sessionId;
      if (asked?.method === "droid.initialize_session") histories.set(sessionId, createToldHistory());
      else compare(sessionId, message, `when client ${client + 1} loaded it`);
    }
    const history = histories.get(current[client] ?? "");
    for (const notice of noticesIn([message])) history?.take(notice);
  }
  for (const [sessionId, answer] of reloaded) {
    if (answer.result === undefined) broken.push(`${sessionId} could not be loaded again: ${answer.error?.message}`);
    else {
      compare(sessionId, answer, "when another process loaded it");
      if (answer.result.isAgentLoopInProgress !== false) broken.push("a session is at work that was just loaded");
    }
  }
  for (const { told, toldParents } of histories.values()) {
    if (!hasFailedWrites && !isChain(told, toldParents)) broken.push("messages were told with other parents");
  }
  return broken;
}

/** Results do not name their parent. */
function isChain(messages: readonly Link[], parents: readonly (string | undefined)[]): boolean {
  const chain = chainOf(messages);
  return parents.every((parent, index) => parent === undefined || parent === chain[index]);
}

function same(a: readonly Link[], b: readonly Link[]): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** A log that could not be written for a while can have more than was reported, as after a crash; never less. */
function isPartOf(told: readonly Link[], loaded: readonly Link[]): boolean {
  let next = 0;
  for (const { id, content } of loaded) {
    const due = told[next];
    if (due?.id !== id) continue;
    if (!due.content.every((block, index) => JSON.stringify(block) === JSON.stringify(content[index]))) return false;
    next += 1;
  }
  return next === told.length;
}

function linesOf(messages: readonly Link[]): string {
  return messages.map((message) => `      ${JSON.stringify(message).slice(0, 300)}`).join("\n");
}
