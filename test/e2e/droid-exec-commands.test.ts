import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench, lines, madeUp } from "./tinman.ts";

/** The commands in the documentation of `droid exec`, with `tinman` in its place. */

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  await bench.file("README.md", "# Zebra\n\nA library that counts stripes.\n");
  await bench.file("prompt.md", "Just reply FILED.\n");
});
afterAll(() => bench.remove());

const offline = { env: { TINMAN_MODEL: "offline" } };

async function has(program: string): Promise<boolean> {
  return (await bench.shell(`command -v ${program}`)).code === 0;
}

describe("command syntax", () => {
  test.each([
    ['echo "Just reply PIPED." | tinman exec', "PIPED\n"],
    ["tinman exec -f prompt.md", "FILED\n"],
    ['tinman exec "Just reply ARGUED."', "ARGUED\n"],
  ])("%s", async (command, stdout) => {
    expect(await bench.shell(command, offline)).toEqual({ code: 0, signal: null, stdout, stderr: "" });
  });

  test("with options, for a model that this machine lacks", async () => {
    const run = await bench.shell(
      'tinman exec -m claude-sonnet-4-5-20250929 -r medium -o stream-json "your prompt"',
      offline,
    );
    expect(run.code).toBe(0);
    expect(lines(run.stdout)[0]).toMatchObject({ type: "system", model: "offline", reasoning_effort: "medium" });
  });
});

describe("output formats", () => {
  test("text: explain hello world in python", async () => {
    const run = await bench.shell('tinman exec "explain hello world in python"', offline);
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect(run.stdout.trim()).not.toBe("");
  });

  test("json: summarize this repo", async () => {
    const run = await bench.shell('tinman exec -o json "summarize this repo"', offline);
    const result = JSON.parse(run.stdout);
    expect(Object.keys(result).slice(0, 7)).toEqual([
      "type",
      "subtype",
      "is_error",
      "duration_ms",
      "num_turns",
      "result",
      "session_id",
    ]);
    expect(result).toMatchObject({ type: "result", subtype: "success", is_error: false, num_turns: 1 });
    expect(result.result).toMatch(/Zebra|stripes/);
  });

  test("stream-json: run ls command", async () => {
    const name = `${madeUp()}.dat`;
    await bench.file(name, "");
    const run = await bench.shell('tinman exec -o stream-json "run ls command"', offline);
    const events = lines(run.stdout);
    expect(events.map(({ type, role }) => role ?? type)).toEqual([
      "system",
      "user",
      "assistant",
      "tool_call",
      "tool_result",
      "assistant",
      "completion",
    ]);
    const [system, user, said, call, result, , completion] = events;
    const timed = { timestamp: expect.any(Number), session_id: system?.session_id };
    expect(system).toMatchObject({
      subtype: "init",
      cwd: bench.cwd,
      tools: expect.arrayContaining(["Read", "Execute"]),
    });
    expect(user).toEqual({ type: "message", role: "user", id: expect.any(String), text: "run ls command", ...timed });
    expect(call).toEqual({
      type: "tool_call",
      id: expect.any(String),
      messageId: said?.id,
      toolId: "Execute",
      toolName: "Execute",
      parameters: expect.objectContaining({ command: expect.stringMatching(/^ls/) }),
      ...timed,
    });
    expect(result).toEqual({
      type: "tool_result",
      id: call?.id,
      messageId: expect.any(String),
      toolId: "Execute",
      isError: false,
      value: expect.stringContaining(name),
      ...timed,
    });
    expect(completion).toMatchObject({
      finalText: expect.stringContaining(name),
      numTurns: 1,
      durationMs: expect.any(Number),
      ...timed,
    });
    expect(run.stdout).not.toContain('"isError":true');
  });
});

describe("parsing", () => {
  const many = [
    { text: "First.", tool_calls: [{ name: "LS", input: {} }] },
    {
      tool_calls: [
        { name: "Read", input: { file_path: "README.md" } },
        { name: "Grep", input: { pattern: "Zebra" } },
      ],
    },
    { text: "The code counts stripes." },
  ];

  test("with jq: the final result, and the tool calls", async ({ skip }) => {
    if (!(await has("jq"))) {
      expect(process.env.CI).toBeUndefined();
      skip("jq is not installed");
    }
    const env = { TINMAN_MODEL: await bench.script(many) };
    const result = await bench.shell(
      `tinman exec "analyze code" -o stream-json | \\\n  jq -r 'select(.type == "completion") | .finalText'`,
      { env },
    );
    expect(result).toMatchObject({ code: 0, stdout: "The code counts stripes.\n" });
    const calls = await bench.shell(
      `tinman exec "complex task" -o stream-json | \\\n  jq -r 'select(.type == "tool_call") | "\\(.toolName): \\(.parameters)"'`,
      { env },
    );
    expect(calls.stdout).toBe('LS: {}\nRead: {"file_path":"README.md"}\nGrep: {"pattern":"Zebra"}\n');
  });

  test("with the Node snippet", async () => {
    const snippet = `
import { spawn } from 'node:child_process';
const prompt = 'analyze code';
const proc = spawn('tinman', ['exec', '-o', 'stream-json', prompt]);
let buffer = '';

proc.stdout.on('data', (chunk) => {
    buffer += chunk.toString();
    const lines = buffer.split('\\n');
    buffer = lines.pop();

    for (const line of lines) {
        if (!line.trim()) continue;
        const event = JSON.parse(line);

        if (event.type === 'completion') {
            console.log('Result:', event.finalText);
        }
    }
});
`;
    await bench.file("client.mjs", snippet);
    const run = await bench.shell("node client.mjs", { env: { TINMAN_MODEL: await bench.script(many) } });
    expect(run).toMatchObject({ code: 0, stdout: "Result: The code counts stripes.\n" });
  });

  test("with the Go snippet", { timeout: 120_000 }, async ({ skip }) => {
    if (!(await has("go"))) {
      expect(process.env.CI).toBeUndefined();
      skip("go is not installed");
    }
    const program = `package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
)

func run(stdout io.Reader) (string, error) {
	scanner := bufio.NewScanner(stdout)
	for scanner.Scan() {
		var event map[string]interface{}
		json.Unmarshal(scanner.Bytes(), &event)

		switch event["type"] {
		case "message":
			if event["role"] == "assistant" {
				fmt.Println(event["text"])
			}
		case "completion":
			return event["finalText"].(string), nil
		}
	}
	return "", scanner.Err()
}

func main() {
	cmd := exec.Command("tinman", "exec", "-o", "stream-json", "analyze code")
	stdout, _ := cmd.StdoutPipe()
	cmd.Start()
	text, err := run(stdout)
	fmt.Println("final:", text, err)
	cmd.Wait()
}
`;
    const folder = await mkdtemp(join(bench.root, "go-"));
    await writeFile(join(folder, "main.go"), program);
    const env = {
      TINMAN_MODEL: await bench.script(many),
      GOCACHE: join(folder, "cache"),
      GOFLAGS: "-mod=mod",
      GOTOOLCHAIN: "local",
      GO111MODULE: "off",
    };
    const run = await bench.shell(`go run ${join(folder, "main.go")}`, { env });
    expect(run.stdout).toBe("First.\nThe code counts stripes.\nfinal: The code counts stripes. <nil>\n");
  });
});

test("session continuation with jq", async ({ skip }) => {
  if (!(await has("jq"))) {
    expect(process.env.CI).toBeUndefined();
    skip("jq is not installed");
  }
  const secret = madeUp();
  const run = await bench.shell(
    `RESULT=$(tinman exec -o json "The password is ${secret}. Just reply OK.")
SESSION_ID=$(echo $RESULT | jq -r '.session_id')
tinman exec -s $SESSION_ID "What password did I tell you? Reply ONLY the password."
RESULT=$(tinman exec -o json "start task")
SESSION_ID=$(echo $RESULT | jq -r '.session_id')
tinman exec -s $SESSION_ID "continue with next step" > /dev/null && echo continued`,
    offline,
  );
  expect(run).toEqual({ code: 0, signal: null, stdout: `${secret}\ncontinued\n`, stderr: "" });
});

test("a code remembered across runs", async () => {
  const code = madeUp();
  await bench.shell(`tinman exec --auto low "Remember code ${code}"`, offline);
  const [{ id }] = JSON.parse((await bench.tinman(["sessions", "list", "--json"])).stdout);
  const run = await bench.shell(`tinman exec -s ${id} "what code did I mention?"`, offline);
  expect(run.stdout).toContain(code);
});

describe("autonomy levels", () => {
  const read = { name: "Read", input: { file_path: "README.md" } };
  const write = { name: "Create", input: { file_path: "made.txt", content: "x" } };
  const push = { name: "Execute", input: { command: "git push", riskLevel: "low" } };

  test.each([
    ["", read, 0],
    ["", write, 5],
    ["--auto low", write, 0],
    ["--auto low", push, 5],
    ["--auto medium", push, 5],
    ["--auto high", push, 0],
    ["--skip-permissions-unsafe", push, 0],
  ])("%s", async (flags, call, code) => {
    const env = { TINMAN_MODEL: await bench.script([{ tool_calls: [call] }, { text: "done" }]) };
    expect((await bench.shell(`tinman exec ${flags} go`, { env })).code).toBe(code);
  });
});
