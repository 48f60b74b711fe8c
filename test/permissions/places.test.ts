import { describe, expect, test } from "vitest";
import { withEvidence } from "../../src/core/evidence.ts";
import type { Access, DecisionContext, ProtectedPaths } from "../../src/core/permission.ts";
import { lookupKey } from "../../src/core/permission.ts";
import { createPermissionPolicy } from "../../src/permissions/policy.ts";
import { createMemoryHost } from "../fakes/memory-host.ts";

const policy = createPermissionPolicy(() => "bash");
const nothing: ProtectedPaths = { closed: [], kept: [], programs: [], links: [] };

const context: DecisionContext = {
  tool: "T",
  autonomy: "high",
  mode: "auto",
  cwd: "/ws",
  readable: ["/ws/keys/outputs"],
  home: "/home/u",
  temp: "/tmp",
  ownHome: "/home/u/.tinman",
  rules: { allow: [], deny: [], alwaysDeny: [] },
  approver: false,
  unsafe: false,
  enabledTools: ["T"],
};

function rule(access: Access, changes: Partial<DecisionContext> = {}): string {
  const { verdict, rule } = policy.decide([access], { ...context, ...changes });
  return `${verdict} ${rule}`;
}
const reading = (path: string, changes: Partial<DecisionContext> = {}) => rule({ type: "read", path }, changes);
const writing = (path: string, changes: Partial<DecisionContext> = {}) => rule({ type: "write", path }, changes);

async function running(command: string, changes: Partial<DecisionContext> = {}, links: Record<string, string> = {}) {
  const host = createMemoryHost({}, { links });
  const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, context);
  return policy.decide(accesses, { ...context, ...changes });
}

const closed = "deny protected-place";

test("a configuration that was named is closed wherever it lies", async () => {
  const at = { ownConfig: "/ws/serve.yaml" };
  expect([reading("/ws/serve.yaml", at), writing("/ws/serve.yaml", at)]).toEqual([closed, closed]);
  expect([reading("/ws/serve.yaml"), writing("/ws/serve.yml", at)]).toEqual([
    "allow read-workspace",
    "allow write-workspace",
  ]);
});

describe("where protected places lead", () => {
  const reached = { ...nothing, closed: ["/ws/keys"], kept: ["/ws/Vim"], programs: ["/ws/tools"], links: ["/ws/now"] };

  test("is closed, kept, or kept from others", () => {
    const at = { reached };
    expect([reading("/ws/keys", at), reading("/ws/keys/a", at), writing("/ws/KEYS/a", at)]).toEqual([
      closed,
      closed,
      closed,
    ]);
    expect([reading("/ws/vim/a", at), writing("/ws/vim/a", at)]).toEqual(["allow read-workspace", closed]);
    expect([reading("/ws/tools/a", at), writing("/ws/tools/a", at)]).toEqual(["allow read-workspace", closed]);
    expect(writing("/ws/tools/a", { reached, cwd: "/ws/tools" })).toBe("allow write-workspace");
    expect([reading("/ws/keysx", at), writing("/ws/vimrc", at)]).toEqual([
      "allow read-workspace",
      "allow write-workspace",
    ]);
    expect(reading("/ws/keys/outputs/1.txt", at)).toBe("allow read-workspace");
  });

  test("is left out of searches, and closes a folder around it for whoever reads all of it", () => {
    expect(policy.protectedPlaces({ ...context, reached })).toContain("/ws/keys");
    expect(policy.protectedPlaces({ ...context, reached })).not.toContain("/ws/Vim");
    expect(rule({ type: "read", path: "/ws", recursive: true }, { reached })).toBe(closed);
    expect(rule({ type: "read", path: "/ws/src", recursive: true }, { reached })).toBe("allow read-workspace");
  });

  test.each([
    ["cat keys/a", true],
    ["cat src/a", false],
    ["grep -r x .", true],
    ["grep -r x src", false],
    ["cp a vim/b", true],
    ["cat vim/b", false],
    ["echo x > tools/a", true],
    ["mv keys x", true],
    ["mv vim x", true],
    ["mv src x", false],
    ["cp -r . /tmp/x", true],
  ])("%s: %s", async (command, isProtected) => {
    expect((await running(command, { reached })).rule === "protected-place").toBe(isProtected);
  });

  test("depends on links that must not be replaced, but may be used", async () => {
    const host = createMemoryHost({}, { links: { "/ws/now": "/ws/v1" } });
    const looking = { ...host, guards: { ...host.guards, way: async () => ["/ws/now", "/ws/v1"] } };
    const at = async (command: string) => {
      const accesses = await withEvidence([{ type: "command", command, background: false }], policy, looking, context);
      return policy.decide(accesses, { ...context, reached }).rule;
    };
    expect(await at("touch now")).toBe("protected-place");
    expect(await at("touch now/a")).not.toBe("protected-place");
    expect(await at("cat now")).not.toBe("protected-place");
  });
});

describe("the way to a path", () => {
  const met = (...way: readonly string[]) => ({
    ways: new Map([[lookupKey({ what: "path", path: "/written" }), way]]),
    around: nothing,
  });

  test("through a protected place makes it one, whatever it leads to", () => {
    const through = (type: "read" | "write", ...way: readonly string[]) =>
      policy.decide([{ type, path: "/ws/a", written: "/written", met: met(...way) }], context);
    expect(through("read", "/home/u/.ssh/config", "/ws/a")).toMatchObject({
      verdict: "deny",
      class: "high",
      rule: "protected-place",
      why: expect.stringContaining("T reads /ws/a by way of /home/u/.ssh/config, a protected place"),
    });
    expect(through("write", "/home/u/.vim/a", "/ws/a").rule).toBe("protected-place");
    expect(through("read", "/home/u/.vim/a", "/ws/a").rule).toBe("read-workspace");
    expect(through("read", "/tmp/link", "/ws/a").rule).toBe("read-workspace");
  });
});

describe("repositories that are found by looking", () => {
  const repositories = {
    ...nothing,
    closed: ["/ws/store/config", "/ws/store/hooks", "/ws/.git/config"],
    kept: ["/ws/store", "/ws/.git", "/ws/tools/hooks"],
  };
  const around = (access: Access & { type: "read" | "write" }) =>
    rule({ ...access, met: { ways: new Map(), around: repositories } });

  test.each([
    ["read", "/ws/store/HEAD", false],
    ["read", "/ws/store/config", true],
    ["read", "/ws/store/hooks/a", true],
    ["write", "/ws/store/HEAD", true],
    ["read", "/ws/tools/hooks/a", false],
    ["write", "/ws/tools/hooks/a", true],
    ["write", "/ws/tools/a", false],
    ["write", "/ws/storex", false],
  ] as const)("%s %s: %s, whether they are known for the reply or for the call", (type, path, isProtected) => {
    const outcome = isProtected ? closed : `allow ${type}-workspace`;
    expect([rule({ type, path }, { repositories }), around({ type, path })]).toEqual([outcome, outcome]);
  });

  test("are read as a whole from above, but not when they are pointed at", () => {
    const all = (path: string) => rule({ type: "read", path, recursive: true }, { repositories });
    expect([all("/ws"), all("/ws/store"), all("/ws/store/refs"), all("/ws/tools")]).toEqual([
      "allow read-workspace",
      closed,
      "allow read-workspace",
      "allow read-workspace",
    ]);
  });

  test("are not moved away with a folder around their hooks", async () => {
    const rules = async (command: string) => (await running(command, { repositories })).rule === "protected-place";
    expect([await rules("mv tools old"), await rules("mv tool* old"), await rules("mv src old")]).toEqual([
      true,
      false,
      false,
    ]);
    expect(await rules("cp -r src tools")).toBe(false);
  });

  test("have settings that searches leave out, where those do not pass over them anyway", () => {
    const places = policy.protectedPlaces({ ...context, repositories });
    expect(places.filter((place) => place.startsWith("/ws"))).toEqual(["/ws/store/config", "/ws/store/hooks"]);
  });
});

describe("what is known by name", () => {
  test.each([
    [".gitconfig", "kept"],
    [".config/git/config", "kept"],
    [".config/git/credentials", "closed"],
    [".pgpass", "closed"],
    [".my.cnf", "closed"],
    [".vault-token", "closed"],
    [".m2/settings.xml", "closed"],
    [".m2/repository/a.jar", "open"],
    [".gradle/gradle.properties", "closed"],
    [".gradle/caches/a", "open"],
    [".gradle/init.d/a.gradle", "kept"],
    [".claude/projects/a.jsonl", "closed"],
    [".claude.json", "closed"],
    [".codex/auth.json", "closed"],
    [".gemini/settings.json", "closed"],
    [".local/share/opencode/auth.json", "closed"],
    [".config/openai/key", "closed"],
    [".terraform.d/credentials.tfrc.json", "closed"],
    [".config/rclone/rclone.conf", "closed"],
    [".config/hub", "closed"],
    [".nuget/NuGet/NuGet.Config", "closed"],
    [".nuget/packages/a", "open"],
    [".composer/auth.json", "closed"],
    [".yarnrc.yml", "closed"],
    [".s3cfg", "closed"],
    [".oci/config", "closed"],
    [".password-store/a.gpg", "closed"],
    [".local/share/keyrings/login.keyring", "closed"],
    [".mozilla/firefox/a/logins.json", "closed"],
    [".config/google-chrome/Default/Cookies", "closed"],
    ["Library/Application Support/Google/Chrome/Default/Cookies", "closed"],
    [".bash_history", "closed"],
    [".zsh_history", "closed"],
    [".local/share/fish/fish_history", "closed"],
    [".python_history", "closed"],
    [".node_repl_history", "closed"],
    [".psql_history", "closed"],
    [".mysql_history", "closed"],
    [".sqlite_history", "closed"],
    [".rediscli_history", "closed"],
    [".lesshst", "closed"],
    ["go/bin/gopls", "kept"],
    ["go/src/a.go", "open"],
    [".pyenv/shims/python", "kept"],
    [".asdf/shims/node", "kept"],
    [".volta/bin/node", "kept"],
    [".bun/bin/bun", "kept"],
    [".deno/bin/deno", "kept"],
    [".nvm/versions/node/v22/bin/node", "kept"],
    [".curlrc", "closed"],
    [".wgetrc", "closed"],
    [".psqlrc", "kept"],
    [".sqliterc", "kept"],
    [".gdbinit", "kept"],
    [".irbrc", "kept"],
    [".Rprofile", "kept"],
    [".screenrc", "kept"],
    [".mailcap", "kept"],
    [".hgrc", "kept"],
    [".subversion/config", "kept"],
    [".condarc", "kept"],
    [".local/share/bash-completion/completions/git", "kept"],
    [".config/direnv/direnvrc", "kept"],
    [".config/go/env", "kept"],
    [".tool-versions", "kept"],
    [".some-program-nobody-knows-rc", "kept"],
    [".some-folder/file", "open"],
    [".cache", "open"],
    [".cache/a/b", "open"],
    [".config/some-program/file", "open"],
    [".bash_aliases", "kept"],
    [".bashrc", "closed"],
    [".zlogout", "kept"],
    [".xprofile", "kept"],
    [".config/autostart/a.desktop", "kept"],
    [".config/systemd/user/a.service", "kept"],
    [".config/systemd/other", "open"],
    [".config/environment.d/a.conf", "kept"],
    [".config/pip/pip.conf", "closed"],
    [".tmux.conf", "kept"],
    [".inputrc", "kept"],
    [".VIMRC", "kept"],
    [".vim/plugin/a.vim", "kept"],
    [".config/nvim/init.lua", "kept"],
    [".emacs.d/init.el", "kept"],
    [".cargo/config.toml", "kept"],
    [".cargo/registry/a", "open"],
    [".local/bin/git", "kept"],
    [".local/share/a", "open"],
    ["bin/git", "kept"],
    ["binx/git", "open"],
    ["Library/LaunchAgents/a.plist", "kept"],
    ["Library/Caches/a", "open"],
    [".nvm/nvm.sh", "kept"],
    [".cargo/env", "kept"],
    [".sdkman/bin/sdkman-init.sh", "kept"],
    [".rvm/scripts/rvm", "kept"],
    [".asdf/asdf.sh", "kept"],
    [".deno/env", "kept"],
    [".pyenv/libexec/pyenv", "kept"],
    [".bash_it/bash_it.sh", "kept"],
    [".zinit/a", "kept"],
    [".zplug/init.zsh", "kept"],
    [".zim/init.zsh", "kept"],
    [".antigen/a", "kept"],
    [".fzf/shell/a", "kept"],
    [".tmux/plugins/a", "kept"],
    [".doom.d/init.el", "kept"],
    [".config/doom/init.el", "kept"],
    [".config/X11/xinitrc", "kept"],
    [".config/xprofile", "kept"],
    [".config/bspwm/bspwmrc", "kept"],
    [".config/sxhkd/sxhkdrc", "kept"],
    [".config/alacritty/alacritty.toml", "kept"],
    [".config/foot/foot.ini", "kept"],
    [".local/lib/python3.12/site-packages/a.pth", "kept"],
    [".local/lib/node_modules/a.js", "kept"],
    [".local/share/nvim/lazy/a.lua", "kept"],
    ["miniconda3/etc/profile.d/conda.sh", "kept"],
    ["anaconda3/bin/python", "kept"],
    ["miniforge3/bin/a", "kept"],
    ["mambaforge/bin/a", "kept"],
    ["google-cloud-sdk/path.bash.inc", "kept"],
    [".cache/gitstatus/gitstatusd", "kept"],
    [".mix/archives/a", "kept"],
    ["perl5/lib/a.pm", "kept"],
    [".dbt/profiles.yml", "closed"],
    [".config/helm/registry/config.json", "closed"],
    [".aliyun/config.json", "closed"],
    [".config/kaggle/kaggle.json", "closed"],
    [".config/Cursor/User/globalStorage/state.vscdb", "closed"],
    [".config/Code/User/globalStorage/state.vscdb", "closed"],
    [".config/VSCodium/User/globalStorage/a", "closed"],
    [".local/share/DBeaverData/a", "closed"],
    [".doppler/.doppler.yaml", "closed"],
    [".gitlab-runner/config.toml", "closed"],
    [".passwd-s3fs", "closed"],
    [".pg_service.conf", "closed"],
    [".offlineimaprc", "closed"],
    [".purple/accounts.xml", "closed"],
    [".config/filezilla/sitemanager.xml", "closed"],
    [".filezilla/a", "closed"],
    [".local/share/remmina/a", "closed"],
    [".config/borg/keys/a", "closed"],
    [".local/state/python_history", "closed"],
    [".jira.d/config.yml", "closed"],
    [".env", "closed"],
    [".secrets", "closed"],
    [".secrets/a", "closed"],
    [".config/lftp/rc", "closed"],
    [".config/Postman/a", "closed"],
    [".dbt/packages/a", "open"],
    [".config/Code/User/settings.json", "kept"],
    [".cargo/env-notes", "open"],
    [".bun/install/cache/a", "open"],
    ["miniconda/a", "open"],
  ])("~/%s is %s", (name, kind) => {
    const path = `/home/u/${name}`;
    const [read, write] = [reading(path), writing(path)];
    expect([read, write]).toEqual([
      kind === "closed" ? closed : "allow read-outside",
      kind === "open" ? "allow write-outside" : closed,
    ]);
  });

  test("programs are kept from those who work elsewhere", () => {
    expect(writing("/home/u/bin/a", { cwd: "/home/u/bin" })).toBe("allow write-workspace");
    expect(writing("/home/u/.local/bin/a", { cwd: "/home/u/.local/bin" })).toBe("allow write-workspace");
    // A home that is the workspace has a `bin` like other projects, but what is hidden is not the project's.
    expect(writing("/home/u/bin/a", { cwd: "/home/u" })).toBe("allow write-workspace");
    expect(writing("/home/u/.local/bin/a", { cwd: "/home/u" })).toBe(closed);
    expect(writing("/home/u/.vimrc", { cwd: "/home/u" })).toBe(closed);
    expect(writing("/home/u/.oh-my-zsh/custom/a", { cwd: "/home/u/.oh-my-zsh" })).toBe("allow write-workspace");
    expect(writing("/home/u/.pyenv/versions/a/b", { cwd: "/home/u/.pyenv/versions/a" })).toBe("allow write-workspace");
  });

  test.each([
    "/etc/sudoers",
    "/etc/sudoers.d/a",
    "/etc/krb5.keytab",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssl/private/a.key",
    "/run/secrets/kubernetes.io/serviceaccount/token",
    "/var/run/secrets/kubernetes.io/serviceaccount/token",
    "/run/docker.sock",
    "/run/containerd/containerd.sock",
    "/proc/kcore",
    "/dev/mem",
    "/dev/sda1",
    "/dev/nvme0n1p2",
    "/dev/mapper/root",
  ])("%s is closed", (path) => {
    expect([reading(path), writing(path)]).toEqual([closed, closed]);
  });

  test.each(["/etc/ssh/ssh_host_ed25519_key.pub", "/etc/hosts", "/dev/null", "/run/lock/a", "/var/spool/cron/u"])(
    "%s can be read",
    (path) => expect(reading(path)).toBe("allow read-outside"),
  );

  test("crontabs and what the loader preloads are kept", () => {
    for (const path of ["/var/spool/cron/u", "/etc/cron.d/a", "/etc/ld.so.preload"]) expect(writing(path)).toBe(closed);
  });

  test("a workspace below the folder of a coding agent can be used, and nothing else of the folder", () => {
    const cwd = "/home/u/.codex/worktrees/1/project";
    expect([reading(`${cwd}/a`, { cwd }), writing(`${cwd}/a`, { cwd })]).toEqual([
      "allow read-workspace",
      "allow write-workspace",
    ]);
    expect(rule({ type: "read", path: cwd, recursive: true }, { cwd })).toBe("allow read-workspace");
    expect(reading("/home/u/.codex/history.jsonl", { cwd })).toBe(closed);
    const own = { cwd: "/home/u/.claude" };
    expect([reading("/home/u/.claude/CLAUDE.md", own), reading("/home/u/.claude/.credentials.json", own)]).toEqual([
      "allow read-workspace",
      closed,
    ]);
    expect(rule({ type: "read", path: "/home/u/.claude", recursive: true }, own)).toBe(closed);
  });

  test("where the home is the workspace, its dot files are a project's, except those of a known kind", () => {
    const cwd = "/home/u";
    for (const name of [".gitignore", ".prettierrc", ".tool-versions", ".vscode/settings.json"])
      expect(writing(`/home/u/${name}`, { cwd })).toBe("allow write-workspace");
    expect([writing("/home/u/.zshrc", { cwd }), reading("/home/u/.env", { cwd })]).toEqual([closed, closed]);
    expect(writing("/home/u/.dotfiles", { cwd: "/home/u/.dotfiles" })).toBe("allow write-workspace");
  });

  test("the files of a workspace are not mistaken for those of the home", () => {
    for (const name of [".npmrc", ".bash_history", ".claude/settings.json", "go/bin/a"])
      expect([reading(`/ws/${name}`), writing(`/ws/${name}`)]).toEqual([
        "allow read-workspace",
        "allow write-workspace",
      ]);
  });
});
