import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { findHomes } from "../../src/config/home.ts";
import { loadUserConfig, readDocument } from "../../src/config/load.ts";
import { withModels } from "../../src/config/models/add-models.ts";
import { ownHomes } from "../../src/config/own-homes.ts";

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "tinman-config-"));
});
afterEach(() => rm(home, { recursive: true, force: true }));

const write = (text: string): Promise<void> => writeFile(join(home, "config.yaml"), text);

test("no file, or an empty one, is an empty configuration", async () => {
  expect(await loadUserConfig(home)).toEqual({});
  await write("# nothing yet\n");
  expect(await loadUserConfig(home)).toEqual({});
});

test("YAML and JSON are read", async () => {
  await write("model: script:a.yaml\ndurability: always\npassEnvironment: [GH_TOKEN]\n");
  expect(await loadUserConfig(home)).toEqual({
    model: "script:a.yaml",
    durability: "always",
    passEnvironment: ["GH_TOKEN"],
  });
  await write('{"model":"offline"}');
  expect(await loadUserConfig(home)).toEqual({ model: "offline" });
});

test.each([
  ["modle: x", /: unknown key "modle"; available: model, models, fetch, /],
  ["model: 3", /: model: must be text, got a number$/],
  ["model: ''", /: model: must not be empty$/],
  ["durability: sometimes", /: durability: must be one of turn, always; got "sometimes"$/],
  ["passEnvironment: ['A B']", /passEnvironment\.0: must be a variable name/],
  ["[1, 2]", /: must be a map of keys, got a list$/],
  ["just words", /: must be a map of keys, got text$/],
  ["sandbox: sometimes", /: sandbox\.mode: must be one of auto, required, off; got "sometimes"$/],
  ["sandbox: {network: none}", /: sandbox\.network: must be one of proven, all; got "none"$/],
  ["sandbox: {writable: [cache]}", /: sandbox\.writable\.0: /],
  ["sandbox: {writeable: []}", /: sandbox: unknown key "writeable"; available: mode, network, writable$/],
  ["sandbox: [off]", /: sandbox: must be a map of keys, got a list$/],
  ["mcp: {servers: {a___b: {command: x}}}", /: mcp\.servers\.a___b: must not contain ___$/],
  ["mcp: {servers: {../x: {command: x}}}", /: mcp\.servers\.\.\.\/x: can only have letters, digits, dots, - and _$/],
  ["mcp: {servers: {a: {}}}", /: mcp\.servers\.a: needs a command or a url$/],
  ["mcp: {servers: {a: {command: x, url: 'http://x'}}}", /: mcp\.servers\.a: has a command and a url\. Remove one$/],
  ["mcp: {servers: {a: {command: x, headers: {}}}}", /: mcp\.servers\.a: has headers, which needs a url$/],
  ["mcp: {servers: {a: {type: sse, command: x}}}", /: mcp\.servers\.a: has the type sse, which needs a url$/],
  ["mcp: {servers: {a: {command: x, args: [1]}}}", /: mcp\.servers\.a\.args\.0: must be text, got a number$/],
  ["mcp: {servers: {a: {command: x, env: {A=B: y}}}}", /: mcp\.servers\.a\.env\.A=B: is not a valid variable name$/],
  [
    "mcp: {servers: {a: {command: x, tools: {t: safe}}}}",
    /tools\.t: must be one of read, low, medium, high; got "safe"$/,
  ],
  ["mcp: {servers: {a: {url: 'ftp://x'}}}", /: mcp\.servers\.a\.url: must be an address with http:\/\/ or https:\/\/$/],
  ["mcp: {servers: {a: {url: 'http://x', headers: {a b: c}}}}", /headers\.a b: is not a valid header name$/],
  ["mcp: {servers: {a: {url: 'http://x', oauth: true}}}", /: mcp\.servers\.a\.oauth: cannot be true$/],
  ["mcp: {servers: {a: {url: 'http://x', oauth: {client: x}}}}", /oauth: unknown key "client"; available: clientId, /],
  [`mcp: {servers: {a: {url: 'http://$\{x'}}}`, /: mcp\.servers\.a\.url: has a malformed variable\. /],
  ["mcp: {wait: soon}", /: mcp\.wait: it must be a time such as /],
  ["model: [", /config\.yaml: /],
  ["a: &a [*a]", /config\.yaml: /],
])("rejects %j in one line that names the file and the place", async (text, message) => {
  await write(text);
  const error = await loadUserConfig(home).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: "config_invalid", message: expect.stringMatching(message) });
  expect(error).toMatchObject({ message: expect.not.stringContaining("\n") });
  expect(error).toMatchObject({ message: expect.stringContaining(join(home, "config.yaml")) });
});

test("the sandbox is a mode, or a map", async () => {
  await write("sandbox: required\n");
  expect(await loadUserConfig(home)).toEqual({ sandbox: { mode: "required" } });
  await write("sandbox: off\n");
  expect(await loadUserConfig(home)).toEqual({ sandbox: { mode: "off" } });
  const whole = { mode: "auto", network: "all", writable: ["/opt/cache", "~/.cache/tool"] };
  await write(JSON.stringify({ sandbox: whole }));
  expect(await loadUserConfig(home)).toEqual({ sandbox: whole });
});

test("a folder in its place is an error with a message", async () => {
  await mkdir(join(home, "config.yaml"));
  await expect(loadUserConfig(home)).rejects.toMatchObject({ code: "config_invalid" });
});

test("a dangling link is an error, so that no rule is lost", async () => {
  await symlink(join(home, "nowhere"), join(home, "config.yaml"));
  await expect(loadUserConfig(home)).rejects.toThrow(`${home}/config.yaml: the link leads to no file`);
});

test("a missing or too large document is an error", async () => {
  await expect(readDocument(join(home, "nope.yaml"))).rejects.toMatchObject({ code: "config_invalid" });
  await writeFile(join(home, "big.yaml"), "x".repeat(5 * 1024 * 1024));
  await expect(readDocument(join(home, "big.yaml"))).rejects.toMatchObject({
    message: expect.stringContaining("4 MiB"),
  });
});

test("a document is read or rejected without quoting the parser", async () => {
  const path = join(home, "odd.yaml");
  const warnings: Error[] = [];
  const warned = (warning: Error): void => void warnings.push(warning);
  process.on("warning", warned);
  await writeFile(path, "a: !unknown b\n");
  expect(await readDocument(path)).toEqual({ a: "b" });
  for (const deep of ["- ".repeat(20_000), "[".repeat(20_000), "? ".repeat(20_000)]) {
    await writeFile(path, deep);
    const message = `${path}: is nested more than 100 levels deep`;
    await expect(readDocument(path)).rejects.toMatchObject({ code: "config_invalid", message });
  }
  const keys = Array.from({ length: 10_000 }, (_, at) => `k${at}: 1`);
  for (const many of [keys.join("\n"), `{ ${keys.join(", ")} }`]) {
    await writeFile(path, many);
    const message = `${path}: has too many entries`;
    await expect(readDocument(path)).rejects.toMatchObject({ code: "config_invalid", message });
  }
  await writeFile(path, keys.map((key) => `- ${key}`).join("\n"));
  expect(await readDocument(path)).toHaveLength(10_000);
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", warned);
  expect(warnings).toEqual([]);
});

describe("rejects pipes and devices without waiting for them", () => {
  test.each([
    ["a pipe without a writer", (path: string) => execFileSync("mkfifo", [path])],
    [
      "a link to such a pipe",
      (path: string) => execFileSync("sh", ["-c", 'mkfifo "$0.pipe"; ln -s "$0.pipe" "$0"', path]),
    ],
    ["a link to an endless device", (path: string) => symlink("/dev/zero", path)],
    ["a folder", (path: string) => mkdir(path)],
  ])("%s", async (_, make) => {
    const path = join(home, "config.yaml");
    await make(path);
    const refused = { code: "config_invalid", message: `${path}: is not a plain file` };
    await expect(loadUserConfig(home)).rejects.toMatchObject(refused);
    await expect(readDocument(path)).rejects.toMatchObject(refused);
    await expect(withModels(home, { entries: [], aliases: {} })).rejects.toMatchObject(refused);
  });
});

test("the home is TINMAN_HOME, or .tinman in the user's home", () => {
  expect(findHomes({ TINMAN_HOME: "/x/y" }).own).toBe("/x/y");
  expect(findHomes({ TINMAN_HOME: "y" }).own).toBe(join(process.cwd(), "y"));
  const { user, own } = findHomes({});
  expect(own).toBe(join(user, ".tinman"));
  expect(findHomes({ TINMAN_HOME: "" }).own).toBe(own);
});

test("a relative HOME is an error, unless TINMAN_HOME is set", () => {
  const before = process.env.HOME;
  try {
    process.env.HOME = "rel";
    expect(() => findHomes({})).toThrow('HOME must be an absolute path, got "rel".');
    expect(() => ownHomes({})).toThrow(expect.objectContaining({ code: "config_invalid" }));
    const { user, own, login } = findHomes({ TINMAN_HOME: "/x/y" });
    expect([user, own]).toEqual([login, "/x/y"]);
    process.env.HOME = "";
    expect(findHomes({}).own).toBe(join(login ?? "/", ".tinman"));
  } finally {
    if (before === undefined) delete process.env.HOME;
    else process.env.HOME = before;
  }
});
