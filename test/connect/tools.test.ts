import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { nobodyRunsTools } from "../../src/connect/pipe-input.ts";
import { runToolCommand } from "../../src/connect/tool-command.ts";
import { closeAll, connected } from "./connected.ts";
import type { Turn } from "./fake-server.ts";

afterEach(closeAll);

/** Calls two tools at once, and prints their results. */
async function calculate(turn: Turn): Promise<void> {
  const results = await Promise.all([turn.call("add", { a: 1, b: "\x1b[2J" }), turn.call("now", [])]);
  turn.end("completed", results.map(({ result, isError }) => `${result}${isError === true ? "!" : ""}`).join(" "));
}

describe("a tool call", () => {
  test("is answered by the next lines of the pipe", async () => {
    const { server, code, stdout, stderr } = await connected(calculate, {
      stdin: 'hello\n/result call-1 {"sum": 3}\n/error no clock\n',
    });
    expect([await code, stdout.text()]).toEqual([0, '{"sum": 3} no clock!\n']);
    expect(server.of("provideToolResult")).toEqual([
      { sessionId: "s-1", toolCallId: "call-1", result: '{"sum": 3}' },
      { sessionId: "s-1", toolCallId: "call-2", result: "no clock", isError: true },
    ]);
    expect(stderr.text()).toContain('[Tool call call-1: add {"a":1,"b":"\\u001b[2J"}]\n[Tool call call-2: now []]\n');
  });

  test("without an answer fails, and the next line is still a message", async () => {
    let turns = 0;
    const { server, code, stdout } = await connected(
      async (turn) => {
        turns += 1;
        if (turns === 1) await calculate(turn);
        else turn.end("completed", turn.message);
      },
      { stdin: "hello\nagain\n" },
    );
    expect([await code, stdout.text()]).toEqual([0, `${nobodyRunsTools}! ${nobodyRunsTools}!\nagain\n`]);
    expect(server.of("provideToolResult").map(({ isError }) => isError)).toEqual([true, true]);
  });

  test("at the end of the pipe fails", async () => {
    const { code, stdout } = await connected(calculate, { stdin: "hello" });
    expect([await code, stdout.text()]).toEqual([0, `${nobodyRunsTools}! ${nobodyRunsTools}!\n`]);
  });

  test("that the server runs is only shown", async () => {
    const { server, code, stderr } = await connected(
      (turn) => {
        void turn.call("Execute", { command: "ls" }, { execution: "server" });
        turn.notify("ToolResultNotification", { toolCallId: "x", toolName: "Execute", status: 0, result: "a\nb" });
        turn.end();
      },
      { stdin: "hello\n" },
    );
    expect(await code).toBe(0);
    expect(server.of("provideToolResult")).toEqual([]);
    expect(stderr.text()).toContain('[The server runs Execute {"command":"ls"}]\n[Execute gave: a b]\n');
  });

  test("whose result the server rejects is reported", async () => {
    const { server, code, stderr, input } = await connected((turn) => {
      void turn.call("add", {});
    }, {});
    server.respond = ({ method }, socket) => {
      if (method !== "provideToolResult") return undefined;
      const last = { sessionId: "s-1", messageId: "m-2", chunk: "", isFinal: true, reason: "completed" };
      queueMicrotask(() =>
        socket.send(JSON.stringify({ jsonrpc: "2.0", method: "AIMessageChunkNotification", params: last })),
      );
      return { error: { code: -32602, message: "Invalid params: unexpected result" } };
    };
    input.end("hello\n");
    expect(await code).toBe(0);
    expect(stderr.text()).toContain(
      "[The server did not accept the result of call-1: Invalid params: unexpected result]\n",
    );
  });
});

describe("a command for tool calls", () => {
  test("reads the call and prints the result; a non-zero exit code is an error", async () => {
    const { code, stdout } = await connected(calculate, {
      stdin: "hello\n",
      toolCommand: 'read -r call; case "$call" in *add*) printf %s "$call";; *) echo out; echo err >&2; exit 7;; esac',
    });
    const call = JSON.stringify({ toolCallId: "call-1", toolName: "add", arguments: { a: 1, b: "\x1b[2J" } });
    expect([await code, stdout.text()]).toEqual([
      0,
      `${call} out\n\nerr\n\nThe tool's command failed with exit code 7.!\n`,
    ]);
  });

  test("that is running when the client is terminated ends with everything it started", async () => {
    const folder = await mkdtemp(join(tmpdir(), "tinman-connect-"));
    try {
      const command = `sleep 600 & echo $! > ${folder}/pid; mv ${folder}/pid ${folder}/started; wait`;
      const { code, signal, input } = await connected(calculate, { toolCommand: command });
      input.write("hello\n");
      let pid = "";
      while (pid === "") {
        pid = await readFile(join(folder, "started"), "utf8").catch(() => "");
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      signal("SIGTERM");
      expect(await code).toBe(143);
      expect(await isGone(Number(pid))).toBe(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test("times out", async () => {
    const never = new AbortController().signal;
    expect(await runToolCommand("echo begun; sleep 600", {}, never, { timeoutMs: 300 })).toEqual({
      result: "begun\n\nIt timed out after 0.3 s.",
      isError: true,
    });
  });

  test("does not get the token, and its result fits into a frame", async () => {
    process.env.TINMAN_TOKEN = "secret";
    try {
      const never = new AbortController().signal;
      expect(await runToolCommand('echo "[$TINMAN_TOKEN]"', {}, never)).toEqual({ result: "[]\n", isError: false });
      const { result } = await runToolCommand("yes | head -c 5000000", {}, never);
      expect(JSON.stringify(result).length).toBeLessThan(600_000);
      expect(result).toContain("more bytes]");
    } finally {
      delete process.env.TINMAN_TOKEN;
    }
  });
});

describe("text before and after a tool call", () => {
  /** Runs one of the client's tools and one of the server's. */
  async function run(turn: Turn): Promise<void> {
    turn.chunk("I'll run it.");
    const { result } = await turn.call("add", {});
    turn.chunk(`It gave ${result}.`);
    const server = { toolCallId: "own", toolName: "LS" };
    turn.notify("ToolCallNotification", { ...server, arguments: {}, execution: "server" });
    turn.chunk("Wait.");
    turn.notify("ToolResultNotification", { ...server, status: 0, result: "a.txt" });
    turn.end("completed", "Done.");
  }

  test.each([
    ["at a terminal", {}],
    ["at a terminal whose standard error goes to a file", { isLogged: true }],
  ])("is on separate lines %s", async (_, options) => {
    const { code, stdout, stderr, said, input } = await connected(run, {
      ...options,
      isPerson: true,
      toolCommand: "printf 3",
    });
    await said("active, started");
    input.write("hello\r");
    await said("Done.\n");
    input.write("\x04");
    expect([await code, stdout.text()]).toEqual([0, "I'll run it.\nIt gave 3.\nWait.\nDone.\n"]);
    expect(stderr.text()).toContain(
      "started]\n[Tool call call-1: add {}]\n[The server runs LS {}]\n[LS gave: a.txt]\n",
    );
  });

  test("is unchanged in a pipe", async () => {
    const { code, stdout } = await connected(run, { stdin: "hello\n/result 3\n" });
    expect([await code, stdout.text()]).toEqual([0, "I'll run it.It gave 3.Wait.Done.\n"]);
  });
});

/** It was killed, and its new parent can take a moment to reap it. */
async function isGone(pid: number): Promise<boolean> {
  for (let tries = 0; tries < 200; tries += 1) {
    const state = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    if (state === "" || / Z /.test(state)) return true;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return false;
}
