import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resultObject, streamJsonLine } from "../../src/protocol/stream-json.ts";
import type { Bench } from "./tinman.ts";
import { createBench, lines, madeUp } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const call = (name: string, input: object) => ({ name, input });

describe("text", () => {
  test("is the final text and one newline, whatever the model ended with", async () => {
    const model = await bench.script([{ text: "Done.\n\n\n" }]);
    expect(await bench.tinman(["exec", "-m", model, "go"])).toEqual({
      code: 0,
      signal: null,
      stdout: "Done.\n",
      stderr: "",
    });
  });

  test("on failure, stdout is empty and stderr has one line", async () => {
    const model = await bench.script([{ error: { status: 401, message: "invalid key" } }]);
    const run = await bench.tinman(["exec", "-m", model, "go"]);
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(/^tinman: [^\n]*invalid key[^\n]*\n$/);
  });

  test("shows progress on a terminal only, and removes it", async () => {
    const model = await bench.script([{ text: "Done.", delay_ms: 400 }]);
    const onTerminal = await bench.shell(`script -qec 'tinman exec -m ${model} go' /dev/null </dev/null`);
    expect(onTerminal.stdout).toContain("thinking");
    expect(onTerminal.stdout.replaceAll("\r", "").split("\u001b[2K").at(-1)).toBe("Done.\n");
    const onPipe = await bench.tinman(["exec", "-m", model, "go"]);
    expect(onPipe.stderr).toBe("");
  });
});

describe("json", () => {
  test("is one object on one line with its keys in order", async () => {
    const model = await bench.script([
      { tool_calls: [call("LS", {})], usage: { input: 100, output: 7, cache_read: 5, cache_write: 2 } },
      { text: "All seen.", usage: { input: 50, output: 3 } },
    ]);
    const run = await bench.tinman(["exec", "-o", "json", "-m", model, "go"]);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout.match(/\n/g)).toHaveLength(1);
    const result = JSON.parse(run.stdout) as Record<string, unknown>;
    expect(Object.keys(result)).toEqual([
      "type",
      "subtype",
      "is_error",
      "duration_ms",
      "num_turns",
      "result",
      "session_id",
      "usage",
      "stop_reason",
      "exit_code",
      "model",
    ]);
    expect(result).toEqual({
      type: "result",
      subtype: "success",
      is_error: false,
      duration_ms: expect.any(Number),
      num_turns: 1,
      result: "All seen.",
      session_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      usage: {
        input_tokens: 150,
        output_tokens: 10,
        cache_read_input_tokens: 5,
        cache_creation_input_tokens: 2,
        thinking_tokens: 0,
      },
      stop_reason: "completed",
      exit_code: 0,
      model,
    });
    expect(resultObject.parse(result)).toEqual(result);
  });

  test("has the reason if the model fails", async () => {
    const model = await bench.script([{ error: { status: 400, message: "bad things" } }]);
    const run = await bench.tinman(["exec", "-o", "json", "-m", model, "go"]);
    expect(run.code).toBe(1);
    const result = resultObject.parse(JSON.parse(run.stdout));
    expect(result).toMatchObject({
      subtype: "failure",
      is_error: true,
      num_turns: 1,
      stop_reason: "failed",
      exit_code: 1,
    });
    expect(result.result).toContain("bad things");
  });
});

describe("stream-json", () => {
  test("has every event with its keys in order, and the completion last", async () => {
    await bench.file("seen.txt", "x");
    const model = await bench.script([
      {
        reasoning: "Let me look.",
        text: "I'll list.",
        tool_calls: [call("LS", {}), call("Read", { file_path: "nope.txt" })],
      },
      { text: "There is one." },
    ]);
    const run = await bench.tinman(["exec", "-o", "stream-json", "-m", model, "look"]);
    const events = lines(run.stdout);
    for (const event of events) expect(streamJsonLine.parse(event)).toEqual(event);
    expect(events.map((event) => [event.type, Object.keys(event).join()])).toEqual([
      ["system", "type,subtype,cwd,session_id,tools,model,reasoning_effort,autonomy,protocol_version"],
      ["message", "type,role,id,text,timestamp,session_id"],
      ["reasoning", "type,id,text,timestamp,session_id"],
      ["message", "type,role,id,text,timestamp,session_id"],
      ["tool_call", "type,id,messageId,toolId,toolName,parameters,timestamp,session_id"],
      ["tool_call", "type,id,messageId,toolId,toolName,parameters,timestamp,session_id"],
      ["tool_result", "type,id,messageId,toolId,isError,value,timestamp,session_id"],
      ["tool_result", "type,id,messageId,toolId,isError,value,timestamp,session_id,error"],
      ["message", "type,role,id,text,timestamp,session_id"],
      ["error", "type,source,message,timestamp,session_id,code"],
      [
        "completion",
        "type,finalText,numTurns,durationMs,session_id,timestamp,usage,isError,stopReason,exitCode,model,error",
      ],
    ]);
    expect(events[0]).toMatchObject({ cwd: bench.cwd, model });
    expect(events[7]).toMatchObject({ isError: true, error: { type: "tool_error" } });
    expect(events[7]?.value).toContain("nope.txt");
    expect(events.at(-1)).toMatchObject({
      finalText: "There is one.",
      numTurns: 1,
      exitCode: 1,
      error: { code: "tool_failed" },
    });
    expect(run.code).toBe(1);
  });

  test("streams live, in complete lines", async () => {
    const model = await bench.script([{ tool_calls: [call("LS", {})] }, { text: "late", delay_ms: 1_500 }]);
    const child = bench.start(["exec", "-o", "stream-json", "-m", model, "go"]);
    child.stdin?.end();
    const seen: string[] = [];
    let early: string[] | undefined;
    child.stdout?.on("data", (chunk: Buffer) => {
      expect(chunk.toString().endsWith("\n")).toBe(true);
      seen.push(...lines(chunk.toString()).map(({ type }) => String(type)));
      if (seen.includes("tool_result") && early === undefined) early = [...seen];
    });
    expect(await new Promise((resolve) => child.on("close", resolve))).toBe(0);
    expect(early).toEqual(["system", "message", "tool_call", "tool_result"]);
  });

  test("tool_result lines stay under 64 KiB, and the named file has the whole text", async () => {
    await bench.file("big.txt", Array.from({ length: 40_000 }, (_, n) => `\u0001"${n}" 中文`).join("\n"));
    const model = await bench.script([
      {
        tool_calls: [
          call("Execute", { command: "cat big.txt" }),
          call("Read", { file_path: "big.txt" }),
          call("Grep", { pattern: "1", output_mode: "content" }),
        ],
      },
      { text: "ok" },
    ]);
    const run = await bench.tinman(["exec", "-o", "stream-json", "-m", model, "go"]);
    const results = run.stdout.split("\n").filter((line) => line.includes('"type":"tool_result"'));
    expect(results).toHaveLength(3);
    for (const line of results) expect(Buffer.byteLength(line)).toBeLessThan(64 * 1024);
    const { value } = JSON.parse(results[0] ?? "") as { value: string };
    const path = /\[Whole output, \d+ bytes: (.*)\]/.exec(value)?.[1] ?? "";
    expect((await bench.shell(`cmp '${path}' big.txt`)).code).toBe(0);
  });
});

describe("without a user to ask", () => {
  const create = call("Create", { file_path: "made.txt", content: "x" });

  test("a call above the level ends the run before any call of that reply runs", async () => {
    const model = await bench.script([
      {
        text: "On it.",
        tool_calls: [call("Create", { file_path: "a.txt", content: "" }), call("Execute", { command: "git push" })],
      },
      { text: "never" },
    ]);
    const run = await bench.tinman(["exec", "-o", "json", "--auto", "low", "-m", model, "go"]);
    const result = resultObject.parse(JSON.parse(run.stdout));
    expect(run.code).toBe(5);
    expect(result).toMatchObject({
      is_error: true,
      stop_reason: "denied",
      error: { code: "denied" },
      denials: [{ toolName: "Execute", allowWith: "--auto high" }],
    });
    expect(result.result).toBe("On it.");
    expect(result.error?.message).toContain("Allow it with --auto high.");
    await expect(bench.read("a.txt")).rejects.toThrow("ENOENT");
  });

  test.each(["text", "json", "stream-json"])(
    "in %s, the message names the option that would allow it",
    async (format) => {
      const model = await bench.script([{ tool_calls: [create] }]);
      const run = await bench.tinman(["exec", "-o", format, "-m", model, "go"]);
      expect(run.code).toBe(5);
      expect(run.stderr).toMatch(/^tinman: Create writes .*made\.txt.*Allow it with --auto low\.\n$/);
    },
  );

  test("--on-denied continue lets the model continue and still exits with 5", async () => {
    const model = await bench.script([{ tool_calls: [create] }, { text: "I could not." }]);
    const run = await bench.tinman(["exec", "--on-denied", "continue", "-m", model, "go"]);
    expect([run.code, run.stdout]).toEqual([5, "I could not.\n"]);
    expect(run.stderr).toContain("--auto low");
  });

  test("AskUser gets an error result, and the run continues", async () => {
    const questionnaire = "1. [question] Which colour?\n[topic] Colour\n[option] Red\n[option] Blue";
    const model = await bench.script([{ tool_calls: [call("AskUser", { questionnaire })] }, { text: "I chose red." }]);
    const run = await bench.tinman(["exec", "-o", "stream-json", "-m", model, "go"]);
    const result = lines(run.stdout).find(({ type }) => type === "tool_result");
    expect(result).toMatchObject({ isError: true, value: expect.stringMatching(/no user to ask/) });
    expect(run.code).toBe(0);
  });

  test("spec mode refuses changes, and the plan is the final text", async () => {
    const model = await bench.script([
      { tool_calls: [create] },
      { tool_calls: [call("ExitSpecMode", { plan: "1. Write it", title: "The plan" })] },
      { text: "never" },
    ]);
    const run = await bench.tinman(["exec", "--use-spec", "--auto", "high", "-o", "json", "-m", model, "go"]);
    const result = resultObject.parse(JSON.parse(run.stdout));
    expect(run.code).toBe(0);
    expect(result).toMatchObject({ subtype: "success", stop_reason: "planned" });
    expect(result.result).toContain("1. Write it");
    await expect(bench.read("made.txt")).rejects.toThrow("ENOENT");
  });

  test("an earlier run's permission does not carry over with its session", async () => {
    const model = await bench.script([
      { tool_calls: [create] },
      { text: "made" },
      { tool_calls: [create] },
      { text: "again" },
    ]);
    const first = resultObject.parse(
      JSON.parse((await bench.tinman(["exec", "-o", "json", "--skip-permissions-unsafe", "-m", model, "go"])).stdout),
    );
    expect(first.is_error).toBe(false);
    const second = await bench.tinman(["exec", "-s", first.session_id, "again"]);
    expect(second.code).toBe(5);
  });
});

describe("limits", () => {
  const busy = { tool_calls: [call("LS", {})] };

  test("--max-turns and --max-tokens exit with 3", async () => {
    const model = await bench.script(
      Array.from({ length: 5 }, () => ({ ...busy, usage: { input: 100, output: 100 } })),
    );
    for (const limit of [
      ["--max-turns", "2"],
      ["--max-tokens", "300"],
    ]) {
      const run = await bench.tinman(["exec", "-o", "json", ...limit, "-m", model, "go"]);
      expect([run.code, resultObject.parse(JSON.parse(run.stdout)).stop_reason]).toEqual([3, "limit"]);
    }
  });

  test("--timeout exits with 3, and the completion says so", async () => {
    const model = await bench.script([{ text: "too late", delay_ms: 30_000 }]);
    const run = await bench.tinman(["exec", "-o", "stream-json", "--timeout", "300ms", "-m", model, "go"]);
    expect(run.code).toBe(3);
    expect(lines(run.stdout).at(-1)).toMatchObject({
      type: "completion",
      stopReason: "limit",
      error: { code: "timeout" },
      exitCode: 3,
    });
  });
});

describe("sessions", () => {
  test("-s continues from any folder, with the same id, in every format, without replaying", async () => {
    const secret = madeUp();
    const first = resultObject.parse(
      JSON.parse((await bench.tinman(["exec", "-o", "json", `The password is ${secret}. Just reply OK.`])).stdout),
    );
    expect(first.result).toBe("OK");
    await mkdir(join(bench.root, "elsewhere"));
    const from = { cwd: join(bench.root, "elsewhere") };
    const question = "What password did I tell you? Reply ONLY the password.";
    const text = await bench.tinman(["exec", "-s", first.session_id, "-m", "offline", question], from);
    expect(text).toEqual({ code: 0, signal: null, stdout: `${secret}\n`, stderr: "" });
    const json = await bench.tinman(["exec", "-s", first.session_id, "-o", "json", question], from);
    expect(JSON.parse(json.stdout)).toMatchObject({ result: secret, session_id: first.session_id, num_turns: 1 });
    const stream = lines(
      (await bench.tinman(["exec", "--session-id", first.session_id, "-o", "stream-json", question], from)).stdout,
    );
    expect(stream.map(({ type, text: said }) => [type, said])).toEqual([
      ["system", undefined],
      ["message", question],
      ["message", secret],
      ["completion", undefined],
    ]);
    expect(stream[0]).toMatchObject({ session_id: first.session_id, cwd: bench.cwd });
  });

  test("--fork has a new id and leaves the old session unchanged", async () => {
    const secret = madeUp();
    const first = resultObject.parse(
      JSON.parse((await bench.tinman(["exec", "-o", "json", `Remember code ${secret}`])).stdout),
    );
    const fork = resultObject.parse(
      JSON.parse(
        (await bench.tinman(["exec", "-o", "json", "--fork", first.session_id, "what code did I mention?"])).stdout,
      ),
    );
    expect(fork.result).toContain(secret);
    expect(fork.session_id).not.toBe(first.session_id);
    const shown = JSON.parse((await bench.tinman(["sessions", "show", first.session_id, "--json"])).stdout) as {
      messages: unknown[];
    };
    expect(shown.messages).toHaveLength(2);
  });

  test("an unknown session is exit 4 in one line", async () => {
    for (const id of ["00000000-0000-4000-8000-000000000000", "../evil", "x/y", "", "a".repeat(300)]) {
      const run = await bench.tinman(["exec", "-s", id, "hi"]);
      expect([run.code, run.stdout]).toEqual([4, ""]);
      expect(run.stderr).toMatch(/^tinman: [^\n]+\n$/);
    }
  });

  test("a session in use by another process is exit 1 in one line", async () => {
    const model = await bench.script([{ text: "slow", delay_ms: 5_000 }]);
    const child = bench.start(["exec", "-o", "stream-json", "-m", model, "go"]);
    child.stdin?.end();
    const id = await new Promise<string>((resolve) => {
      child.stdout?.once("data", (chunk: Buffer) => resolve(String(lines(chunk.toString())[0]?.session_id)));
    });
    const run = await bench.tinman(["exec", "-s", id, "me too"]);
    expect([run.code, run.stdout]).toEqual([1, ""]);
    expect(run.stderr).toMatch(new RegExp(`^tinman: [^\\n]*${child.pid}[^\\n]*\\n$`));
    child.kill("SIGTERM");
    await new Promise((resolve) => child.on("close", resolve));
  });
});
