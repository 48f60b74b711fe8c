import { chmod, mkdir, mkdtemp, readFile, realpath, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { UserConfig } from "../../../src/config/check/checked-config.ts";
import { offeredServers } from "../../../src/mcp/entries/project-file.ts";
import { createServerSources, type WrittenSources } from "../../../src/mcp/entries/sources.ts";
import { addTrust } from "../../../src/mcp/entries/trust.ts";

const name = (text: string): string => `$\{${text}}`;
const stdio = { kind: "stdio", command: "srv", args: [], env: {} } as const;
const notice = (server: string) =>
  `.mcp.json names the server ${server}. It is not started. Review it with: tinman mcp trust`;

let root: string;
let home: string;
let repo: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "tinman-sources-")));
  [home, repo] = [join(root, "home"), join(root, "repo")];
  await mkdir(home);
  await mkdir(join(repo, ".git"), { recursive: true });
  await mkdir(join(repo, "sub"));
});
afterEach(() => rm(root, { recursive: true, force: true }));

function sources(config?: UserConfig["mcp"], env: Record<string, string> = {}): WrittenSources {
  return createServerSources({ home, config, env });
}

async function put(path: string, value: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, typeof value === "string" ? value : JSON.stringify(value));
}

const stored = async (): Promise<unknown> => JSON.parse(await readFile(join(home, "mcp.json"), "utf8"));

/** What `tinman mcp trust` does. */
async function trustAll(folder = repo): Promise<void> {
  await addTrust(home, (await offeredServers([folder], repo)).servers);
}

describe("the list of servers", () => {
  it("is empty without any file, and none appears", async () => {
    expect(await sources().list(repo)).toEqual({ servers: [], problems: [] });
    await expect(stat(join(home, "mcp.json"))).rejects.toThrow("ENOENT");
  });

  it("has those of config.yaml first, then mcp.json, then the repository", async () => {
    await put(join(home, "mcp.json"), { mcpServers: { a: { command: "other" }, b: { command: "srv" } } });
    await put(join(repo, ".mcp.json"), { mcpServers: { a: { command: "evil" }, c: { command: "srv" } } });
    expect(await sources({ servers: { a: { command: "srv" } } }).list(repo)).toEqual({
      servers: [
        { name: "a", entry: stdio, source: "user" },
        { name: "b", entry: stdio, source: "user" },
        { name: "c", entry: stdio, source: "project", isUntrusted: true },
      ],
      problems: [notice("c")],
    });
  });

  it("replaces variables, and skips a server whose variable is not set", async () => {
    const servers = {
      a: { command: "srv", args: [`--key=${name("KEY")}`, name("LEVEL:-info")], env: { K: name("env:KEY") } },
      b: { url: `https://${name("HOST")}/mcp`, headers: { A: `Bearer ${name("KEY")}`, B: name("NO") } },
      c: { command: "srv", env: { A: name("NO"), B: name("EMPTY") }, enabled: false },
    };
    await put(join(home, "mcp.json"), { mcpServers: { d: { command: "srv", args: [name("KEY")] } } });
    const config = { servers: { ...servers, e: { url: name("URL") } } };
    expect(await sources(config, { KEY: "k", HOST: "h", EMPTY: "", URL: "file:///x" }).list(repo)).toEqual({
      servers: [
        { name: "a", entry: { ...stdio, args: ["--key=k", "info"], env: { K: "k" } }, source: "user" },
        {
          name: "c",
          entry: { ...stdio, env: { A: name("NO"), B: name("EMPTY") }, isDisabled: true },
          source: "user",
        },
        { name: "d", entry: { ...stdio, args: ["k"] }, source: "user" },
      ],
      problems: [
        "The MCP server b is not used: the variable NO is not set.",
        "The MCP server e is not used: its url must be an address with http:// or https://.",
      ],
    });
  });

  it("survives a malformed mcp.json, and says so without quoting it", async () => {
    await put(join(home, "mcp.json"), '{"mcpServers": {"a": {"env": {"KEY": "secret"}');
    const path = join(home, "mcp.json");
    expect(await sources().list(repo)).toEqual({ servers: [], problems: [`${path}: is not a JSON object`] });
    await expect(sources().add({ name: "b", entry: stdio })).rejects.toMatchObject({ code: "config_invalid" });
    expect(await readFile(path, "utf8")).toContain("secret");
  });
});

describe("mcp.json", () => {
  it("keeps added servers as other programs write them, readable only by its owner", async () => {
    const own = sources();
    await own.add({ name: "a", entry: { ...stdio, args: ["x"], env: { A: "b" } } });
    await own.add({
      name: "b",
      entry: { kind: "sse", url: "https://x.example", headers: { A: "b" }, oauth: { issuer: "i", authMethod: "none" } },
    });
    expect(await stored()).toEqual({
      mcpServers: {
        a: { command: "srv", args: ["x"], env: { A: "b" } },
        b: {
          type: "sse",
          url: "https://x.example",
          headers: { A: "b" },
          oauth: { authorizationServerIssuer: "i", tokenEndpointAuthMethod: "none" },
        },
      },
    });
    expect((await stat(join(home, "mcp.json"))).mode & 0o777).toBe(0o600);
    expect((await own.list(repo)).servers).toEqual([
      { name: "a", entry: { ...stdio, args: ["x"], env: { A: "b" } }, source: "user" },
      {
        name: "b",
        entry: {
          kind: "sse",
          url: "https://x.example",
          headers: { A: "b" },
          oauth: { issuer: "i", authMethod: "none" },
        },
        source: "user",
      },
    ]);
  });

  it("replaces a stored server if asked to, but none of config.yaml", async () => {
    const own = sources({ servers: { a: { command: "srv" } } });
    await own.add({ name: "b", entry: stdio });
    const entry = { ...stdio, args: ["other"] };
    await own.add({ name: "b", entry }, { replaces: true });
    expect((await own.list("/nowhere")).servers).toContainEqual({ name: "b", entry, source: "user" });
    await expect(own.add({ name: "a", entry }, { replaces: true })).rejects.toThrow("config.yaml already has");
  });

  it("refuses bad names and names that are taken", async () => {
    const own = sources({ servers: { a: { command: "srv" } } });
    await own.add({ name: "b", entry: stdio });
    const refused = (name: string) => own.add({ name, entry: stdio }).catch((error: Error) => error.message);
    expect([await refused("a"), await refused("b"), await refused("../x"), await refused("x___y")]).toEqual([
      'config.yaml already has an MCP server "a". Remove it first.',
      'mcp.json already has an MCP server "b". Remove it first.',
      "The server's name can only have letters, digits, dots, - and _.",
      "The server's name must not contain ___.",
    ]);
  });

  it("keeps what it does not know, and writes through a link", async () => {
    const elsewhere = join(root, "dotfiles.json");
    await put(elsewhere, { $schema: "s", mcpServers: { a: { command: "srv", timeout: 5 } } });
    await symlink(elsewhere, join(home, "mcp.json"));
    await sources().add({ name: "b", entry: stdio });
    expect(JSON.parse(await readFile(elsewhere, "utf8"))).toEqual({
      $schema: "s",
      mcpServers: { a: { command: "srv", timeout: 5 }, b: { command: "srv" } },
    });
  });

  it("removes only its own servers, with their switches", async () => {
    const own = sources({ servers: { a: { command: "srv" } } });
    expect([await own.remove("a"), await own.remove("b")]).toEqual([false, false]);
    await own.add({ name: "b", entry: stdio });
    await own.setEnabled("b", false);
    expect([await own.remove("b"), await own.remove("b")]).toEqual([true, false]);
    expect(await stored()).toEqual({ mcpServers: {} });
  });

  it("switches servers of every source, and their tools", async () => {
    await put(join(repo, ".mcp.json"), { mcpServers: { c: { command: "srv" } } });
    const own = sources({ servers: { a: { command: "srv" }, b: { command: "srv", enabled: false } } });
    const done = [
      await own.setEnabled("a", false),
      await own.setEnabled("b", true),
      await own.setEnabled("c", false),
      await own.setEnabled("c", false, repo),
      await own.setEnabled("d", false, repo),
      await own.setToolEnabled("b", "x", false),
      await own.setToolEnabled("b", "y", false),
      await own.setToolEnabled("b", "x", true),
      await own.setToolEnabled("d", "x", false),
    ];
    expect(done).toEqual([true, true, false, true, false, true, true, true, false]);
    expect((await own.list(repo)).servers).toEqual([
      { name: "a", entry: { ...stdio, isDisabled: true }, source: "user" },
      { name: "b", entry: stdio, source: "user", disabledTools: ["y"] },
      { name: "c", entry: { ...stdio, isDisabled: true }, source: "project", isUntrusted: true },
    ]);
  });
});

describe("a repository's .mcp.json", () => {
  const offers = (entry: object, folder = repo) => put(join(folder, ".mcp.json"), { mcpServers: { a: entry } });

  it("is read in the session's folder and at the repository's root, the nearer first", async () => {
    await offers({ command: "root" });
    await put(join(repo, "sub", ".mcp.json"), { mcpServers: { a: { command: "near" }, b: { command: "srv" } } });
    const { servers } = await sources().list(join(repo, "sub"));
    expect(servers.map(({ name: own, entry }) => [own, "command" in entry && entry.command])).toEqual([
      ["a", "near"],
      ["b", "srv"],
    ]);
  });

  it("starts nothing until trusted: then its variables are replaced", async () => {
    await offers({ command: "srv", args: [name("KEY")] });
    const own = sources(undefined, { KEY: "k" });
    const before = await own.list(repo);
    expect(before.servers).toEqual([
      { name: "a", entry: { ...stdio, args: [name("KEY")] }, source: "project", isUntrusted: true },
    ]);
    expect(before.problems).toEqual([notice("a")]);
    await trustAll();
    expect(await own.list(repo)).toEqual({
      servers: [{ name: "a", entry: { ...stdio, args: ["k"] }, source: "project" }],
      problems: [],
    });
  });

  it("grants its servers nothing that only the user can grant", async () => {
    await offers({ command: "srv", tools: { rm: "read" } });
    await trustAll();
    expect((await sources().list(repo)).servers).toEqual([{ name: "a", entry: stdio, source: "project" }]);
  });

  it.each<readonly [what: string, before: object, after: object]>([
    ["command", { command: "a" }, { command: "b" }],
    ["arguments", { command: "a", args: ["x"] }, { command: "a", args: ["x", "y"] }],
    ["order of arguments", { command: "a", args: ["x", "y"] }, { command: "a", args: ["y", "x"] }],
    ["split of arguments", { command: "a", args: ["x y"] }, { command: "a", args: ["x", "y"] }],
    ["environment's names", { command: "a", env: { A: "1" } }, { command: "a", env: { B: "1" } }],
    ["environment's values", { command: "a", env: { A: "1" } }, { command: "a", env: { A: "2" } }],
    ["a variable", { command: "a", args: [name("A")] }, { command: "a", args: [name("B")] }],
    ["a variable's default", { command: "a", args: [name("A:-x")] }, { command: "a", args: [name("A:-y")] }],
    ["containment", { command: "a", contained: true }, { command: "a" }],
    ["address", { url: "https://a.example" }, { url: "https://b.example" }],
    ["type", { url: "https://a.example" }, { url: "https://a.example", type: "sse" }],
    ["headers", { url: "https://a.example", headers: { A: "1" } }, { url: "https://a.example", headers: { A: "2" } }],
    ["sign-in", { url: "https://a.example" }, { url: "https://a.example", oauth: { clientId: "x" } }],
    ["no sign-in", { url: "https://a.example" }, { url: "https://a.example", oauth: false }],
  ])("asks again after a change of %s", async (_, before, after) => {
    const isTrusted = async () =>
      (await sources(undefined, { A: "1", B: "2" }).list(repo)).servers[0]?.isUntrusted !== true;
    await offers(before);
    expect(await isTrusted()).toBe(false);
    await trustAll();
    expect(await isTrusted()).toBe(true);
    await offers(after);
    expect(await isTrusted()).toBe(false);
    await offers(before);
    expect(await isTrusted()).toBe(true);
  });

  it("does not ask again after a change without effect", async () => {
    await offers({ command: "a", env: { A: "1", B: "2" } });
    await trustAll();
    await offers({ env: { B: "2", A: "1" }, timeout: 5, type: "stdio", command: "a", disabled: true });
    expect((await sources().list(repo)).servers[0]?.isUntrusted).toBeUndefined();
  });

  it("is trusted in its own folder, under its own name", async () => {
    const entry = { command: "srv" };
    await offers(entry);
    await offers(entry, join(repo, "sub"));
    await trustAll();
    const [inSub] = (await sources().list(join(repo, "sub"))).servers;
    await put(join(repo, ".mcp.json"), { mcpServers: { b: entry } });
    const [other] = (await sources().list(repo)).servers;
    expect([inSub?.isUntrusted, other?.isUntrusted]).toEqual([true, true]);
  });

  it("is not trusted by a malformed file of trust", async () => {
    await offers({ command: "srv" });
    await put(join(home, "mcp", "trusted.json"), "[");
    expect(await sources().list(repo)).toEqual({
      servers: [{ name: "a", entry: stdio, source: "project", isUntrusted: true }],
      problems: [`${join(home, "mcp", "trusted.json")}: is not a JSON object`, notice("a")],
    });
  });

  it.each<readonly [what: string, make: (path: string) => Promise<void>, why: string]>([
    ["malformed", (path) => writeFile(path, "{"), "it is not a JSON object"],
    ["a list", (path) => writeFile(path, "[]"), "it is not a JSON object"],
    ["without servers", (path) => writeFile(path, "{}"), "it has no map mcpServers"],
    ["huge", (path) => writeFile(path, `{"mcpServers": {}}${" ".repeat(1024 * 1024)}`), "it is larger than 1 MiB"],
    ["a folder", async (path) => void (await mkdir(path)), "it is not a plain file"],
    [
      "a link out of the repository",
      async (path) => {
        await put(join(root, "outside.json"), { mcpServers: { a: { command: "srv" } } });
        await symlink(join(root, "outside.json"), path);
      },
      "it is a link that is broken or leaves the repository",
    ],
    [
      "a link to a device",
      (path) => symlink("/dev/zero", path),
      "it is a link that is broken or leaves the repository",
    ],
  ])("is ignored if it is %s", async (_, make, why) => {
    await make(join(repo, ".mcp.json"));
    const problems = [`${join(repo, ".mcp.json")} is ignored: ${why}.`];
    expect(await sources().list(repo)).toEqual({ servers: [], problems });
  });

  it("can be a link within the repository", async () => {
    await put(join(repo, ".cursor", "mcp.json"), { mcpServers: { a: { command: "srv" } } });
    await symlink(join(".cursor", "mcp.json"), join(repo, ".mcp.json"));
    expect((await sources().list(repo)).servers.map((server) => server.name)).toEqual(["a"]);
  });

  it("is ignored if its mode forbids reading, except by root", async () => {
    await offers({ command: "srv" });
    await chmod(join(repo, ".mcp.json"), 0);
    const isRoot = process.getuid?.() === 0;
    expect(await sources().list(repo)).toEqual(
      isRoot
        ? { servers: [{ name: "a", entry: stdio, source: "project", isUntrusted: true }], problems: [notice("a")] }
        : { servers: [], problems: [`${join(repo, ".mcp.json")} is ignored: EACCES.`] },
    );
  });
});

it("names at most eight untrusted servers, and none that are switched off", async () => {
  const named = (count: number, entry: object) =>
    put(join(repo, ".mcp.json"), {
      mcpServers: Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, entry])),
    });
  await named(10, { command: "srv" });
  expect((await sources().list(repo)).problems).toEqual([
    ".mcp.json names the servers s0, s1, s2, s3, s4, s5, s6, s7, 2 more. They are not started. Review them with: tinman mcp trust",
  ]);
  await named(10, { command: "srv", disabled: true });
  expect((await sources().list(repo)).problems).toEqual([]);
});

it("shows entries as they are written, with where they are and how far they are trusted", async () => {
  await put(join(home, "mcp.json"), { mcpServers: { b: { command: "srv", args: [name("NO")] } } });
  await put(join(repo, ".mcp.json"), {
    mcpServers: { c: { command: "srv" }, d: { command: "srv" }, e: { command: "srv" } },
  });
  await trustAll();
  await put(join(repo, ".mcp.json"), {
    mcpServers: { c: { command: "srv" }, d: { command: "x" }, f: { command: "srv" } },
  });
  expect(await sources({ servers: { a: { command: "srv" } } }).written(repo)).toEqual({
    servers: [
      { name: "a", entry: stdio, file: "config.yaml" },
      { name: "b", entry: { ...stdio, args: [name("NO")] }, file: "mcp.json" },
      { name: "c", entry: stdio, file: ".mcp.json", offer: { folder: repo, trust: "trusted" } },
      { name: "d", entry: { ...stdio, command: "x" }, file: ".mcp.json", offer: { folder: repo, trust: "changed" } },
      { name: "f", entry: stdio, file: ".mcp.json", offer: { folder: repo, trust: "new" } },
    ],
    problems: [],
  });
});
