import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { blocksOf, looksLike } from "./blocks.ts";
import { checkBlock } from "./check-block.ts";

/** A stand-in for the built program: prints its arguments, and exits with the first one if it is a number. */
const stand = `process.stdout.write(process.argv.slice(2).join(" ") + "\\n"); process.exitCode = Number(process.argv[2]) || 0;\n`;
let folder: string;
let program: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "tinman-runner-"));
  program = join(folder, "main.mjs");
  writeFileSync(program, stand);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Written = readonly [comments: string, language: string, text: string];

function page(...blocks: readonly Written[]) {
  const text = blocks.map(([comments, language, body]) => `${comments}\n\`\`\`${language}\n${body}\n\`\`\`\n`);
  return blocksOf("page.md", `# Page\n\n${text.join("\nWords.\n\n")}`);
}

/** The faults of the last block. */
async function faultsOf(...blocks: readonly Written[]) {
  const all = page(...blocks);
  const last = all.findLast(({ directives }) => !directives.isOutput);
  if (!last) throw new Error("no block");
  const { faults, missing } = await checkBlock(last, all, program);
  expect(missing).toEqual([]);
  return faults;
}

describe("the runner of documentation blocks", () => {
  it("finds blocks with their lines and the comments before them", () => {
    const text =
      "# T\n\n<!-- run: exit 5 -->\n<!-- a remark -->\n\n~~~sh\na\n```\n~~~\n\n- item\n  ```json\n  {}\n  ```\n";
    const found = blocksOf("p.md", text).map(({ page: _, ...block }) => block);
    const none = {
      exitCode: 0,
      prints: [],
      continues: false,
      files: {},
      copies: [],
      git: false,
      isOutput: false,
      faults: [],
    };
    expect(found).toEqual([
      { line: 6, language: "sh", text: "a\n```\n", directives: { ...none, exitCode: 5 } },
      { line: 12, language: "json", text: "{}\n", directives: none },
    ]);
  });

  it.each([
    ["", "sh", `test -z "$(ls -A ~)"; test -z "$(ls -A)"; test -z "$(env | grep -E 'TINMAN|API_KEY')"`],
    ['<!-- run: prints "exec Hi" -->', "sh", "tinman exec Hi"],
    ["<!-- run: exit 5 -->", "bash", "tinman 5"],
    ["<!-- run: exit 5 -->", "bash", "tinman 5 | cat"],
    ['<!-- setup: file a/b.txt "one\\ntwo\\n" -->\n<!-- run: prints "two" -->', "sh", "tail -1 a/b.txt"],
    ['<!-- setup: copy package.json -->\n<!-- run: prints "Apache-2.0" -->', "sh", "cat package.json"],
    ['<!-- setup: git -->\n<!-- run: prints "Start" -->', "sh", "git log --format=%s"],
    [
      '<!-- run: prints "42" -->',
      "js",
      'import { sep } from "node:path";\nif (sep) process.stdout.write(String(6 * 7));',
    ],
    [
      '<!-- run: prints "function" -->',
      "js",
      'import { query } from "tinman/sdk";\nprocess.stdout.write(typeof query);',
    ],
    [
      '<!-- run: prints "function" -->',
      "sh",
      `echo 'console.log(typeof require("tinman/sdk").query)' > a.cjs; node a.cjs`,
    ],
    ["<!-- no-run: it takes a day -->", "sh", "false"],
    ["", "json", '{ "a": 1 }'],
    ["", "jsonl", '{ "a": 1 }\n[2]'],
    ["", "yaml", "a: [1, 2]"],
    ["", "ts", "const a: number = 1;"],
    ["", "text", "anything"],
  ] as const)("passes %s %s", async (comments, language, text) => {
    expect(await faultsOf([comments, language, text])).toEqual([]);
  });

  it.each([
    ["", "sh", "tinman 3", "it ended with 3 instead of 0"],
    ["", "sh", "tinman 3 | cat", "it ended with 3 instead of 0"],
    ["", "sh", "false; true", "it ended with 1 instead of 0"],
    ["", "sh", "unheard-of-program", "it ended with 127 instead of 0"],
    ["<!-- run: exit 5 -->", "sh", "true", "it ended with 0 instead of 5"],
    ['<!-- run: prints "OK" -->', "sh", "echo NO", 'it did not print "OK"'],
    ['<!-- run: prints "OK" -->', "sh", "echo OK >&2", 'it did not print "OK"'],
    ["", "js", "process.exitCode = 2;", "it ended with 2 instead of 0"],
    ["<!-- no-run: -->", "sh", "true", "<!-- no-run: -->: unknown directive"],
    ["<!-- run: pritns -->", "sh", "true", "<!-- run: pritns -->: unknown directive"],
    ["", "", "x", "say which language this is"],
    ["", "cobol", "x", "no checker for cobol blocks"],
  ] as const)("faults %s %s: %s", async (comments, language, text, fault) => {
    expect((await faultsOf([comments, language, text]))[0]).toBe(fault);
  });

  it.each([
    ["", "json", "{ a: 1 }"],
    ["", "jsonl", '{ "a": 1 }\nx'],
    ["", "yaml", "a: [1"],
    ["", "ts", "const a: = 1;"],
    ["<!-- no-run: shown only -->", "sh", "if true"],
  ] as const)("faults the syntax of %s %s: %s", async (comments, language, text) => {
    expect(await faultsOf([comments, language, text])).toHaveLength(1);
  });

  it("gives a block the files of earlier blocks on the page", async () => {
    const plan = ["<!-- file: plan.yaml -->", "yaml", "a: 1"] as const;
    expect(await faultsOf(plan, ['<!-- run: prints "a: 1" -->', "sh", "cat plan.yaml"])).toEqual([]);
  });

  it("continues a shell only on request", async () => {
    const first = ["", "sh", "id=7; echo first"] as const;
    const second = ["<!-- run: continues -->", "sh", 'echo "$id"'] as const;
    const shown = ["<!-- output -->", "text", "7"] as const;
    expect(await faultsOf(first, second, shown)).toEqual([]);
    expect((await faultsOf(first, ["", "sh", 'echo "$id"']))[0]).toBe("it ended with 1 instead of 0");
  });

  it("compares the output with the block that shows it", async () => {
    const block = ["", "sh", "echo one; echo 2026; echo three"] as const;
    expect(await faultsOf(block, ["<!-- output -->", "text", "one\n…\nthree"])).toEqual([]);
    expect((await faultsOf(block, ["<!-- output -->", "text", "one\nthree"]))[0]).toBe(
      "it did not print what the page shows:\none\nthree\n",
    );
  });

  it("treats … as a wildcard and nothing else as a pattern", () => {
    expect(looksLike('{"id":"…","a":[1]}\n', '{"id":"5","a":[1]}')).toBe(true);
    expect(looksLike('{"id":"…","a":[1]}\n', '{"id":"5","a":1}')).toBe(false);
    expect(looksLike("a.c", "abc")).toBe(false);
  });

  it.for([
    [
      "go",
      'package main\n\nimport (\n\t"os"\n\t"os/exec"\n)\n\nfunc main() {\n\tout, _ := exec.Command("tinman", "hi").Output()\n\tos.Stdout.Write(out)\n}',
    ],
    ["python", 'import subprocess\n\nprint(subprocess.check_output(["tinman", "hi"], text=True))'],
  ] as const)("runs %s where it is installed", async ([language, text], { skip }) => {
    const blocks = page(['<!-- run: prints "hi" -->', language, text]);
    const [block] = blocks;
    if (!block) throw new Error("no block");
    const { faults, missing } = await checkBlock(block, blocks, program);
    if (missing.length > 0 && !process.env.CI) skip(`${missing.join()} not installed`);
    expect({ faults, missing }).toEqual({ faults: [], missing: [] });
  });

  it("names the missing program instead of failing", async () => {
    const [block] = page(["", "sh", "echo 1 | jq ."]);
    if (!block) throw new Error("no block");
    const path = process.env.PATH;
    const bare = mkdtempSync(join(folder, "bin-"));
    try {
      process.env.PATH = bare;
      writeFileSync(join(bare, "bash"), `#!/bin/sh\nexec /bin/bash "$@"\n`, { mode: 0o755 });
      expect(await checkBlock(block, [block], program)).toEqual({ faults: [], missing: ["jq"] });
    } finally {
      process.env.PATH = path;
    }
  });

  it("leaves no folder behind", async () => {
    const before = process.env.TMPDIR;
    const temp = mkdtempSync(join(folder, "tmp-"));
    try {
      process.env.TMPDIR = temp;
      await faultsOf(["", "sh", "touch a; mkdir -p b/c; tinman 3"]);
      expect(readdirSync(temp)).toEqual([]);
    } finally {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    }
  });
});
