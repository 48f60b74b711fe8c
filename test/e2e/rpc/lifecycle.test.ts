import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Notice, Wire } from "../../fakes/rpc/wire.ts";
import { noticesIn } from "../../fakes/rpc/wire.ts";
import { isFullRun } from "../../full-run.ts";
import { type Bench, createBench } from "../tinman.ts";
import {
  endOf,
  endsIn,
  execute,
  gone,
  lasting,
  line,
  open,
  openDialect,
  pidIn,
  prompt,
  quiet,
  talk,
  turn,
  wellEnded,
} from "./raw-client.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const opening = (params: object = {}): string =>
  line("later", "open", "initialize_session", { machineId: "m", cwd: bench.cwd, ...params });
const question = {
  tool_calls: [
    { name: "AskUser", input: { questionnaire: "1. [question] Which?\n[topic] T\n[option] A\n[option] B" } },
  ],
};

const lastTwo = ({ received }: Wire): readonly Notice[] => noticesIn(received).slice(-2);
const reasons = (notices: readonly Notice[]): readonly unknown[] =>
  notices.flatMap(({ type, reason }) => (type === "agent_turn_completed" ? [reason] : []));

/** A program with a session on a scripted model. */
async function scripted(replies: readonly object[], params: object = {}): Promise<{ wire: Wire; sessionId: string }> {
  const wire = openDialect(bench, "later");
  const sessionId = await open(wire, bench, { modelId: await bench.script(replies), ...params });
  return { wire, sessionId };
}

describe.concurrent("when the client closes its input, the program exits with 0", () => {
  test("at once while nothing runs", async () => {
    expect(await talk(bench, [])).toEqual({ raw: [], received: [], end: wellEnded });
    const opened = await talk(bench, [opening()]);
    expect([opened.received.at(-1)?.id, opened.end]).toEqual(["open", wellEnded]);
    const { wire, sessionId } = await scripted([{ text: "Done." }]);
    await turn(wire, "go");
    wire.eof();
    expect([await wire.exit(), await endsIn(bench, sessionId)]).toEqual([quiet, ["completed"]]);
  });

  test("after the model's reply was sent", async () => {
    const pieces = Array.from({ length: 20 }, (_, at) => `w${at} `);
    const { wire, sessionId } = await scripted([{ text: pieces, chunk_delay_ms: 10 }]);
    await prompt(wire, "go");
    await wire.waitForNotice("assistant_text_delta");
    wire.eof();
    expect(await wire.exit()).toEqual(quiet);
    expect(lastTwo(wire)).toEqual(endOf("completed"));
    const said = noticesIn(wire.received).flatMap(({ textDelta }) => (textDelta === undefined ? [] : [textDelta]));
    expect(said.join("")).toBe(pieces.join(""));
    expect(await endsIn(bench, sessionId)).toEqual(["completed"]);
  });

  test("after a tool and what follows it", async () => {
    const { wire, sessionId } = await scripted([execute("sleep 0.3; echo done"), { text: "{{tool_result}}" }], {
      autonomyLevel: "high",
    });
    await prompt(wire, "go");
    await wire.waitForNotice("droid_working_state_changed", 0, { newState: "executing_tool" });
    wire.eof();
    expect(await wire.exit()).toEqual(quiet);
    expect(lastTwo(wire)).toEqual(endOf("completed"));
    expect(await endsIn(bench, sessionId)).toEqual(["completed"]);
  });

  test("after every prompt has had its turn", async () => {
    const modelId = await bench.script([{ text: "You said {{user}}.", delay_ms: 30, times: "any" }]);
    const prompts = [1, 2, 3, 4].map((at) => line("later", `p${at}`, "add_user_message", { text: `word ${at}` }));
    const { received, end } = await talk(bench, [[opening({ modelId }), ...prompts].join("")]);
    expect(end).toEqual(wellEnded);
    const notices = noticesIn(received);
    expect(reasons(notices)).toEqual(["completed", "completed", "completed", "completed"]);
    const said = notices.flatMap(({ textDelta }) => (textDelta === undefined ? [] : [textDelta]));
    expect(said.join("")).toBe("You said word 1.You said word 2.You said word 3.You said word 4.");
    expect(notices.at(-1)).toEqual({ type: "droid_working_state_changed", newState: "idle" });
  });

  test("while a permission is open, which counts as no; prompts behind it still run", async () => {
    const { wire, sessionId } = await scripted([execute("touch never.txt"), { text: "second" }]);
    await prompt(wire, "go");
    const { id } = await wire.waitFor(({ method }) => method === "droid.request_permission", "a request");
    await prompt(wire, "and then", { messageId: "second one" });
    wire.eof();
    expect(await wire.exit()).toEqual(quiet);
    const notices = noticesIn(wire.received);
    expect(notices.filter(({ type }) => type === "permission_resolved")).toEqual([
      { type: "permission_resolved", requestId: id, toolUseIds: [], selectedOption: "cancel" },
    ]);
    expect([reasons(notices), notices.slice(-2)]).toEqual([["no_approver_available", "completed"], endOf("completed")]);
    expect(await endsIn(bench, sessionId)).toEqual(["denied", "completed"]);
    expect(existsSync(join(bench.cwd, "never.txt"))).toBe(false);
  });

  test("after a permission given in its last message was used", async () => {
    const { wire, sessionId } = await scripted([execute("echo given > given.txt"), { text: "Done." }]);
    await prompt(wire, "go");
    wire.answer(await wire.waitFor(({ type }) => type === "request", "a request"), { selectedOption: "proceed_once" });
    wire.eof();
    expect(await wire.exit()).toEqual(quiet);
    expect([await endsIn(bench, sessionId), await bench.read("given.txt")]).toEqual([["completed"], "given\n"]);
  });

  test("while a question is open, which the model learns", async () => {
    const { wire, sessionId } = await scripted([question, { text: "Nobody there." }]);
    await prompt(wire, "go");
    await wire.waitFor(({ method }) => method === "droid.ask_user", "a question");
    wire.eof();
    expect(await wire.exit()).toEqual(quiet);
    const notices = noticesIn(wire.received);
    expect(notices.filter(({ type }) => type === "tool_result")).toMatchObject([{ isError: true }]);
    expect(notices.slice(-2)).toEqual(endOf("completed"));
    expect(await endsIn(bench, sessionId)).toEqual(["completed"]);
  });

  test("when permissions and questions can no longer be answered", async () => {
    const { wire, sessionId } = await scripted([
      { ...question, delay_ms: 200 },
      execute("touch never.txt"),
      { text: "not reached" },
    ]);
    await prompt(wire, "go");
    wire.eof();
    expect(await wire.exit()).toEqual(quiet);
    expect(wire.received.filter(({ type }) => type === "request")).toEqual([]);
    expect(lastTwo(wire)).toEqual(endOf("no_approver_available"));
    expect(await endsIn(bench, sessionId)).toEqual(["denied"]);
    expect(existsSync(join(bench.cwd, "never.txt"))).toBe(false);
  });
});

describe.concurrent.each([
  ["SIGTERM", 143],
  ["SIGINT", 130],
  ["SIGHUP", 129],
] as const)("%s exits with %i", (signal, code) => {
  /** The short run tries each situation with one signal, because all are handled alike. */
  const isTriedWith = (one: string): boolean => isFullRun || signal === one;

  test("while nothing runs, without a session and with one", async () => {
    const before = openDialect(bench, "early");
    await before.request("droid.list_skills", {});
    before.kill(signal);
    expect(await before.exit()).toEqual({ code, signal: null, stderr: "" });
    const { wire } = await scripted([{ text: "x" }]);
    const { length } = wire.received;
    wire.kill(signal);
    expect(await wire.exit()).toEqual({ code, signal: null, stderr: "" });
    expect(wire.received.slice(length)).toEqual([]);
  });

  if (isTriedWith("SIGINT"))
    test("during a request, which is closed once", async () => {
      const { wire, sessionId } = await scripted([execute("touch unasked.txt"), { text: "not reached" }]);
      await prompt(wire, "go");
      const { id } = await wire.waitFor(({ type }) => type === "request", "a request");
      wire.kill(signal);
      expect(await wire.exit()).toEqual({ code, signal: null, stderr: "" });
      const notices = noticesIn(wire.received);
      expect(notices.filter(({ type }) => type === "permission_resolved")).toEqual([
        { type: "permission_resolved", requestId: id, toolUseIds: [], selectedOption: "cancel" },
      ]);
      expect(notices.slice(-2)).toEqual(endOf("cancelled"));
      expect(await endsIn(bench, sessionId)).toEqual(["interrupted"]);
    });

  if (isTriedWith("SIGTERM"))
    test("during a command, which is ended, reported and stored; the session can continue", async () => {
      const name = `pid-${signal}`;
      const replies = [{ text: "Now.", ...execute(lasting(name)) }, { text: "Back." }];
      const { wire, sessionId } = await scripted(replies, { autonomyLevel: "high" });
      await prompt(wire, "go");
      const pid = await pidIn(bench, name);
      wire.kill(signal);
      expect(await wire.exit()).toEqual({ code, signal: null, stderr: "" });
      await gone(pid);
      const notices = noticesIn(wire.received);
      expect(notices.filter(({ type }) => type === "tool_result")).toMatchObject([{ isError: true }]);
      expect(notices.slice(-2)).toEqual(endOf("cancelled"));
      expect(await endsIn(bench, sessionId)).toEqual(["interrupted"]);

      const next = openDialect(bench, "later");
      const loaded = await next.request("droid.load_session", { sessionId });
      const { session, isAgentLoopInProgress } = loaded.result as {
        session: { messages: { role: string }[] };
        isAgentLoopInProgress: boolean;
      };
      expect([session.messages.map(({ role }) => role), isAgentLoopInProgress]).toEqual([
        ["user", "assistant", "tool"],
        false,
      ]);
      expect(reasons(await turn(next, "go on"))).toEqual(["completed"]);
      next.eof();
      expect(await next.exit()).toEqual(quiet);
    });
});

describe.concurrent("no command outlives the program", () => {
  const running = async (name: string, before?: string): Promise<{ wire: Wire; pid: number; sessionId: string }> => {
    const started = await scripted([execute(lasting(name, before)), { text: "Back." }], { autonomyLevel: "high" });
    await prompt(started.wire, "go");
    return { ...started, pid: await pidIn(bench, name) };
  };

  test("after two signals", async () => {
    const { wire, pid } = await running("pid-twice", "trap '' TERM INT HUP;");
    wire.kill("SIGTERM");
    wire.kill("SIGTERM");
    const other = await running("pid-mixed", "trap '' TERM INT HUP;");
    other.wire.kill("SIGINT");
    other.wire.kill("SIGTERM");
    expect((await wire.exit()).code).toBe(143);
    expect([130, 143]).toContain((await other.wire.exit()).code);
    await Promise.all([gone(pid), gone(other.pid)]);
  });

  test("after a kill; its session can be loaded, and the turn ends as interrupted", async () => {
    const { wire, pid, sessionId } = await running("pid-killed");
    wire.kill("SIGKILL");
    expect(await wire.exit()).toEqual({ code: null, signal: "SIGKILL", stderr: "" });
    await gone(pid);
    const { received, end } = await talk(bench, [
      line("later", "load", "load_session", { sessionId }),
      line("later", "on", "add_user_message", { text: "go on" }),
    ]);
    const { session } = (received.find(({ id }) => id === "load")?.result ?? {}) as {
      session?: { messages: { role: string }[] };
    };
    expect(session?.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool"]);
    expect([noticesIn(received).slice(-2), end]).toEqual([endOf("completed"), wellEnded]);
    expect((await endsIn(bench, sessionId)).at(0)).toBe("interrupted");
  });
});

describe.concurrent("an unusable home fails the request with a message", () => {
  test.each(["/proc/nothing", "/dev/null"])("%s", async (home) => {
    const { received, end } = await talk(bench, [opening(), line("later", "next", "list_skills")], {
      env: { HOME: home, TINMAN_HOME: undefined },
    });
    expect(received).toMatchObject([
      { id: "open", error: { code: -32603, message: expect.stringContaining(home) } },
      { id: "next", result: { skills: [] } },
    ]);
    expect(end).toMatchObject({ code: 0, rest: "" });
  });
});

describe.concurrent("on the command line", () => {
  test("rejects options that don't apply to the protocol", async () => {
    const formatsIn = (output: string, ...more: string[]): string[] => [
      "exec",
      "--input-format",
      "stream-jsonrpc",
      "-o",
      output,
      ...more,
    ];
    const protocol = "stream-jsonrpc";
    const refused: [readonly string[], string][] = [
      [formatsIn(protocol, "do this"), "prompt"],
      [formatsIn(protocol, "--", "do this"), "prompt"],
      [formatsIn(protocol, "-"), "prompt"],
      [formatsIn(protocol, "-f", "prompt.md"), "--file"],
      [formatsIn(protocol, "-s", "00000000-0000-4000-8000-000000000000"), "--session-id"],
      [formatsIn(protocol, "--fork", "00000000-0000-4000-8000-000000000000"), "--fork"],
      [formatsIn(protocol, "--bogus-flag"), "--bogus-flag"],
      [formatsIn(protocol, "--cwd", "/nowhere/at/all"), "/nowhere/at/all"],
      [formatsIn(protocol, "-m", "no-such-model"), "no-such-model"],
      [formatsIn("text"), "--output-format stream-jsonrpc"],
      [["exec", "-o", protocol], "--input-format stream-jsonrpc"],
    ];
    for (const [args, words] of refused) {
      const { code, stdout, stderr } = await bench.tinman(args);
      expect([args, code, stdout, stderr]).toEqual([args, 2, "", expect.stringContaining(words)]);
    }
    // Requesting a JSON format returns a JSON object.
    const asObject = await bench.tinman(formatsIn("json"));
    expect([asObject.code, JSON.parse(asObject.stdout)]).toMatchObject([2, { is_error: true, stop_reason: "usage" }]);
  });

  test("the input format alone is enough", async () => {
    const run = await bench.tinman(["exec", "--input-format", "stream-jsonrpc"], { stdin: opening() });
    expect([run.code, run.stderr, run.stdout.includes('"id":"open"')]).toEqual([0, "", true]);
  });
});
