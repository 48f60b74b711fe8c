import { webSocketConnection } from "../../../src/sdk/connection/web-socket.ts";

/* A separate program with Node's own WebSocket. It must end on its own. */

const [address = "", nobody = ""] = process.argv.slice(2);

async function told() {
  const connection = await webSocketConnection(address)();
  for (const line of ["hello", "x".repeat(3_000_000), "bye"]) {
    connection.send(line);
    await connection.room();
  }
  await connection.drained();
  const lines: string[] = [];
  for await (const frame of connection.incoming) lines.push(frame.type === "line" ? frame.text : frame.type);
  return { lines, end: await connection.ended, isGone: connection.gone.aborted };
}

async function closed() {
  const connection = await webSocketConnection(new WebSocket(address))();
  await connection.close();
  return connection.ended;
}

async function refused() {
  const error: unknown = await webSocketConnection(nobody)().catch((reason: unknown) => reason);
  return String(error);
}

async function givenUp() {
  const giveUp = new AbortController();
  const connecting = webSocketConnection(address)(giveUp.signal);
  giveUp.abort("changed my mind");
  const reason: unknown = await connecting.catch((thrown: unknown) => thrown);
  return reason;
}

const results = { told: await told(), closed: await closed(), refused: await refused(), givenUp: await givenUp() };
process.stdout.write(JSON.stringify(results));
