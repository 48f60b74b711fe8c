import { afterEach, describe, expect, test } from "vitest";
import { closeAll, connected, fakeServer, parrot } from "./connected.ts";

afterEach(closeAll);

const back = "[The connection was lost (1006).]\n[Reconnecting in 0.001 s (1 of 10).]\n";

describe("a lost connection", () => {
  test("reconnects in the middle of an answer, and prints only the missing part", async () => {
    const { server, code, stdout, stderr, said, input } = await connected(async (turn) => {
      turn.chunk("one ");
      await said("one ");
      turn.cut();
      turn.chunk("two ");
      await turn.resumed();
      turn.end("completed", "three");
    });
    input.end("hello\n");
    expect([await code, stdout.text()]).toEqual([0, "one two three\n"]);
    expect(server.of("resumeSession")).toEqual([{ sessionId: "s-1", afterSeq: 2 }]);
    expect(stderr.text()).toContain(`${back}[Reconnected.]\n`);
  });

  test("that missed the end of an answer prints the rest", async () => {
    const { code, stdout, said, input } = await connected(async (turn) => {
      turn.chunk("one ");
      await said("one ");
      turn.cut();
      turn.end("completed", "two");
    });
    input.end("hello\n");
    expect([await code, stdout.text()]).toEqual([0, "one two\n"]);
  });

  test("that gets a different text reports it and prints it again", async () => {
    const { server, code, stdout, stderr, said, input } = await connected(async (turn) => {
      turn.chunk("one ");
      await said("one ");
      turn.cut();
      await server.until(() => server.of("echo").length === 1);
      turn.end("interrupted");
    });
    server.respond = ({ method }, socket) => {
      if (method !== "echo") return undefined;
      const chunk = { sessionId: "s-1", messageId: "m-2", chunk: "other ", offset: 0, isFinal: false, snapshot: true };
      socket.send(JSON.stringify({ jsonrpc: "2.0", method: "AIMessageChunkNotification", params: chunk }));
      return undefined;
    };
    input.end("hello\n");
    expect([await code, stdout.text()]).toEqual([1, "one \nother \n"]);
    expect(stderr.text()).toContain("[The answer printed above was wrong. The server's version:]\n");
  });

  describe.each([
    ["a pipe", false],
    ["a terminal", true],
  ])("a lost connection to a killed server, in %s:", (_, isPerson) => {
    const differs = "[The answer printed above was wrong";

    test.each([
      ["that lost the end of the answer", 4, "one \n", `${differs}. The server's version:]\n`],
      ["that lost all of it", 0, "", `${differs}: the server has none.]\n`],
    ])("one %s reports it and prints the server's version", async (__, offset, anew, words) => {
      const { code, stdout, stderr, said, input } = await connected(
        async (turn) => {
          turn.chunk("one two");
          await said("one two");
          turn.cut();
          turn.end("interrupted", "", { chunk: "", offset, snapshot: true });
        },
        { isPerson },
      );
      await said("active, started");
      input.write(isPerson ? "hello\r" : "hello\n");
      await said("[The answer ended: interrupted.]");
      input.end(isPerson ? "\x04" : "");
      expect([await code, stdout.text()]).toEqual([isPerson ? 0 : 1, `one two${isPerson ? "" : "\n"}${anew}`]);
      expect(stderr.text()).toContain(`${words}[The answer ended: interrupted.]\n`);
    });
  });

  test.each([
    ["that the server has is not sent again", true],
    ["that the server does not have is sent again", false],
  ])("before a message was confirmed: one %s", async (_, hasIt) => {
    const { server, code, stdout, input } = await connected(async (turn) => {
      await turn.resumed();
      parrot(turn);
    });
    let sent = 0;
    server.respond = ({ method }, socket) => {
      if (method !== "sendUserMessage" || sent++ > 0) return undefined;
      socket.terminate();
      return hasIt ? undefined : "none";
    };
    input.end("hello\n");
    expect([await code, stdout.text()]).toEqual([0, "You said: hello\n"]);
    expect(server.of("sendUserMessage").length).toBe(hasIt ? 1 : 2);
  });

  test("to a stopping server sends rejected messages to the next one", async () => {
    const { server, code, stdout, input } = await connected(parrot);
    const draining = { error: { code: -32000, message: "The server is stopping.", data: { reason: "draining" } } };
    let refusals = 0;
    server.respond = ({ method }, socket) => {
      if (method !== "sendUserMessage" && method !== "resumeSession") return undefined;
      refusals += 1;
      if (refusals > 3) return undefined;
      if (refusals === 2) setImmediate(() => socket.close(1001, "server is stopping"));
      return draining;
    };
    input.end("hello\n");
    expect([await code, stdout.text()]).toEqual([0, "You said: hello\n"]);
    expect(server.of("sendUserMessage").length).toBe(3);
    expect(server.of("resumeSession").length).toBe(2);
  });

  test("before a result was confirmed sends it again", async () => {
    const { server, code, stdout, input } = await connected(async (turn) => {
      const { result } = await turn.call("add", {});
      await turn.resumed();
      turn.end("completed", String(result));
    });
    let sent = 0;
    server.respond = ({ method }, socket) => {
      if (method !== "provideToolResult" || sent++ > 0) return undefined;
      socket.terminate();
      return "none";
    };
    input.end("hello\n/result 3\n");
    expect([await code, stdout.text()]).toEqual([0, "3\n"]);
    expect(server.of("provideToolResult").length).toBe(2);
  });

  test("is retried ten times, with growing pauses", async () => {
    const pauses: number[] = [];
    const { server, code, stderr, input } = await connected(
      (turn) => {
        server.refuse(503);
        turn.cut();
      },
      {
        pauseMs: (attempt) => {
          pauses.push(attempt);
          return 0;
        },
      },
    );
    input.end("hello\n");
    expect(await code).toBe(1);
    expect(pauses).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    expect(stderr.text()).toContain("accepts no connections now (503)");
    expect(stderr.text().endsWith("tinman: Could not reconnect after 10 attempts.\n")).toBe(true);
  });

  test.each([
    [401, "rejected the token (401). No token given."],
    [403, "denied access (403)"],
  ])("is not retried if the server answers %i", async (status, words) => {
    const { server, code, stderr, input } = await connected((turn) => {
      server.refuse(status);
      turn.cut();
    });
    input.end("hello\n");
    expect(await code).toBe(1);
    expect(stderr.text()).toContain("(1 of 10)");
    expect(stderr.text()).not.toContain("(2 of 10)");
    expect(stderr.text()).toContain(words);
  });

  test.each([
    [1008, "token revoked", "The server closed the connection (1008): token revoked."],
    [1009, "", "A message was too long for the server (1009)."],
  ])("is permanent after code %i", async (closeCode, reason, words) => {
    const { server, code, stderr, input } = await connected(() => {
      for (const socket of server.sockets()) socket.close(closeCode, reason);
    });
    input.end("hello\n");
    expect(await code).toBe(1);
    expect(stderr.text().endsWith(`tinman: ${words}\n`)).toBe(true);
    expect(stderr.text()).not.toContain("Trying again");
  });

  test("to a server that lost the session ends the run", async () => {
    const { server, code, stderr, input } = await connected((turn) => turn.cut());
    server.respond = ({ method }) =>
      method === "resumeSession" ? { error: { code: -32602, message: "Invalid params" } } : undefined;
    input.end("hello\n");
    expect(await code).toBe(1);
    expect(stderr.text()).toContain("tinman: The session s-1 could not be resumed: Invalid params\n");
  });

  test("is retried if it is lost again while reconnecting", async () => {
    const { server, code, stdout, input } = await connected(async (turn) => {
      turn.cut();
      await turn.resumed();
      parrot(turn);
    });
    let tries = 0;
    server.respond = ({ method }, socket) => {
      if (method !== "resumeSession" || tries++ > 0) return undefined;
      socket.terminate();
      return "none";
    };
    input.end("hello\n");
    expect([await code, stdout.text()]).toEqual([0, "You said: hello\n"]);
  });

  test("lets a user leave despite an undeliverable tool result", async () => {
    const { server, code, said, input } = await connected(
      (turn) => {
        void turn.call("add", {});
      },
      { isPerson: true, toolCommand: "echo 3", pauseMs: () => 3_600_000 },
    );
    server.respond = ({ method }, socket) => {
      if (method !== "provideToolResult") return undefined;
      server.refuse(503);
      socket.terminate();
      return "none";
    };
    await said("active, started");
    input.write("hello\r");
    await said("Reconnecting in 3600 s");
    input.write("\x04");
    expect(await code).toBe(0);
  });

  test("lets a terminated client leave", async () => {
    const { server, code, said, signal, input } = await connected(
      (turn) => {
        server.refuse(503);
        turn.cut();
      },
      { pauseMs: () => 3_600_000 },
    );
    input.write("hello\n");
    await said("Reconnecting in 3600 s");
    signal("SIGINT");
    expect(await code).toBe(130);
  });
});

describe("a resumed session", () => {
  test("is replayed, and then accepts messages", async () => {
    const server = await fakeServer(parrot);
    const first = await connected(parrot, { server, stdin: "hello\n/quit\n" });
    expect(await first.code).toBe(0);
    const second = await connected(parrot, { server, stdin: "again\n", resume: { sessionId: "s-1" } });
    expect([await second.code, second.stdout.text()]).toEqual([0, "You said: hello\nYou said: again\n"]);
    expect(second.stderr.text()).toContain("[> hello]\n");
    const third = await connected(parrot, { server, stdin: "", resume: { sessionId: "s-1", afterSeq: 6 } });
    expect([await third.code, third.stdout.text()]).toEqual([0, ""]);
    expect(server.of("resumeSession")).toEqual([{ sessionId: "s-1" }, { sessionId: "s-1", afterSeq: 6 }]);
  });

  test("is left only after its running answer has ended", async () => {
    let finish = (): void => undefined;
    const server = await fakeServer((turn) => {
      turn.chunk("begun, ");
      finish = () => turn.end("completed", "done");
    });
    const first = await connected(parrot, { server });
    first.input.write("hello\n");
    await first.said("begun");
    for (const socket of server.sockets()) socket.close(1008);
    expect(await first.code).toBe(1);
    const second = await connected(parrot, { server, stdin: "", resume: { sessionId: "s-1" } });
    await second.said("begun");
    finish();
    expect([await second.code, second.stdout.text()]).toEqual([0, "begun, done\n"]);
  });

  test("shows old tool calls, and asks only about one still waiting", async () => {
    const server = await fakeServer(async (turn) => {
      const { result } = await turn.call("add", { turn: turn.message });
      turn.end("completed", String(result));
    });
    const first = await connected(parrot, { server });
    first.input.write("one\n/result 1\ntwo\n");
    await first.said("call-2");
    for (const socket of server.sockets()) socket.close(1008);
    expect(await first.code).toBe(1);
    const toolCommand = "printf %s 2";
    const second = await connected(parrot, { server, stdin: "", resume: { sessionId: "s-1" }, toolCommand });
    expect([await second.code, second.stdout.text()]).toEqual([0, "1\n2\n"]);
    expect(second.stderr.text()).toContain('[Tool call call-1: add {"turn":"one"}]\n');
    expect(server.of("provideToolResult").map(({ toolCallId, result }) => [toolCallId, result])).toEqual([
      ["call-1", "1"],
      ["call-2", "2"],
    ]);
  });

  test("fails if it is unknown", async () => {
    const { code, stderr } = await connected(parrot, { stdin: "", resume: { sessionId: "none" } });
    expect([await code, stderr.text()]).toEqual([1, "tinman: Invalid params\n"]);
  });
});
