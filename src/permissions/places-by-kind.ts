/** Protected places of one kind. The lists are separated by commas, because some names have blanks in them. */
interface Kind {
  readonly kind: string;
  /**
   * - `closed`: any use needs a yes.
   * - `agents`: the same, but a session that works below the place can use its own workspace.
   * - `kept`: writing needs a yes.
   * - `programs`: the same, unless the session works there.
   */
  readonly use: "closed" | "agents" | "kept" | "programs";
  /** Paths below the user's home. */
  readonly home?: string;
  /** Absolute paths. */
  readonly system?: string;
}

/** The protected places that are known by name, by kind. What the environment moves elsewhere is the host's to find. */
export const placesByKind: readonly Kind[] = [
  {
    kind: "keys and logins of remote machines, clouds and clusters",
    use: "closed",
    home: `.ssh, .gnupg, .putty, .aws, .azure, .kube, .oci, .boto, .s3cfg, .mc/config.json, .config/gcloud, .config/rclone,
      .rclone.conf, .config/doctl, .config/hcloud, .config/linode-cli, .config/scw, .config/exoscale, .config/heroku, .fly,
      .config/flyctl, .vercel, .local/share/com.vercel.cli, .netlify, .config/netlify, .wrangler, .config/.wrangler, .railway,
      .config/stripe, .supabase, .config/supabase, .config/turso, .config/firebase, .config/configstore, .ngrok2,
      .config/ngrok, .cloudflared, .config/cloudflared, .databrickscfg, .snowflake, .snowsql, .config/snowflake, .kaggle,
      .vault-token, .terraform.d/credentials.tfrc.json, .terraformrc, .pulumi/credentials.json, .config/argocd, .argocd,
      .config/helm/registry.json, .config/helm/repositories.yaml, .docker/config.json, .dockercfg,
      .config/containers/auth.json, .smbcredentials, .vnc/passwd, .erlang.cookie, .Xauthority`,
  },
  {
    kind: "logins of registries, repositories and builds",
    use: "closed",
    home: `.git-credentials, .config/git/credentials, .config/gh, .config/hub, .config/glab-cli, .netrc, _netrc, .npmrc,
      .yarnrc.yml, .pnpmrc, .config/pnpm/rc, .pypirc, .pip, .config/pip, .config/pypoetry/auth.toml, .local/share/uv/credentials,
      .cargo/credentials, .cargo/credentials.toml, .m2/settings.xml, .m2/settings-security.xml, .gradle/gradle.properties,
      .ivy2/.credentials, .sbt/.credentials, .sbt/credentials, .nuget/NuGet/NuGet.Config, .config/NuGet, .gem/credentials,
      .local/share/gem/credentials, .bundle/config, .composer/auth.json, .config/composer/auth.json, .hex/hex.config,
      .cabal/config, .config/cabal/config, .subversion/auth, .cvspass, .config/jfrog, .jfrog, .sentryclirc,
      .circleci/cli.yml, .huggingface, .config/huggingface, .cache/huggingface/token, .cache/huggingface/stored_tokens`,
  },
  {
    kind: "logins of databases and mail",
    use: "closed",
    home: `.pgpass, .my.cnf, .mylogin.cnf, .authinfo, .authinfo.gpg, .msmtprc, .config/msmtp, .mbsyncrc, .config/isync,
      .fetchmailrc, .muttrc, .mutt, .config/mutt, .config/neomutt, .config/himalaya`,
  },
  {
    kind: "password managers, wallets and browsers",
    use: "closed",
    home: `.password-store, .local/share/keyrings, .local/share/kwalletd, Library/Keychains, .config/op, .config/1Password,
      .config/Bitwarden, .config/Bitwarden CLI, .config/rbw, .config/keepassxc, .config/sops, .config/age, .bitcoin, .ethereum,
      .electrum, .config/solana, .foundry/keystores, .mozilla, .thunderbird, .librewolf, .config/google-chrome,
      .config/chromium, .config/BraveSoftware, .config/microsoft-edge, .config/opera, .config/vivaldi, snap/firefox,
      snap/chromium, .config/Slack, .config/discord, .config/Signal, Library/Safari, Library/Cookies,
      Library/Application Support/Google/Chrome, Library/Application Support/Firefox,
      Library/Application Support/BraveSoftware, Library/Application Support/Microsoft Edge`,
  },
  {
    kind: "logins of coding agents",
    use: "closed",
    home: `.factory, .claude.json, .claude/.credentials.json, .codex/auth.json, .gemini/oauth_creds.json,
      .gemini/google_accounts.json, .local/share/opencode/auth.json, .config/github-copilot, .config/anthropic, .anthropic,
      .config/openai, .openai, .config/io.datasette.llm, .config/aichat, .config/mods, .config/fabric, .aider.conf.yml`,
  },
  {
    kind: "settings and conversations of coding agents",
    use: "agents",
    home: `.claude, .codex, .gemini, .config/opencode, .local/share/opencode, .opencode, .cursor, .continue, .config/goose,
      .local/share/goose, .config/crush, .local/share/crush, .qwen, .kimi, .amp, .config/amp, .local/share/amp, .copilot,
      .codeium, .windsurf, .cline, .kiro`,
  },
  {
    kind: "start-up files in which people keep keys",
    use: "closed",
    home: `.bashrc, .bash_profile, .bash_login, .bash_logout, .profile, .zshrc, .zshenv, .zprofile, .zlogin, .config/fish, .curlrc,
      .config/curlrc, .wgetrc`,
  },
  {
    kind: "histories, in which passwords and keys end up",
    use: "closed",
    home: `.bash_history, .bash_sessions, .zsh_history, .zhistory, .zsh_sessions, .histfile, .sh_history, .ksh_history, .ash_history,
      .history, .local/share/fish/fish_history, .local/state/bash, .local/state/zsh, .cache/zsh, .config/nushell/history.txt,
      .local/share/powershell, .local/share/atuin, .local/share/mcfly, .python_history, .ipython/profile_default/history.sqlite,
      .node_repl_history, .ts_node_repl_history, .irb_history, .pry_history, .local/share/pry, .Rhistory, .octave_hist,
      .php_history, .julia/logs/repl_history.jl, .cache/erlang-history, .scala_history, .ghc/ghci_history, .psql_history,
      .config/pgcli/history, .mysql_history, .mycli-history, .sqlite_history, .rediscli_history, .dbshell, .mongodb,
      .cassandra/cqlsh_history, .gdb_history, .lldb, .lesshst, .local/state/lesshst, .viminfo, .local/state/nvim/shada,
      .wget-hsts, .local/share/jupyter/runtime`,
  },
  {
    kind: "the system's passwords, keys and raw memory",
    use: "closed",
    system: `/etc/shadow, /etc/gshadow, /etc/shadow-, /etc/gshadow-, /etc/master.passwd, /etc/security/opasswd, /etc/sudoers,
      /etc/sudoers.d, /etc/krb5.keytab, /etc/ssl/private, /etc/pki/tls/private, /etc/letsencrypt, /etc/wireguard, /etc/openvpn,
      /etc/ppp/chap-secrets, /etc/ppp/pap-secrets, /etc/wpa_supplicant, /etc/NetworkManager/system-connections,
      /etc/mysql/debian.cnf, /etc/kubernetes, /etc/rancher, /var/lib/kubelet, /var/lib/rancher, /run/secrets,
      /var/run/secrets, /run/credentials, /var/lib/docker, /run/docker.sock, /var/run/docker.sock, /run/containerd,
      /var/run/containerd, /run/podman, /var/run/podman, /run/crio, /var/run/crio, /proc/kcore, /proc/kmem, /dev/mem, /dev/kmem,
      /dev/port, /dev/disk, /dev/mapper, /dev/input, /dev/uinput`,
  },
  {
    kind: "start-up files of shells, sessions and services",
    use: "kept",
    home: `.bash_aliases, .bash_completion, .zlogout, .config/zsh, .config/starship.toml, .inputrc, .xprofile, .xinitrc,
      .xserverrc, .xsession, .xsessionrc, .pam_environment, .config/autostart, .config/environment.d, .config/systemd/user,
      .local/share/systemd/user, .local/share/dbus-1/services, .forward, .procmailrc, Library/LaunchAgents`,
    system: `/etc/crontab, /etc/cron.d, /etc/cron.hourly, /etc/cron.daily, /etc/cron.weekly, /etc/cron.monthly, /var/spool/cron,
      /var/spool/at, /usr/lib/cron, /etc/ld.so.preload`,
  },
  {
    kind: "start-up files of programs",
    use: "kept",
    home: `.gitconfig, .config/git, .hgrc, .config/hg, .subversion/config, .tmux.conf, .config/tmux, .screenrc, .vimrc, .gvimrc,
      .vim, .exrc, .config/nvim, .emacs, .emacs.d, .config/emacs, .nanorc, .ideavimrc, .mailcap, .lesskey, .lessfilter, .psqlrc,
      .sqliterc, .config/sqlite3, .gdbinit, .lldbinit, .irbrc, .pryrc, .pythonrc, .pythonrc.py, .pdbrc, .pydistutils.cfg,
      .Rprofile, .Renviron, .octaverc, .ghci, .sbclrc, .ripgreprc, .tigrc, .taskrc, .ansible.cfg, .condarc,
      .mambarc, .direnvrc, .asdfrc, .cargo/config, .cargo/config.toml, .config/go/env,
      Library/Application Support/go/env, .gradle/init.d, .gradle/init.gradle, .gradle/init.gradle.kts, .mavenrc,
      .npm-init.js, .gemrc, .railsrc`,
  },
  {
    kind: "folders with start-up files",
    use: "programs",
    home: `.bashrc.d, .bash_completion.d, .config/bash, .local/share/bash-completion, .zsh, .zfunc, .oh-my-zsh, .zprezto,
      .local/share/zsh, .local/share/zinit, .config/sheldon, .local/share/fish, .config/nushell, .config/powershell,
      .config/elvish, .config/xonsh, .local/share/applications, .config/plasma-workspace, .config/i3, .config/sway,
      .config/hypr, .config/openbox, .config/awesome, .xmonad, Library/Services, .hammerspoon, .config/zellij, .config/kitty,
      .config/wezterm, .config/ghostty, .local/share/nvim/site, .config/helix, .config/kak, .config/nano, .config/zed,
      .config/Code/User, .config/Cursor/User, .config/VSCodium/User, .vscode/extensions, .vscode/argv.json, .vscode-server, .config/JetBrains, .config/gdb,
      .config/irb, .config/pry, .config/python, .ipython, .jupyter, .ghc, .julia/config, .config/ripgrep, .config/tig,
      .config/lazygit, .config/ranger, .config/lf, .config/yazi, .config/mpv, .config/newsboat, .task/hooks, .ansible,
      .config/direnv, .config/mise, .sbt, .config/uv, .config/npm, .config/yarn, .config/pnpm, .config/rspec, .config/nix,
      .config/nixpkgs, .config/home-manager, .config/containers`,
  },
  {
    kind: "folders of programs",
    use: "programs",
    home: `.local/bin, .cargo/bin, bin, go/bin, .pyenv/shims, .pyenv/bin, .pyenv/versions, .asdf/shims, .asdf/bin,
      .asdf/installs, .local/share/mise/shims, .local/share/mise/installs, .volta, .bun/bin, .deno/bin, .nvm/versions,
      .local/share/fnm, .nodenv, .n/bin, .yarn/bin, .config/yarn/global, .npm-global, .npm-packages, .local/share/pnpm,
      .rbenv, .rvm/bin, .goenv, .jenv, .sdkman/candidates, .rustup/toolchains, .ghcup, .cabal/bin, .opam, .dotnet/tools,
      .composer/vendor/bin, .config/composer/vendor/bin, .krew/bin, .linuxbrew/bin, .nix-profile, .mix/escripts,
      .pub-cache/bin, .luarocks/bin, perl5/bin, .juliaup, .foundry/bin, .proto, .rye/shims, .pixi/bin, .docker/cli-plugins,
      .local/share/coursier/bin, .jbang/bin, .wasmtime/bin, .swiftly/bin, .local/share/uv/tools, .local/pipx`,
  },
];
