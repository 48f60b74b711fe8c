import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { loadUserConfig } from "../../src/config/load.ts";
import { withModels, writeConfig } from "../../src/config/models/add-models.ts";
import { readFactoryModels } from "../../src/config/models/factory-models.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tinman-models-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const config = (): string => join(home, "config.yaml");
const write = (text: string): Promise<void> => writeFile(config(), text);

/* ------------------------------------------------------------------ schema */

test("reads the long form and the short form", async () => {
  const entry = { id: "mine", provider: "ollama", model: "qwen3:8b" };
  await write(
    JSON.stringify({ models: { default: "fast", fallback: "mine", aliases: { fast: "mine" }, entries: [entry] } }),
  );
  expect(await loadUserConfig(home)).toEqual({
    models: { default: "fast", fallback: "mine", aliases: { fast: "mine" }, entries: [entry] },
  });
  await write("models:\n  - {id: mine, provider: ollama, model: 'qwen3:8b'}\n");
  expect(await loadUserConfig(home)).toEqual({ models: { entries: [entry] } });
});

test("an empty section has no models", async () => {
  for (const text of ["models:\n", "models:\n  # - id: x\n", "models: {entries: , aliases: }\n"]) {
    await write(text);
    expect(await loadUserConfig(home)).toEqual({ models: {} });
  }
});

const variable = /has a malformed variable\. Write \$\{NAME\}$/;
test.each([
  ["apiKey", "$" + "{KEY"],
  ["apiKey", "sk-$" + "{}"],
  ["apiKey", "$" + "{bad name}"],
  ["apiKey", "$" + "{A$" + "{B}}"],
  ["apiKey", "$KEY"],
  ["apiKey", " $KEY "],
  ["baseUrl", "$BASE_URL"],
  ["baseUrl", "https://$" + "{}/v1"],
  ["headers", "Bearer $" + "{1}"],
  ["headers", "$" + "{KEY"],
])("a variable in %s cannot be written %j", async (key, value) => {
  const entry = { id: "x", provider: "ollama", [key]: key === "headers" ? { "X-Key": value } : value };
  await write(JSON.stringify({ models: [entry] }));
  const place = key === "headers" ? "headers.X-Key" : key;
  const error = await loadUserConfig(home).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "config_invalid", message: expect.stringMatching(variable) });
  expect(error).toMatchObject({ message: expect.stringContaining(`: models.entries.0.${place}: has`) });
});

test("a dollar sign can be part of a key", async () => {
  const entry = { id: "x", provider: "ollama", apiKey: "a$b$", headers: { A: "$1", B: "$" } };
  await write(JSON.stringify({ models: [entry] }));
  expect(await loadUserConfig(home)).toEqual({ models: { entries: [entry] } });
});

test.each([
  [
    "models: {defalt: x}",
    /models: unknown key "defalt"; available: default, fallback, fallbacks, aliases, entries, timeouts, retries$/,
  ],
  ["models: [{id: x}]", /models\.entries\.0\.provider: is missing$/],
  ["models: [{provider: ollama}]", /models\.entries\.0\.id: is missing$/],
  ["models: [{id: x, provider: 3}]", /models\.entries\.0\.provider: must be text, got a number$/],
  ["models: [{id: x, provider: a, apiKey: ''}]", /models\.entries\.0\.apiKey: is empty\. Leave it out/],
  ["models: [{id: offline, provider: a}]", /models\.entries\.0\.id: "offline" is reserved for the offline model/],
  ["models: [{id: 'script:x', provider: a}]", /models\.entries\.0\.id: "script:x" is reserved for scripted models/],
  ["models: {aliases: {offline: x}}", /models\.aliases\.offline: "offline" is reserved for the offline model/],
  ["models: {aliases: {'script:a.yaml': x}}", /models\.aliases\.script:a\.yaml: "script:a\.yaml" is reserved for/],
  ["models: [{id: a b, provider: ollama}]", /models\.entries\.0\.id: must have no spaces/],
  [
    "models: [{id: x, provider: ollama, apikey: k}]",
    /models\.entries\.0: unknown key "apikey"; available: id, provider, .*apiKey, /,
  ],
  ["models: [{id: x, provider: a}, {id: x, provider: b}]", /models\.entries\.1\.id: duplicate "x"$/],
  ["models: [{id: x, provider: a, contextWindow: 0}]", /contextWindow: must be a whole number above 0, got 0$/],
  ["models: [{id: x, provider: a, prices: {input: 1}}]", /prices\.output: is missing$/],
  [
    "models: [{id: x, provider: a, timeouts: {idle: 0}}]",
    /timeouts\.idle: must be a number above 0 and at most 86400, got 0$/,
  ],
  [
    "models: [{id: x, provider: a, reasoningEfforts: [huge]}]",
    /reasoningEfforts\.0: must be one of none, .*, dynamic; got "huge"$/,
  ],
  ["models: {aliases: {a: ''}}", /models\.aliases\.a: must not be empty$/],
  ["network: {caFile: ''}", /network\.caFile: must not be empty$/],
  ["fetch: {allowPrivate: all}", /fetch\.allowPrivate: must be a list, got text$/],
  [
    "fetch: {allowPrivate: [localhost, 127.0.0.1/99]}",
    /fetch\.allowPrivate\.1: "127\.0\.0\.1\/99" is not a valid block/,
  ],
  ["fetch: {allowPrivate: ['http://x']}", /fetch\.allowPrivate\.0: "http:\/\/x" is a URL/],
])("rejects %j in one line that names the place", async (text, message) => {
  await write(text);
  await expect(loadUserConfig(home)).rejects.toMatchObject({
    code: "config_invalid",
    message: expect.stringMatching(message),
  });
});

/* ---------------------------------------------------------------- addition */

const added = { id: "new", provider: "ollama", model: "m:1" };
const addition = { entries: [added], aliases: { "m:1": "new" } };

test("adds models to every form of a configuration, and keeps everything else", async () => {
  const block = "    - id: new\n      provider: ollama\n      model: m:1\n";
  const cases: readonly (readonly [before: string, after: string])[] = [
    ["", `models:\n  aliases:\n    m:1: new\n  entries:\n${block}`],
    ["# nothing yet\n", `# nothing yet\n\nmodels:\n  aliases:\n    m:1: new\n  entries:\n${block}`],
    [
      "# top\nmodel: offline # mine\n\n# rules\npermissions: {deny: [git push *]}\n",
      `# top\nmodel: offline # mine\n\n# rules\npermissions: {deny: [git push *]}\nmodels:\n  aliases:\n    m:1: new\n  entries:\n${block}`,
    ],
    [
      "models:\n  # the first\n  - id: old # kept\n    provider: vllm\n",
      `models:\n  entries:\n    # the first\n    - id: old # kept\n      provider: vllm\n${block}  aliases:\n    m:1: new\n`,
    ],
    [
      "models:\n  entries:\n    - id: old\n      provider: vllm\n      # behind\n  aliases: {a: old} # names\ndurability: turn\n",
      `models:\n  entries:\n    - id: old\n      provider: vllm\n      # behind\n${block}  aliases: {a: old, m:1: new} # names\ndurability: turn\n`,
    ],
    ["models: {}\n", `models:\n  aliases:\n    m:1: new\n  entries:\n${block}`],
    ["models:\n  entries: []\n", `models:\n  entries:\n${block}  aliases:\n    m:1: new\n`],
    ["models:\n", `models:\n  aliases:\n    m:1: new\n  entries:\n${block}`],
  ];
  for (const [before, after] of cases) {
    await write(before);
    const changed = await withModels(home, addition);
    expect(changed.text).toBe(after);
    expect(changed.config.models).toMatchObject({ aliases: { "m:1": "new" } });
    expect(changed.config.models?.entries?.at(-1)).toEqual(added);
  }
});

test("a JSON configuration stays JSON", async () => {
  await write('{"model": "offline", "models": {"entries": [{"id": "old", "provider": "vllm"}]}}');
  const { text } = await withModels(home, addition);
  await write(text);
  expect(await loadUserConfig(home)).toEqual({
    model: "offline",
    models: { entries: [{ id: "old", provider: "vllm" }, added], aliases: { "m:1": "new" } },
  });
});

test("rejects additions that would be invalid", async () => {
  for (const text of [
    "models: &m [{id: old, provider: x}]\nmodel: offline\n",
    "models: [{id: new, provider: vllm}]\n",
  ]) {
    await write(text);
    const changing = withModels(home, { entries: [added, added], aliases: {} });
    await expect(changing).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining("duplicate"),
    });
  }
  for (const text of ["a: &a [{id: old, provider: x}]\nmodels: *a\n", "- 1\n", "models: [\n"]) {
    await write(text);
    await expect(withModels(home, addition)).rejects.toMatchObject({ code: "config_invalid" });
    expect(await readFile(config(), "utf8")).toBe(text);
  }
});

test("writes the file atomically, for its owner only, and through a link", async () => {
  await writeConfig(await withModels(join(home, "a", "b"), addition));
  const fresh = join(home, "a", "b");
  expect([(await stat(fresh)).mode & 0o777, (await stat(join(fresh, "config.yaml"))).mode & 0o777]).toEqual([
    0o700, 0o600,
  ]);
  expect(await readdir(fresh)).toEqual(["config.yaml"]);

  await mkdir(join(home, "dotfiles"));
  await writeFile(join(home, "dotfiles", "tinman.yaml"), "model: offline\n", { mode: 0o644 });
  await symlink(join("dotfiles", "tinman.yaml"), config());
  await writeConfig(await withModels(home, addition));
  expect((await lstat(config())).isSymbolicLink()).toBe(true);
  expect((await stat(config())).mode & 0o777).toBe(0o600);
  expect(await loadUserConfig(home)).toMatchObject({ model: "offline", models: { entries: [added] } });
});

test("does not overwrite a file that changed in the meantime", async () => {
  const fromNothing = await withModels(home, addition);
  await write("model: mine\n");
  await expect(writeConfig(fromNothing)).rejects.toMatchObject({
    message: expect.stringContaining("changed in the meantime"),
  });
  const fromSomething = await withModels(home, addition);
  await write("model: other\n");
  await expect(writeConfig(fromSomething)).rejects.toMatchObject({ code: "config_invalid" });
  expect(await readFile(config(), "utf8")).toBe("model: other\n");
  expect(await readdir(home)).toEqual(["config.yaml"]);
});

/* --------------------------------------------------------- custom models */

async function read(text: string) {
  const path = join(home, "settings.json");
  await writeFile(path, text);
  return readFactoryModels(path);
}

test("custom models become entries, with the ids that clients send", async () => {
  const reference = "$" + "{SOME_KEY}";
  const { entries, notes } = await read(`\uFEFF// a comment with "quotes"
{
  "theme": "dark", /* and , } more */
  "customModels": [
    {
      "model": "claude-sonnet-4-5", "id": "custom:Sonnet-[Mine]-4", "index": 4, "displayName": "Sonnet [Mine]",
      "baseUrl": "https://api.anthropic.com/", "apiKey": "sk-1", "provider": "anthropic",
      "maxOutputTokens": 8192, "maxContextLimit": 100000, "noImageSupport": false,
    },
    {
      "model": "kimi-k2", "displayName": "My  Model // one", "baseUrl": "https://models.example.com/v1",
      "apiKey": "${reference}", "provider": "generic-chat-completion-api", "supportsImages": true,
      "extraArgs": { "top_p": 0.9 }, "extraHeaders": { "X-Team": "blue" },
    },
    { "model": "gpt-5", "baseUrl": "https://api.openai.com/v1", "apiKey": "sk-2", "provider": "openai", "noImageSupport": true },
  ],
}`);
  expect(notes).toEqual([]);
  expect(entries).toEqual([
    {
      id: "custom:Sonnet-[Mine]-4",
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      displayName: "Sonnet [Mine]",
      baseUrl: "https://api.anthropic.com/v1",
      apiKey: "sk-1",
      contextWindow: 100_000,
      maxOutputTokens: 8_192,
      images: true,
    },
    {
      id: "custom:My-Model-//-one-1",
      provider: "openai-compatible",
      model: "kimi-k2",
      displayName: "My  Model // one",
      baseUrl: "https://models.example.com/v1",
      apiKey: reference,
      headers: { "X-Team": "blue" },
      extraArguments: { top_p: 0.9 },
      images: true,
    },
    {
      id: "gpt-5",
      provider: "openai",
      model: "gpt-5",
      baseUrl: "https://api.openai.com/v1",
      apiKey: "sk-2",
      images: false,
    },
  ]);
});

test("reads the older spelling", async () => {
  const { entries } = await read(
    JSON.stringify({
      custom_models: [
        {
          model_display_name: "Old One",
          model: "m",
          base_url: "http://127.0.0.1:1/anthropic/v1",
          api_key: "k",
          provider: "anthropic",
          max_tokens: 5,
          extra_headers: { A: "b" },
          extra_args: { c: 1 },
        },
      ],
    }),
  );
  expect(entries).toEqual([
    {
      id: "custom:Old-One-0",
      provider: "anthropic",
      model: "m",
      displayName: "Old One",
      baseUrl: "http://127.0.0.1:1/anthropic/v1",
      apiKey: "k",
      headers: { A: "b" },
      extraArguments: { c: 1 },
      maxOutputTokens: 5,
    },
  ]);
});

test("names and skips unknown entries, and never quotes a key", async () => {
  const good = { model: "m", baseUrl: "http://127.0.0.1:1/v1", apiKey: "sk-secret", provider: "openai" };
  const { entries, notes } = await read(
    JSON.stringify({
      customModels: [
        { ...good, enableThinking: true, maxOutputTokens: "many", extraHeaders: { A: 1 }, apiKey: 7 },
        { ...good, provider: "bedrock-converse" },
        { ...good, baseUrl: undefined },
        { ...good, model: " " },
        { ...good, id: "offline" },
        good,
        null,
      ],
    }),
  );
  expect(entries).toEqual([{ id: "m", provider: "openai", model: "m", baseUrl: good.baseUrl }]);
  expect(notes).toEqual([
    'customModels[0]: skipped the unknown key "enableThinking".',
    "customModels[0]: skipped apiKey, which has the wrong type.",
    "customModels[0]: skipped extraHeaders, which has the wrong type.",
    "customModels[0]: skipped maxOutputTokens, which has the wrong type.",
    'Skipped customModels[1]: unknown provider "bedrock-converse"; available: anthropic, openai, generic-chat-completion-api.',
    "Skipped customModels[2]: it has no baseUrl.",
    "Skipped customModels[3]: it names no model.",
    'Skipped customModels[4]: id: "offline" is reserved for the offline model. Choose another name.',
    'Skipped customModels[5]: duplicate "m".',
    "Skipped customModels[6]: it is not an object.",
  ]);
  expect(await read('{"theme": "dark"}')).toEqual({ entries: [], notes: [] });
});

test("every name becomes a usable id", async () => {
  const good = { model: "m", baseUrl: "http://127.0.0.1:1/v1", provider: "openai" };
  const names = ["Big, fast\tmodel", "a\u200bb\u0000c", "\u3000x\ufe0f", "Ünï (1)", ",", "plain one"];
  const { entries, notes } = await read(
    JSON.stringify({
      customModels: [...names.map((displayName) => ({ ...good, displayName })), { ...good, id: "a b,c" }],
    }),
  );
  const ids = ["Big-fast-model-0", "a-b-c-1", "x-2", "Ünï-(1)-3", "-4", "plain-one-5"].map((id) => `custom:${id}`);
  expect(entries.map(({ id }) => id)).toEqual([...ids, "a-b-c"]);
  expect(entries[0]?.displayName).toBe(names[0]);
  const changed = [0, 1, 2, 4, 6].map((index) => {
    const id = [...ids, "a-b-c"][index];
    return `customModels[${index}]: its id has invalid characters, so it becomes "${id}".`;
  });
  expect(notes).toEqual(changed);
});

test.each([
  ["https://x.example.com", "https://x.example.com/v1"],
  ["https://x.example.com/v1/messages", "https://x.example.com/v1"],
  ["https://x.example.com/messages/?a=b/", "https://x.example.com/v1?a=b/"],
  ["https://x.example.com/v2/?a=b", "https://x.example.com/v2?a=b"],
])("Anthropic's address %s becomes %s", async (baseUrl, ours) => {
  const { entries } = await read(JSON.stringify({ customModels: [{ model: "m", baseUrl, provider: "anthropic" }] }));
  expect(entries.map((entry) => entry.baseUrl)).toEqual([ours]);
});

test.each(['{"apiKey": "sk-secret", nonsense', "[]", "", '"x"', '{"customModels": {}}', `{"a": "sk-secret}`])(
  "rejects %j in one line without the file's content",
  async (text) => {
    const error = await read(text).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "usage", message: expect.stringMatching(/settings\.json[^\n]*$/) });
    expect(error).toMatchObject({ message: expect.not.stringContaining("secret") });
  },
);

test("reports a missing file", async () => {
  await expect(readFactoryModels(join(home, "none.json"))).rejects.toMatchObject({ code: "usage" });
});
