import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createAnthropicServer } from "../fakes/providers/anthropic-server.ts";
import type { Fault, ProviderServer } from "../fakes/providers/base.ts";
import { createGoogleServer } from "../fakes/providers/google-server.ts";
import { createOpenAIChatServer } from "../fakes/providers/openai-chat-server.ts";
import { createOpenAIResponsesServer } from "../fakes/providers/openai-responses-server.ts";
import { isFullRun } from "../full-run.ts";
import { type Bench, createBench, finished, lines, type RunOptions } from "./tinman.ts";

let bench: Bench;
let server: ProviderServer;

beforeEach(async () => {
  bench = await createBench();
});
afterEach(async () => {
  await server.close();
  await bench.remove();
});

/** The three named providers are reached through their usual variables, the compatible one through an entry. */
const ways = {
  Anthropic: {
    create: () => createAnthropicServer(),
    model: "claude-sonnet-4-5",
    variable: "ANTHROPIC_API_KEY",
    env: ({ url, key }: ProviderServer) => ({ ANTHROPIC_API_KEY: key, ANTHROPIC_BASE_URL: url }),
  },
  OpenAI: {
    create: () => createOpenAIResponsesServer(),
    model: "gpt-5.1",
    variable: "OPENAI_API_KEY",
    env: ({ url, key }: ProviderServer) => ({ OPENAI_API_KEY: key, OPENAI_BASE_URL: url }),
  },
  Google: {
    create: () => createGoogleServer(),
    model: "gemini-2.5-pro",
    variable: "GEMINI_API_KEY",
    env: ({ url, key }: ProviderServer) => ({ GEMINI_API_KEY: key, GOOGLE_GEMINI_BASE_URL: url }),
  },
} as const;

describe.each(Object.entries(ways))("%s", (_, way) => {
  test("does the main job: reads, writes and answers", async () => {
    server = await way.create();
    await bench.file("a.txt", "alpha\n");
    const makes =
      way.model === "gpt-5.1"
        ? { name: "ApplyPatch", input: { input: "*** Begin Patch\n*** Add File: b.txt\n+alpha!\n*** End Patch" } }
        : { name: "Create", input: { file_path: "b.txt", content: "alpha!\n" } };
    server.enqueue(
      { thinking: ["First look."], calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
      { calls: [makes] },
      { text: ["Done: ", "b.txt is there."] },
    );
    const args = ["exec", "-m", way.model, "-r", "high", "--auto", "low", "-o", "json", "Copy a.txt to b.txt, louder."];
    const run = await bench.tinman(args, { env: way.env(server) });
    expect({ ...run, stdout: JSON.parse(run.stdout).result }).toEqual({
      code: 0,
      signal: null,
      stderr: "",
      stdout: "Done: b.txt is there.",
    });
    expect(await bench.read("b.txt")).toBe("alpha!\n");
    expect(server.requests.map(({ faults }) => faults)).toEqual([[], [], []]);
  });

  test("a wrong key ends it at the first response, and the message names the variable", async () => {
    server = await way.create();
    const env = { ...way.env(server), [way.variable]: "wrong-key-1234567" };
    const run = await bench.tinman(["exec", "-m", way.model, "hi"], { env });
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toMatch(new RegExp(`^tinman: .* refused the key \\(40[01]\\).* Check ${way.variable}\\.\\n$`));
    expect(run.stderr).not.toContain("wrong-key-1234567");
    expect(server.requests).toHaveLength(1);
  });

  test("a missing key is reported before anything is sent", async () => {
    server = await way.create();
    const run = await bench.tinman(["exec", "-m", way.model, "hi"], {
      env: { ...way.env(server), [way.variable]: "" },
    });
    expect(run).toMatchObject({ code: 1, stdout: "" });
    expect(run.stderr).toContain(way.variable);
    expect(server.requests).toHaveLength(0);
  });

  test("the key that is set chooses the default model", async () => {
    server = await way.create();
    const run = await bench.tinman(["models", "--json"], { env: way.env(server) });
    const [first] = JSON.parse(run.stdout) as { id: string; isDefault: boolean; provider: string }[];
    expect(first).toMatchObject({ isDefault: true, provider: _.toLowerCase() });
    expect(server.requests).toHaveLength(0);
  });
});

/** As written in the configuration. */
const variable = (name: string): string => `$${`{${name}}`}`;

async function configure(more: object = {}): Promise<void> {
  const entry = {
    id: "mine",
    provider: "openai-compatible",
    model: "local-model",
    baseUrl: server.url,
    apiKey: variable("MY_KEY"),
  };
  await mkdir(join(bench.home, ".tinman"), { recursive: true });
  // Ends after 0.5, 1 and 2 seconds.
  const retries = { seconds: 6 };
  const config = { models: { default: "mine", retries, entries: [{ ...entry, ...more }] } };
  await writeFile(join(bench.home, ".tinman", "config.yaml"), JSON.stringify(config));
}

const run = (args: readonly string[], options: RunOptions = {}) =>
  bench.tinman(["exec", ...args], { env: { MY_KEY: server.key, ...options.env } });

const now = { "retry-after": "0" };

describe("what ends a run", () => {
  type Row = readonly [what: string, fault: Fault, requests: number, code: number, reason: string, words: RegExp];
  const rows: readonly Row[] = [
    ["400", { status: 400 }, 1, 1, "model_bad_request", /rejected the request for local-model \(400\)/],
    ["401", { status: 401 }, 1, 1, "model_auth", /refused the key \(401\).* Check MY_KEY\./],
    ["403", { status: 403 }, 1, 1, "model_auth", /denied access to .+ \(403\).* The key is from MY_KEY/],
    ["404", { status: 404 }, 1, 1, "model_bad_request", /has no model "local-model" at http:.* \(404\)/],
    ["413", { status: 413 }, 1, 1, "model_bad_request", /too large for .* \(413\)/],
    ["422", { status: 422 }, 1, 1, "model_bad_request", /rejected the request for local-model \(422\)/],
    ["408", { status: 408, headers: now }, 4, 1, "model_failed", /failed with status 408/],
    ["429", { status: 429, headers: now }, 4, 1, "model_overloaded", /rate limit is exceeded \(429\)/],
    ["500", { status: 500, headers: now }, 4, 1, "model_failed", /failed with status 500/],
    ["503", { status: 503, headers: now }, 4, 1, "model_overloaded", /is overloaded \(503\)/],
    ["an empty answer", "empty-answer", 2, 1, "model_empty", /returned an empty reply/],
  ];
  // All are tried in process, on each wire; here one of each kind, or all.
  const kinds = ["401", "404", "429", "500", "an answer with nothing in it"];
  test.each(rows.filter(([what]) => isFullRun || kinds.includes(what)))(
    "%s",
    async (_, fault, requests, code, reason, words) => {
      server = await createOpenAIChatServer();
      await configure();
      server.enqueue(...Array.from({ length: requests }, () => ({ text: ["Hello"], fault })));
      const done = await run(["-o", "json", "hi"]);
      const result = JSON.parse(done.stdout) as { error: { code: string; message: string } };
      expect([done.code, server.requests.length, result.error.code]).toEqual([code, requests, reason]);
      expect(result.error.message).toMatch(words);
      // Every retry is reported as it happens, then the end.
      const told = done.stderr.split("\n").filter((line) => line !== "");
      expect(told.filter((line) => /Trying again in [\d.]+ s \(retry \d\)\.$/.test(line))).toHaveLength(requests - 1);
      expect(told).toHaveLength(requests);
      expect(done.stdout + done.stderr).not.toContain(server.key);
    },
  );

  test("a conversation too long for the model: exit 3", async () => {
    server = await createOpenAIChatServer();
    await configure();
    const message =
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.";
    const error = { message, type: "invalid_request_error", param: "messages", code: "context_length_exceeded" };
    const tooLong = { fault: { status: 400, body: JSON.stringify({ error }) } };
    // Asked once more, with the shortened conversation.
    server.enqueue(tooLong, tooLong);
    const done = await run(["hi"]);
    expect(done.code).toBe(3);
    expect(done.stderr).toContain("no longer fits local-model's window");
    expect(done.stderr).toContain("8192 tokens");
  });

  test("a refusal: exit 1, with its own reason", async () => {
    server = await createOpenAIChatServer();
    await configure();
    server.enqueue({ text: ["I would rather not."], stop: "refusal" });
    const done = await run(["-o", "stream-json", "hi"]);
    expect(done.code).toBe(1);
    expect(lines(done.stdout).at(-1)).toMatchObject({
      type: "completion",
      stopReason: "refused",
      finalText: "I would rather not.",
      error: { code: "model_refused", message: "The model, or its provider, stopped answering after some text." },
    });
  });

  test("the output limit, reached four times: exit 3", async () => {
    server = await createOpenAIChatServer();
    await configure();
    server.enqueue(...["a", "b", "c", "d", "e"].map((text) => ({ text: [text], stop: "length" as const })));
    const done = await run(["-o", "json", "hi"]);
    expect([done.code, server.requests.length]).toEqual([3, 4]);
    expect(JSON.parse(done.stdout)).toMatchObject({ stop_reason: "length", error: { code: "output_limit" } });
  });
});

test("an interrupt closes the connection", async () => {
  server = await createOpenAIChatServer();
  await configure();
  server.enqueue({ text: ["Once ", "upon ", "a time"], fault: { idleAfter: 3 } });
  const child = bench.start(["exec", "tell me a story"], { env: { MY_KEY: server.key } });
  const done = finished(child);
  await server.until(() => server.requests.length === 1);
  child.kill("SIGINT");
  expect((await done).code).toBe(130);
  await server.until(() => server.requests[0]?.aborted === true);
});

test("no key is written anywhere, whatever happens", async () => {
  server = await createOpenAIChatServer();
  await configure({ headers: { "X-Team": `team-${variable("TEAM_SECRET")}` } });
  const body = JSON.stringify({ error: { message: `no: ${server.key} team-s3cret-team`, type: "x", code: null } });
  server.enqueue({ fault: { status: 400, body } }, { text: ["ok"] });
  const env = { TEAM_SECRET: "s3cret-team" };
  const failed = await run(["--log-level", "debug", "-o", "stream-json", "hi"], { env });
  const worked = await run(["--log-level", "debug", "-o", "stream-json", "hi"], { env });
  expect([failed.code, worked.code]).toEqual([1, 0]);
  const logs = await allFiles(join(bench.home, ".tinman"));
  const everything = [failed, worked].map(({ stdout, stderr }) => stdout + stderr).join("") + logs;
  expect(everything).not.toContain(server.key);
  expect(everything).not.toContain("s3cret-team");
  expect(server.requests[1]?.headers["x-team"]).toBe("team-s3cret-team");
});

test("rejects a key that cannot be sent, without showing it", async () => {
  server = await createOpenAIChatServer();
  await configure();
  const done = await run(["hi"], { env: { MY_KEY: "sk-first-half\nsecond-half" } });
  expect(done.code).toBe(1);
  expect(done.stderr).toMatch(/^tinman: [^\n]*authorization[^\n]*\n$/i);
  expect(done.stderr).not.toMatch(/half/);
  const trimmed = await run(["-o", "json", "hi"], { env: { MY_KEY: `${server.key}\n` } });
  expect(JSON.parse(trimmed.stdout).error.message).not.toMatch(/key/i);
});

test("a variable that an entry needs is not set", async () => {
  server = await createOpenAIChatServer();
  await configure();
  const done = await run(["hi"], { env: { MY_KEY: "" } });
  expect(done).toMatchObject({
    code: 1,
    stderr: 'tinman: The configuration of model "mine" needs MY_KEY, which is not set.\n',
  });
  expect(server.requests).toHaveLength(0);
});

test("extra arguments and prices of an entry", async () => {
  server = await createOpenAIChatServer();
  await configure({ extraArguments: { temperature: 0.2, seed: 7 }, prices: { input: 1, output: 2 } });
  server.enqueue({ text: ["ok"], usage: { input: 1_000, output: 500 } });
  const done = await run(["-o", "json", "hi"]);
  expect(JSON.parse(done.stdout)).toMatchObject({ total_cost_usd: 0.002, usage: { input_tokens: 1_000 } });
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0.2, seed: 7 });
});

async function allFiles(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile() && entry.name !== "config.yaml");
  return (await Promise.all(files.map((file) => readFile(join(file.parentPath, file.name), "utf8")))).join("");
}
