import { createServer } from "node:http";
import { WebSocketServer } from "ws";

/**
 * A WebSocket echo server. On `stream`, it sends chunks with a pause before each. Prints its port; exits when its
 * stdin closes.
 */

// Same as our server's, so that their cost is in both.
const sockets = new WebSocketServer({
  noServer: true,
  clientTracking: false,
  perMessageDeflate: false,
  maxPayload: 1024 * 1024,
});
const server = createServer();
server.on("upgrade", (request, socket, head) => {
  sockets.handleUpgrade(request, socket, head, (webSocket) => {
    webSocket.on("message", (data) => {
      const text = String(data);
      if (!text.includes('"method":"stream"')) webSocket.send(text);
      else stream(webSocket, JSON.parse(text).params);
    });
    webSocket.on("error", () => {});
  });
});

/**
 * @param {import("ws").WebSocket} socket
 * @param {{ readonly sessionId: string, readonly pieces: readonly string[], readonly everyMs: number }} params
 */
function stream(socket, { sessionId, pieces, everyMs }) {
  const ids = { messageId: sessionId, turnId: sessionId };
  let offset = 0;
  const send = (/** @type {number} */ index) => {
    const isFinal = index === pieces.length;
    const chunk = pieces[index] ?? "";
    const params = { sessionId, chunk, isFinal, ...ids, offset };
    offset += chunk.length;
    socket.send(JSON.stringify({ jsonrpc: "2.0", method: "AIMessageChunkNotification", params }));
    if (isFinal) return;
    if (index + 1 === pieces.length) send(index + 1);
    else setTimeout(send, everyMs, index + 1);
  };
  send(0);
}

server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  process.stdout.write(`${typeof address === "object" ? address?.port : ""}\n`);
});
process.stdin.on("end", () => process.exit()).resume();
