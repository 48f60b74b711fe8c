import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { isFullRun } from "../full-run.ts";
import { canContain } from "../host/sandbox/contained.ts";
import { eventually, longNap, processesWith } from "../host/support.ts";
import { type Bench, createBench, lines } from "./tinman.ts";
import { toolResults } from "./tool-results.ts";

const contained = ["--sandbox", "required", "--auto", "medium"];
const bare = ["--sandbox", "off", "--auto", "high"];

async function newBench(): Promise<Bench> {
  const bench = await createBench();
  onTestFinished(bench.remove);
  await bench.shell("git init -q -b main");
  await bench.file("test.js", 'require("fs").writeFileSync("made-by-node", ""); console.log("node ok");');
  await bench.file("script.py", 'open("made-by-python", "w"); print("python ok")');
  await bench.file("build.sh", "#!/bin/sh\necho made > made-by-sh; echo sh ok\n");
  await bench.file("package.json", '{"name": "x", "version": "1.0.0", "scripts": {"test": "node test.js"}}');
  await bench.shell("chmod +x build.sh");
  return bench;
}

/** Each line of the program's output is an attack that worked. */
const hostile = `#!/bin/bash
attempt() { if bash -c "$2" >/dev/null 2>&1; then echo "HIT $1"; fi; }
attempt "writes into the home" 'echo x > "$HOME/x"'
attempt "reads a key" 'grep -r SECRET "$HOME/.ss"h'
attempt "reads another session" 'grep -r SECRET "$HOME/.tin"man/sessions'
attempt "plants a hook" 'echo x > .g"it"/hooks/pre-commit'
attempt "plants a hook in a repository further down" 'echo x > deep/er/.git/hooks/pre-commit'
attempt "points a submodule elsewhere" 'echo "gitdir: ../evil" > sub/.git'
attempt "makes settings of agents" 'mkdir -p .tinman && echo x > .tinman/config.yaml && echo x > .mcp.json'
attempt "reaches the loopback" 'exec 3<>"/dev/tcp/127.0.0.1/@PORT@"' 
attempt "kills a process" "kill -KILL @VICTIM@"
env -i setsid sleep @NAP@ &
(setsid sleep @NAP@ &)
nohup sleep @NAP@ >/dev/null 2>&1 &
sleep 0.1
echo over
`;

const hostilePrograms = ["node attack.js", "./attack.sh", "python3 attack.py", "npm test"];

async function harmDone(
  flags: readonly string[],
  command: string,
): Promise<{ readonly hits: readonly string[]; readonly survives: boolean }> {
  const bench = await newBench();
  const { home, cwd } = bench;
  for (const path of [join(home, ".ssh"), join(home, ".tinman/sessions"), join(cwd, "sub")])
    await mkdir(path, { recursive: true });
  for (const path of [".ssh/id_rsa", ".tinman/sessions/other.jsonl"]) await writeFile(join(home, path), "SECRET");
  await bench.shell(
    "mkdir -p deep/er && git init -q deep/er && mkdir -p .git/modules/sub && echo 'gitdir: ../.git/modules/sub' > sub/.git",
  );
  const server = createServer((socket) => socket.destroy());
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  const victim = spawn("sleep", [longNap()], { stdio: "ignore" });
  onTestFinished(() => void victim.kill("SIGKILL"));
  const nap = longNap();
  const values: Readonly<Record<string, string>> = { PORT: `${port}`, VICTIM: `${victim.pid}`, NAP: nap };
  await bench.file(
    "attack.sh",
    hostile.replace(/@(PORT|VICTIM|NAP)@/g, (_, name) => values[name] ?? ""),
  );
  await bench.shell("chmod +x attack.sh");
  await bench.file("attack.js", 'require("child_process").spawnSync("bash", ["attack.sh"], { stdio: "inherit" });');
  await bench.file("attack.py", 'import subprocess; subprocess.run(["bash", "attack.sh"])');
  await bench.file("package.json", '{"name": "x", "version": "1.0.0", "scripts": {"test": "node attack.js"}}');
  const [said = ""] = await toolResults(bench, cwd, flags, [["Execute", { command }]]);
  const survives = processesWith(nap).length > 0;
  await bench.shell(`pkill -KILL -f "sleep ${nap}"; true`);
  expect(said).toContain("over");
  return { hits: said.split("\n").flatMap((line) => (line.startsWith("HIT ") ? [line.slice(4)] : [])), survives };
}

if (await canContain()) {
  test("scripts and unknown programs run at --auto medium", async () => {
    const bench = await newBench();
    const commands = ["node test.js", "./build.sh", "python3 script.py", "npm test"];
    const said = await toolResults(
      bench,
      bench.cwd,
      contained,
      ...commands.map((command) => [["Execute", { command }]] as const),
    );
    expect(said.map((text) => /(?:node|sh|python) ok/.exec(text)?.[0])).toEqual([
      "node ok",
      "sh ok",
      "python ok",
      "node ok",
    ]);
    expect((await readdir(bench.cwd)).filter((name) => name.startsWith("made")).sort()).toEqual([
      "made-by-node",
      "made-by-python",
      "made-by-sh",
    ]);
  });

  test.each(isFullRun ? hostilePrograms : hostilePrograms.slice(-1))(
    "a hostile %s does no harm at --auto medium, although all of it works without a sandbox",
    async (command) => {
      const all = [...hostile.matchAll(/^attempt "([^"]+)"/gm)].map(([, name]) => name);
      expect(await harmDone(bare, command)).toEqual({ hits: all, survives: true });
      expect(await harmDone(contained, command)).toEqual({ hits: [], survives: false });
    },
  );

  test("what a contained command was denied is explained to the model in one line", async () => {
    const bench = await newBench();
    await bench.file("out.js", `require("fs").writeFileSync(process.env.HOME + "/x", "");`);
    const input = { command: "node out.js" };
    const model = await bench.script([{ tool_calls: [{ name: "Execute", input }] }, { text: "done" }]);
    const run = await bench.tinman(["exec", "-o", "json", ...contained, "-m", model, "go"]);
    const [{ session_id: id = "" } = {}] = lines(run.stdout) as { session_id?: string }[];
    const log = await bench.shell(`cat "$(tinman sessions path ${id})"`);
    const told = lines(log.stdout).flatMap(({ result }) => (result as { forModel?: string })?.forModel ?? []);
    expect(told.flatMap((text) => text.split("\n").filter((line) => line.startsWith("[The command ran")))).toEqual([
      `[The command ran in a sandbox: it can write only ${bench.cwd} and $TMPDIR. Run installers, git and downloads as separate commands. To run a command outside the sandbox, call Execute with riskLevel "high", which may need permission.]`,
    ]);
  });

  test("git knows the user, and a repository that a command makes is usable by the next", async () => {
    const bench = await createBench();
    onTestFinished(bench.remove);
    await writeFile(
      join(bench.home, ".gitconfig"),
      "[user]\n  name = Ada\n  email = ada@example.com\n[init]\n  defaultBranch = main\n",
    );
    await bench.file("a.txt", "a\n");
    const commands = ["git init", "git add a.txt", "git commit -m first", "git log --format='%an %s'"];
    const said = await toolResults(
      bench,
      bench.cwd,
      contained,
      ...commands.map((command) => [["Execute", { command }]] as const),
    );
    expect(said.at(-1)).toContain("Ada first");
  });

  test("git replaces tracked hooks and settings of programs, and leaves a clean tree", async () => {
    const bench = await newBench();
    await bench.shell(
      "git config user.name a && git config user.email a@example.com && git add . && git commit -qm first && git switch -qc other && mkdir .husky && echo one > .husky/pre-push && " +
        "echo '{}' > .mcp.json && git add . && git commit -qm second && echo two > .husky/pre-push && git commit -qam third && " +
        "git switch -q main && git config core.hooksPath .husky/_",
    );
    const commands = ["git switch other", "git checkout HEAD~1", "git status --short", "git switch main"];
    const said = await toolResults(
      bench,
      bench.cwd,
      contained,
      ...commands.map((command) => [["Execute", { command }]] as const),
    );
    expect(said.filter((text) => /error:|fatal:|\.husky|\.mcp/.test(text))).toEqual([]);
    const left = await bench.shell("git status --short && git branch --show-current && ls -A");
    expect(left.stdout).toBe("main\n.git\nbuild.sh\npackage.json\nscript.py\ntest.js\n");
  });

  describe("when the program is killed in the middle of contained commands", () => {
    test.each(["SIGTERM", "SIGKILL"] as const)("by %s, none of their processes is left", async (signal) => {
      const bench = await newBench();
      const nap = longNap();
      await bench.file(
        "stay.sh",
        `env -i setsid sleep ${nap} & (setsid sleep ${nap} &) ; echo up > up-$1; sleep ${nap}`,
      );
      const model = await bench.script([
        { tool_calls: [{ name: "Execute", input: { command: "sh stay.sh 1", fireAndForget: true } }] },
        { tool_calls: [{ name: "Execute", input: { command: "sh stay.sh 2" } }] },
      ]);
      const child = bench.start(["exec", ...contained, "-m", model, "go"]);
      child.stdin?.end();
      const ended = once(child, "close");
      const isUp = async () => (await readdir(bench.cwd)).filter((name) => name.startsWith("up-")).length === 2;
      for (let tries = 0; tries < 500 && !(await isUp()); tries += 1) await new Promise((go) => setTimeout(go, 20));
      expect(await eventually(() => processesWith(nap).length >= 6)).toBe(true);
      child.kill(signal);
      await ended;
      expect(await eventually(() => processesWith(nap).length === 0)).toBe(true);
      const left = async () => (await readdir(bench.cwd)).filter((name) => /^\.(?:mcp\.json|tinman)$/.test(name));
      for (let tries = 0; tries < 200 && (await left()).length > 0; tries += 1)
        await new Promise((go) => setTimeout(go, 20));
      expect(await left()).toEqual([]);
      expect(await readFile(join(bench.cwd, "up-2"), "utf8")).toBe("up\n");
      await rm(join(bench.cwd, "up-1"));
    });
  });
} else {
  test("where commands cannot be contained, a required sandbox runs nothing and says why", async () => {
    const bench = await newBench();
    const model = await bench.script([
      { tool_calls: [{ name: "Execute", input: { command: "./build.sh" } }] },
      { text: "done" },
    ]);
    const run = await bench.tinman(["exec", ...contained, "-m", model, "go"]);
    expect({ code: run.code, stderr: run.stderr.split(".")[0] }).toEqual({
      code: 2,
      stderr: "tinman: The sandbox is required, and does not work here",
    });
    expect(await readdir(bench.cwd)).not.toContain("made-by-sh");
  });
}
