import { describe, expect, test } from "vitest";
import { closed, reading, rule, writing } from "./at-high.ts";

describe("places known by name", () => {
  test.each([
    [".gitconfig", "closed"],
    [".config/git/config", "closed"],
    [".config/git/credentials", "closed"],
    [".pgpass", "closed"],
    [".minikube/client.key", "closed"],
    [".age/key.txt", "closed"],
    [".config/atuin/key", "closed"],
    [".ansible_vault_pass", "closed"],
    [".streamlit/secrets.toml", "closed"],
    [".planetscale/access-token", "closed"],
    [".config/neonctl/credentials.json", "closed"],
    [".kshrc", "kept"],
    [".cshrc", "kept"],
    [".minikube/profiles/m/client.key", "closed"],
    [".envrc", "closed"],
    [".my.cnf", "closed"],
    [".vault-token", "closed"],
    [".near-credentials/a.json", "closed"],
    [".hcloud/cli.toml", "closed"],
    [".config/uv/credentials.toml", "closed"],
    [".config/dart/pub-credentials.json", "closed"],
    [".pub-cache/credentials.json", "closed"],
    [".mongosh/mongosh_repl_history", "closed"],
    [".config/hg/hgrc", "closed"],
    [".config/vim/vimrc", "kept"],
    [".config/radare2/radare2rc", "kept"],
    [".m2/extensions.xml", "kept"],
    [".config/autostart-scripts/a", "kept"],
    [".microsoft/usersecrets/a/secrets.json", "closed"],
    [".config/aws-vault/a", "closed"],
    [".cqlshrc", "closed"],
    [".duckdb_history", "closed"],
    [".config/nushell/history.sqlite3", "closed"],
    [".config/jj/config.toml", "kept"],
    [".npm/_npx/a/index.js", "kept"],
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
    [".hgrc", "closed"],
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
    [".config/environment.d/a.conf", "closed"],
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
    [".p10k.zsh", "kept"],
    [".config/oh-my-posh/theme.json", "kept"],
    [".config/spaceship.zsh", "kept"],
    [".config/powerline/themes/a", "kept"],
    [".config/shell/aliases", "kept"],
    [".config/fastfetch/config.jsonc", "kept"],
    [".config/htop/htoprc", "open"],
    [".config/pylintrc", "kept"],
    [".config/ccache/ccache.conf", "kept"],
    [".config/yt-dlp/config", "kept"],
    [".local/share/direnv/allow/0123", "kept"],
    [".local/share/cargo/bin/ls", "kept"],
    [".cache/p10k-instant-prompt-u.zsh", "kept"],
    [".cache/p10k-u/dump.zsh", "kept"],
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
      kind === "open" ? `allow write-${/^\.(?:config|local)\//.test(name) ? "settings" : "outside"}` : closed,
    ]);
  });

  const shellFiles = (
    ".p10k.zsh .p10k-lean.zsh .zsh_plugins.txt .zpreztorc .zimrc .zshrc.local .bash_prompt .bashrc.local .bash-preexec.sh " +
    ".profile.local .aliases .exports .functions .path .extra .localrc .shellrc .fzf.bash .iterm2_shell_integration.zsh " +
    ".git-completion.bash .git-prompt.sh .liquidpromptrc .antigenrc .dircolors .dir_colors .starship.toml .my-theme.zsh .xinitrc"
  ).split(" ");

  test("other users' homes have the same places", () => {
    for (const home of ["/home/bob", "/root", "/Users/ann", "/home/*"]) {
      const names = [".ssh/id_rsa", ".aws/credentials", ".netrc", ".bash_history", ".claude/settings.json", ".bashrc"];
      for (const name of names) expect([name, reading(`${home}/${name}`)]).toEqual([name, closed]);
      for (const name of [".vimrc", ".local/bin/a", ".anythingrc"])
        expect([reading(`${home}/${name}`), writing(`${home}/${name}`)]).toEqual(["allow read-outside", closed]);
      expect([reading(`${home}/notes/a`), reading(`${home}/project/.env`)]).toEqual([
        "allow read-outside",
        "allow read-outside",
      ]);
      expect(rule({ type: "read", path: home, recursive: true })).toBe(closed);
      expect(rule({ type: "read", path: `${home}/notes`, recursive: true })).toBe("allow read-outside");
    }
    expect([reading("/home"), rule({ type: "read", path: "/home", recursive: true })]).toEqual([
      "allow read-outside",
      closed,
    ]);
    expect(reading("/home/u/.config/htop/htoprc")).toBe("allow read-outside");
  });

  test("a workspace in another user's home is usable, even if it is named like a home", () => {
    const cwd = "/home/app";
    for (const name of [".env", ".npmrc", ".claude/settings.json", "bin/a"])
      expect([reading(`${cwd}/${name}`, { cwd }), writing(`${cwd}/${name}`, { cwd })]).toEqual([
        "allow read-workspace",
        "allow write-workspace",
      ]);
    expect([reading(`${cwd}/.ssh/id_rsa`, { cwd }), reading(`${cwd}/.bash_history`, { cwd })]).toEqual([
      closed,
      closed,
    ]);
    const inside = { cwd: "/home/bob/.codex/worktrees/1/project" };
    expect(writing(`${inside.cwd}/a`, inside)).toBe("allow write-workspace");
    expect(reading("/home/bob/.codex/auth.json", inside)).toBe(closed);
    expect(writing("/home/bob/bin/a", { cwd: "/home/bob/bin" })).toBe("allow write-workspace");
  });

  test.each(["tty", "tty1", "pts/3", "pts/*", "console", "vcs1", "vcsa", "ttys003"])(
    "the terminal /dev/%s is closed",
    (name) => expect([reading(`/dev/${name}`), writing(`/dev/${name}`)]).toEqual([closed, closed]),
  );

  test("a serial port is not a terminal", () => expect(reading("/dev/ttyUSB0")).toBe("allow read-outside"));

  test("folders of programs are writable only by sessions that work there", () => {
    expect(writing("/home/u/bin/a", { cwd: "/home/u/bin" })).toBe("allow write-workspace");
    expect(writing("/home/u/.local/bin/a", { cwd: "/home/u/.local/bin" })).toBe("allow write-workspace");
    // A home that is the workspace has a `bin` like other projects, but its hidden folders are not part of a project.
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
    "/etc/samba/credentials",
    "/etc/exim4/passwd.client",
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

  test("crontabs and ld.so.preload are kept", () => {
    for (const path of ["/var/spool/cron/u", "/etc/cron.d/a", "/etc/ld.so.preload"]) expect(writing(path)).toBe(closed);
  });

  test("a workspace inside a coding agent's folder is usable, but not the rest of the folder", () => {
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

  test("if the home is the workspace, its dot files are project files, except known places", () => {
    const cwd = "/home/u";
    for (const name of [".gitignore", ".prettierrc", ".tool-versions", ".vscode/settings.json"])
      expect(writing(`/home/u/${name}`, { cwd })).toBe("allow write-workspace");
    expect([writing("/home/u/.zshrc", { cwd }), reading("/home/u/.env", { cwd })]).toEqual([closed, closed]);
    for (const name of shellFiles) expect([name, writing(`/home/u/${name}`, { cwd })]).toEqual([name, closed]);
    expect(writing("/home/u/.dotfiles", { cwd: "/home/u/.dotfiles" })).toBe("allow write-workspace");
  });

  test("does not mistake a workspace's files for the home's", () => {
    for (const name of [".npmrc", ".bash_history", ".claude/settings.json", "go/bin/a"])
      expect([reading(`/ws/${name}`), writing(`/ws/${name}`)]).toEqual([
        "allow read-workspace",
        "allow write-workspace",
      ]);
  });
});
