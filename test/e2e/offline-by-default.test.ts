import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createSession, type TurnEvent } from "../../src/sdk/node.ts";
import { type Bench, createBench, finished, lines, type RunOptions } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

/** With everything on stderr. */
const tinman = (args: readonly string[], options: RunOptions = {}) =>
  finished(bench.start(args, options), options.stdin, true);

const notice = /^tinman: No model was named: using the offline model[^\n]*API key[^\n]*-m[^\n]*TINMAN_MODEL[^\n]*\n/;

test("announces the offline model, and fails on a prompt that it does not understand", async () => {
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

test("a session started with -m offline continues silently", async () => {
  const begun = await tinman(["exec", "-m", "offline", "-o", "json", "Just reply OK."]);
  const next = await tinman(["exec", "-s", JSON.parse(begun.stdout).session_id, "fix the bug"]);
  expect([next.code, next.stderr]).toEqual([0, ""]);
});

test("names the key set for a provider without a default model", async () => {
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
])("a model named by %s is used silently, and not understanding is an answer", async (_, options, env) => {
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

test("stream-jsonrpc announces it once, only on stderr, if a session names no model", async () => {
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

test.each(["error", "off"])("--log-level %s hides neither the model nor unused input", async (level) => {
  const run = await tinman(["exec", "--log-level", level, "Just reply OK."], { stdin: "waiting\n" });
  expect(run.stderr.replace(notice, "")).toMatch(/^tinman: Standard input was not read\.[^\n]*\n$/);
});

test.each([
  ["-m", ["-m", "gpt-typo"], ""],
  ["models.default", [], "default: gpt-typo, "],
])("falling back to the offline model for an unknown %s counts as default", async (_, options, named) => {
  await bench.file("fallback/config.yaml", `models: {${named}fallback: offline}\n`);
  const home = { TINMAN_HOME: `${bench.cwd}/fallback` };
  const run = await tinman(["exec", ...options, "fix the bug"], { env: home });
  expect(run.code).toBe(1);
  expect(run.stderr).toMatch(
    /^tinman: Unknown model "gpt-typo", replaced by models\.fallback: using the offline model[^\n]*\n/,
  );
  const id = (await bench.tinman(["sessions", "list", "--json"], { env: home })).stdout.match(/[0-9a-f-]{36}/)?.[0];
  expect((await tinman(["exec", "-s", id ?? "", "fix the bug"], { env: home })).code).toBe(1);
});

test("tinman connect announces it, and fails on a prompt that the server's model does not understand", async () => {
  const server = bench.start(["serve", "--port", "0", "--no-auth"]);
  const ended = once(server, "exit");
  try {
    if (server.stdout === null) throw new Error("the server has no output");
    const [line] = await once(createInterface(server.stdout), "line");
    const address = /ws:\S+/.exec(String(line))?.[0] ?? "";
    const said = /^\[The server says: No model is configured: sessions that name none use the offline model[^\n]*\]$/m;
    const good = await tinman(["connect", address], { stdin: "Just reply OK.\nJust reply DONE.\n" });
    expect([good.code, good.stdout, good.stderr.match(new RegExp(said, "gm"))?.length]).toEqual([0, "OK\nDONE\n", 1]);
    const bad = await tinman(["connect", address], { stdin: "Review a.py and tell me whether it is safe\n" });
    expect([bad.code, bad.stderr.includes("did not understand the prompt. (no_model)]")]).toEqual([1, true]);
    const named = await tinman(["connect", address, "-m", "offline"], { stdin: "review a.py\n" });
    expect([named.code, said.test(named.stderr)]).toEqual([0, false]);
  } finally {
    server.kill();
    await ended;
  }
});

test("the SDK reports it with the first turn, once, by onEvent or else by onWarning", async () => {
  const heard: string[] = [];
  const events: string[] = [];
  const options = { cwd: bench.cwd, env: bench.env, executable: "tinman" };
  const hear = (words: string): void => void heard.push(words);
  const onEvent = (event: TurnEvent): void => void (event.type === "notice" && events.push(event.message));
  for (const listening of [{ onWarning: hear }, { onWarning: hear, onEvent }]) {
    const session = await createSession({ ...options, ...listening });
    await session.send("review this change");
    await session.send("Just reply OK.");
    await session.close();
  }
  const words = expect.stringMatching(/^No model is configured: sessions that name none use the offline model/);
  expect({ heard, events }).toEqual({ heard: [words], events: [words] });
});
