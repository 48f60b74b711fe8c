import { startLines } from "./line-client.mjs";

/**
 * A client of ACP.
 *
 * @typedef {import("./line-client.mjs").Server} Server
 */

/**
 * Starts the agent. `ready`: milliseconds until the response to `initialize`. `open`: from there to that of
 * `session/new`.
 * @param {Server} server
 */
export async function startAgent(server) {
  const lines = startLines(server, '"agent_message_chunk"', ({ error }) => error);
  let lastId = 0;
  let sessionId = "";

  /**
   * @param {string} method
   * @param {object} params
   */
  const request = (method, params) => {
    const id = ++lastId;
    return lines.ask({ jsonrpc: "2.0", id, method, params }, (message) => {
      if (message.id !== id || message.method !== undefined) return false;
      sessionId = message.result?.sessionId ?? sessionId;
      return true;
    });
  };

  try {
    const readyAt = await request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    return {
      ready: readyAt - lines.startedAt,
      /** A session, and the time to open it. */
      async open() {
        const askedAt = performance.now();
        return (await request("session/new", { cwd: server.cwd, mcpServers: [] })) - askedAt;
      },
      turn: () => lines.turn(() => request("session/prompt", { sessionId, prompt: [{ type: "text", text: "hi" }] })),
      usage: lines.usage,
      close: lines.close,
    };
  } catch (error) {
    lines.kill();
    throw error;
  }
}
