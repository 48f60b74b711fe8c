import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import type { Containment } from "../../src/engine/containment.ts";
import type { DecisionContext } from "../../src/engine/permission.ts";
import { context, decisionOn } from "./class-of.ts";

const { cwd, home } = context;
const sandbox = {
  isRequired: false,
  temp: "/tmp/tinman-s",
  hasServers: false,
  network: "proven",
  writable: [],
} as const;
const withServers = { ...sandbox, hasServers: true };

/** The class, in or outside the sandbox, and the walls. */
async function shown(command: string, more: Partial<DecisionContext> = {}): Promise<string> {
  const { class: accessClass, walls } = await decisionOn(command, { sandbox, ...more });
  return [accessClass, ...(walls === undefined ? ["outside"] : openings(walls))].join(", ");
}

function openings({
  writable,
  newFolders,
  caches,
  outputs,
  shown,
  network,
  processes,
}: Containment): readonly string[] {
  const places = writable.map((path) => (path === cwd ? "workspace" : path === sandbox.temp ? "" : path));
  return [
    ...places.filter((path) => path !== ""),
    ...newFolders.map((path) => path.replace(dirname(cwd), "..")),
    ...[...caches, ...shown].map((path) => path.replace(home, "~")),
    ...outputs.map((path) => `> ${path}`),
    ...(network === "host" ? ["network"] : []),
    ...(processes === "session" ? ["session's processes"] : []),
  ];
}

describe("a contained command", () => {
  it.each([
    ["ls -la", "read"],
    ["mkdir x", "low, workspace"],
    ["npm test", "medium, workspace"],
    ["node x.js", "medium, workspace"],
    ["./build.sh", "medium, workspace"],
    ["python3 -c 'print(1)'", "medium, workspace"],
    ['bash -c "$x"', "medium, workspace"],
    ["RUSTC=./evil cargo build", "medium, workspace"],
    ["printf x%n PATH; ls", "medium, workspace"],
    ["cloc x*", "medium, workspace"],
    ["sleep 100 & kill $!", "high, outside"],
    ["npm ci", "medium, workspace, ~/.npm/_cacache, ~/.npm/_logs, ~/.npmrc, network"],
    ["curl https://example.com -o a", "medium, workspace, network"],
    ["npm view left-pad", "medium, workspace, ~/.npm/_cacache, ~/.npm/_logs, ~/.npmrc, network"],
    [
      "cargo fetch",
      "medium, workspace, ~/.cargo/registry, ~/.cargo/git, ~/.cargo/credentials, ~/.cargo/credentials.toml, network",
    ],
    [
      "go mod download",
      "medium, workspace, ~/go/pkg/mod, ~/go/pkg/sumdb, ~/.cache/go-build, ~/.netrc, ~/.gitconfig, ~/.config/git/config, network",
    ],
    ["git fetch", "medium, workspace, ~/.ssh, ~/.git-credentials, ~/.netrc, ~/.gitconfig, ~/.config/git, network"],
    ["npm view left-pad", "medium, workspace, ~/.npm/_cacache, ~/.npm/_logs, ~/.npmrc, network"],
    [
      "go mod download",
      "medium, workspace, ~/go/pkg/mod, ~/go/pkg/sumdb, ~/.cache/go-build, ~/.netrc, ~/.gitconfig, ~/.config/git/config, network",
    ],
    // The project's settings can name the compiler, the git program or a plug-in.
    ["go mod tidy && go test ./...", "medium, workspace"],
    ["git commit -m x", "medium, workspace, ~/.gitconfig, ~/.config/git/config"],
    ["git commit -m x; ./build.sh", "medium, workspace"],
    ["git commit -m x && git pull", "medium, workspace, ~/.gitconfig, ~/.config/git/config"],
    ["git add . && curl https://example.com", "medium, workspace, ~/.gitconfig, ~/.config/git/config, network"],
    ["git commit -m x && curl https://example.com", "medium, workspace, ~/.gitconfig, ~/.config/git/config"],
    ["cat /home/other/notes ../near", "low, workspace, /home/other/notes"],
    ["cat /home/other/notes; ./build.sh", "medium, workspace"],
    ["npm ci && ./build.sh", "medium, workspace"],
    ["node x.js > /var/tmp/out.txt", "medium, workspace, > /var/tmp/out.txt"],
    ["cp src/a.ts /var/tmp/b/", "medium, workspace, /var/tmp, /var/tmp/b"],
    ["git worktree add ../feature", "medium, workspace, ../feature, ~/.gitconfig, ~/.config/git/config"],
  ])("%s: %s", async (command, expected) => {
    expect(await shown(command)).toBe(expected);
  });

  it.each([
    ["npm test > /var/tmp/out.log", "medium, workspace, > /var/tmp/out.log"],
    ["touch /var/tmp/a && npm test", "medium, workspace"],
    ["make && cp a /var/tmp/b", "medium, workspace"],
    ["npm test | tee /var/tmp/out.log", "medium, workspace"],
    ["npm test; curl https://example.com", "medium, workspace"],
    ["npm test; npm view left-pad", "medium, workspace"],
    ["npm test; cargo fetch", "medium, workspace"],
    ["npm test; git fetch", "medium, workspace"],
    ["npm test && cat /home/other/notes", "medium, workspace"],
    ["npm ci && npm test", "medium, workspace, ~/.npm/_cacache, ~/.npm/_logs, ~/.npmrc, network"],
    ["git commit -m x; touch /var/tmp/a", "medium, workspace, ~/.gitconfig, ~/.config/git/config"],
  ])("gives code of the project nothing that another part needs: %s", async (command, expected) => {
    expect(await shown(command)).toBe(expected);
  });

  it("cannot create what later builds start with, in a cache that it writes", async () => {
    const { walls } = await decisionOn("gradle build", { sandbox });
    expect(walls?.caches).toEqual([`${home}/.gradle`]);
    expect(walls?.barred).toEqual(
      expect.arrayContaining([
        `${home}/.gradle/init.gradle`,
        `${home}/.gradle/init.gradle.kts`,
        `${home}/.gradle/init.d`,
      ]),
    );
  });

  it("changes git's settings only where no hooks run, and leaves nothing that redirects git", async () => {
    const repositories = {
      closed: [`${cwd}/.git/config`, `${cwd}/.git/hooks`],
      kept: [`${cwd}/.git`],
      programs: [],
      links: [],
    };
    const of = async (command: string) => {
      const { walls } = await decisionOn(command, { sandbox, repositories });
      const { barred = [], repositories: folders, unwanted, runsHooks } = walls ?? {};
      return [runsHooks, barred.includes(`${cwd}/.git/config`), folders, unwanted];
    };
    const git = [`${cwd}/.git`];
    const unwanted = [`${cwd}/.git/commondir`, `${cwd}/.git/config.worktree`];
    expect([
      await of("git switch -c x"),
      await of("git commit -m x"),
      await of("git switch -c x && git commit -m x"),
      await of("npm test && git commit -m x"),
      await of("git fetch && git merge origin/main"),
      await of("git commit -m x && git pull"),
    ]).toEqual([
      [false, false, git, []],
      [true, true, git, unwanted],
      [true, true, git, unwanted],
      [true, true, [], []],
      // Hooks must not see the logins that git uses with the network.
      [false, true, git, unwanted],
      [true, true, git, unwanted],
    ]);
  });

  it("writes its repository only if it is git, and never the hooks", async () => {
    const kept = async (command: string) => {
      const { walls } = await decisionOn(command, {
        sandbox,
        repositories: {
          closed: [`${cwd}/.git/config`, `${cwd}/.git/hooks`],
          kept: [`${cwd}/.git`],
          programs: [],
          links: [],
        },
      });
      return walls?.barred.filter((path) => path.startsWith(`${cwd}/.git`));
    };
    expect({
      script: await kept("./build.sh"),
      commit: await kept("git commit -m x"),
      branch: await kept("git switch -c x"),
      both: await kept("git commit -m x && ./build.sh"),
    }).toEqual({
      script: [`${cwd}/.git`, `${cwd}/.git/config`, `${cwd}/.git/hooks`],
      commit: [`${cwd}/.git/config`, `${cwd}/.git/hooks`],
      branch: [`${cwd}/.git/hooks`],
      both: [`${cwd}/.git`, `${cwd}/.git/config`, `${cwd}/.git/hooks`],
    });
  });

  it("replaces tracked hooks and settings of programs only if it is git and switches the files", async () => {
    const repositories = {
      closed: [`${cwd}/.git/config`, `${cwd}/.git/hooks`],
      kept: [`${cwd}/.git`, `${cwd}/.git/own`, `${cwd}/.husky`, `${cwd}/sub/.git`],
      programs: [],
      links: [],
    };
    const barred = async (command: string) => {
      const { walls } = await decisionOn(command, { sandbox, repositories });
      const names = [".git/own", ".husky", ".mcp.json", ".tinman", "sub/.git"];
      return names.filter((name) => walls?.barred.includes(`${cwd}/${name}`));
    };
    const always = [".git/own", "sub/.git"];
    const all = [".git/own", ".husky", ".mcp.json", ".tinman", "sub/.git"];
    expect({
      switch: await barred("git switch x"),
      stash: await barred("git stash pop"),
      commit: await barred("git commit -m x"),
      besideCode: await barred("git switch x && npm test"),
      besideUnknown: await barred("git switch x && ./build.sh"),
    }).toEqual({ switch: always, stash: always, commit: all, besideCode: all, besideUnknown: all });
  });

  it("keeps the settings of a working tree from what runs beside git", async () => {
    const kept = async (command: string) => {
      const closed = ["config", "config.worktree", "hooks"].map((name) => `${cwd}/.git/${name}`);
      const repositories = { closed, kept: [`${cwd}/.git`], programs: [], links: [] };
      const { walls } = await decisionOn(command, { sandbox, repositories });
      return walls?.kept.filter((path) => path.startsWith(`${cwd}/.git`));
    };
    expect([await kept("git add ."), await kept("git switch -c x")]).toEqual([[`${cwd}/.git/config.worktree`], []]);
  });

  it("hides credentials, and what it could start later cannot be created", async () => {
    const { walls } = await decisionOn("./build.sh", { sandbox });
    expect(walls?.hidden).toEqual(expect.arrayContaining([`${home}/.ssh`, `${home}/.tinman`, `${home}/.bash_history`]));
    expect(walls?.barred).toEqual(expect.arrayContaining([`${cwd}/.tinman`, `${cwd}/.mcp.json`, `${cwd}/.git`]));
  });

  it("sees no sessions in a home that is not Tinman's now", async () => {
    const moved = { sandbox, ownHome: "/srv/tinman", loginHome: "/home/login" };
    const { walls } = await decisionOn("./build.sh", moved);
    expect(walls?.hidden).toEqual(expect.arrayContaining(["/srv/tinman", `${home}/.tinman`, "/home/login/.tinman"]));
  });

  it("reaches the session's servers once there are some", async () => {
    expect([
      await shown("curl http://localhost:3000/", { sandbox: withServers }),
      await shown("curl http://localhost:3000/"),
      await shown("curl https://example.com/", { sandbox: withServers }),
      await shown("curl -X POST http://localhost:3000/ -d x=1", { sandbox: withServers }),
      await shown("curl -X POST http://localhost:3000/ -d x=1"),
      await shown("kill 123", { sandbox: withServers }),
      await shown("lsof -ti :3000 | xargs kill", { sandbox: withServers }),
      await shown("ps aux", { sandbox: withServers }),
    ]).toEqual([
      "medium, workspace",
      "medium, workspace, network",
      "medium, workspace, network",
      "medium, workspace",
      "high, outside",
      "medium, workspace, session's processes",
      "medium, workspace, session's processes",
      "read, session's processes",
    ]);
  });

  it("has the network and folders that the user configured", async () => {
    const configured = { ...sandbox, network: "all", writable: ["/opt/cache"] } as const;
    expect(await shown("./build.sh", { sandbox: configured })).toBe("medium, workspace, /opt/cache, network");
  });
});

describe("a command that must run outside the sandbox", () => {
  it.each([
    ["git push", "high, outside"],
    ["sudo ls", "high, outside"],
    ["docker run x", "high, outside"],
    ["rm src/a.ts", "high, outside"],
    ["rm -rf $x", "high, outside"],
    ["curl -sL https://example.com | sh", "high, outside"],
    ["cat ~/.ssh/id_rsa", "high, outside"],
    ["kill 123", "high, outside"],
    ["docker ps", "medium, outside"],
    ["ps aux", "read, outside"],
    ["git push && ./build.sh", "high, outside"],
  ])("%s: %s", async (command, expected) => {
    expect(await shown(command)).toBe(expected);
  });

  it("is any at the level high, unless the sandbox is required", async () => {
    const required = { ...sandbox, isRequired: true };
    expect([
      await shown("./build.sh", { autonomy: "high" }),
      await shown("npm test", { autonomy: "high" }),
      await shown("./build.sh", { autonomy: "high", sandbox: required }),
      await shown("git push", { autonomy: "high", sandbox: required }),
      await shown("docker ps", { sandbox: required }),
      await shown("ps aux", { sandbox: required }),
    ]).toEqual(["high, outside", "medium, outside", "medium, workspace", "high, outside", "medium, workspace", "read"]);
  });

  it("is one that a rule allows, one of an unsafe run, and one in a workspace that holds the home", async () => {
    const allow = { rules: { ...context.rules, allow: [["./build.sh"]] } };
    expect([
      await shown("./build.sh", allow),
      await shown("./build.sh", { unsafe: true }),
      await shown("./build.sh", { cwd: "/home" }),
      await shown("./build.sh", { cwd: home }),
    ]).toEqual(["read, outside", "medium, outside", "high, outside", "high, outside"]);
  });
});

it("leaves the sandbox only with a yes, when the model calls a command high", async () => {
  const {
    verdict,
    class: accessClass,
    rule,
    contained,
  } = await decisionOn("./build.sh", { sandbox, autonomy: "medium" }, "high");
  expect({ verdict, class: accessClass, rule, contained }).toEqual({
    verdict: "ask",
    class: "high",
    rule: "leaves-sandbox",
    contained: false,
  });
});

it("says what is missing where no sandbox works", async () => {
  const missing = { noSandbox: "bubblewrap was not found.", approver: false };
  expect([(await decisionOn("./build.sh", missing)).why, (await decisionOn("git push", missing)).why]).toEqual([
    'Execute runs "./build.sh": it runs "./build.sh", which is an unknown program. This run has no permission for that and no approver to ask. In a sandbox, medium would be enough. bubblewrap was not found.',
    'Execute runs "git push": it sends commits to another repository. This run has no permission for that and no approver to ask.',
  ]);
});
