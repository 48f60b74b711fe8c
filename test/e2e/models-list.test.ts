import { afterEach, beforeEach, expect, test } from "vitest";
import { providers } from "../../src/models/providers/providers.ts";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(() => bench.remove());

const configure = (text: string): Promise<unknown> =>
  bench.shell(`mkdir -p ~/.tinman && cat > ~/.tinman/config.yaml`, { stdin: text });

const variables = providers
  .filter(({ isLocal }) => isLocal !== true)
  .map(({ id, keyVariables: [first, ...others] }) => {
    const all = [first, ...others].join(", ");
    return [id, others.length === 0 ? `${first} is not set` : `none of ${all} is set`] as const;
  });

/** The lines under a heading, or before the first one, as words. */
function part(text: string, heading?: string): readonly (readonly string[])[] {
  const parts = text.split("\n\n");
  const found = heading === undefined ? parts[0] : parts.find((one) => one.startsWith(heading));
  const lines = (found ?? "").split("\n").filter((line) => line !== "");
  return (heading === undefined ? lines : lines.slice(1)).map((line) => line.trim().split(/\s{2,}/));
}

test("without keys and configuration, only keyless models are usable, and every provider says why", async () => {
  const { stdout, stderr, code } = await bench.tinman(["models"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(part(stdout)).toEqual([["* offline", "tinman", "200000 tokens", "no key"]]);
  expect(part(stdout, "Not usable:")).toEqual(variables);
  expect(variables).toContainEqual(["anthropic", "ANTHROPIC_API_KEY is not set"]);
  expect(stdout).toContain("ollama/<model>, lmstudio/<model>, llamacpp/<model>, vllm/<model>");
});

test("a key makes its provider's models usable, and its first one the default", async () => {
  const { stdout } = await bench.tinman(["models"], { env: { GEMINI_API_KEY: "g-secret", GROQ_API_KEY: "q-secret" } });
  const rows = part(stdout);
  expect(rows[0]).toEqual(["* gemini-pro-latest", "google", "1048576 tokens", "GEMINI_API_KEY"]);
  expect(rows.filter(([, provider]) => provider === "google").length).toBeGreaterThan(3);
  expect(rows).toContainEqual(["groq/<model>", "groq", "GROQ_API_KEY"]);
  const missing = part(stdout, "Not usable:").map(([id]) => id);
  expect(missing).toEqual(variables.map(([id]) => id).filter((id) => id !== "google" && id !== "groq"));
  expect(stdout).not.toContain("secret");
});

test("lists entries, other names and a fallback with their faults", async () => {
  await configure(`
models:
  default: near
  fallback: local
  aliases: {near: local, far: shut, lost: nowhere}
  entries:
    - {id: local, provider: ollama, model: "qwen3:8b", contextWindow: 32000}
    - {id: shut, provider: openai-compatible, baseUrl: "http://127.0.0.1:9/v1", apiKey: "\${DEMO_KEY}"}
    - {id: own, provider: openai-compatible, baseUrl: "http://127.0.0.1:9/v1?key=user:word", apiKey: word-for-word}
`);
  const { stdout } = await bench.tinman(["models"]);
  expect(part(stdout)).toEqual([
    ["* local", "ollama", "32000 tokens", "no key"],
    ["own", "openai-compatible", "128000 tokens", 'apiKey of model "own" in config.yaml'],
    ["offline", "tinman", "200000 tokens", "no key"],
  ]);
  expect(part(stdout, "Other names:")).toEqual([["near", "means local"]]);
  expect(stdout).toContain("\nUnknown models are replaced by local.\n");
  const unset = 'The configuration of model "shut" needs DEMO_KEY, which is not set.';
  expect(part(stdout, "Not usable:").slice(0, 3)).toEqual([
    ["shut", unset],
    ["alias far", `(shut): ${unset}`],
    ["alias lost", '(nowhere): unknown model "nowhere"'],
  ]);

  const json = await bench.tinman(["models", "--json"]);
  expect(json.stderr).toBe(
    `tinman: alias far (shut): ${unset}\ntinman: alias lost (nowhere): unknown model "nowhere"\n`,
  );
  const [local, own, offline, shut, ...rest] = JSON.parse(json.stdout);
  const plain = {
    maxOutputTokens: 16_384,
    reasoningEfforts: ["none"],
    images: false,
    documents: false,
    prefersPatch: false,
  };
  expect([local, own, offline, shut]).toEqual([
    {
      ...{
        id: "local",
        provider: "ollama",
        displayName: "qwen3:8b",
        contextWindow: 32_000,
        ...plain,
        maxOutputTokens: 32_000,
      },
      ...{ isDefault: true, usable: true, address: "http://127.0.0.1:11434/v1", key: null, aliases: ["near"] },
    },
    {
      ...{ id: "own", provider: "openai-compatible", displayName: "own", contextWindow: 128_000, ...plain },
      ...{ isDefault: false, usable: true, address: "http://127.0.0.1:9/v1", aliases: [] },
      key: 'apiKey of model "own" in config.yaml',
    },
    expect.objectContaining({ id: "offline", isDefault: false, usable: true, address: null, key: null }),
    {
      ...{ id: "shut", provider: "openai-compatible", displayName: "shut", contextWindow: 128_000, ...plain },
      ...{
        isDefault: false,
        usable: false,
        address: "http://127.0.0.1:9/v1",
        key: null,
        aliases: ["far"],
        problem: unset,
      },
    },
  ]);
  expect(rest.length).toBeGreaterThan(10);
  const reasons = new Set(rest.map(({ usable, problem }: Record<string, unknown>) => `${usable} ${problem}`));
  expect([...reasons]).toEqual([
    "false No key for Anthropic. Set ANTHROPIC_API_KEY.",
    "false No key for OpenAI. Set OPENAI_API_KEY.",
    "false No key for Google. Set GEMINI_API_KEY or GOOGLE_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY.",
  ]);
  expect(json.stdout + stdout).not.toContain("word-for-word");
  expect(json.stdout + stdout).not.toContain("user:word");
});

test("marks a default without its key; doctor fails with the same message", async () => {
  await configure("model: claude-opus-5-5\n");
  const { stdout, code } = await bench.tinman(["models"]);
  const why = "No key for Anthropic. Set ANTHROPIC_API_KEY.";
  expect([code, part(stdout, "Not usable:")[0]]).toEqual([0, ["* claude-opus-5-5", why]]);
  expect(part(stdout)).toEqual([["offline", "tinman", "200000 tokens", "no key"]]);
  const doctor = await bench.tinman(["doctor", "--json"]);
  expect(doctor.code).toBe(1);
  expect(JSON.parse(doctor.stdout).checks).toContainEqual({
    name: "model",
    status: "failed",
    detail: `default model claude-opus-5-5 is unusable. ${why}`,
  });
  expect(await bench.tinman(["doctor"], { env: { ANTHROPIC_API_KEY: "x" } })).toMatchObject({ code: 0 });
});

test("lists invalid entries with the reason, without affecting others; doctor names them", async () => {
  const entries = `
    - {id: good, provider: ollama, model: m}
    - {id: other, provider: gorq}
    - {id: nowhere, provider: openai-compatible}
    - {id: open, provider: openai-compatible, baseUrl: "http://me:pass-word@127.0.0.1:9/v1"}
`;
  await configure(`models:\n  default: good\n  aliases: {far: nowhere}\n  entries:${entries}`);
  const { code, stdout, stderr } = await bench.tinman(["models"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(part(stdout).map(([id]) => id)).toEqual(["* good", "offline"]);
  const missing = 'baseUrl is missing: provider "openai-compatible" has no default address';
  const problems = [
    ["other", expect.stringMatching(/^unknown provider "gorq"\. Known: anthropic, /)],
    ["nowhere", missing],
    ["open", "baseUrl must not contain a user or password: use apiKey or headers"],
  ];
  expect(part(stdout, "Not usable:").slice(0, 4)).toEqual([...problems, ["alias far", `(nowhere): ${missing}`]]);

  const json = await bench.tinman(["models", "--json"]);
  const told = (JSON.parse(json.stdout) as Record<string, unknown>[]).slice(0, 5);
  expect(told.map(({ id, usable, problem }) => [id, usable, problem])).toEqual([
    ["good", true, undefined],
    ["offline", true, undefined],
    ...problems.map(([id, why]) => [id, false, why]),
  ]);

  expect(await bench.tinman(["exec", "-m", "offline", "Just reply OK."])).toMatchObject({ code: 0, stdout: "OK\n" });
  for (const args of [
    ["exec", "-m", "nowhere", "hi"],
    ["exec", "-m", "far", "hi"],
    ["models", "test", "nowhere"],
  ]) {
    const run = await bench.tinman(args);
    expect([args, run.code, run.stderr]).toEqual([args, 2, `tinman: config.yaml: models: "nowhere": ${missing}.\n`]);
  }
  const doctor = await bench.tinman(["doctor"]);
  expect([doctor.code, doctor.stdout]).toEqual([
    1,
    expect.stringMatching(/^failed +configuration +config\.yaml: models: "other": .*"nowhere": .*"open": .*$/m),
  ]);
  expect([stdout, json.stdout, doctor.stdout].join("")).not.toContain("pass-word");

  await configure(`models:\n  default: far\n  aliases: {far: nowhere}\n  entries:${entries}`);
  const listed = await bench.tinman(["models"]);
  expect([listed.code, part(listed.stdout, "Not usable:")[0]]).toEqual([0, ["* nowhere", missing]]);
  expect(await bench.tinman(["exec", "hi"])).toMatchObject({ code: 2, stderr: expect.stringContaining(missing) });
  expect(await bench.tinman(["exec", "-m", "offline", "Just reply OK."])).toMatchObject({ code: 0, stdout: "OK\n" });
});

test("reports a variable with an invalid address at its provider", async () => {
  const env = { ANTHROPIC_API_KEY: "k", ANTHROPIC_BASE_URL: "gateway.example.com", OPENAI_API_KEY: "k" };
  const { code, stdout } = await bench.tinman(["models"], { env: { ...env, TINMAN_MODEL: "offline" } });
  const why = "ANTHROPIC_BASE_URL must start with http:// or https://";
  expect([code, part(stdout, "Not usable:")[0]]).toEqual([0, ["anthropic", why]]);
  expect(part(stdout)[1]).toEqual(["gpt-5.6", "openai", "400000 tokens", "OPENAI_API_KEY"]);
});

test("reports a misspelt subcommand", async () => {
  const words = async (...args: readonly string[]): Promise<unknown> => {
    const { code, stdout, stderr } = await bench.tinman(args);
    return [code, stdout, stderr];
  };
  const unknown = (name: string, hint = ""): unknown => [2, "", `tinman: unknown command "${name}"${hint}\n`];
  expect(await words("models", "tset", "x")).toEqual(unknown("tset", " (Did you mean test?)"));
  expect(await words("models", "tset")).toEqual(unknown("tset", " (Did you mean test?)"));
  expect(await words("models", "--json", "imprt")).toEqual(unknown("imprt", " (Did you mean import?)"));
  expect(await words("models", "qwertz", "x")).toEqual(unknown("qwertz"));
  expect(await words("sessions", "--cwd", "show", "delte")).toEqual(unknown("delte", " (Did you mean delete?)"));
  const tooMany = [2, "", "tinman: too many arguments for 'list'. Expected 0 arguments but got 1.\n"];
  expect(await words("models", "list", "tset")).toEqual(tooMany);
});

test("TINMAN_MODEL is the model of every run", async () => {
  const { stdout } = await bench.tinman(["models"], { env: { TINMAN_MODEL: "groq/x", GROQ_API_KEY: "k" } });
  expect(part(stdout)[0]).toEqual(["* groq/x", "groq", "128000 tokens", "GROQ_API_KEY"]);
  expect(stdout).toContain("* is used by every run, because TINMAN_MODEL is set.\n");
});

test("--discover queries four servers, changes nothing, and reports each result", async () => {
  const run = await bench.tinman(["models", "--discover", "--json"]);
  const found = JSON.parse(run.stdout) as { provider: string; address: string; models: unknown[]; problem?: string }[];
  expect(run.code).toBe(0);
  expect(found.map(({ provider, address }) => `${provider} ${address}`)).toEqual([
    "ollama http://127.0.0.1:11434/v1",
    "lmstudio http://127.0.0.1:1234/v1",
    "llamacpp http://127.0.0.1:8080/v1",
    "llamacpp http://127.0.0.1:9931/v1",
    "vllm http://127.0.0.1:8000/v1",
  ]);
  // A contributor can have such a server running.
  for (const { models, problem } of found) expect(models.length === 0).toBe(problem !== undefined);
  const text = (await bench.tinman(["models", "--discover"])).stdout;
  for (const name of ["Ollama", "LM Studio", "llama.cpp", "vLLM"])
    expect(text).toMatch(new RegExp(`^${name} at http://127`, "m"));
  expect((await bench.shell("ls -A ~")).stdout).toBe("");
});
