import { afterEach, describe, expect, test } from "vitest";
import { closeAll, connected, parrot } from "./connected.ts";
import type { Turn } from "./fake-server.ts";

afterEach(closeAll);

async function finished(answer: (turn: Turn) => unknown, stdin: string, options: object = {}) {
  const { server, stdout, stderr, code } = await connected(answer, { stdin, ...options });
  return { code: await code, stdout: stdout.text(), stderr: stderr.text(), server };
}

describe("lines of a pipe", () => {
  test("are messages in order, and the end of input stops the session", async () => {
    const run = await finished(parrot, "hello\n\nand again\n");
    expect(run.stdout).toBe("You said: hello\nYou said: and again\n");
    expect(run.stderr).toBe("[Session s-1: active, started]\n[Session s-1: stopped, completed]\n");
    expect(run.code).toBe(0);
    expect(run.server.asked).toEqual([
      { method: "startSession", params: { userId: "ann", sessionParams: {} } },
      { method: "sendUserMessage", params: { sessionId: "s-1", message: "hello" } },
      { method: "sendUserMessage", params: { sessionId: "s-1", message: "and again" } },
      { method: "stopSession", params: { sessionId: "s-1" } },
    ]);
  });

  test("wait for the previous answer", async () => {
    let isRunning = false;
    const overlaps: boolean[] = [];
    const { code } = await finished(async (turn) => {
      overlaps.push(isRunning);
      isRunning = true;
      turn.chunk(turn.message);
      await new Promise((resolve) => setTimeout(resolve, 20));
      isRunning = false;
      turn.end();
    }, "1\n2\n3\n");
    expect({ code, overlaps }).toEqual({ code: 0, overlaps: [false, false, false] });
  });

  test("can begin with a slash, written twice", async () => {
    const { server, stdout } = await finished(parrot, "//etc is a folder");
    expect(server.of("sendUserMessage")).toEqual([{ sessionId: "s-1", message: "/etc is a folder" }]);
    expect(stdout).toBe("You said: /etc is a folder\n");
  });

  test("can be commands", async () => {
    const { server, stdout, stderr, code } = await finished(
      parrot,
      "/sessions\n/capabilities\n/stop\nnew\n/quit\nnever\n",
    );
    expect({ stdout, code }).toEqual({ stdout: "You said: new\n", code: 0 });
    expect(stderr).toContain("[s-1  active   now  a title]\n");
    expect(stderr).toContain('[{"version":"1"}]\n');
    expect(server.asked.map(({ method }) => method)).toEqual([
      "startSession",
      "listSessions",
      "capabilities",
      "stopSession",
      "startSession",
      "sendUserMessage",
    ]);
  });

  test("that are unknown commands are reported and fail the run", async () => {
    const { stdout, stderr, code } = await finished(parrot, "/nonsense\nhello\n");
    expect({ stdout, code }).toEqual({ stdout: "You said: hello\n", code: 1 });
    expect(stderr).toContain("[Unknown command /nonsense. /help lists the commands.]\n");
  });
});

describe("the exit code", () => {
  test.each([
    ["timeout", 3],
    ["limit", 3],
    ["error", 1],
    ["interrupted", 1],
    ["cancelled", 1],
    ["denied", 5],
    ["completed", 0],
  ])("of an answer that ended with %s is %i, and the next message is still sent", async (reason, expected) => {
    const run = await finished((turn) => (turn.message === "1" ? turn.end(reason, "part") : parrot(turn)), "1\n2\n");
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: expected, stdout: "part\nYou said: 2\n" });
    expect(run.stderr.includes(`[The answer ended: ${reason}.]\n`)).toBe(reason !== "completed");
  });

  test.each([
    ["timeout", 3, "[The answer ended: timeout.]\n"],
    ["completed", 0, ""],
  ])("of an answer without text that ended with %s is %i, and nothing is printed", async (reason, expected, words) => {
    const { code, stdout, stderr } = await finished((turn) => turn.end(reason), "hello\n");
    expect({ code, stdout, stderr }).toEqual({
      code: expected,
      stdout: "",
      stderr: `[Session s-1: active, started]\n${words}[Session s-1: stopped, completed]\n`,
    });
  });

  test.each([
    ["model_empty", "[The model returned an empty reply. (model_empty)]\n"],
    ["odd", "[The answer ended: odd.]\n"],
  ])("of an answer that completed with the code %s is 1", async (code, words) => {
    const run = await finished((turn) => {
      turn.notify("AIMessageChunkNotification", { chunk: "", isFinal: true, reason: "completed", code });
    }, "hello\n");
    expect({ code: run.code, stdout: run.stdout }).toEqual({ code: 1, stdout: "" });
    expect(run.stderr).toContain(words);
  });

  test("also comes from a status, for servers whose last chunk has no reason", async () => {
    const run = await finished((turn) => {
      turn.notify("AIMessageChunkNotification", { chunk: "", isFinal: true });
      turn.notify("SessionStatusNotification", { status: 3, reason: "timeout" });
    }, "hello\n");
    expect(run.code).toBe(3);
    expect(run.stderr).toContain("[Session s-1: error, timeout]\n");
  });

  test("of a message that the server rejects is 1", async () => {
    const { server, code, stderr, input } = await connected(parrot);
    server.respond = ({ method, params }) =>
      method === "sendUserMessage" && params.message === "1"
        ? { error: { code: -32000, message: "Too many messages wait.", data: { reason: "queue_full" } } }
        : undefined;
    input.end("1\n2\n");
    expect(await code).toBe(1);
    expect(stderr.text()).toContain("[The server did not accept the message: Too many messages wait.]\n");
    expect(server.of("sendUserMessage").length).toBe(2);
  });

  test("of a session that fails to start is 1", async () => {
    const running = connected(parrot, { stdin: "hello\n", start: { userId: "ann", sessionParams: { model: "none" } } });
    const { server, code, stderr, stdout } = await running;
    server.respond = () => ({ error: { code: -32602, message: "Invalid params: there is no such model" } });
    expect([await code, stdout.text(), stderr.text()]).toEqual([
      1,
      "",
      "tinman: Invalid params: there is no such model\n",
    ]);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("after %s is %i, and the session is stopped", async (name, expected) => {
    const { server, signal, said, code, input, stdout } = await connected((turn) => turn.chunk("endless"));
    input.write("hello\n");
    await said("endless");
    signal(name);
    expect(await code).toBe(expected);
    expect(server.of("stopSession")).toEqual([{ sessionId: "s-1" }]);
    expect(stdout.text()).toBe("endless\n");
  });

  test("after the reader left is 141", async () => {
    const { code, said, stdout, input } = await connected((turn) => turn.chunk("endless"));
    input.write("hello\n");
    await said("endless");
    stdout.leave();
    expect(await code).toBe(141);
  });

  test("of a session that another client stops is 1", async () => {
    const run = await finished((turn) => {
      turn.chunk("half");
      turn.notify("SessionStatusNotification", { status: 2, reason: "completed" });
    }, "hello\n");
    expect([run.code, run.stdout]).toEqual([1, "half\n"]);
  });
});

describe("what is printed", () => {
  const evil = "Hi\x1b]0;owned\x07\u202e";

  test("is exactly what the server sent, in a pipe", async () => {
    const { stdout } = await finished((turn) => turn.end("completed", evil), "hello\n");
    expect(stdout).toBe(`${evil}\n`);
  });

  test("waits for a slow reader without losing anything", async () => {
    const piece = "x".repeat(1_000);
    const { stdout, code, input, server } = await connected((turn) => {
      for (let count = 0; count < 500; count += 1) turn.chunk(piece);
      turn.end();
    });
    const letGo = stdout.hold();
    input.end("hello\n");
    await server.until(() => server.of("stopSession").length === 1);
    letGo();
    expect([await code, stdout.text()]).toEqual([0, `${piece.repeat(500)}\n`]);
  });

  test("is one JSON line per frame, on request", async () => {
    const { stdout, stderr, code } = await finished((turn) => turn.end("completed", evil), "hello\n", { isJson: true });
    const frames = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(frames.map(({ method, result }) => method ?? Object.keys(result))).toEqual([
      ["sessionId", "status"],
      "SessionStatusNotification",
      ["messageId", "status", "seq"],
      "AIMessageChunkNotification",
      ["status"],
      "SessionStatusNotification",
    ]);
    expect(frames[3].params).toMatchObject({ chunk: evil, isFinal: true });
  });
});

test("the session starts with the given settings, and the token is in the header", async () => {
  const start = { userId: "bob", sessionParams: { language: "de", tools: [{ name: "add" }] } };
  const { server } = await finished(parrot, "", { start, token: "secret" });
  expect(server.of("startSession")).toEqual([start]);
  expect(server.headers.map(({ authorization }) => authorization)).toEqual(["Bearer secret"]);
});
