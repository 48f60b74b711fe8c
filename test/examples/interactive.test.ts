import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { closeAll, fakeServer } from "../connect/connected.ts";
import type { FakeServer, Turn } from "../connect/fake-server.ts";
import { startServer } from "../e2e/serve/server.ts";
import { type Bench, createBench, type Finished } from "../e2e/tinman.ts";
import { pythonPath } from "./python.ts";

const benches: Bench[] = [];

afterEach(async () => {
  await closeAll();
  for (const bench of benches.splice(0)) await bench.remove();
});

/** The package's location, if Python does not find it itself. */
const libraries = { PYTHONPATH: process.env.PYTHONPATH };

/** The first Python that has the package: a system's own can have it where another one comes first. */
function pythonWithWebsockets(): string | undefined {
  const env = { ...process.env, ...libraries };
  return [pythonPath(), "/usr/bin/python3"].find(
    (path) => spawnSync(path, ["-c", "import websockets"], { env }).status === 0,
  );
}

const languages = [
  { language: "Node.js", file: "client.mjs", program: () => process.execPath },
  { language: "Python", file: "client.py", program: pythonWithWebsockets },
];

/** CI has everything; elsewhere a test without its Python is skipped. */
function needs(program: string | undefined, skip: (why: string) => void): void {
  if (program === undefined && !process.env.CI) skip("the package websockets is not installed");
  expect(program, "a Python with the package websockets: install python3-websockets").toBeDefined();
}

/** Calls two tools at once, of which the client has one. */
async function asks(turn: Turn): Promise<void> {
  turn.chunk("Let me see. ");
  const results = await Promise.all([turn.call("clock", {}), turn.call("add", [1])]);
  const [time, sum] = results.map(({ result }) => String(result));
  turn.end("completed", `${turn.message}: ${/\d\d:\d\d/.test(time ?? "") ? "a time" : time}, ${sum}`);
}

describe.each(languages)("the client in $language", ({ file, program }) => {
  async function run(
    server: Pick<FakeServer, "url">,
    message: string,
    env: Record<string, string> = {},
  ): Promise<Finished> {
    const bench = await createBench();
    benches.push(bench);
    const words = [program() ?? "python3", resolve("examples/interactive", file), message]
      .map((word) => `'${word}'`)
      .join(" ");
    return bench.shell(words, { env: { ...libraries, TINMAN_URL: server.url, ...env } });
  }

  it("runs a session with streaming, tool calls and a stop", async ({ skip }) => {
    needs(program(), skip);
    const server = await fakeServer(asks);
    const { code, stdout, stderr } = await run(server, "What time is it?", { TINMAN_TOKEN: "secret" });
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "Let me see. What time is it?: a time, There is no such tool here.\n",
      stderr: "",
    });
    expect(server.headers.map(({ authorization }) => authorization)).toEqual(["Bearer secret"]);
    expect(server.asked.map(({ method }) => method)).toEqual([
      "startSession",
      "sendUserMessage",
      "provideToolResult",
      "provideToolResult",
      "stopSession",
    ]);
  });

  it("runs its own tool when a model calls it", async ({ skip }) => {
    needs(program(), skip);
    const server = await startServer({
      replies: [
        { text: "Let me see. ", tool_calls: [{ name: "clock", input: {} }] },
        { when: { tool_result: "/^[^:]*\\d\\d:\\d\\d/" }, text: "That is a time." },
      ],
    });
    try {
      const { code, stdout, stderr } = await run(server, "What time is it?");
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: "Let me see. That is a time.\n", stderr: "" });
    } finally {
      await server.remove();
    }
  });

  it("reports errors", async ({ skip }) => {
    needs(program(), skip);
    const server = await fakeServer((turn) => {
      turn.end("timeout", "half");
      turn.notify("SessionStatusNotification", { status: 3, reason: "timeout" });
    });
    const late = await run(server, "hello");
    expect([late.code, late.stdout, late.stderr]).toEqual([1, "half\n", "timeout\n"]);
    expect(server.headers.map(({ authorization }) => authorization)).toEqual([undefined]);
    server.respond = () => ({ error: { code: -32602, message: "Invalid params" } });
    const wrong = await run(server, "hello");
    expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([1, "", "Invalid params\n"]);
    server.refuse(401);
    const refused = await run(server, "hello");
    expect([refused.code, refused.stdout, refused.stderr.includes("401")]).toEqual([1, "", true]);
  });

  it.for([
    ["requires no token", false],
    ["requires a token", true],
  ] as const)("works with a server that %s", async ([, auth], { skip }) => {
    needs(program(), skip);
    const server = await startServer({ auth });
    try {
      const env = auth ? { TINMAN_TOKEN: server.token } : {};
      const talks = [await run(server, "Just reply OK.", env), await run(server, "read notes.txt", env)];
      expect(talks.map(({ code, stdout, stderr }) => ({ code, stdout, stderr }))).toEqual([
        { code: 0, stdout: "OK\n", stderr: "" },
        {
          code: 0,
          stdout: "I'll read notes.txt.notes.txt:\n\n```\nThere is no such tool here.\n```\n",
          stderr: "",
        },
      ]);
    } finally {
      await server.remove();
    }
  });

  it("has at most 30 lines", () => {
    const text = readFileSync(`examples/interactive/${file}`, "utf8");
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  });
});
