import { readdirSync, readFileSync } from "node:fs";
import { rm, symlink } from "node:fs/promises";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { builtinTools } from "../../src/tools/all.ts";
import { createBench, mainFile } from "../e2e/tinman.ts";
import { isFullRun } from "../full-run.ts";
import { importsOf } from "../rules/imports.ts";

interface Shown {
  readonly prints: string;
  /** The folder's content afterwards. */
  readonly files?: Readonly<Record<string, string>>;
}

const execute = '> Execute {"command":"echo hello","riskLevel":"low","riskLevelReason":"It only reads."}';
const executed = "< hello\n\n\n[Process exited with code 0]";

/** The tools offered in auto mode to a model without patches. The example hides one. */
const tools = builtinTools
  .filter(({ onlyIn, replaces }) => onlyIn === undefined && replaces === undefined)
  .map(({ name }) => (name === "FetchUrl" ? "FetchUrl (not offered)" : name));

/** Each example's whole output. Times vary. */
const examples: Readonly<Record<string, Shown>> = {
  "ten-lines": {
    prints: "I'll create hello.txt. (Create: File created successfully)\nI created hello.txt. (completed)\n",
    files: { "hello.txt": "Hello!" },
  },
  stream: { prints: `I'll run \`echo hello\`.\n${execute}\n${executed}\nDONE\ncompleted\n` },
  send: { prints: "OK\nYou told me that the gate code is 5519.\n" },
  permission: {
    prints:
      "? Create notes.md\n  proceed_once, proceed_always, cancel\ncompleted (completed)\n" +
      "? Execute touch other.txt\n  proceed_once, proceed_always, cancel\ninterrupted (permission_rejected)\n",
    files: { "notes.md": "hello" },
  },
  question: { prints: "? Which colour do you want? (red, blue)\nYour answer: blue\n" },
  plan: {
    prints: `# Create file x.txt with hello

1. Create x.txt.
proceed_once: Proceed with implementation
proceed_auto_run_low: Proceed, and allow file edits and read-only commands (Low)
proceed_auto_run_medium: Proceed, and allow reversible commands (Medium)
proceed_auto_run_high: Proceed, and allow all commands (High)
cancel: No, keep iterating on spec

completed: I created x.txt.
auto, low
`,
    files: { "x.txt": "hello" },
  },
  interrupt: { prints: "interrupted (cancelled)\nOK\n" },
  abort: { prints: "TimeoutError: The operation was aborted due to timeout\nOK\n" },
  settings: { prints: "off: interrupted\nlow: completed\n", files: { "hello.txt": "Hello!" } },
  fork: { prints: "The gate code is 5519. Just reply OK.: 5519\nAnother code: 7070\n" },
  rename: { prints: "Just reply OK.\nA better name\n" },
  "models-and-tools": {
    prints: `offline: Tinman offline, none\n${tools.join("\n")}\n{ skills: [] }\n`,
  },
  resume: { prints: "user: The password is DOLPHIN-2288. Just reply OK.\nassistant: OK\nDOLPHIN-2288\n" },
  query: { prints: "completed: 17*3 = 51\n> sleep 60\n" },
  "list-sessions": {
    prints:
      "<time> tinman: The door code is 7070. Just reply OK.\n<time> tinman: The gate code is 5519. Just reply OK.\n",
  },
  "stream-json": {
    prints:
      "user: run `echo hello`, then just reply DONE\nassistant: I'll run `echo hello`.\n" +
      `${execute}\n${executed}\nassistant: DONE\ncompleted (completed)\n`,
  },
  "in-memory": {
    prints: "{\n  status: 'completed',\n  reason: 'completed',\n  text: 'You said: Hello!',\n  turnId: 'turn-1'\n}\n",
  },
  "web-socket": { prints: "OK\n" },
  errors: {
    prints:
      "SessionNotFoundError: load session: Session not found\n" +
      "SdkError: No program no-such-program on PATH.\n" +
      "BackendGoneError: tinman ended with exit code 2.\ntinman: unknown option '--no-such-option'\n  exit code 2\n" +
      "TimeoutError: The backend did not come to an end within 500 ms.\n",
  },
  droid: { prints: "completed: OK\n" },
};

const pathOf = (name: string): string => `examples/sdk/${name}.mjs`;
const sourceOf = (name: string): string => readFileSync(pathOf(name), "utf8");

describe.concurrent("examples of the SDK", () => {
  // Each is two processes or more, and the pages also show them: the short run takes every second one.
  const tried = Object.entries(examples).filter((_, index) => isFullRun || index % 2 === 1);

  it.each(tried)("%s", async (name, { prints, files = {} }) => {
    const bench = await createBench();
    try {
      await symlink(mainFile, join(bench.root, "bin", "droid"));
      // They find nothing of the package outside it.
      await rm(join(bench.root, "bin", "tinman"));
      const { code, stdout, stderr } = await bench.shell(`node '${resolve(pathOf(name))}'`);
      expect([code, stderr.replace(/^No model is configured: [^\n]*\n/, "")]).toEqual([0, ""]);
      expect(stdout.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")).toBe(prints);
      const left = await Promise.all(readdirSync(bench.cwd).map(async (file) => [file, await bench.read(file)]));
      expect(Object.fromEntries(left)).toEqual(files);
    } finally {
      await bench.remove();
    }
  });
});

it("all examples are run", () => {
  const found = readdirSync("examples/sdk");
  expect(
    Object.keys(examples)
      .map((name) => `${name}.mjs`)
      .toSorted(),
  ).toEqual(found.toSorted());
});

it.each(Object.keys(examples))("%s is short, and needs only the package", (name) => {
  const source = sourceOf(name);
  expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(30);
  const specifiers = importsOf(source).map(({ specifier = "" }) => specifier);
  expect(specifiers.filter((one) => !/^(tinman\/sdk|node:\w+|ws)$/.test(one))).toEqual([]);
  expect(specifiers).toContain("tinman/sdk");
});
