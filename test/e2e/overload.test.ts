import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ProviderServer, Turn } from "../fakes/providers/base.ts";
import { createOpenAIChatServer } from "../fakes/providers/openai-chat-server.ts";
import { type Bench, createBench, lines } from "./tinman.ts";

let bench: Bench;
let servers: readonly ProviderServer[];

beforeEach(async () => {
  bench = await createBench();
  servers = await Promise.all([createOpenAIChatServer(), createOpenAIChatServer()]);
});
afterEach(async () => {
  await Promise.all(servers.map((server) => server.close()));
  await bench.remove();
});

const overloaded: Turn = { fault: { status: 529, headers: { "retry-after-ms": "10" } } };

/** The entries `first` and `second`, each on its own server. */
async function configure(models: object): Promise<void> {
  const entries = servers.map(({ url, key }, index) => {
    const id = index === 0 ? "first" : "second";
    return { id, provider: "openai-compatible", model: "local-model", baseUrl: url, apiKey: key };
  });
  await mkdir(join(bench.home, ".tinman"), { recursive: true });
  await writeFile(
    join(bench.home, ".tinman", "config.yaml"),
    JSON.stringify({ models: { default: "first", entries, ...models } }),
  );
}

describe("a run whose provider is overloaded", () => {
  test("waits and survives, with a note", async () => {
    await configure({});
    servers[0]?.enqueue(...Array.from({ length: 5 }, () => overloaded), { text: ["Here."] });
    const run = await bench.tinman(["exec", "-o", "stream-json", "hi"]);
    expect(run.code).toBe(0);
    expect(lines(run.stdout).at(-1)).toMatchObject({ type: "completion", finalText: "Here." });
    const told = lines(run.stdout).filter((line) => line.type === "notice");
    expect(told).toHaveLength(5);
    expect(told[0]).toMatchObject({
      level: "warning",
      message: expect.stringMatching(/ is overloaded \(529\).* Trying again in 0\.01\d? s \(retry 1\)\.$/),
    });
    expect(run.stderr.match(/Trying again in/g)).toHaveLength(5);
  });

  test("survives with the second model, which the session names", async () => {
    await configure({ fallbacks: ["second"], retries: { seconds: 1 } });
    servers[0]?.enqueue(overloaded, overloaded, overloaded);
    servers[1]?.enqueue({ text: ["From the second."] });
    const run = await bench.tinman(["exec", "-o", "json", "hi"]);
    expect(run.code).toBe(0);
    const { result, session_id } = JSON.parse(run.stdout) as { result: string; session_id: string };
    expect(result).toBe("From the second.");
    expect(run.stderr).toMatch(/ is overloaded \(529\).* Using second instead\.\n/);
    const shown = await bench.tinman(["sessions", "show", session_id, "--json"]);
    expect(shown.stdout).toContain('"model":"second"');
  });

  test("stops at --timeout despite its patience", async () => {
    await configure({});
    servers[0]?.enqueue({ fault: { status: 529, headers: { "retry-after": "100" } } });
    const run = await bench.tinman(["exec", "--timeout", "1s", "hi"]);
    expect(run).toMatchObject({ code: 3, stderr: expect.stringMatching(/Stopped by --timeout after 1 s/) });
  });
});

test("does not retry a wrong key or use a fallback for it", async () => {
  await configure({ fallbacks: ["second"] });
  servers[0]?.enqueue({ fault: { status: 401 } });
  const run = await bench.tinman(["exec", "hi"]);
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(/^tinman: .* refused the key \(401\).*\n$/);
  expect(servers.map(({ requests }) => requests.length)).toEqual([1, 0]);
});
