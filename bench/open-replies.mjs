import { setTimeout as pause } from "node:timers/promises";
import { closeAll, connect, many } from "./serve-client.mjs";

/** Number of open replies, their speed, and how many pieces of each have arrived at the measurements. */
const replies = { sessions: 100, everyMs: 10, first: 300, last: 1_500 };

/** Length of the script's reply, longer than the measurement. */
export const openReply = {
  when: { user: "go on" },
  times: "any",
  chunk_delay_ms: replies.everyMs,
  text: Array.from({ length: 2 * replies.last }, () => "x"),
};

/**
 * The server memory per piece of an open reply, which should be only its text.
 * @param {import("./served.mjs").Served} _
 * @param {import("./served.mjs").Tinman} tinman
 */
export async function open(_, tinman) {
  const { sessions, first, last } = replies;
  const clients = await many(sessions, () => connect(tinman.address));
  const ids = await many(sessions, async (index) => (await clients[index]?.start()) ?? "");
  for (const [index, client] of clients.entries()) {
    await client.request("sendUserMessage", { sessionId: ids[index], message: "go on" });
  }
  const come = () => clients.reduce((sum, client) => sum + client.chunks(), 0);
  const stateAfter = async (/** @type {number} */ each) => {
    while (come() < sessions * each) await pause(20);
    const before = come();
    const heap = await tinman.heap();
    return { heap, chunks: (before + come()) / 2 };
  };
  const before = await stateAfter(first);
  const after = await stateAfter(last);
  await closeAll(clients);
  const bytes = (after.heap - before.heap) / (after.chunks - before.chunks);
  const what = `heap that a piece of an open reply leaves, bytes (${sessions} replies)`;
  const text = bytes.toFixed(0);
  return { rows: [[what, "", text, ""]], results: [{ what, text, value: bytes, target: 60 }] };
}
