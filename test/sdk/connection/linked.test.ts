import { expect, it } from "vitest";
import { linkedConnection } from "../../../src/sdk/connection/linked.ts";
import { isDone } from "../../rpc/held-sink.ts";
import { nextLine, wholeOf } from "../fakes/stand-ins.ts";

async function linesOf(incoming: ReturnType<typeof linkedConnection>[1]["incoming"]): Promise<readonly unknown[]> {
  const frames: unknown[] = [];
  for await (const frame of incoming) frames.push(frame);
  return frames;
}

it("carries lines between a client and a backend in one process", async () => {
  const [connection, backend] = linkedConnection();
  connection.send("question");
  backend.send("answer");
  backend.end();
  expect(await isDone(connection.ended)).toBe(false);
  const whole = await wholeOf(connection);
  await connection.close();
  expect([whole, await linesOf(backend.incoming)]).toEqual([
    { lines: ["answer"], end: { reason: "The other side has ended the connection." } },
    [{ type: "line", text: "question" }],
  ]);
});

it("closed by the client: the backend gets what was sent before, and sees that the reader is gone", async () => {
  const [connection, backend] = linkedConnection({ maxWaiting: 1 });
  connection.send("last");
  backend.send("unread");
  const room = backend.room();
  await connection.close();
  await connection.close();
  connection.send("too late");
  expect({
    room: await isDone(room),
    gone: backend.gone.aborted,
    end: await connection.ended,
    next: await nextLine(connection),
    received: await linesOf(backend.incoming),
  }).toEqual({
    room: true,
    gone: true,
    end: { reason: "The connection was closed." },
    next: undefined,
    received: [{ type: "line", text: "last" }],
  });
});
