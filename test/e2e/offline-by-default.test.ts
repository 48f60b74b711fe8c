import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, createBench, finished, lines, type RunOptions } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

/** With all that is on stderr. */
const tinman = (args: readonly string[], options: RunOptions = {}) =>
  finished(bench.start(args, options), options.stdin, true);

const notice = /^tinman: No model was named: using the offline model[^\n]*API key[^\n]*-m[^\n]*TINMAN_MODEL[^\n]*\n/;

test("says that the offline model is used, and fails on a prompt that it does not understand", async () => {
  const good = await tinman(["exec", "-o", "json", "Just reply OK."]);
  expect([good.code, JSON.parse(good.stdout)]).toMatchObject([0, { result: "OK", model: "offline", is_error: false }]);
  expect(good.stderr.replace(notice, "")).toBe("");

  const text = await tinman(["exec", "Review the diff and reply with APPROVE or REJECT"]);
  expect([text.code, text.stdout]).toEqual([1, ""]);
  expect(text.stderr.replace(notice, "")).toMatch(
    /^tinman: No model was named, and the offline model did not[^\n]*\n$/,
  );

  const stream = await tinman(["exec", "-o", "stream-json", "fix the bug"]);
  expect(lines(stream.stdout).at(-1)).toMatchObject({ model: "offline", exitCode: 1, error: { code: "no_model" } });

  // A key does not change the model of a session.
  const { session_id: id } = JSON.parse(good.stdout);
  const next = await tinman(["exec", "-s", id, "fix the bug"], { env: { ANTHROPIC_API_KEY: "sk-none" } });
  expect(next.code).toBe(1);
  expect(next.stderr).toMatch(
    /^tinman: The session keeps its model: using the offline model[^\n]*Change it with -m, such as -m claude[^\n]*\ntinman: The session keeps its model, and[^\n]*with -m[^\n]*\n$/,
  );
});

test("a session that was begun with -m offline continues silently", async () => {
  const begun = await tinman(["exec", "-m", "offline", "-o", "json", "Just reply OK."]);
  const next = await tinman(["exec", "-s", JSON.parse(begun.stdout).session_id, "fix the bug"]);
  expect([next.code, next.stderr]).toEqual([0, ""]);
});

test("names the key that is set for a provider without a default model", async () => {
  const run = await tinman(["exec", "fix the bug"], { env: { MOONSHOT_API_KEY: "sk-none" } });
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(
    /^tinman: MOONSHOT_API_KEY is set, but[^\n]*using the offline model[^\n]*-m moonshot\/<model>[^\n]*\ntinman: MOONSHOT_API_KEY is set, but[^\n]*\n$/,
  );
});

test.each<[string, string[], Record<string, string>]>([
  ["-m", ["-m", "offline"], {}],
  ["TINMAN_MODEL", [], { TINMAN_MODEL: "offline" }],
  ["config.yaml", [], { TINMAN_HOME: "configured" }],
])("a model named by %s is used silently, and what it does not understand is an answer", async (_, options, env) => {
  await bench.file("configured/config.yaml", "model: offline\n");
  const home = env.TINMAN_HOME === undefined ? {} : { TINMAN_HOME: `${bench.cwd}/${env.TINMAN_HOME}` };
  const run = await tinman(["exec", ...options, "fix the bug"], { env: { ...env, ...home } });
  expect({ ...run, stdout: run.stdout.slice(0, 55) }).toEqual({
    code: 0,
    signal: null,
    stdout: "I did not understand all of that, so nothing was done. ",
    stderr: "",
  });
});

test("stream-jsonrpc says so on stderr alone, once, when a session names no model", async () => {
  const args = ["exec", "--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
  const open = (id: string, params: object) =>
    `${JSON.stringify({
      jsonrpc: "2.0",
      factoryApiVersion: "1.0.0",
      type: "request",
      id,
      method: "droid.initialize_session",
      params: { machineId: "m", cwd: bench.cwd, ...params },
    })}\n`;
  const twice = await tinman(args, { stdin: open("1", {}) + open("2", {}) });
  expect(twice.stderr).toMatch(
    /^tinman: No model is configured: sessions that name none use the offline model[^\n]*\n$/,
  );
  expect(lines(twice.stdout).filter(({ type }) => type === "response")).toMatchObject([
    { result: { settings: { modelId: "offline" } } },
    { result: { settings: { modelId: "offline" } } },
  ]);
  expect((await tinman(args, { stdin: open("1", { modelId: "offline" }) })).stderr).toBe("");
  expect((await tinman([...args, "-m", "offline"], { stdin: open("1", {}) })).stderr).toBe("");
});
