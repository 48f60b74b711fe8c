import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/**
 * Reads a long turn of the stand-in backend, after one to warm up, and prints the cost of a piece: `node sdk-reader.mjs <floor|sdk> <pieces>`. The floor splits lines and parses them.
 */

const [mode = "", count = ""] = process.argv.slice(2);
const backend = fileURLToPath(new URL("sdk-backend.cjs", import.meta.url));

/** @typedef {{ turn(): Promise<number>, close(): Promise<unknown> }} Reader A turn resolves with its number of pieces. */

/** @returns {Promise<Reader>} */
async function throughSdk() {
  const { createSession } = await import("../dist/sdk/node.js");
  const session = await createSession({ executable: backend });
  return {
    async turn() {
      let pieces = 0;
      for await (const event of session.stream(count)) if (event.type === "text") pieces += 1;
      return pieces;
    },
    close: () => session.close(),
  };
}

/** @returns {Promise<Reader>} */
async function bare() {
  const child = spawn(process.execPath, [backend], { stdio: ["pipe", "pipe", "inherit"] });
  const exited = once(child, "exit");
  let rest = "";
  let pieces = 0;
  let ended = () => {};
  child.stdout.setEncoding("utf8").on("data", (text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const news = JSON.parse(line).params?.notification;
      if (news?.type === "assistant_text_delta") pieces += 1;
      else if (news?.newState === "idle") ended();
    }
  });
  return {
    async turn() {
      pieces = 0;
      const end = new Promise((resolve) => {
        ended = () => resolve(undefined);
      });
      const params = { text: count, messageId: randomUUID() };
      child.stdin.write(`${JSON.stringify({ id: "1", method: "droid.add_user_message", params })}\n`);
      await end;
      return pieces;
    },
    close() {
      child.stdin.end();
      return exited;
    },
  };
}

const reader = await (mode === "sdk" ? throughSdk() : bare());
await reader.turn();
const before = process.cpuUsage();
const startedAt = performance.now();
const pieces = await reader.turn();
const wall = performance.now() - startedAt;
const { user, system } = process.cpuUsage(before);
await reader.close();
if (pieces !== Number(count)) throw new Error(`${pieces} pieces came of ${count}`);
process.stdout.write(JSON.stringify({ cpu: (user + system) / pieces, perSecond: (pieces * 1000) / wall }));
