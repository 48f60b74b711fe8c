import { describe, expect, test } from "vitest";
import type { CommandPart, CommandRules } from "../../src/engine/permission.ts";
import { allowingRule, deniedBy, ruleText } from "../../src/permissions/rules/rules.ts";

type Word = string | undefined;

function part(words: readonly Word[] | undefined, more: Partial<CommandPart> = {}): CommandPart {
  return {
    kind: "command",
    source: "",
    class: "high",
    rule: "r",
    why: "w",
    touches: [],
    parts: [],
    inWorkspaceRoot: true,
    ...(words === undefined ? {} : { words }),
    ...more,
  };
}

/** Words separated by spaces; `?` for an unknown one. */
const said = (text: string): readonly Word[] => text.split(" ").map((word) => (word === "?" ? undefined : word));
const listed = (...rules: readonly string[]): readonly (readonly string[])[] => rules.map((rule) => rule.split(" "));
const rules = (changes: Partial<CommandRules>): CommandRules => ({ allow: [], deny: [], alwaysDeny: [], ...changes });
const isDenied = (rule: string, words: readonly Word[]): boolean =>
  deniedBy(part(words), rules({ deny: listed(rule) })) !== undefined;

describe("allow", () => {
  test.each([
    ["git fetch origin", "git fetch origin", true],
    ["git fetch origin", "git fetch", false],
    ["git fetch origin", "git fetch origin main", false],
    ["git fetch origin", "git fetch ?", false],
    ["git fetch origin", "Git fetch origin", false],
    ["git fetch origin", "/usr/bin/git fetch origin", false],
    ["git fetch origin", "./git fetch origin", false],
    ["git fetch origin", "git -C x fetch origin", false],
    ["git fetch origin", "git fetch Origin", false],
    ["git fetch origin", "git fetch origin ", false],
    ["npm run *", "npm run", true],
    ["npm run *", "npm run test -- --watch", true],
    ["npm run *", "npm run ?", false],
    ["npm run *", "npm run test ?", false],
    ["npm run *", "npm runx", false],
    ["npm run *", "npm", false],
    ["npm run *", "? run test", false],
    ["npm run *", "sudo npm run test", false],
    ["*", "ls", false],
  ])("%j and %j: %s", (rule, words, isAllowed) => {
    const found = allowingRule(part(said(words)), rules({ allow: listed(rule) }));
    expect(found).toBe(isAllowed ? rule : undefined);
  });

  test("applies only to words that certainly run in the session's own folder", () => {
    const allow = rules({ allow: listed("make *") });
    expect(allowingRule(part(["make"]), allow)).toBe("make *");
    expect(allowingRule(part(["make"], { inWorkspaceRoot: false }), allow)).toBeUndefined();
    const { inWorkspaceRoot: _, ...somewhere } = part(["make"]);
    expect(allowingRule(somewhere, allow)).toBeUndefined();
  });

  test("never applies to anything unreadable or not a simple command", () => {
    const allow = rules({ allow: [["make", "*"], ["*"], [""], []] });
    for (const odd of [part(undefined), part([]), part(["make"], { kind: "unreadable" }), part([undefined])])
      expect(allowingRule(odd, allow)).toBeUndefined();
  });
});

describe("deny", () => {
  test.each<readonly [rule: string, caught: readonly string[], free: readonly string[]]>([
    [
      "git push *",
      [
        "git push",
        "git push origin main",
        "/usr/bin/git push",
        "./git push",
        "../bin/GIT push",
        "git.exe push",
        "Git Push",
        "git --no-pager push",
        "git -C x push",
        "git -c a=b -C x --git-dir=y push",
        "git --work-tree x push --force",
        "git -p push",
        "git ?",
        "git -C ? status",
        "git --no-pager ?",
        "? push",
        "?",
        "git-push origin",
        "/usr/lib/git-core/git-push",
      ],
      [
        "git status",
        "git stash push",
        "git log ?",
        "git",
        "gitk push",
        "echo git push",
        "git pushx",
        "push",
        "mygit push",
      ],
    ],
    ["git *", ["git", "git status", "git-lfs pull"], ["gitk", "legit", "ls git"]],
    [
      "git push origin *",
      ["git push origin", "git push -u origin main", "git push --repo x origin", "git push ?"],
      ["git push upstream", "git push", "git push upstream origin"],
    ],
    [
      "git push --force *",
      [
        "git push --force",
        "git push origin main --force",
        "git push --force origin",
        "git push --forc",
        "git --force push",
        "git push origin ?",
        "git push --force=x",
      ],
      ["git push origin main", "git push -f", "git fetch --force", "git push --", "git push forced"],
    ],
    [
      "rm -rf *",
      ["rm -rf x", "rm -fr x", "rm -r -f x", "rm x -rf", "rm -vrf x", "rm -r ?", "rm ?"],
      ["rm x", "rm -r x", "rm -f x", "rm --rf x", "rmdir -rf x"],
    ],
    [
      "rm -rf /",
      ["rm -rf /", "rm -fr /", "rm / -rf", "rm -r -f /", "rm / -f -r", "rm -v -rf /", "rm ?", "rm -rf / ?"],
      ["rm -rf /tmp", "rm -rf", "rm -rf / x", "rm -rf / -v", "rm x ?"],
    ],
    [
      "git push",
      ["git push", "git -C x push", "git push ?"],
      ["git push origin", "git push --force", "git push origin ?"],
    ],
    [
      "npm publish *",
      ["npm publish", "npm --prefix x publish", "npm -w a publish --tag b"],
      ["npm run publish", "npm pack"],
    ],
    [
      "npm run deploy *",
      ["npm run deploy", "npm run --silent deploy", "npm --prefix x run deploy"],
      ["npm run test deploy"],
    ],
    ["cargo publish *", ["cargo +nightly publish", "cargo publish"], ["cargo build"]],
    ["find -delete *", ["find . -name x -delete"], ["find . -type d -depth -ls"]],
    ["curl --data=x *", ["curl --data=x u", "curl u --data x"], ["curl --data y u", "curl u"]],
    ["/opt/deploy.sh *", ["deploy.sh", "./deploy.sh now", "/opt/deploy.sh"], ["deploy"]],
    ["café *", ["cafe\u0301 x", "CAFÉ"], ["cafe"]],
    ["*", ["ls", "git status", "?", "x y z"], []],
  ])("%j", (rule, caught, free) => {
    expect(caught.filter((words) => !isDenied(rule, said(words)))).toEqual([]);
    expect(free.filter((words) => isDenied(rule, said(words)))).toEqual([]);
  });

  test.each<readonly [rule: string, caught: readonly string[], free: readonly string[]]>([
    [
      "git push *",
      [
        "sudo git push",
        "sudo -u root git push",
        "sudo -E -u root /usr/bin/git -C x push",
        "env A=1 -u B git push",
        "env -i sudo nice -n 5 git push",
        "env -S git_push",
        "env -iS x",
        "timeout 5 git push",
        "timeout -k 5 10s git push",
        "timeout ? git status",
        "nohup setsid git push",
        "xargs git",
        "xargs -n 1 git push",
        "xargs -I{} git {} origin",
        "xargs -I X X push",
        "xargs -IX sh -c X",
        "xargs --replace=Z git Z",
        "xargs -i git {}",
        "xargs -0 -J % git %",
        "parallel git {}",
        "find . -exec git push ;",
        "find . -exec git {} +",
        "find . -name x -execdir git -C {} status ;",
        "fd -x git push",
        "busybox git push",
        "npx git push",
        "exec -a x git push",
        "command git push",
        "builtin command git push",
        "bash",
        "bash -s",
        "bash -x",
        "sh -q -c x",
        "bash -o pipefail -c x",
        "bash ?",
        "bash -",
        "bash /dev/stdin",
        "source ?",
        "source /dev/fd/63",
        ". /proc/self/fd/0",
        "git -c alias.p=push p",
        "git --config-env=ALIAS.p=X p",
        "sudo bash",
        "sudo -s",
        "sudo -ni",
        "su root",
        "eval x",
        "eval ?",
        "trap x EXIT",
        "sudo ?",
        "sudo -u ? ls",
        "sudo ? git push",
      ],
      [
        "sudo git status",
        "sudo ls git push",
        "sudo",
        "env",
        "env A=1",
        "env git log -S push",
        "xargs",
        "xargs -r -n 1",
        "xargs git log",
        "xargs -I{} cp {} dst",
        "xargs -0 -I {} cp {} dst",
        "xargs -0 -r grep x",
        "xargs -i ls {}",
        "xargs grep -rI git push",
        "sudo -E ls ?",
        "xargs wc -l",
        "find . -name git -exec ls push ;",
        "find . -regex git",
        "timeout 5 ls",
        "bash build.sh",
        "bash build.sh -s push",
        "bash --version",
        "source setup.sh",
        ". ./setup.sh push",
        "git -c color.ui=never status",
        "node git push",
        "man git push",
      ],
    ],
    [
      "rm *",
      ["sudo rm x", "xargs rm", "find . -exec rm {} +", "busybox rm x", "nice rm x"],
      ["sudo grep rm x", "find . -name rm"],
    ],
  ])("%j after programs that start others", (rule, caught, free) => {
    expect(caught.filter((words) => !isDenied(rule, said(words)))).toEqual([]);
    expect(free.filter((words) => isDenied(rule, said(words)))).toEqual([]);
  });

  test("a shell's script that was parsed is judged by its commands only", () => {
    const deny = rules({ deny: listed("git push *") });
    const apart = (inner: CommandPart): readonly CommandPart[] => [
      part(undefined, { kind: "unwrapped", parts: [inner] }),
    ];
    const text = ["bash", "-c", "the text"];
    expect(deniedBy(part(text, { parts: apart(part(["ls"])) }), deny)).toBeUndefined();
    expect(deniedBy(part(text, { parts: apart(part(["git", "push"])) }), deny)).toMatchObject({ rule: "git push *" });
    expect(deniedBy(part(text), deny)).toMatchObject({ isCertain: false });
    const substituted = part(undefined, { kind: "substitution", parts: [part(["ls"])] });
    expect(deniedBy(part(text, { parts: [substituted] }), deny)).toMatchObject({ isCertain: false });
    for (const launcher of [
      ["sudo", "git push"],
      ["watch", "git push"],
      ["su", "-c", "git push"],
      ["env", "-S", "git push"],
    ])
      expect([launcher, deniedBy(part(launcher), deny)?.isCertain]).toEqual([launcher, false]);
    expect(deniedBy(part(["env", "A=a b", "ls"]), deny)).toBeUndefined();
  });

  test("any deny rule denies an unreadable part, and an allow rule denies nothing", () => {
    const unreadable = [part(undefined, { kind: "unreadable" }), part([undefined]), part([undefined, "x"])];
    for (const odd of unreadable) {
      expect(deniedBy(odd, rules({ deny: listed("git push *") }))).toEqual({
        rule: "git push *",
        always: false,
        isCertain: false,
        part: odd,
      });
      expect(deniedBy(odd, rules({ allow: listed("git push *") }))).toBeUndefined();
    }
  });

  test("no rule, not even *, denies a node that is not a command", () => {
    const deny = rules({ deny: listed("*") });
    expect(deniedBy(part(undefined, { kind: "pipeline" }), deny)).toBeUndefined();
    expect(deniedBy(part([]), deny)).toBeUndefined();
  });
});

describe("the whole command", () => {
  const push = part(["git", "push"]);
  const remove = part(["rm", "x"]);
  const nested = part(undefined, {
    kind: "pipeline",
    parts: [part(["ls"]), part(undefined, { parts: [remove, push] })],
  });

  test("checks every part, and the first match decides", () => {
    const deny = listed("git push *", "rm *");
    expect(deniedBy(nested, rules({ deny }))).toEqual({ rule: "rm *", always: false, isCertain: true, part: remove });
    expect(deniedBy(nested, rules({ deny: listed("ls") }))).toMatchObject({ rule: "ls" });
    expect(deniedBy(nested, rules({ deny: listed("cat *") }))).toBeUndefined();
  });

  test("administrator's rules take precedence, wherever they match", () => {
    const found = deniedBy(nested, rules({ deny: listed("ls *", "rm *"), alwaysDeny: listed("git push *") }));
    expect(found).toEqual({ rule: "git push *", always: true, isCertain: true, part: push });
  });

  test("a deny rule overrides an allow rule", () => {
    const both = rules({ allow: listed("git push"), deny: listed("git push") });
    expect(deniedBy(push, both)).toMatchObject({ rule: "git push" });
  });

  test("handles thousands of rules and words, and deep nesting", () => {
    const deny = Array.from({ length: 1000 }, (_, at) => ["git", `sub${at}`, "*"]);
    const long: Word[] = ["git", ...Array.from({ length: 200 }, (_, at) => `-${at}`), "sub999"];
    expect(deniedBy(part(long), rules({ deny }))).toMatchObject({ rule: "git sub999 *" });
    expect(deniedBy(part(["git", "other"]), rules({ deny }))).toBeUndefined();
    const sudos = part([...Array.from({ length: 2000 }, () => "sudo"), "rm", "x"]);
    expect(deniedBy(sudos, rules({ deny: listed("rm *") }))).toMatchObject({ rule: "rm *" });
    let deep = push;
    for (let level = 0; level < 20_000; level += 1) deep = part(undefined, { kind: "group", parts: [deep] });
    expect(deniedBy(deep, rules({ deny: listed("git push *") }))).toMatchObject({ part: push });
  });
});

test.each([
  [["git", "push", "*"], "git push *"],
  [["*"], "*"],
  [["find", "*", "x"], "find '*' x"],
  [["echo", "a b", "", "it's", "~x", "HEAD~1", "$x"], String.raw`echo 'a b' '' 'it'\''s' '~x' HEAD~1 '$x'`],
])("shows %j as %j", (words, text) => expect(ruleText(words)).toBe(text));
