import { execFileSync } from "node:child_process";
import { appendFile, mkdir, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { repositoryName } from "../../../src/host/git/repository-name.ts";
import { tempFolder } from "../support.ts";

function git(cwd: string, ...args: readonly string[]): void {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith("GIT_"));
  const own = { HOME: cwd, XDG_CONFIG_HOME: cwd, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const person = ["-c", "user.name=A", "-c", "user.email=a@example.com", "-c", "protocol.file.allow=always"];
  execFileSync("git", [...person, ...args], { cwd, stdio: "pipe", env: { ...Object.fromEntries(inherited), ...own } });
}

/** A new repository in a folder with this name. */
async function repository(name = "folder-name"): Promise<string> {
  const root = join(await tempFolder(), name);
  await mkdir(root);
  git(root, "init", "-q", "--template=");
  return root;
}

async function withRemote(address: string): Promise<string> {
  const root = await repository();
  git(root, "config", "remote.origin.url", address);
  return root;
}

/** A repository with this text after git's own settings. */
async function withConfig(text: string | Buffer): Promise<string> {
  const root = await repository();
  await appendFile(join(root, ".git", "config"), text);
  return root;
}

const ofFolder = { repoName: "folder-name" };

describe("a remote's address", () => {
  const acme = { owner: "acme", repoName: "rocket" };
  const nested = { owner: "acme/space/deep", repoName: "rocket" };

  test.each<readonly [string, object]>([
    ["https://github.com/acme/rocket.git", acme],
    ["https://github.com/acme/rocket", acme],
    ["HTTPS://github.com/acme/rocket.git/", acme],
    ["http://127.0.0.1:3000/acme/rocket.git", acme],
    ["git@github.com:acme/rocket.git", acme],
    ["github.com:acme/rocket", acme],
    ["git@[::1]:acme/rocket.git", acme],
    ["[git.example.com:2222]:acme/rocket.git", acme],
    ["git@example.com:/acme/rocket.git", acme],
    ["ssh://git@github.com/acme/rocket.git", acme],
    ["ssh://git@github.com:2222/acme/rocket", acme],
    ["ssh://git@[::1]:22/acme/rocket", acme],
    ["git+ssh://git@github.com/acme/rocket", acme],
    ["git://example.com/acme/rocket/.git", acme],
    ["https://gitlab.com/acme/space/deep/rocket.git", nested],
    ["git@gitlab.com:acme/space/deep/rocket.git", nested],
    ["ssh://example.com//acme///space/deep/rocket.git", nested],
    ["https://dev.azure.com/acme/Big%20Plan/_git/rocket", { owner: "acme/Big Plan/_git", repoName: "rocket" }],
    ["git@example.com:acme/火箭.git", { owner: "acme", repoName: "火箭" }],
    ["https://example.com/rocket.git", { repoName: "rocket" }],
    ["git@example.com:rocket", { repoName: "rocket" }],
    ["https://example.com/acme/rocket.js", { owner: "acme", repoName: "rocket.js" }],
  ])("%s", async (address, name) => {
    expect(await repositoryName(await withRemote(address))).toEqual(name);
  });

  test.each([
    "/srv/git/acme/rocket.git",
    "./acme:rocket/x.git",
    "../acme/rocket.git",
    "~/acme/rocket.git",
    "acme/rocket",
    "file:///srv/acme/rocket.git",
    "C:\\acme\\rocket.git",
    "c:/acme/rocket.git",
    "ext::ssh -i key host %S acme/rocket",
    "foreign::https://example.com/acme/rocket",
    "foreign://example.com/acme/rocket",
    "https://example.com",
    "https://example.com/",
    "https://example.com/..",
    "https://example.com/acme/../rocket",
    "https://example.com/.git",
    "https://example.com/acme/rock%zzet",
    "https://example.com/acme/rock%00et",
    "https://example.com/acme/rock%0aet",
    "https://example.com/acme/rock\u202eet",
    `https://example.com/acme/${"r".repeat(600)}`,
    "git@example.com:",
    " ",
  ])("%j names nothing, so the folder names the repository", async (address) => {
    expect(await repositoryName(await withRemote(address))).toEqual(ofFolder);
  });

  test.each<readonly [string, object]>([
    ["https://me:s3cret@github.com/acme/rocket.git", acme],
    ["https://s3cret@github.com/acme/rocket.git", acme],
    ["https://s3cret:x-oauth-basic@github.com/acme/rocket.git", acme],
    ["ssh://me:s3cret@github.com:22/acme/rocket.git", acme],
    ["s3cret@github.com:acme/rocket.git", acme],
    ["https://github.com/acme/rocket.git?token=s3cret", acme],
    ["https://github.com/acme/rocket#s3cret", acme],
    ["https://me:pass/s3cret@github.com/acme/rocket.git", ofFolder],
    ["https://me:pass/s3cret%40github.com/acme/rocket.git", ofFolder],
    ["https://me:pass?s3cret@github.com/acme/rocket.git", ofFolder],
    ["https://me:pass#s3cret@github.com/acme/rocket.git", ofFolder],
    ["me:s3cret@github.com:acme/rocket.git", ofFolder],
    ["me:s3cret@github.com/acme/rocket.git", ofFolder],
    ["https:me:s3cret@github.com/acme/rocket.git", ofFolder],
    ["oauth2:s3cret:github.com/acme/rocket.git", ofFolder],
    ["git@oauth2:s3cret:github.com/acme/rocket.git", ofFolder],
    ["https://github.com/oauth2:s3cret/rocket.git", ofFolder],
    ["https://github.com/acme/oauth2%3as3cret", ofFolder],
  ])("%s does not reveal its secret", async (address, name) => {
    expect(await repositoryName(await withRemote(address))).toEqual(name);
  });
});

describe("among several remotes", () => {
  test("origin comes first, wherever it is", async () => {
    const root = await repository();
    git(root, "remote", "add", "upstream", "https://example.com/them/rocket");
    git(root, "remote", "add", "origin", "https://example.com/me/rocket");
    expect(await repositoryName(root)).toEqual({ owner: "me", repoName: "rocket" });
  });

  test("otherwise the first one; of several addresses, the first", async () => {
    const root = await repository();
    git(root, "remote", "add", "upstream", "https://example.com/them/rocket");
    git(root, "remote", "set-url", "--add", "upstream", "https://example.com/mirror/rocket");
    git(root, "remote", "add", "fork", "https://example.com/me/rocket");
    expect(await repositoryName(root)).toEqual({ owner: "them", repoName: "rocket" });
  });

  test("without one, the folder names it", async () => {
    const root = await repository("a b\nc");
    expect(await repositoryName(root)).toEqual({ repoName: "a b\nc" });
  });
});

describe("settings, read like git reads them", () => {
  const acme = { owner: "acme", repoName: "rocket" };

  test.each([
    '[remote "origin"] url = https://example.com/acme/rocket',
    '\ufeff[REMOTE "origin"]\r\n\tURL=https://example.com/acme/rocket\r\n',
    "[remote.origin]\nurl = https://example.com/acme/rocket ; the one\n",
    '[remote "origin"] # mine \\\n  url = "https://example.com/acme/rocket" # "\n',
    '[remote "origin"]\nfetch\nurl = https://example.com/\\\nacme/"rocket"  \t\n',
    '[x "remote"]\nurl = /nowhere\n[remote "ori\\gin"]\npushurl = /nowhere\nurl =\nurl = https://example.com/acme/rocket',
    '[url "https://example.com/x/y"]\n\tinsteadOf = z:\n[remote "origin"]\n\turl = git@h:acme/rocket\n',
  ])("%j", async (text) => {
    const root = await repository();
    await writeFile(join(root, ".git", "config"), text);
    expect(await repositoryName(root)).toEqual(acme);
  });

  const origin = '[remote "origin"]\n\turl = https://example.com/acme/rocket\n';
  test.each<readonly [string, string | Buffer]>([
    ["an open section", `${origin}[remote "x\n`],
    ["an open quote", `${origin}\tx = "y\n`],
    ["an unknown escape", `${origin}\tx = \\q\n`],
    ["a backslash at the end", `${origin}\tx = \\`],
    ["a malformed name", `${origin}\t1x = 2\n`],
    ["a line that is not a setting", `${origin}\tx y\n`],
    ["a NUL", `${origin}# \0\n`],
    ["an escape sequence", `${origin}# \u001b[2J\n`],
    ["a lone carriage return", `${origin}# \rx\n`],
    ["invalid UTF-8", Buffer.concat([Buffer.from(origin), Buffer.from([0xff, 0xfe, 0x80])])],
    ["a newline in the address", '[remote "origin"]\n\turl = "https://example.com/acme/rock\\net"\n'],
    ["a backspace in the address", '[remote "origin"]\n\turl = https://example.com/acme/rocket\\b\\b\n'],
    ["an oversized file", origin + "# padding\n".repeat(30_000)],
  ])("%s makes the folder name it", async (_, text) => {
    expect(await repositoryName(await withConfig(text))).toEqual(ofFolder);
  });

  test("does not wait for a pipe in place of the file", async () => {
    const root = await withRemote("https://example.com/acme/rocket");
    await rm(join(root, ".git", "config"));
    execFileSync("mkfifo", [join(root, ".git", "config")]);
    expect(await repositoryName(root)).toEqual(ofFolder);
  });
});

describe("the right repository", () => {
  const acme = { owner: "acme", repoName: "rocket" };

  test("is the one around the folder, even behind a link", async () => {
    const root = await withRemote("https://example.com/acme/rocket");
    await mkdir(join(root, "src", "deep"), { recursive: true });
    const link = join(await tempFolder(), "link");
    await symlink(join(root, "src"), link);
    expect(await Promise.all([join(root, "src", "deep"), link].map(repositoryName))).toEqual([acme, acme]);
  });

  test("a linked working tree has its repository's remotes, or its own name", async () => {
    const root = await repository();
    git(root, "commit", "-q", "--allow-empty", "-m", "first");
    const tree = join(root, "..", "tree");
    git(root, "worktree", "add", "-q", tree);
    expect(await repositoryName(tree)).toEqual({ repoName: "tree" });
    git(root, "remote", "add", "origin", "git@example.com:acme/rocket.git");
    expect(await repositoryName(tree)).toEqual(acme);
  });

  test("a submodule, and a repository whose folder is elsewhere, have their own", async () => {
    const inner = await withRemote("https://example.com/other/inner");
    git(inner, "commit", "-q", "--allow-empty", "-m", "first");
    const outer = await withRemote("https://example.com/acme/outer");
    git(outer, "submodule", "add", "-q", inner, "sub");
    expect(await repositoryName(join(outer, "sub"))).toEqual({ repoName: "sub" });
    git(join(outer, "sub"), "config", "remote.origin.url", "https://example.com/acme/rocket");
    expect(await repositoryName(join(outer, "sub"))).toEqual(acme);
    const apart = join(await tempFolder(), "apart");
    git(outer, "init", "-q", "--separate-git-dir", join(outer, "..", "elsewhere"), apart);
    expect(await repositoryName(apart)).toEqual({ repoName: "apart" });
  });

  test("for a bare repository, and git's own folder", async () => {
    const folder = await tempFolder();
    git(folder, "init", "-q", "--bare", "rocket.git");
    expect(await repositoryName(join(folder, "rocket.git"))).toEqual({ repoName: "rocket" });
    const root = await repository();
    expect(await repositoryName(join(root, ".git", "refs"))).toEqual(ofFolder);
  });

  test("skips an incomplete one, as git does", async () => {
    const root = await withRemote("https://example.com/acme/rocket");
    await mkdir(join(root, "sub", ".git"), { recursive: true });
    expect(await repositoryName(join(root, "sub"))).toEqual(acme);
  });

  test("none: no name", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "empty", ".git"), { recursive: true });
    await mkdir(join(folder, "pointer"));
    await writeFile(join(folder, "pointer", ".git"), "gitdir: /nowhere/at/all\n");
    await mkdir(join(folder, "loop"));
    await symlink(".git", join(folder, "loop", ".git"));
    const root = await repository();
    await writeFile(join(root, "file"), "");
    const places = [
      folder,
      join(folder, "empty"),
      join(folder, "pointer"),
      join(folder, "loop"),
      join(root, "missing"),
      join(root, "file"),
      "",
      "a\0b",
    ];
    expect(await Promise.all(places.map(repositoryName))).toEqual(places.map(() => undefined));
  });
});
