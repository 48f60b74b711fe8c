import { afterEach, beforeEach, expect, test } from "vitest";
import { createAnthropicServer } from "../fakes/providers/anthropic-server.ts";
import type { ProviderServer } from "../fakes/providers/base.ts";
import type { Bench } from "./tinman.ts";
import { createBench, finished } from "./tinman.ts";

let bench: Bench;
let server: ProviderServer;
beforeEach(async () => {
  [bench, server] = await Promise.all([createBench(), createAnthropicServer()]);
  const entry = { id: "mine", provider: "anthropic", model: "claude-sonnet-4-5", baseUrl: `${server.url}/v1` };
  const config = { models: [{ ...entry, apiKey: "$" + "{DEMO_KEY}" }] };
  await bench.shell("mkdir -p ~/.tinman && cat > ~/.tinman/config.yaml", { stdin: JSON.stringify(config) });
});
afterEach(async () => {
  await server.close();
  await bench.remove();
});

const run = (args: readonly string[] = [], key = server.key) =>
  bench.tinman(["models", "test", "mine", ...args], { env: { DEMO_KEY: key } });

const seconds = String.raw`\d+\.\d\d s`;

test("for a working model, prints where, how fast, what, and how many tokens", async () => {
  server.enqueue({ text: ["O", "K"], usage: { input: 30, cacheRead: 4, output: 2 } });
  const { code, stdout, stderr } = await run();
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(
    new RegExp(
      [
        `^mine \\(anthropic\\) at ${server.url}/v1, with the key of DEMO_KEY`,
        `first event after ${seconds}, complete reply after ${seconds}`,
        "answer: OK",
        "tokens: 30 in, 4 read from and 0 written to the cache, 2 out\n$",
      ].join("\n"),
    ),
  );
  expect(server.requests).toMatchObject([{ faults: [], aborted: false }]);
  const [{ body } = { body: undefined }] = server.requests;
  expect(body).toMatchObject({ messages: [{ role: "user", content: [{ text: "Reply with the word OK." }] }] });
  expect(body).not.toHaveProperty("tools");
  expect((await bench.tinman(["sessions"])).stdout).toBe("No sessions.\n");
});

test("a wrong key fails at once with a message, and is not shown", async () => {
  const { code, stdout } = await run([], "sk-ant-wrong-key-0123456789");
  expect(code).toBe(1);
  expect(stdout).toMatch(
    new RegExp(
      `\nfailed after ${seconds}: Anthropic refused the key \\(401\\): invalid x-api-key\\. Check DEMO_KEY\\.\n$`,
    ),
  );
  expect(stdout).not.toContain("0123456789");
  expect(server.requests.length).toBe(1);
});

test("reports a missing key without a request", async () => {
  expect(await run([], "")).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('The configuration of model "mine" needs DEMO_KEY, which is not set.'),
  });
  expect(server.requests).toEqual([]);
});

test("shows failed attempts, in both formats", async () => {
  const busy = { fault: { status: 529, headers: { "retry-after-ms": "1" } } } as const;
  server.enqueue(busy, { text: ["OK"], usage: { input: 30, output: 2 } });
  const text = await run();
  expect(text.stdout).toContain(
    "\nattempt 1 failed, retrying in 0.001 s: Anthropic is overloaded (529): Overloaded.\nfirst",
  );
  server.enqueue(busy, { text: ["OK"], usage: { input: 30, output: 2 } });
  const { code, stdout } = await run(["--json"]);
  expect([text.code, code]).toEqual([0, 0]);
  expect(JSON.parse(stdout)).toEqual({
    model: "mine",
    provider: "anthropic",
    address: `${server.url}/v1`,
    key: "DEMO_KEY",
    ok: true,
    firstEventMs: expect.any(Number),
    durationMs: expect.any(Number),
    text: "OK",
    stop: "end",
    usage: { input: 30, cacheRead: 0, cacheWrite: 0, output: 2, thinking: 0 },
    retries: [
      {
        attempt: 1,
        delayMs: 1,
        error: { code: "model_overloaded", message: "Anthropic is overloaded (529): Overloaded." },
      },
    ],
    notices: [],
    exitCode: 0,
  });
});

test("--timeout limits the wait for an answer", async () => {
  server.enqueue({ fault: "silence" });
  const { code, stdout } = await run(["--timeout", "300ms", "--json"]);
  expect(code).toBe(3);
  expect(JSON.parse(stdout)).toMatchObject({
    ok: false,
    firstEventMs: null,
    error: { code: "timeout", message: "No complete reply within 0.3 s." },
    exitCode: 3,
  });
  await server.until(() => server.requests[0]?.aborted === true);
});

test("Ctrl-C ends it, and closes the connection", async () => {
  server.enqueue({ fault: "headers-then-silence" });
  const child = bench.start(["models", "test", "mine"], { env: { DEMO_KEY: server.key } });
  const ended = finished(child);
  await server.until(() => server.requests.length === 1);
  child.kill("SIGINT");
  const { code, stdout } = await ended;
  expect([code, stdout]).toEqual([130, expect.stringMatching(/\nfailed after .*: The test was interrupted\.\n$/)]);
  await server.until(() => server.requests[0]?.aborted === true);
});

test("a refusal and an empty answer are failures", async () => {
  server.enqueue({ text: ["I would rather not."], stop: "refusal" });
  expect(await run()).toMatchObject({ code: 1, stdout: expect.stringContaining(": I would rather not.\n") });
  server.enqueue({ fault: "empty-answer" }, { fault: "empty-answer" });
  expect(await run()).toMatchObject({
    code: 1,
    stdout: expect.stringContaining(": The model returned an empty reply.\n"),
  });
});

test("a model's text cannot control the terminal", async () => {
  server.enqueue({ text: ["\u001b]0;owned\u0007", "O\nK", "x".repeat(500)] });
  const { stdout } = await run();
  expect([...stdout].filter((char) => char < " " && char !== "\n")).toEqual([]);
  expect(stdout.split("\n").find((line) => line.startsWith("answer: "))?.length).toBeLessThan(200);
});

test("can test any known model; an unknown one is a usage error", async () => {
  expect(await bench.tinman(["models", "test", "offline"])).toMatchObject({
    code: 0,
    stdout: expect.stringContaining("\nanswer: OK\n"),
  });
  const wrong = await bench.tinman(["models", "test", "nonsense"]);
  expect([wrong.code, wrong.stdout, wrong.stderr]).toEqual([
    2,
    "",
    expect.stringMatching(/^tinman: Unknown model "nonsense"/),
  ]);
  expect((await bench.tinman(["models", "test"])).code).toBe(2);
  expect((await bench.tinman(["models", "test", "offline", "--timeout", "soon"])).code).toBe(2);
  const replaced = await bench.tinman(["models", "test", "mine"], { env: { TINMAN_MODEL: "offline" } });
  expect(replaced.stdout).toMatch(/^TINMAN_MODEL replaces mine\.\noffline /);
  expect(server.requests).toEqual([]);
});
