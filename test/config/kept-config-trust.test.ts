import { chmod, lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hasConfigShape } from "../../src/config/config-shape.ts";
import { loadUserConfig } from "../../src/config/load.ts";

/** What is kept of a checked configuration never means anything else than its text, whatever somebody puts in its place. */

let home: string;
const file = (): string => join(home, "config.yaml");
const kept = (): string => join(home, "cache", "config.json");
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tinman-kept-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const text = "durability: always\n";
const meaning = { durability: "always" } as const;

type Kept = Record<"version" | "text" | "config", unknown>;
const readKept = async (): Promise<Kept> => JSON.parse(await readFile(kept(), "utf8")) as Kept;

/** Writes a configuration, has it read, and so has it kept. */
async function keep(words: string): Promise<Kept> {
  await writeFile(file(), words);
  await loadUserConfig(home);
  return readKept();
}

const reference = "$" + "{DEMO_KEY}";
const whole = {
  model: "mine",
  models: {
    default: "mine",
    fallback: "offline",
    aliases: { short: "mine" },
    entries: [
      {
        id: "mine",
        provider: "openai-compatible",
        model: "m",
        displayName: "Mine",
        baseUrl: "http://127.0.0.1:9/v1",
        apiKey: reference,
        headers: { "X-Team": "blue", "X-Empty": "" },
        extraArguments: { top_p: 0.5, deep: [{ a: null }] },
        contextWindow: 9_000,
        maxOutputTokens: 900,
        images: true,
        documents: false,
        prefersPatch: true,
        reasoningEfforts: ["low", "high"],
        reasoningStyle: "word",
        thinkingField: "none",
        prices: { input: 0, output: 2, cacheRead: 0.5, cacheWrite: 1 },
        timeouts: { connect: 1, firstByte: 2.5, idle: 3 },
      },
    ],
  },
  fetch: { allowPrivate: ["10.0.0.0/8"] },
  network: { caFile: "/etc/ca.pem" },
  durability: "turn",
  passEnvironment: ["GH_TOKEN"],
  permissions: { allow: ["npm run *"], deny: ["git push *", "*"] },
  serve: {
    hosts: ["agent.example.org", "[::1]"],
    origins: ["https://agent.example.org"],
    users: [
      { name: "ann", role: "user", tokens: [`sha256:${"0f".repeat(32)}`] },
      { name: "bob", role: "user", tokens: [], folders: ["/srv/bob"], autonomy: "low", models: ["mine"] },
    ],
    rpc: "admins",
    limits: { connections: 10, connectionsPerUser: 5, payloadBytes: 1_000, unsentBytes: 2_000 },
    timeouts: { ping: "20s", stalled: 10, drain: "1.5m" },
  },
  interactive: {
    toolExecution: "server",
    toolExecutionChoices: ["client"],
    autonomy: "off",
    timeouts: { ai: 10, toolResult: "10m", idleSession: "1h" },
    limits: { queuedMessages: 1, openSessions: 4, sessionsPerMinute: 2, messagesPerMinute: 3 },
  },
};

test("every key of a configuration is kept, for its owner alone, and read back as it was", async () => {
  const words = JSON.stringify(whole);
  const { version, ...rest } = await keep(words);
  expect(rest).toEqual({ text: words, config: whole });
  expect(version).toMatch(new RegExp(`^${TINMAN_VERSION.replaceAll(".", "\\.")} `));
  const modes = [(await stat(join(home, "cache"))).mode & 0o777, (await stat(kept())).mode & 0o777];
  expect(modes).toEqual([0o700, 0o600]);
  expect([hasConfigShape(whole), await loadUserConfig(home)]).toEqual([true, whole]);
});

test("an edit counts at once", async () => {
  await keep(text);
  await writeFile(file(), "model: offline\n");
  expect(await loadUserConfig(home)).toEqual({ model: "offline" });
  expect((await readKept()).config).toEqual({ model: "offline" });
  await writeFile(file(), text);
  expect(await loadUserConfig(home)).toEqual(meaning);
});

test("an error stays one, every time, and is not kept", async () => {
  await keep(text);
  await writeFile(file(), "durability: sometimes\n");
  for (let time = 0; time < 3; time += 1) {
    await expect(loadUserConfig(home)).rejects.toMatchObject({ code: "config_invalid" });
  }
  expect((await readKept()).text).toBe(text);
});

test("nothing is left of a configuration that was taken away or emptied", async () => {
  await keep("models: [{id: a, provider: ollama, apiKey: sk-secret}]\n");
  await rm(file());
  expect(await loadUserConfig(home)).toEqual({});
  expect(await readdir(join(home, "cache"))).toEqual([]);
  await keep(text);
  await writeFile(file(), " \n");
  expect(await loadUserConfig(home)).toEqual({});
  expect(await readdir(join(home, "cache"))).toEqual([]);
});

test.each([
  ["not JSON", () => "{"],
  ["nothing", () => ""],
  ["another kind of value", () => "null"],
  ["a list", (found: Kept) => JSON.stringify([found])],
  ["another version", (found: Kept) => JSON.stringify({ ...found, version: "0.0.1 1 1" })],
  ["a version that is none", (found: Kept) => JSON.stringify({ ...found, version: 1 })],
  ["another text", (found: Kept) => JSON.stringify({ ...found, text: `${text} ` })],
  ["no text", (found: Kept) => JSON.stringify({ ...found, text: undefined })],
  ["one key more", (found: Kept) => JSON.stringify({ ...found, more: 1 })],
  ["too many bytes", (found: Kept) => JSON.stringify(found) + " ".repeat(1024 * 1024)],
])("%s in its place is as good as nothing, and is replaced", async (_, spoil) => {
  const found = await keep(text);
  // Whoever believes it would answer with another configuration.
  await writeFile(kept(), spoil({ ...found, config: { durability: "turn" } }));
  expect(await loadUserConfig(home)).toEqual(meaning);
  expect(await readKept()).toEqual(found);
});

test.each([
  null,
  [],
  "x",
  { modle: "x" },
  { model: "" },
  { durability: "never" },
  { passEnvironment: "PATH" },
  { permissions: { allow: ["*"] } },
  { permissions: { allow: ["ls; rm"] } },
  { permissions: { deny: [""] } },
  { fetch: { allowPrivate: [1] } },
  { network: { caFile: 1 } },
  { serve: { hosts: ["EXAMPLE.org"] } },
  { serve: { origins: ["null"] } },
  { serve: { users: [{ name: "ann", role: "user" }] } },
  { serve: { users: [{ name: "local", role: "user", tokens: [] }] } },
  { serve: { users: [{ name: "ann", role: "root", tokens: [] }] } },
  { serve: { users: [{ name: "ann", role: "user", tokens: ["secret"] }] } },
  { serve: { limits: { connections: 0 } } },
  { serve: { timeouts: { ping: "soon" } } },
  { interactive: { toolExecution: "nobody" } },
  { interactive: { toolExecutionChoices: "server" } },
  { interactive: { autonomy: false } },
  { interactive: { timeouts: { ai: -1 } } },
  { interactive: { limits: { queuedMessages: 1.5 } } },
  { models: [] },
  { models: { entries: {} } },
  { models: { aliases: { a: 1 } } },
  { models: { entries: [{ id: "a" }] } },
  { models: { entries: [{ id: "a", provider: "b", headers: { A: 1 } }] } },
  { models: { entries: [{ id: "a", provider: "b", prices: { input: 1 } }] } },
  { models: { entries: [{ id: "a", provider: "b", reasoningEfforts: ["huge"] }] } },
  { models: { entries: [{ id: "a", provider: "b", contextWindow: 0 }] } },
  JSON.parse('{"__proto__": {"durability": "turn"}}') as unknown,
])("%j is not the form of a configuration", async (config) => {
  const found = await keep(text);
  await writeFile(kept(), JSON.stringify({ ...found, config }));
  expect([hasConfigShape(config), await loadUserConfig(home)]).toEqual([false, meaning]);
});

test("what somebody else could have written, or is no plain file, is not believed", async () => {
  const lie = JSON.stringify({ ...(await keep(text)), config: { durability: "turn" } });
  await writeFile(kept(), lie);
  expect(await loadUserConfig(home)).toEqual({ durability: "turn" });
  for (const mode of [0o620, 0o602, 0o644]) {
    await chmod(kept(), mode);
    expect(await loadUserConfig(home)).toEqual(meaning);
    expect((await stat(kept())).mode & 0o777).toBe(0o600);
    await writeFile(kept(), lie);
  }

  const elsewhere = join(home, "elsewhere.json");
  await writeFile(elsewhere, lie, { mode: 0o600 });
  await rm(kept());
  await symlink(elsewhere, kept());
  expect(await loadUserConfig(home)).toEqual(meaning);
  expect([(await lstat(kept())).isFile(), await readFile(elsewhere, "utf8")]).toEqual([true, lie]);

  await rm(kept());
  await mkdir(kept());
  expect(await loadUserConfig(home)).toEqual(meaning);
  expect(await readdir(join(home, "cache"))).toEqual(["config.json"]);
});

test.each([
  ["an infinite number", "{top_p: .inf}", { top_p: Number.POSITIVE_INFINITY }],
  ["a zero below zero", "{top_p: -0.0}", { top_p: -0 }],
  ["a date", "{day: !!timestamp 2026-01-02}", { day: new Date("2026-01-02") }],
])("%s, which JSON cannot say, is not kept", async (_, words, value) => {
  await keep(text);
  await writeFile(file(), `models: [{id: a, provider: ollama, extraArguments: ${words}}]\n`);
  for (let time = 0; time < 2; time += 1) {
    const { models } = await loadUserConfig(home);
    expect(models?.entries?.[0]?.extraArguments).toEqual(value);
  }
  expect(await readdir(join(home, "cache"))).toEqual([]);
});

test("a very long configuration is not kept", async () => {
  await writeFile(file(), `# ${"x".repeat(1024 * 1024)}\n${text}`);
  expect(await loadUserConfig(home)).toEqual(meaning);
  await expect(stat(kept())).rejects.toThrow("ENOENT");
});

test("many at once, while the configuration changes, each get what the text said", async () => {
  const words = (number: number): string => `model: m${number}\n`;
  await writeFile(file(), words(0));
  for (let number = 1; number <= 10; number += 1) {
    const loads = Array.from({ length: 8 }, () => loadUserConfig(home));
    await rm(file());
    await writeFile(file(), words(number));
    const known = [undefined, `m${number - 1}`, `m${number}`];
    for (const { model } of await Promise.all(loads)) expect(known).toContain(model);
    expect(await loadUserConfig(home)).toEqual({ model: `m${number}` });
  }
  expect(await readdir(join(home, "cache"))).toEqual(["config.json"]);
});
