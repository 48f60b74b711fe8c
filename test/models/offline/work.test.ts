import { describe, expect, test } from "vitest";
import { createOfflineModel } from "../../../src/models/offline/offline-model.ts";
import { isFullRun } from "../../full-run.ts";
import { collect, createChat, invent, requestOf, userMessage } from "../harness.ts";

const chat = () => createChat(createOfflineModel());
const exited = (output: string) => `${output}\n\n[Process exited with code 0]`;
const g = invent(2_024);

describe("listing and running", () => {
  test("the answer has the names that the tool listed", async () => {
    const [one, two] = [g.file(), g.file()];
    const ran = await chat().say("run ls command", { results: { Execute: exited(`${one}\n${two}\n`) } });
    expect(ran.calls).toEqual([
      { name: "Execute", input: { command: "ls", riskLevel: "low", riskLevelReason: "It only reads." } },
    ]);
    expect(ran.text).toBe(`\`ls\` printed:\n\n\`\`\`\n${one}\n${two}\n\`\`\``);
    const listed = await chat().say("列出当前目录的文件", { results: { LS: `-rw-r--r-- 1 2024-01-01 10:00 ${one}` } });
    expect(listed.text).toContain(one);
  });

  test("gives only the output on request", async () => {
    const turn = await chat().say("run pwd and reply only with the output", {
      results: { Execute: exited("/home/ann\n") },
    });
    expect(turn.text).toBe("/home/ann");
  });

  test("a command without output", async () => {
    const turn = await chat().say("run touch a.txt", {
      results: { Execute: exited("Command completed successfully") },
    });
    expect(turn.text).toBe("`touch a.txt` succeeded and printed nothing.");
  });

  test("limits long output", async () => {
    const turn = await chat().say("run `seq 100000`", { results: { Execute: exited("x".repeat(90_000)) } });
    expect(turn.text.length).toBeLessThan(13_000);
    expect(turn.text).toMatch(/… \(78\d\d\d more characters\)/);
    expect(turn.chunks).toBeLessThan(60);
  });

  test("a fence in the output does not end the block", async () => {
    const turn = await chat().say("show me a.md", { results: { Read: "```\ncode\n```\n" } });
    expect(turn.text).toBe("a.md:\n\n````\n```\ncode\n```\n````");
  });

  test("estimates the risk", async () => {
    const risk = async (command: string) => {
      const { calls } = await chat().say(`run \`${command}\``);
      return calls.map((call) => (call.input as { riskLevel: string }).riskLevel);
    };
    expect(await risk("git status")).toEqual(["low"]);
    expect(await risk("npm install")).toEqual(["medium"]);
    expect(await risk("ls > out")).toEqual(["medium"]);
    expect(await risk("git push")).toEqual(["high"]);
    expect(await risk("sudo ls")).toEqual(["high"]);
  });

  test("reports that it has no tools", async () => {
    const turn = await chat().say("run npm test", { tools: ["Read"] });
    expect(turn.calls).toEqual([]);
    expect(turn.text).toBe("I could not run `npm test`: no tool for it is available here (Execute)");
  });
});

describe("files", () => {
  test("create and read in one prompt", async () => {
    const path = g.file();
    const turn = await chat().say(`create file ${path} with hi then read ${path}`, {
      results: { Create: "File created successfully", Read: "hi\n" },
    });
    expect(turn.calls).toEqual([
      { name: "Create", input: { file_path: path, content: "hi" } },
      { name: "Read", input: { file_path: path } },
    ]);
    expect(turn.text).toBe(`I created ${path}.\n\n${path}:\n\n\`\`\`\nhi\n\`\`\``);
  });

  test("reads an existing file before it is replaced", async () => {
    const unread = { status: "failed", text: "Error: read it first", cause: "not_read" } as const;
    const turn = await chat().say("create file a.txt with hi", {
      results: { Create: [unread, "File created successfully"], Read: "old\n" },
    });
    expect(turn.calls.map((call) => call.name)).toEqual(["Create", "Read", "Create"]);
    expect(turn.text).toBe("I created a.txt.");
  });

  test("'it' is the file of the previous step or turn", async () => {
    const talk = chat();
    const first = await talk.say("create file a.txt with hi and then show it");
    expect(first.calls.map((call) => call.input)).toEqual([
      { file_path: "a.txt", content: "hi" },
      { file_path: "a.txt" },
    ]);
    expect((await talk.say("now read it")).calls).toEqual([{ name: "Read", input: { file_path: "a.txt" } }]);
    expect((await chat().say("read it")).text).toContain("nothing was done");
  });

  test.each([
    ["replace foo with bar in a.txt", { old_str: "foo", new_str: "bar" }],
    ["In a.txt, change port=80 to port=8080", { old_str: "port=80", new_str: "port=8080" }],
    ["replace all occurrences of foo with bar in a.txt", { old_str: "foo", new_str: "bar", change_all: true }],
    ["将 a.txt 中的所有 foo 替换为 bar", { old_str: "foo", new_str: "bar", change_all: true }],
  ])("%s", async (say, input) => {
    const turn = await chat().say(say, { results: { Read: "foo baz" } });
    expect(turn.calls).toEqual([
      { name: "Read", input: { file_path: "a.txt" } },
      { name: "Edit", input: { file_path: "a.txt", ...input } },
    ]);
    expect(turn.text).toContain("a.txt");
  });

  test("reports a failed edit, and skips what follows", async () => {
    const turn = await chat().say("replace foo with bar in a.txt then run npm test then just reply DONE", {
      results: { Edit: { status: "failed", text: "Error: The text to replace was not found" } },
    });
    expect(turn.calls.map((call) => call.name)).toEqual(["Read", "Edit"]);
    expect(turn.text).toBe(
      'I could not replace "foo" with "bar" in a.txt: The text to replace was not found\n\nSo I did not do the rest: Run `npm test`. Give the requested reply.',
    );
  });

  test("reports a refusal as such", async () => {
    const turn = await chat().say("创建文件 a.txt，内容为 hi", {
      results: { Create: { status: "refused", text: "Error: not permitted" } },
    });
    expect(turn.text).toBe("没有获得许可，未能创建 a.txt：not permitted");
  });

  test("gives an exact answer only if the work has been done", async () => {
    expect((await chat().say("create x.txt with hi, then just reply DONE")).text).toBe("DONE");
    const failed = await chat().say("create x.txt with hi, then just reply DONE", {
      results: { Create: { status: "failed", text: "Error: disk full" } },
    });
    expect(failed.text).toBe(
      "I could not create x.txt: disk full\n\nSo I did not do the rest: Give the requested reply.",
    );
  });

  test("shows search results, or that there are none", async () => {
    expect((await chat().say('search for "zork"', { results: { Grep: "./a.ts:3:zork()" } })).text).toContain(
      "./a.ts:3:zork()",
    );
    expect((await chat().say('search for "zork"', { results: { Grep: "No matching files found" } })).text).toBe(
      'Nothing matches "zork".',
    );
    const literal = await chat().say("search for 'a.b(c)' in src");
    expect(literal.calls[0]?.input).toEqual({
      pattern: "a.b(c)",
      path: "src",
      output_mode: "content",
      line_numbers: true,
      fixed_string: true,
    });
  });

  test("summarizes only what the files show", async () => {
    const listing = "-rw-r--r-- 120 2024-01-01 10:00 README.md\ndrwxr-xr-x 4096 2024-01-01 10:00 src/";
    const turn = await chat().say("summarize this project", {
      results: { LS: listing, Read: "# Zorkifier\n\nTurns anything into zork.\n\n## More\n" },
    });
    expect(turn.calls).toEqual([
      { name: "LS", input: {} },
      { name: "Read", input: { file_path: "README.md" } },
    ]);
    expect(turn.text).toBe(
      "As an offline model I can only tell what the files show.\n\nThe folder has 2 entries: README.md, src/.\n\nREADME.md begins: Zorkifier — Turns anything into zork.",
    );
  });
});

describe("asking and planning", () => {
  test("the answer is repeated", async () => {
    const result = "1. [question] Which colour do you want?\n[answer] blue";
    const turn = await chat().say("ask me which colour I want: red or blue", { results: { AskUser: result } });
    expect(turn.text).toBe("Your answer: blue");
  });

  test("without a user", async () => {
    const turn = await chat().say("ask me which colour I want: red or blue", {
      results: { AskUser: { status: "refused", text: "Error: Nobody can be asked in this run. Decide by yourself." } },
    });
    expect(turn.text).toBe(
      'I was not allowed to ask you "Which colour do you want?": Nobody can be asked in this run.',
    );
  });

  test("makes a plan of the steps, and carries it out once approved", async () => {
    const turn = await chat().say("make a plan to create file a.txt with hi then run npm test");
    expect(turn.calls).toEqual([
      {
        name: "ExitSpecMode",
        input: {
          title: "Create file a.txt with hi then run npm test",
          plan: "# Create file a.txt with hi then run npm test\n\n1. Create a.txt.\n2. Run `npm test`.",
        },
      },
      { name: "Create", input: { file_path: "a.txt", content: "hi" } },
      { name: "Execute", input: expect.objectContaining({ command: "npm test" }) },
    ]);
  });

  test.each(["plan how to add dark mode, then test it", "plan how to add dark mode", "make a plan to add a test"])(
    "makes up no plan for work that no rule can do: %s",
    async (say) => {
      const turn = await chat().say(say, { spec: true });
      expect(turn.calls).toEqual([]);
      expect(turn.text).toContain("nothing was done");
    },
  );

  test("without the tool, the plan is the answer", async () => {
    const turn = await chat().say("plan how to run npm install", { tools: ["Read"] });
    expect(turn.text).toBe("# Run npm install\n\n1. Run `npm install`.");
  });

  test.each(["create file a.txt with hi", "运行 npm install", "replace a with b in c.txt"])(
    "in spec mode, plans first: %s",
    async (say) => {
      const turn = await chat().say(say, {
        spec: true,
        results: { ExitSpecMode: { status: "refused", text: "Error: Plan not approved" } },
      });
      expect(turn.calls.map((call) => call.name)).toEqual(["ExitSpecMode"]);
      expect(turn.text).toContain("Plan not approved");
    },
  );

  test("in spec mode, carries out an approved plan", async () => {
    const turn = await chat().say("create file a.txt with hi", { spec: true });
    expect(turn.calls.map((call) => call.name)).toEqual(["ExitSpecMode", "Create"]);
    expect(turn.text).toBe("I created a.txt.");
  });

  test.each(["run git status", "list the files", "Just reply OK.", "show me a.md", "hello", "complex task"])(
    "in spec mode, looking and talking need no plan: %s",
    async (say) => {
      const turn = await chat().say(say, { spec: true });
      expect(turn.calls.map((call) => call.name)).not.toContain("ExitSpecMode");
    },
  );
});

describe("requests it does not understand", () => {
  test.each([
    "run ls then do a little dance",
    "refactor the parser then run npm test",
    "fix the bug and then just reply DONE",
    "create file a.txt with hi. Then deploy it.",
    "I have a question. Run ls. I am curious.",
    "先重构代码，然后运行 ls",
  ])("one unknown part, and nothing is done: %s", async (say) => {
    const turn = await chat().say(say);
    expect(turn.calls).toEqual([]);
    expect(turn.text).toMatch(/nothing was done|什么都没有做/);
    expect(turn.text).toContain("TINMAN_MODEL");
  });

  const prompts = [
    "Fix the failing tests",
    "write a poem",
    "What is the capital of France?",
    "create hello.py that prints hello",
    "把这个翻译成法语",
  ];
  test.each(prompts)("%s", async (say) => {
    const turn = await chat().say(say);
    expect(turn.calls).toEqual([]);
    expect(turn.text).toMatch(/Tinman.*(?:offline model|离线模型).*TINMAN_MODEL.*tinman models/u);
    expect(turn.text).not.toContain("\n");
  });

  test("continue names the previous request", async () => {
    const talk = chat();
    await talk.say("start task");
    expect((await talk.say("continue with next step")).text).toContain('Your last request was "start task".');
    expect((await talk.say("继续")).text).toContain("continue with next step");
  });

  test.each(["hi", "Hello there!", "who are you?", "what can you do?", "你好", "你是谁", "你能做什么？"])(
    "%s",
    async (say) => {
      expect((await chat().say(say)).text).toContain("Tinman");
    },
  );

  test("an empty prompt, and one with only a picture", async () => {
    expect((await chat().say("")).text).toContain("Tinman");
    const picture = { ...userMessage(""), content: [{ type: "image", mediaType: "image/png", data: "" }] } as const;
    const events = await collect(
      createOfflineModel(),
      requestOf([{ id: "p", role: "user", createdAt: 1, content: picture.content }]),
    );
    const text = events.map((event) => (event.type === "text" ? event.text : "")).join("");
    expect(text).toContain("I cannot look at pictures or documents.");
  });

  test.each([
    "把",
    "把a改成",
    "the x is y, ",
    "replace x with y in ",
    "create file ",
    '"',
    "a/",
    "a.",
    "1+",
    "run ls then ",
    `${" ".repeat(38)}y`,
    " ",
  ])("no text takes long to parse: %j", async (unit) => {
    for (const start of isFullRun ? ["", "write ", "把 ", "reply "] : ["", "write "]) {
      const turn = await chat().say(start + unit.repeat(Math.floor(9_000 / unit.length)));
      expect(turn.error).toBeUndefined();
    }
  });

  test("a very long text", async () => {
    const filler = "run ls. The sky is wide and nothing happens here. ".repeat(20_000);
    const turn = await chat().say(`${filler}\nJust reply LATE.`);
    expect({ calls: turn.calls, isUnknown: turn.text.includes("nothing was done") }).toEqual({
      calls: [],
      isUnknown: true,
    });
  });
});
