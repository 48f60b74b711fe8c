// One backend per socket, and a session over one: npm install ws. A page connects the same way, with its own
// WebSocket.
import { createSession, spawnBackend, webSocketConnection } from "tinman/sdk";
import { WebSocket, WebSocketServer } from "ws";

// Any page in a browser on this machine can reach this port, so the path is a secret.
const path = `/${crypto.randomUUID()}`;
const server = new WebSocketServer({ host: "127.0.0.1", port: 0, path });

server.on("connection", async (socket) => {
  const starting = spawnBackend()();
  socket.on("message", async (data) => (await starting).send(String(data)));
  socket.on("close", async () => (await starting).close());
  for await (const frame of (await starting).incoming) {
    if (frame.type === "line") await new Promise((sent) => socket.send(frame.text, sent));
  }
  socket.close();
});

await new Promise((listening) => server.once("listening", listening));
const address = `ws://127.0.0.1:${server.address().port}${path}`;
const session = await createSession({ connect: webSocketConnection(address, { WebSocket }), cwd: process.cwd() });
console.log((await session.send("Just reply OK.")).text);
await session.close();
server.close();
