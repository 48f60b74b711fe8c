import { execFileSync } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createOpenAIChatServer } from "../../fakes/providers/openai-chat-server.ts";
import { type Bench, createBench, lines, madeUp } from "../tinman.ts";

const beside = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const git = {
  GIT_AUTHOR_NAME: "T",
  GIT_AUTHOR_EMAIL: "t@example.com",
  GIT_COMMITTER_NAME: "T",
  GIT_COMMITTER_EMAIL: "t@example.com",
};

let bench: Bench;

beforeAll(() => {
  for (const program of ["git", "python3"]) {
    try {
      execFileSync(program, ["--version"], { stdio: "ignore" });
    } catch {
      throw new Error(`These tests need ${program}: install it (Debian: apt-get install ${program}).`);
    }
  }
});
beforeEach(async () => {
  bench = await createBench();
});
afterEach(() => bench.remove());

test("the published script for resuming works with only the program's path changed", async () => {
  const published = await readFile(beside("resume.sh"), "utf8");
  const script = published
    // Only so that this test leaves nothing behind and is fast.
    .replaceAll("/tmp/", `${bench.root}/`)
    .replace(/\bsleep (\d+)/g, (_, seconds: string) => `sleep ${Number(seconds) / 10}`)
    .replace("DROID=~/.local/bin/droid", `DROID=${join(bench.root, "bin", "tinman")}`);
  const run = await bench.shell(script, { env: { TINMAN_MODEL: "offline", ...git } });
  const output = run.stdout.split("\n");
  expect(run.stdout).toMatch(/^Old sessionId: [0-9a-f-]{36}$/m);
  expect(output).toContain("load_session -> 2 history messages");
  expect(output).toContain("DOLPHIN-2288");
  expect(output).toContain("RESULT: SUCCESS - AI remembered the password!");
  // Only the history has the word, so the answer must be the model's.
  const deltas = lines(await readFile(join(bench.root, "t2.jsonl"), "utf8")).map(
    ({ params }) => (params as { notification?: { textDelta?: string } } | undefined)?.notification?.textDelta ?? "",
  );
  expect(deltas.join("")).toBe("DOLPHIN-2288");
});

test("a session loaded under another key uses that key with the provider", async () => {
  const server = await createOpenAIChatServer({ key: undefined, models: ["local-model"] });
  try {
    const variable = `$${"{FACTORY_API_KEY}"}`;
    const entry = {
      id: "mine",
      provider: "openai-compatible",
      model: "local-model",
      baseUrl: server.url,
      apiKey: variable,
    };
    await mkdir(join(bench.home, ".tinman"), { recursive: true });
    const config = { models: { default: "mine", entries: [entry] } };
    await writeFile(join(bench.home, ".tinman", "config.yaml"), JSON.stringify(config));
    const token = madeUp();
    server.enqueue({ text: ["OK"] }, { text: [token.slice(0, 4), token.slice(4)] });
    const env = { TINMAN: "tinman", KEY1: "key-of-yesterday", KEY2: "key-of-today", TOKEN: token };
    const run = await bench.shell(`python3 "${beside("two-keys.py")}"`, { env });
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toMatch(
      /^turn1\.sessionId [0-9a-f-]{36}\nturn2\.load_session\.ok true\ntoken\.found_in_turn2 True\n$/,
    );
    expect(server.requests.map(({ headers, faults }) => [headers.authorization, faults])).toEqual([
      ["Bearer key-of-yesterday", []],
      ["Bearer key-of-today", []],
    ]);
    // The second answer is scripted, but the model did get the token.
    expect(server.requests.map(({ rawBody }) => rawBody.includes(token))).toEqual([true, true]);
  } finally {
    await server.close();
  }
});
