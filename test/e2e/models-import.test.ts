import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createOpenAIChatServer } from "../fakes/providers/openai-chat-server.ts";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

let bench: Bench;
const settings = (): string => join(bench.home, ".factory", "settings.json");
const config = (): string => join(bench.home, ".tinman", "config.yaml");
beforeEach(async () => {
  bench = await createBench();
  await mkdir(join(bench.home, ".factory"));
});
afterEach(() => bench.remove());

const reference = "$" + "{DEMO_KEY}";
const custom = (more: object): object => ({
  model: "kimi-k2",
  displayName: "My Model",
  baseUrl: "http://127.0.0.1:9/v1",
  apiKey: "sk-very-secret",
  provider: "generic-chat-completion-api",
  ...more,
});

test("shows what would be added without keys, and writes nothing", async () => {
  const models = [
    custom({ extraHeaders: { Authorization: `Bearer ${reference}`, "X-Key": "header-secret" }, temperature: 1 }),
    custom({
      model: "gpt-5",
      displayName: undefined,
      apiKey: reference,
      baseUrl: "https://x.example.com/v1?key=url-secret",
    }),
  ];
  await writeFile(settings(), `// mine\n${JSON.stringify({ customModels: models })}`);
  const { code, stdout, stderr } = await bench.tinman(["models", "import"]);
  expect(code).toBe(0);
  expect(stdout).toBe(`models:
  aliases:
    kimi-k2: custom:My-Model-0
  entries:
    - id: custom:My-Model-0
      provider: openai-compatible
      model: kimi-k2
      displayName: My Model
      baseUrl: http://127.0.0.1:9/v1
      apiKey: "[hidden]"
      headers:
        Authorization: Bearer ${reference}
        X-Key: "[hidden]"
    - id: gpt-5
      provider: openai-compatible
      model: gpt-5
      baseUrl: "[hidden]"
      apiKey: ${reference}
`);
  expect(stderr).toBe(
    `tinman: customModels[0]: skipped the unknown key "temperature".\ntinman: Nothing was written. --write adds this to ${config()}, including keys.\n`,
  );
  await expect(stat(config())).rejects.toThrow("ENOENT");
});

test("--write adds them to the configuration, and the models answer to their names", async () => {
  const server = await createOpenAIChatServer({ models: ["kimi-k2"], key: "sk-very-secret" });
  try {
    await writeFile(settings(), JSON.stringify({ customModels: [custom({ baseUrl: server.url })] }));
    await mkdir(join(bench.home, ".tinman"));
    await writeFile(config(), "# mine\ndurability: always # yes\n", { mode: 0o644 });
    const { code, stdout, stderr } = await bench.tinman(["models", "import", "--write"]);
    expect([code, stdout, stderr]).toEqual([0, `Added to ${config()}:\n  custom:My-Model-0\n`, ""]);
    const text = await readFile(config(), "utf8");
    expect(text).toMatch(/^# mine\ndurability: always # yes\nmodels:\n/);
    expect(text).toContain("apiKey: sk-very-secret\n");
    expect((await stat(config())).mode & 0o777).toBe(0o600);
    for (const name of ["custom:My-Model-0", "kimi-k2"]) {
      server.enqueue({ text: ["Hello."] });
      expect(await bench.tinman(["exec", "-m", name, "hi"])).toMatchObject({ code: 0, stdout: "Hello.\n" });
    }

    const again = await bench.tinman(["models", "import", "--write"]);
    expect(again).toMatchObject({ code: 0, stdout: `${settings()} has no models to add.\n` });
    expect(again.stderr).toBe('tinman: "custom:My-Model-0" is already in the configuration and stays unchanged.\n');
    expect(await readFile(config(), "utf8")).toBe(text);
  } finally {
    await server.close();
  }
});

test("skips an address with a password, and tolerates an invalid existing entry", async () => {
  await mkdir(join(bench.home, ".tinman"));
  await writeFile(config(), "models: [{id: wrong, provider: gorq}]\n");
  const models = [custom({ baseUrl: "https://u:url-secret@x.example.com/v1" }), custom({ displayName: "A, b" })];
  await writeFile(settings(), JSON.stringify({ customModels: models }));
  const { code, stdout, stderr } = await bench.tinman(["models", "import", "--write"]);
  expect([code, stdout]).toEqual([0, `Added to ${config()}:\n  custom:A-b-1\n`]);
  expect(stderr).toBe(
    `tinman: customModels[1]: its id has invalid characters, so it becomes "custom:A-b-1".\ntinman: Skipped "custom:My-Model-0": baseUrl must not contain a user or password: use apiKey or headers.\n`,
  );
  expect(await readFile(config(), "utf8")).not.toContain("url-secret");
});

test("keeps the meaning of existing names", async () => {
  await mkdir(join(bench.home, ".tinman"));
  await writeFile(config(), "models: {aliases: {taken: offline}, entries: [{id: there, provider: ollama}]}\n");
  const names = ["taken", "there", "claude-opus-5", "groq/x", "offline", "free", "free"];
  const models = names.map((model) => custom({ model }));
  await writeFile(settings(), JSON.stringify({ customModels: models }));
  const { stdout } = await bench.tinman(["models", "import"]);
  expect(stdout).toMatch(/^models:\n {2}aliases:\n {4}free: custom:My-Model-5\n {2}entries:\n/);
});

test("rejects an invalid result, and unreadable input", async () => {
  await mkdir(join(bench.home, ".tinman"));
  const text = "base: &base {provider: ollama}\n";
  await writeFile(settings(), JSON.stringify({ customModels: [custom({})] }));
  await writeFile(config(), text);
  expect(await bench.tinman(["models", "import", "--write"])).toMatchObject({ code: 2, stdout: "" });
  expect(await readFile(config(), "utf8")).toBe(text);
  await writeFile(config(), "");
  await writeFile(settings(), JSON.stringify({ customModels: [custom({ baseUrl: "nowhere" })] }));
  expect(await bench.tinman(["models", "import", "--write"])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("baseUrl must start with http"),
  });
  expect(await readFile(config(), "utf8")).toBe("");
  const missing = await bench.tinman(["models", "import", "--from", "nothing.json"]);
  expect([missing.code, missing.stderr]).toEqual([
    2,
    expect.stringMatching(/^tinman: nothing\.json cannot be read: [^\n]*\n$/),
  ]);
  await bench.file("broken.json", '{"customModels": [{"apiKey": "sk-very-secret" ');
  const broken = await bench.tinman(["models", "import", "--from", "broken.json"]);
  expect([broken.code, broken.stderr]).toEqual([2, "tinman: broken.json does not contain a JSON object.\n"]);
});

test("no other command uses such a file", async () => {
  await writeFile(
    settings(),
    JSON.stringify({ customModels: [custom({ model: "planted" })], model: "custom:My-Model-0" }),
  );
  const runs = [["models"], ["models", "--json"], ["doctor"], ["exec", "Just reply OK."], ["models", "--discover"]];
  for (const args of runs) {
    const { code, stdout } = await bench.tinman(args);
    expect([args, code]).toEqual([args, 0]);
    expect(stdout).not.toMatch(/planted|My-Model/);
  }
  await expect(stat(config())).rejects.toThrow("ENOENT");
});
