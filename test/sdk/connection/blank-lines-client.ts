import { webSocketConnection } from "../../../src/sdk/connection/web-socket.ts";
import { createFakeWebSocket } from "../fakes/fake-web-socket.ts";

/* A separate program with little memory. */

const socket = createFakeWebSocket();
const connection = await webSocketConnection(socket)();
const blanks = "\n".repeat(2 ** 25);
socket.happens("message", { data: `${blanks}text` });
socket.happens("message", { data: Buffer.from(`${blanks}bytes`) });
socket.happens("close", { code: 1000 });
for await (const frame of connection.incoming) {
  process.stdout.write(`${frame.type === "line" ? frame.text : frame.type}\n`);
}
