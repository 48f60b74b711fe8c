import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench, lines } from "./tinman.ts";

/** The calls that run unasked at each level, seen from outside: files, exit code, and every message. */

const levels = {
  default: [],
  low: ["--auto", "low"],
  medium: ["--auto", "medium"],
  high: ["--auto", "high"],
  unsafe: ["--skip-permissions-unsafe"],
} as const;
type Level = keyof typeof levels;
const order = Object.keys(levels) as Level[];

interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly runsFrom: Level;
  readonly rule: string;
  /** The message if the call is denied. */
  readonly does: string;
  /** Its result if it ran. */
  readonly gives: string;
}

interface Row {
  readonly name: string;
  /** Each in its own reply; the last one is the row's subject. */
  readonly calls: (cell: string) => readonly Call[];
  /** The files' content afterwards, if the last call ran; `undefined`: the file is gone. */
  readonly changes: Readonly<Record<string, string | undefined>>;
}

const before = {
  "work/notes.txt": "one\n",
  "work/.git/hooks/notes": "one\n",
  "outside/notes.txt": "one\n",
  "home/.bashrc": "one\n",
} as const;

const done = "Command completed successfully\n\n[Process exited with code 0]";

function execute(kind: string, command: string, runsFrom: Level, rule: string, does: string, gives = done) {
  return (changes: Row["changes"]): Row => ({
    name: `Execute, ${kind}`,
    calls: (cell) => [
      {
        name: "Execute",
        input: { command },
        runsFrom,
        rule,
        does: `runs ${JSON.stringify(command)}: it ${does.replace("HERE", join(cell, "work"))}`,
        gives,
      },
    ],
    changes,
  });
}

function create(where: string, path: string, runsFrom: Level, rule: string, more: string): Row {
  return {
    name: `Create, ${where}`,
    calls: (cell) => [
      {
        name: "Create",
        input: { file_path: join(cell, path), content: "new\n" },
        runsFrom,
        rule,
        does: `writes ${join(cell, path)}${more}`,
        gives: "File created successfully",
      },
    ],
    changes: { [path]: "new\n" },
  };
}

/** A file must be read before an edit, which can need approval itself. */
function edit(
  where: string,
  path: string,
  from: readonly [Level, Level],
  rules: readonly [string, string],
  more: string,
) {
  const [read, written] = from;
  const [readRule, rule] = rules;
  return {
    name: `Edit, ${where}`,
    calls: (cell: string): readonly Call[] => {
      const file = join(cell, path);
      const diffLines = [
        { type: "removed", content: "one", lineNumber: { old: 1 } },
        { type: "added", content: "two", lineNumber: { new: 1 } },
      ];
      return [
        {
          name: "Read",
          input: { file_path: file },
          runsFrom: read,
          rule: readRule,
          does: `reads ${file}${more}`,
          gives: "one\n",
        },
        {
          name: "Edit",
          input: { file_path: file, old_str: "one", new_str: "two" },
          runsFrom: written,
          rule,
          does: `${rule === "protected-place" ? "reads" : "writes"} ${file}${more}`,
          gives: JSON.stringify({ file_path: file, diffLines, content: "two\n" }),
        },
      ];
    },
    changes: { [path]: "two\n" },
  };
}

const outside = ", which is outside the workspace";
const isProtected = ", a protected place";

const table: readonly Row[] = [
  execute("read", "cat notes.txt", "default", "", "", "one\n\n\n[Process exited with code 0]")({}),
  execute(
    "low",
    "touch made.txt",
    "low",
    "row touch",
    "creates empty files, or sets the times of files",
  )({ "work/made.txt": "" }),
  execute("low by >", "echo hi > out.txt", "low", "write-redirection", "writes out.txt")({ "work/out.txt": "hi\n" }),
  execute("medium", "chmod +x notes.txt", "medium", "row chmod", "changes the permissions of files")({}),
  execute(
    "of an unknown program",
    "own-program other.txt",
    "high",
    "unknown-program",
    'runs "own-program", which is an unknown program',
  )({ "work/other.txt": "made\n" }),
  create("inside", "work/new.txt", "low", "write-workspace", ""),
  create("outside", "outside/new.txt", "medium", "write-outside", outside),
  create("protected", "work/.git/hooks/pre-commit", "unsafe", "protected-place", isProtected),
  edit("inside", "work/notes.txt", ["default", "low"], ["", "write-workspace"], ""),
  edit("outside", "outside/notes.txt", ["low", "medium"], ["read-outside", "write-outside"], outside),
  edit("protected", "home/.bashrc", ["unsafe", "unsafe"], ["protected-place", "protected-place"], isProtected),
  execute(
    "high",
    "rm notes.txt",
    "high",
    "delete",
    "deletes HERE/notes.txt, which cannot be undone",
  )({ "work/notes.txt": undefined }),
];

let bench: Bench;
let made = 0;
beforeAll(async () => {
  bench = await createBench();
  await writeFile(join(bench.root, "bin", "own-program"), '#!/bin/sh\necho made > "$1"\n', { mode: 0o755 });
});
afterAll(() => bench.remove());

/** A workspace, a folder beside it, and a home, for one run. */
async function newCell(files: Readonly<Record<string, string>>): Promise<string> {
  made += 1;
  const cell = join(bench.root, `cell-${made}`);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(cell, path, ".."), { recursive: true });
    await writeFile(join(cell, path), text);
  }
  return cell;
}

async function filesIn(cell: string): Promise<Record<string, string>> {
  const entries = await readdir(cell, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  const own = paths.filter((path) => !path.startsWith(join(cell, "home/.tinman/")));
  return Object.fromEntries(
    await Promise.all(own.map(async (path) => [relative(cell, path), await readFile(path, "utf8")] as const)),
  );
}

async function run(cell: string, level: Level, calls: readonly Pick<Call, "name" | "input">[]) {
  const replies = calls.map(({ name, input }) => ({ tool_calls: [{ name, input }] }));
  const model = await bench.script([...replies, { text: "done" }]);
  const finished = await bench.tinman(
    ["exec", "-o", "stream-json", "--on-denied", "continue", ...levels[level], "-m", model, "go"],
    { cwd: join(cell, "work"), env: { HOME: join(cell, "home") } },
  );
  const said = lines(finished.stdout);
  const { finalText, isError, stopReason, exitCode, error, denials = [] } = said.at(-1) ?? {};
  return {
    code: finished.code,
    stderr: finished.stderr,
    results: said.flatMap(({ type, value }) => (type === "tool_result" ? [String(value)] : [])),
    completion: { finalText, isError, stopReason, exitCode, error },
    denials: (denials as Record<string, unknown>[]).map(({ toolCallId: _, ...denial }) => denial),
  };
}

type Ended = Awaited<ReturnType<typeof run>>;

/** How a run ends if these calls are denied. */
function ended(calls: readonly Call[], level: Level): Ended {
  const isDenied = ({ runsFrom }: Call): boolean => order.indexOf(level) < order.indexOf(runsFrom);
  const reasonOf = ({ name, does }: Call): string =>
    `${name} ${does}. This run has no permission for that and no approver to ask.`;
  const denials = calls.filter(isDenied).map((call) => ({
    toolName: call.name,
    rule: call.rule,
    reason: reasonOf(call),
    allowWith: call.runsFrom === "unsafe" ? "--skip-permissions-unsafe" : `--auto ${call.runsFrom}`,
  }));
  const message = denials.map(({ reason, allowWith }) => `${reason} Allow it with ${allowWith}.`).join(" ");
  const failed = denials.length > 0;
  return {
    code: failed ? 5 : 0,
    stderr: failed ? `tinman: ${message}\n` : "",
    results: calls.map((call) => (isDenied(call) ? `Error: ${reasonOf(call)}` : call.gives)),
    completion: {
      finalText: "done",
      isError: failed,
      stopReason: "completed",
      exitCode: failed ? 5 : 0,
      error: failed ? { code: "denied", message } : undefined,
    },
    denials,
  };
}

const isCommand = ({ name }: Row): boolean => name.startsWith("Execute");

/** All rows of a kind in one run, one call per reply: a row finds what those before it changed. */
describe.concurrent.each([
  ["commands", table.filter(isCommand)],
  ["files", table.filter((row) => !isCommand(row))],
] as const)("%s", (_, rows) => {
  test.each(order)("at %s", async (level) => {
    const cell = await newCell(before);
    const calls = rows.map((row) => row.calls(cell));
    expect(await run(cell, level, calls.flat())).toEqual(ended(calls.flat(), level));
    const runs = ({ runsFrom }: Call): boolean => order.indexOf(level) >= order.indexOf(runsFrom);
    const changes = rows.filter((_, index) => calls[index]?.every(runs)).map((row) => row.changes);
    const after = Object.entries(Object.assign({}, before, ...changes)).filter(([, text]) => text !== undefined);
    expect(await filesIn(cell)).toEqual(Object.fromEntries(after));
  });
});

describe("the model's risk estimate", () => {
  /** Commands that models call harmless. */
  const commands = {
    "rm -rf victim": "work/victim",
    "git push origin HEAD:main": "remote.git/refs/heads/main",
    "echo x > out.txt": "work/out.txt",
    "touch new.txt": "work/new.txt",
    "npm install --offline": "work/package-lock.json",
  } as const;

  async function outcome(level: Level, claimed: object) {
    const cell = await newCell({ "work/victim/file": "", "work/package.json": "{}", "home/.profile": "" });
    const identity = "-c user.name=N -c user.email=n@example.com";
    const repository = `git init -q --bare ../remote.git; git init -q; git add .; git ${identity} commit -qm first`;
    const setUp = await bench.shell(`set -e; ${repository}; git remote add origin ../remote.git`, {
      cwd: join(cell, "work"),
    });
    expect(setUp).toMatchObject({ code: 0, stderr: "" });
    const calls = Object.keys(commands).map((command) => ({ name: "Execute", input: { command, ...claimed } }));
    const { results: _, ...said } = await run(cell, level, calls);
    const there = Object.entries(commands).map(([command, path]) => [command, existsSync(join(cell, path))]);
    return JSON.parse(JSON.stringify({ ...said, there }).replaceAll(cell, "CELL"));
  }

  test.each([
    ["default", []],
    ["low", ["echo x > out.txt", "touch new.txt"]],
  ] as const)("calling a command harmless changes nothing at %s", async (level, ran) => {
    const believed = await outcome(level, { riskLevel: "low", riskLevelReason: "It only reads." });
    expect(believed).toEqual(await outcome(level, {}));
    expect(believed).toMatchObject({
      code: 5,
      denials: Array(5 - ran.length).fill({ toolName: "Execute" }),
      there: Object.keys(commands).map((command) => [
        command,
        command === "rm -rf victim" || (ran as readonly string[]).includes(command),
      ]),
    });
  });

  test("calling a harmless command harmful changes nothing if it is known", async () => {
    const cell = await newCell(before);
    const call = { name: "Execute", input: { command: "ls", riskLevel: "high" } };
    expect(await run(cell, "default", [call])).toEqual({
      code: 0,
      stderr: "",
      results: ["notes.txt\n\n\n[Process exited with code 0]"],
      completion: { finalText: "done", isError: false, stopReason: "completed", exitCode: 0, error: undefined },
      denials: [],
    });
  });

  test("calling any other command harmful counts", async () => {
    const cell = await newCell(before);
    const { code, denials } = await run(cell, "low", [
      { name: "Execute", input: { command: "touch made.txt", riskLevel: "high" } },
    ]);
    expect([code, denials.map(({ allowWith }) => allowWith)]).toEqual([5, ["--auto high"]]);
    expect(await filesIn(cell)).toEqual(before);
  });
});
