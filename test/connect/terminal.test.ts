import { afterEach, describe, expect, test } from "vitest";
import { closeAll, connected, parrot } from "./connected.ts";

afterEach(closeAll);

const ctrlC = "\x03";
const ctrlD = "\x04";

describe("a person at a terminal", () => {
  test("types messages, and leaves with Ctrl-D, which stops the session", async () => {
    const { server, code, stdout, said, input } = await connected(parrot, { isPerson: true });
    await said("active, started");
    input.write("hello\r");
    await said("You said: hello\n");
    input.write("again\r");
    await said("You said: again\n");
    input.write(ctrlD);
    expect([await code, stdout.text()]).toEqual([0, "You said: hello\nYou said: again\n"]);
    expect(server.asked.at(-1)).toEqual({ method: "stopSession", params: { sessionId: "s-1" } });
  });

  test("recalls the last message with the up arrow", async () => {
    const { code, said, input } = await connected(parrot, { isPerson: true });
    await said("active, started");
    input.write("hello\r");
    await said("You said: hello\n");
    input.write("\x1b[A again\r");
    await said("You said: hello again\n");
    input.write(ctrlD);
    expect(await code).toBe(0);
  });

  test("sees no control characters", async () => {
    const { code, stdout, stderr, said, input } = await connected(
      async (turn) => {
        turn.chunk("Hi\x1b]0;ow");
        turn.chunk("ned\x07 ❤");
        turn.chunk("\ufe0f\r");
        turn.chunk("\n");
        void turn.call("\x9b2J", "\u202e");
        turn.end("\x1b[2J");
      },
      { isPerson: true },
    );
    await said("active, started");
    input.write("hello\r");
    await said("The answer ended");
    input.write(ctrlD);
    expect([await code, stdout.text()]).toEqual([0, "Hi\\u{1b}]0;owned\\u{7} ❤️\n"]);
    expect(stderr.text()).toContain('[Tool call call-1: \\u{9b}2J "\\u{202e}"]\n[The answer ended: \\u{1b}[2J.]\n');
  });

  test("answers tool calls, with and without an id", async () => {
    const { server, code, said, input } = await connected(
      async (turn) => {
        const results = await Promise.all([turn.call("a", {}), turn.call("b", {}), turn.call("c", {})]);
        turn.end("completed", results.map(({ result }) => result).join());
      },
      { isPerson: true },
    );
    await said("active, started");
    input.write("hello\r");
    await said("call-3");
    input.write("/result call-2 two\r/result 1\r/error three\r");
    await said("1,two,three\n");
    expect(server.of("provideToolResult").map(({ toolCallId, isError }) => [toolCallId, isError])).toEqual([
      ["call-2", undefined],
      ["call-1", undefined],
      ["call-3", true],
    ]);
    input.write("/result late\r");
    await said("[No tool call is waiting for a result.]");
    input.write(ctrlD);
    expect(await code).toBe(0);
  });

  test("cancels the answer with Ctrl-C and leaves with the next one, which keeps the session", async () => {
    const { server, code, stderr, said, input } = await connected(
      async (turn) => {
        turn.chunk("endless ");
        await turn.cancelled;
        turn.end("cancelled");
      },
      { isPerson: true },
    );
    await said("active, started");
    input.write("hello\r");
    await said("endless");
    input.write(ctrlC);
    await said("[The answer ended: cancelled.]");
    input.write("hello\r");
    await said("endless endless ");
    input.write(ctrlC);
    await said(
      "cancelled.]\n\n[Cancelling the answer. Press Ctrl-C again to leave.]\n[The answer ended: cancelled.]\n",
    );
    input.write(ctrlC);
    expect(await code).toBe(130);
    expect(server.of("stopSession")).toEqual([]);
    expect(stderr.text().endsWith("[The session is kept. Resume it with --resume s-1 --after 5]\n")).toBe(true);
  });

  test("leaves with the second Ctrl-C even if the server does not cancel", async () => {
    const { code, said, input } = await connected((turn) => turn.chunk("endless"), { isPerson: true });
    await said("active, started");
    input.write("hello\r");
    await said("endless");
    input.write(ctrlC);
    await said("Press Ctrl-C again to leave.");
    input.write(ctrlC);
    expect(await code).toBe(130);
  });

  test("can type while an answer is running", async () => {
    const { server, code, stdout, said, input } = await connected(
      async (turn) => {
        turn.chunk(turn.message);
        await server.until(() => server.of("sendUserMessage").length === 2);
        turn.end();
      },
      { isPerson: true },
    );
    await said("active, started");
    input.write("one\r");
    await said("one");
    input.write("two\r");
    await said("two\n");
    input.write("/quit\r");
    expect([await code, stdout.text()]).toEqual([0, "one\ntwo\n"]);
  });

  test("changes the session, and gets help about commands", async () => {
    const { server, code, said, input } = await connected(parrot, { isPerson: true });
    await said("active, started");
    input.write("/stop\r");
    await said("stopped, completed");
    input.write("/cancel\r/stop\r/resume\r/resume none\r/wrong\r/help\r");
    for (const words of [
      "[No answer is running.]",
      "[No session yet.]",
      "[Missing session id. Use /resume <id>; /sessions lists the ids.]",
      "[Invalid params]",
      "[Unknown command /wrong. /help lists the commands.]",
      "[/quit                     leave, and keep the session]",
    ])
      await said(words);
    input.write("/resume s-1\r");
    await said("[Continuing session s-1.]");
    input.write("hello\r");
    await said("You said: hello\n");
    expect(server.of("sendUserMessage")).toEqual([{ sessionId: "s-1", message: "hello" }]);
    input.write("/quit\r");
    expect(await code).toBe(0);
  });

  test("leaves by SIGTERM without stopping the session", async () => {
    const { server, code, said, signal } = await connected(parrot, { isPerson: true });
    await said("active, started");
    signal("SIGTERM");
    expect(await code).toBe(143);
    expect(server.of("stopSession")).toEqual([]);
  });
});
