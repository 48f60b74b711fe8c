import { startLines } from "./line-client.mjs";

/**
 * A client of `stream-jsonrpc`.
 *
 * @typedef {import("./line-client.mjs").Server} Server
 * @typedef {Awaited<ReturnType<typeof startSession>>} Client
 */

const versions = { jsonrpc: "2.0", factoryApiVersion: "1.0.0", factoryProtocolVersion: "1.15.0" };

/**
 * Starts the program and a session. `ready`: milliseconds from the start to the response.
 * @param {Server} server
 */
export async function startSession(server) {
  const lines = startLines(server, '"assistant_text_delta"', ({ error, params }) => {
    const news = params?.notification;
    return error ?? (news?.type === "error" ? news : undefined);
  });
  let lastId = 0;

  /**
   * @param {string} method
   * @param {object} params
   * @param {(message: any, id: string) => boolean} isOver
   */
  const request = (method, params, isOver) => {
    const id = String(++lastId);
    return lines.ask({ ...versions, type: "request", id, method, params }, (message) => isOver(message, id));
  };

  /** Replaces the session by an empty one. */
  const initialize = () =>
    request(
      "droid.initialize_session",
      { machineId: "bench", cwd: server.cwd, modelId: server.modelId, autonomyLevel: "off" },
      (message, id) => message.id === id,
    );

  // Some programs report idle once more before they begin.
  const isOver = (/** @type {any} */ { params }) => params?.notification?.newState === "idle" && lines.hasPiece();

  try {
    const ready = (await initialize()) - lines.startedAt;
    return {
      ready,
      initialize,
      turn: () => lines.turn(() => request("droid.add_user_message", { text: "hi" }, isOver)),
      usage: lines.usage,
      close: lines.close,
    };
  } catch (error) {
    lines.kill();
    throw error;
  }
}
