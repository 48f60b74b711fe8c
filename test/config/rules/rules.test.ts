import { execFileSync } from "node:child_process";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { UserConfig } from "../../../src/config/check/checked-config.ts";
import { loadUserConfig } from "../../../src/config/load.ts";
import type { FolderRules } from "../../../src/config/rules/rules.ts";
import { adminFiles, loadRules } from "../../../src/config/rules/rules.ts";

let root: string;
let ownHome: string;
let repo: string;
let admin: string;
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), "tinman-rules-")));
  [ownHome, repo, admin] = [join(root, "home", ".tinman"), join(root, "repo"), join(root, "admin.yaml")];
  for (const folder of [ownHome, join(repo, ".git"), join(repo, "packages", "a")])
    await mkdir(folder, { recursive: true });
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function put(path: string, text: string): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}
const repositoryFile = (...folders: readonly string[]): string => join(repo, ...folders, ".tinman", "config.yaml");

async function rulesIn(cwd: string, user: UserConfig = {}, isNamed = false): Promise<FolderRules> {
  return (await loadRules({ user, adminFiles: [{ path: admin, isNamed }], ownHome }))(cwd);
}
const none = { allow: [], deny: [], alwaysDeny: [] };

describe("the user's", () => {
  const load = async (text: string): Promise<UserConfig> => {
    await put(join(ownHome, "config.yaml"), text);
    return loadUserConfig(ownHome);
  };

  test("allow and deny become words", async () => {
    const user = await load("permissions:\n  allow:\n    - npm run *\n  deny: [git push *, '*']\n");
    expect(await rulesIn(repo, user)).toEqual({
      rules: { allow: [["npm", "run", "*"]], deny: [["git", "push", "*"], ["*"]], alwaysDeny: [] },
      notices: [],
    });
    expect(await rulesIn(repo, await load("permissions: {}"))).toEqual({ rules: none, notices: [] });
  });

  test("a thousand rules keep their order", async () => {
    const deny = Array.from({ length: 1000 }, (_, at) => `tool${at} *`);
    const { rules } = await rulesIn(repo, await load(JSON.stringify({ permissions: { deny } })));
    expect(rules.deny).toEqual(deny.map((rule) => rule.split(" ")));
  });

  test.each([
    ["permissions:", /permissions: .*must be a map of keys/],
    ["permissions: null", /permissions: .*must be a map of keys/],
    ["permissions: [git]", /permissions: .*must be a map of keys/],
    ["permissions: {ask: [ls]}", /permissions: unknown key "ask"/],
    ["permissions: {deny: git push}", /permissions\.deny: .*must be a list/],
    ["permissions: {deny: }", /permissions\.deny: .*must be a list/],
    ["permissions: {deny: [1]}", /permissions\.deny\.0: .*must be text/],
    ["permissions: {deny: [ls, null]}", /permissions\.deny\.1: .*must be text/],
    ["permissions: {deny: [[git, push]]}", /permissions\.deny\.0: .*must be text/],
    ["permissions: {deny: [a: b]}", /permissions\.deny\.0: .*must be text/],
    ["permissions: {deny: ['']}", /permissions\.deny\.0: invalid rule "": it is empty/],
    ["permissions: {allow: [ls, 'rm; ls']}", /permissions\.allow\.1: invalid rule "rm; ls": ; is shell syntax/],
    ["permissions: {allow: ['*']}", /permissions\.allow\.0: invalid rule "\*": it would allow every command/],
    ["permissions: {deny: [*]}", /line 1, column/],
    ["permissions: {deny: [a]}\npermissions: {}", /line 2, column 1: Map keys must be unique/],
    ["permissions: {deny: [a], deny: []}", /Map keys must be unique/],
    ['{"permissions": {"deny": ["a"]}, "permissions": {}}', /Map keys must be unique/],
    ["permissions: {}\n---\npermissions: {}", /multiple documents/],
    ["permissions: {__proto__: {deny: [a]}}", /__proto__/],
    [`permissions: ${"[".repeat(5000)}`, /nested more than 100 levels deep/],
    [`${"- ".repeat(5000)}x`, /nested more than 100 levels deep/],
    [`{${"a,".repeat(60_000)}}`, /too many entries/],
    [
      "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]",
      /alias/,
    ],
    ["permissions: {deny: [*nobody]}", /alias/],
    ["permissions: {deny: ['a\u001b[2J;']}", /config\.yaml: /],
  ])("rejects %j in one line that names the file and the place", async (text, message) => {
    const error = await load(text).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "config_invalid", message: expect.stringMatching(message) });
    expect(error).toMatchObject({ message: expect.stringContaining(join(ownHome, "config.yaml")) });
    expect(error).toMatchObject({ message: expect.not.stringMatching(/\p{Cc}/u) });
  });
});

describe("the administrator's", () => {
  test("one file is fixed, and a variable adds another", () => {
    const fixed = { path: "/etc/tinman/config.yaml", isNamed: false };
    expect(adminFiles({})).toEqual([fixed]);
    expect(adminFiles({ TINMAN_ADMIN_CONFIG: "" })).toEqual([fixed]);
    expect(adminFiles({ TINMAN_ADMIN_CONFIG: "/x.yaml" })).toEqual([fixed, { path: "/x.yaml", isNamed: true }]);
  });

  test("its rules always apply", async () => {
    await put(admin, "permissions:\n  deny: [sudo *]\n");
    const second = { path: await put(join(root, "more.yaml"), '{"permissions":{"deny":["su"]}}'), isNamed: true };
    const rules = await loadRules({ user: {}, adminFiles: [{ path: admin, isNamed: false }, second], ownHome });
    expect(await rules(repo)).toEqual({ rules: { ...none, alwaysDeny: [["sudo", "*"], ["su"]] }, notices: [] });
  });

  test("a link is followed", async () => {
    await symlink(await put(join(root, "real.yaml"), "permissions: {deny: [su]}"), admin);
    expect((await rulesIn(repo)).rules.alwaysDeny).toEqual([["su"]]);
  });

  test.each(["", "# nothing\n", "{}", "permissions: {}"])("%j holds no rules", async (text) => {
    await put(admin, text);
    expect(await rulesIn(repo)).toEqual({ rules: none, notices: [] });
  });

  test.each([
    ["model: x", /unknown key "model"/],
    ["permissions: {allow: [ls]}", /permissions: unknown key "allow"/],
    ["permissions: {deny: [ls], allow: []}", /permissions: unknown key "allow"/],
    ["permissions:", /permissions: .*must be a map of keys/],
    ["permissions: {deny: ['a; b']}", /permissions\.deny\.0: invalid rule "a; b"/],
    ["permissions: {deny: [7]}", /permissions\.deny\.0: /],
    ["deny: [ls]", /unknown key "deny"/],
    ["[ls]", /must be a map of keys/],
    ["words", /must be a map of keys/],
    ["permissions: {deny: [", /line 1, column/],
  ])("%j ends the run", async (text, message) => {
    await put(admin, text);
    await expect(rulesIn(repo)).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringMatching(message),
    });
    await expect(rulesIn(repo)).rejects.toMatchObject({ message: expect.stringContaining(admin) });
  });

  test("it is optional, unless it was named or is a dangling link", async () => {
    expect(await rulesIn(repo)).toEqual({ rules: none, notices: [] });
    await expect(rulesIn(repo, {}, true)).rejects.toMatchObject({
      code: "config_invalid",
      message: `${admin}: the file named by TINMAN_ADMIN_CONFIG does not exist`,
    });
    await symlink("nowhere.yaml", admin);
    await expect(rulesIn(repo)).rejects.toMatchObject({ code: "config_invalid" });
  });

  test("it is not read from the workspace", async () => {
    const files = [{ path: "admin.yaml", isNamed: true }];
    await expect(loadRules({ user: {}, adminFiles: files, ownHome })).rejects.toMatchObject({
      code: "config_invalid",
      message: 'TINMAN_ADMIN_CONFIG: "admin.yaml" is not an absolute path',
    });
  });

  test("rejects a folder, a file as its folder, a pipe, a huge file, and binary data", async () => {
    await mkdir(admin);
    await expect(rulesIn(repo)).rejects.toMatchObject({ code: "config_invalid" });
    await rm(admin, { recursive: true });
    const below = { path: join(await put(join(root, "file"), ""), "config.yaml"), isNamed: false };
    await expect(loadRules({ user: {}, adminFiles: [below], ownHome })).rejects.toMatchObject({
      code: "config_invalid",
    });
    execFileSync("mkfifo", [admin]);
    await expect(rulesIn(repo)).rejects.toMatchObject({ message: `${admin}: is not a plain file` });
    await rm(admin);
    await writeFile(admin, Buffer.alloc(5 * 1024 * 1024, " "));
    await expect(rulesIn(repo)).rejects.toMatchObject({ message: `${admin}: is larger than 4 MiB` });
    await writeFile(admin, Buffer.from([...Buffer.from("permissions: {deny: [caf"), 0xe9, ...Buffer.from("]}")]));
    await expect(rulesIn(repo)).rejects.toMatchObject({ code: "config_invalid" });
  });
});

describe("a repository's", () => {
  test("from its root down to the folder, they add denials to the user's", async () => {
    await put(repositoryFile(), "permissions: {deny: [git push *]}");
    await put(repositoryFile("packages"), "permissions: {deny: [make]}");
    await put(repositoryFile("packages", "a"), "permissions: {deny: [npm publish *]}");
    await put(join(root, ".tinman", "config.yaml"), "permissions: {deny: [above]}");
    const user = { permissions: { allow: ["ls"], deny: ["sudo *"] } };
    const rules = await loadRules({ user, adminFiles: [], ownHome });
    const [sudo, push, make] = [["sudo", "*"], ["git", "push", "*"], ["make"]];
    expect(await rules(join(repo, "packages", "a"))).toEqual({
      rules: { allow: [["ls"]], deny: [sudo, push, make, ["npm", "publish", "*"]], alwaysDeny: [] },
      notices: [],
    });
    expect((await rules(repo)).rules.deny).toEqual([sudo, push]);
    await rm(repositoryFile());
    expect((await rules(repo)).rules.deny).toEqual([sudo]);
  });

  test("outside a repository, only the folder's own counts", async () => {
    const plain = join(root, "plain", "deep");
    await put(join(root, "plain", ".tinman", "config.yaml"), "permissions: {deny: [a]}");
    await put(join(plain, ".tinman", "config.yaml"), "permissions: {deny: [b]}");
    expect((await rulesIn(plain)).rules.deny).toEqual([["b"]]);
  });

  test("all other keys are ignored with a notice", async () => {
    const path = await put(
      repositoryFile(),
      "model: evil\nhooks: {start: touch x}\npermissions: {allow: ['rm *'], mode: unsafe, deny: [su]}\nmcpServers: {}\n",
    );
    expect(await rulesIn(repo)).toEqual({
      rules: { ...none, deny: [["su"]] },
      notices: [
        `${path}: model, hooks, permissions.allow, permissions.mode, mcpServers are ignored: a repository's configuration can only deny commands.`,
      ],
    });
    await put(path, "passEnvironment: [KEY]");
    expect(await rulesIn(repo)).toEqual({
      rules: none,
      notices: [`${path}: passEnvironment is ignored: a repository's configuration can only deny commands.`],
    });
  });

  test("an allow list there is ignored", async () => {
    await put(repositoryFile(), "permissions: {allow: 7}");
    expect((await rulesIn(repo)).notices).toEqual([expect.stringContaining(": permissions.allow is ignored: ")]);
  });

  test("its keys cannot flood or mislead a terminal", async () => {
    const keys = [
      "\u001b[2J",
      "a\nb",
      "\u202eevil",
      "x".repeat(500),
      "__proto__",
      ...Array.from({ length: 20 }, (_, at) => `k${at}`),
    ];
    await put(repositoryFile(), `{${keys.map((key) => `${JSON.stringify(key)}: 1`).join(", ")}}`);
    const { notices, rules } = await rulesIn(repo);
    expect(rules).toEqual(none);
    expect(notices).toEqual([
      expect.stringMatching(
        /: "\\u\{1b\}\[2J", "a\\u\{a\}b", "\\u\{202e\}evil", "x{80}…", __proto__, k0, k1, k2, 17 more are ignored/,
      ),
    ]);
  });

  test.each([
    ["permissions:", /permissions: .*must be a map of keys/],
    ["permissions: deny", /permissions: .*must be a map of keys/],
    ["permissions: {deny: git push}", /permissions\.deny: .*must be a list/],
    ["permissions: {deny: ['a | b']}", /permissions\.deny\.0: invalid rule "a \| b"/],
    ["permissions: {deny: [1.5]}", /permissions\.deny\.0: .*must be text/],
    ["permissions: {deny: [a]}\npermissions: {}", /must be unique/],
    ["- a", /must be a map of keys/],
    ["model: [", /line 1, column/],
    [`a: ${"[".repeat(5000)}${"]".repeat(5000)}`, /nested/],
    [`${"&a ".repeat(80_000)}`, /too many entries/],
    [Array.from({ length: 60_000 }, (_, at) => `k${at}: 1`).join("\n"), /too many entries/],
  ])("%.60j is an error that names the file", async (text, message) => {
    const path = await put(repositoryFile(), text);
    const error = await rulesIn(repo).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "config_invalid", message: expect.stringMatching(message) });
    expect(error).toMatchObject({ message: expect.stringContaining(path) });
  });

  test("a folder or a pipe in its place is an error; a file called .tinman is not", async () => {
    await mkdir(repositoryFile(), { recursive: true });
    await expect(rulesIn(repo)).rejects.toMatchObject({ message: `${repositoryFile()}: is not a plain file` });
    await rm(repositoryFile(), { recursive: true });
    execFileSync("mkfifo", [repositoryFile()]);
    await expect(rulesIn(repo)).rejects.toMatchObject({ message: `${repositoryFile()}: is not a plain file` });
    await rm(join(repo, ".tinman"), { recursive: true });
    await put(join(repo, ".tinman"), "permissions: {deny: [a]}");
    expect(await rulesIn(repo)).toEqual({ rules: none, notices: [] });
  });

  test("follows a link within the repository, and names one that leaves it", async () => {
    await mkdir(join(repo, ".tinman"));
    await put(join(repo, "rules.yaml"), "permissions: {deny: [a]}");
    await symlink("../rules.yaml", repositoryFile());
    expect(await rulesIn(repo)).toEqual({ rules: { ...none, deny: [["a"]] }, notices: [] });

    const outside = await put(join(root, "repo-other", "config.yaml"), "secret: words");
    const left = `${repositoryFile()} is a link that is broken or leaves the repository, so it is ignored.`;
    for (const target of [outside, "/dev/zero", "nowhere.yaml", "config.yaml"]) {
      await rm(repositoryFile());
      await symlink(target, repositoryFile());
      expect(await rulesIn(repo)).toEqual({ rules: none, notices: [left] });
    }
    await rm(join(repo, ".tinman"), { recursive: true });
    await symlink(dirname(outside), join(repo, ".tinman"));
    expect(await rulesIn(repo)).toEqual({ rules: none, notices: [left] });
  });

  test("the user's own configuration never counts as a repository's", async () => {
    const home = dirname(ownHome);
    await put(join(ownHome, "config.yaml"), "model: offline\npermissions: {allow: [ls], deny: [su]}\n");
    await mkdir(join(home, ".git"));
    await mkdir(join(home, "work"));
    for (const cwd of [home, join(home, "work")]) expect(await rulesIn(cwd)).toEqual({ rules: none, notices: [] });
    await put(join(home, "work", ".tinman", "config.yaml"), "permissions: {deny: [a]}");
    expect((await rulesIn(join(home, "work"))).rules.deny).toEqual([["a"]]);
  });
});
