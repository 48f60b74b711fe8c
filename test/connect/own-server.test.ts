import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { WebSocketServer } from "ws";
import type { ModelEvent } from "../../src/engine/ports.ts";
import { InteractiveConnection } from "../../src/frontends/interactive/connection.ts";
import { createLinkedPair } from "../../src/rpc/transport.ts";
import { type FakeReply, says, usage } from "../fakes/kit.ts";
import { ann, serve } from "../frontends/interactive/served.ts";
import { closeAll, connected, parrot } from "./connected.ts";

const servers: WebSocketServer[] = [];

afterEach(async () => {
  await closeAll();
  for (const server of servers.splice(0)) {
    for (const socket of server.clients) socket.terminate();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** The server of `/ws`, with a scripted model. */
async function ownServer(replies: readonly FakeReply[]) {
  const { server } = serve(replies);
  const sockets = new WebSocketServer({ host: "127.0.0.1", port: 0, path: "/ws" });
  servers.push(sockets);
  await new Promise((resolve) => sockets.once("listening", resolve));
  sockets.on("connection", (socket) => {
    const [near, far] = createLinkedPair();
    new InteractiveConnection(server, { transport: far, close: () => far.close() }, ann);
    socket.on("message", (data) => near.send(String(data)));
    socket.on("close", () => near.close());
    void (async () => {
      for await (const frame of near.incoming) if (frame.type === "line") socket.send(frame.text);
    })();
  });
  return {
    url: `ws://127.0.0.1:${(sockets.address() as AddressInfo).port}/ws`,
    cut() {
      for (const socket of sockets.clients) socket.terminate();
    },
  };
}

/** Sends one text, waits, then sends the other. */
function inTwo(first: string, second: string): { readonly reply: FakeReply; goOn(): void } {
  let goOn = (): void => undefined;
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  async function* reply(): AsyncIterable<ModelEvent> {
    yield { type: "text", text: first };
    await gate;
    yield { type: "text", text: second };
    yield { type: "usage", usage };
    yield { type: "end", stop: "end" };
  }
  return { reply, goOn };
}

const callsAdd: readonly ModelEvent[] = [
  { type: "text", text: "Let me see. " },
  { type: "tool_call", id: "c1", name: "add", inputText: '{"a":1,"b":2}' },
  { type: "usage", usage },
  { type: "end", stop: "tool_calls" },
];
const start = { userId: "ann", sessionParams: { tools: [{ name: "add" }] } };

describe("with Tinman's own server", () => {
  test("answers lines one after the other", async () => {
    const { url } = await ownServer([says("Hi."), says("Yes.")]);
    const { code, stdout, stderr } = await connected(parrot, { url, stdin: "hello\nagain\n" });
    expect([await code, stdout.text()]).toEqual([0, "Hi.\nYes.\n"]);
    expect(stderr.text()).toMatch(/^\[Session (\S+): active, started\]\n\[Session \1: stopped, completed\]\n$/);
  });

  test("a command answers a tool call", async () => {
    const { url } = await ownServer([callsAdd, says("It is 3.")]);
    const { code, stdout, stderr } = await connected(parrot, { url, stdin: "hello\n", start, toolCommand: "echo 3" });
    expect([await code, stdout.text()]).toEqual([0, "Let me see. It is 3.\n"]);
    expect(stderr.text()).toMatch(/\[Tool call \S+: add \{"a":1,"b":2\}\]\n/);
  });

  test("an answer continues after a lost connection, in its first reply and in its second", async () => {
    const [first, second] = [inTwo("one ", "two. "), inTwo("three ", "four.")];
    const { url, cut } = await ownServer([first.reply, callsAdd, second.reply]);
    const { code, stdout, said, input } = await connected(parrot, { url, start, toolCommand: "echo 3" });
    input.write("hello\n");
    await said("one ");
    cut();
    await said("Reconnected.");
    first.goOn();
    await said("two. \n");
    input.end("hello\n");
    await said("three ");
    cut();
    await said("Reconnected.", 2);
    second.goOn();
    expect([await code, stdout.text()]).toEqual([0, "one two. \nLet me see. three four.\n"]);
  });

  test("a failed answer sets the exit code", async () => {
    const { url } = await ownServer([
      [{ type: "error", failure: { code: "model_failed", message: "no" }, retryable: false }],
    ]);
    const { code, stdout } = await connected(parrot, { url, stdin: "hello\n" });
    expect([await code, stdout.text()]).toEqual([1, ""]);
  });

  test("a session can be continued", async () => {
    const { url } = await ownServer([callsAdd, says("It is 3."), says("Yes.")]);
    const first = await connected(parrot, { url, start, stdin: "hello\n/result 3\n/quit\n" });
    expect(await first.code).toBe(0);
    const sessionId = /Session (\S+):/.exec(first.stderr.text())?.[1] ?? "";
    const second = await connected(parrot, { url, resume: { sessionId }, stdin: "again\n", toolCommand: "exit 1" });
    expect([await second.code, second.stdout.text()]).toEqual([0, "Let me see. It is 3.\nYes.\n"]);
    expect(second.stderr.text()).toMatch(/^\[> hello\]\n\[Tool call \S+: add .*\]\n\[add gave: 3\]\n/);
  });
});
