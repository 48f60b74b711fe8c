import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, createBench } from "./tinman.ts";
import { toolResults } from "./tool-results.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

const execute = (command: string) => ["Execute", { command }] as const;
const ended = "\n\n[Process exited with code 0]";
const done = `Command completed successfully${ended}`;

test("at medium, a run deletes only what git has and what it created itself", async () => {
  const identity = "-c user.name=n -c user.email=n@example.com";
  await bench.shell(
    `git init -q && echo a > kept.txt && git add . && git ${identity} commit -qm a && echo KEY=1 > .env`,
  );
  const results = await toolResults(
    bench,
    bench.cwd,
    ["--auto", "medium"],
    [["Create", { file_path: "new/deep/a.txt", content: "a" }]],
    [execute("echo b > b.txt")],
    [execute("rm -r new b.txt kept.txt && ls")],
    [execute("rm .env")],
    [execute("mv .env moved.env")],
    [execute("rm moved.env")],
    [execute("mkdir -p build made && mv moved.env build/")],
    [execute("rm -rf build")],
    [execute("mv build/moved.env made/")],
    [execute("rm -rf made")],
    [execute("mv made/moved.env .")],
    [execute("ls -A moved.env")],
  );
  expect(results.slice(1).map((text) => text.split(" This run has")[0])).toEqual([
    done,
    done,
    `Error: Execute runs "rm .env": it deletes ${bench.cwd}/.env, which cannot be undone.`,
    done,
    `Error: Execute runs "rm moved.env": it deletes ${bench.cwd}/moved.env, which cannot be undone.`,
    done,
    `Error: Execute runs "rm -rf build": it deletes ${bench.cwd}/build, which cannot be undone.`,
    done,
    `Error: Execute runs "rm -rf made": it deletes ${bench.cwd}/made/moved.env, which cannot be undone.`,
    done,
    `moved.env\n${ended}`,
  ]);
});

test("a continued session still knows what it created", async () => {
  const calls = (name: string, input: object) => ({ tool_calls: [{ name, input }] });
  const model = await bench.script([
    calls("Create", { file_path: "later.txt", content: "" }),
    { text: "made" },
    calls("Execute", { command: "rm later.txt" }),
    { text: "gone" },
    calls("Execute", { command: "rm other.txt" }),
  ]);
  await bench.file("other.txt", "");
  const exec = (...args: readonly string[]) => bench.tinman(["exec", "-o", "json", "-m", model, ...args, "go"]);
  const { session_id: id } = JSON.parse((await exec("--auto", "low")).stdout) as { session_id: string };
  expect(await exec("--auto", "medium", "-s", id)).toMatchObject({ code: 0 });
  expect(await exec("--auto", "medium", "-s", id)).toMatchObject({ code: 5 });
});
