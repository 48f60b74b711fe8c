import { describe, expect, test } from "vitest";
import { createOfflineModel } from "../../../src/models/offline/offline-model.ts";
import { createChat, wholeTurn } from "../harness.ts";

/** Requests that need a real model, in words that look like an answer, a text or a search. */
const notUnderstood: Readonly<Record<string, readonly string[]>> = {
  "a description of a file's content": [
    "write a review of a.py to review.md",
    "create file verdict.txt with APPROVE or REJECT",
    "write release notes to NOTES.md",
    "save your verdict in verdict.txt",
    "create file tests.py with unit tests for a.py",
    "create hello.py with a function that adds two numbers",
    "create file x.md with documentation",
    "create tests.py",
    "generate report.md",
    "把评审结果写入 r2.md",
    "创建文件 verdict.txt，内容为 通过 或 不通过",
    "创建文件 x.txt，内容为 评审结果",
    "replace foo with a better name in a.py",
    "replace TODO with implementation in a.py",
    "把 a.py 里的 eval 改成 安全的写法",
    "把 a.py 里的 eval 替换成 更安全的函数",
    "创建文件 t.md，内容为 测试",
    "create file t.md with tests",
    "Read a.py and create file verdict.txt with SAFE",
    'search for "eval" and create file verdict.txt with SAFE',
    "write a review of this to out.md\n\n<stdin>\ndiff\n</stdin>",
  ],
  "a verdict beside something else": [
    "Bad code is rejected. Just reply APPROVE.",
    "The default is REJECT. Reply with APPROVE.",
    "Read a.py. Reply APPROVE. The alternative is REJECT.",
    "The policy is: reject unsafe code. Read a.py and reply APPROVE.",
    "run `false`, then reply PASS",
    "Run `npm test` and reply PASS",
    "read a.py，只回复 通过；不通过",
    "look at a.py and reply OK",
    "run npm test and tell me whether it passes",
    "Read a.py and tell me whether it is safe",
    "read a.py then write yes to r.txt",
    "Read a.py. Is it safe? Reply YES.",
    "run npm test, then create file r.txt with passed",
  ],
  "a choice": [
    "只回复 安全；不安全",
    "Reply YES/NO: is a.py safe?",
    "回复 是/否：a.py 有 bug 吗？",
    "回复 PASS/FAIL：测试通过了吗",
    ...["oder", "ou", "или", "または", "xor", "nor", "alternatively", "rather than", "to"].map(
      (or) => `Reply YES ${or} NO`,
    ),
    ..."／∕·•&+-→¦‖:;".split("").flatMap((sign) => [`Reply YES${sign}NO`, `Reply YES ${sign} NO`]),
    "Reply YES--NO",
    "Reply YES<br>NO",
    "Reply LOW MEDIUM HIGH",
  ],
  "a description of the answer": [
    "reply with the risk level",
    "reply with the severity",
    "reply only with severity",
    "results only",
    "reply briefly",
    "reply honestly",
    "reply in one word",
    "reply appropriately",
    "Reply with the verdict only",
    "Give me only the verdict",
    "read a.py and reply only with the severity",
    "只回复 评审结果",
    "只回复 严重程度",
    "只回复 数字",
    "只回复 一个词",
    "只要结论",
  ],
  "a finding, or somebody who understands a file": [
    "search for hardcoded passwords",
    "search for secrets",
    "search for bug",
    "search for XSS",
    "find all TODOs",
    "which files mention passwords?",
    "where is authentication implemented?",
    "查找 a.py 里的 bug",
    "explain a.py",
    "summarize a.py",
    "describe a.py",
    "what does a.py do?",
    "check a.py",
    "run security audit",
    "list the bugs in src",
    "show me the errors in a.py",
    "analyze code for bugs",
    "what is wrong?",
    "which version is installed?",
  ],
  "a command and what to do about it": [
    "run npm test until it passes",
    "run npm test and fix what fails",
    "run npm test - fix it",
    "run npm test (and fix it)",
    "run npm test; fix it",
    "运行 npm test 并修复",
    "track these todos: fix a, then fix b",
    "ask me which file I want: a or b. Then delete it.",
  ],
  "a question that would change something": [
    "what does rm x print?",
    "what does `rm -rf x` print?",
    "what does npm install print?",
  ],
  "work worded like a fact, a question or small talk": [
    "The login is broken, please repair it",
    "Remember to review a.py",
    "record the verdict",
    "what can you do to fix the bug?",
    "which model of user is tested?",
    "Tell me whether the code I sent you is safe",
    "implement the feature",
    "read a.txt and remember it",
    "read a.txt. Remember it.",
    "note the bug in a.py",
    "remember a.py",
    "remember to deploy V2",
    "remember to self-review",
    "记住修复 A1",
    "记住修复 a.py",
  ],
};

describe.each(Object.entries(notUnderstood))("does nothing and gives no answer for %s", (_, prompts) => {
  test.each(prompts)("%s", async (prompt) => {
    const { text, calls } = await createChat(createOfflineModel()).say(prompt);
    const { understood } = await wholeTurn(createOfflineModel(), prompt);
    expect({ calls, understood, text }).toEqual({ calls: [], understood: false, text: expect.any(String) });
    expect(text).not.toMatch(/APPROVE|REJECT|PASS|FAIL|YES|\bNO\b|通过|安全|评审|严重/);
  });
});

/** From the published examples, the README, the docs, the examples and other tests. */
test.each([
  "Just reply OK.",
  "只回复 OK。",
  "Just reply yes.",
  "Just reply PINEAPPLE.",
  "Reply with the word PONG and nothing else",
  "Say hello.",
  'reply "trick or treat"',
  "The password is DOLPHIN-2288. Just reply OK.",
  "The gate code is 5519. Just reply OK.",
  "The password is swordfish. Just reply OK.",
  "What password did I tell you?",
  "What password did I tell you? Reply ONLY the password.",
  "What gate code did I tell you? Reply only the code.",
  "Remember code GRAPE-1122",
  "记住暗号是 西瓜-77",
  "what code did I mention?",
  "prompt",
  "your prompt",
  "hi",
  "hello there",
  "你好",
  "complex task",
  "start task",
  "explain hello world in python",
  "summarize this repo",
  "总结一下这个仓库",
  "analyze code",
  "run ls command",
  "run `git status`",
  "run frobnicate --now",
  "run rm notes.txt",
  "what does pwd print?",
  "运行 npm test",
  "list the files here",
  "Which files are in this folder?",
  "列出当前目录的文件",
  "show me README.md",
  "cat src/bin/tool",
  "读取 a.txt",
  "create file x.txt with hello",
  "create file hello.txt with Hello!",
  "create file a.txt with hi, then read it, then just reply DONE",
  "创建文件 a.txt，内容为 你好",
  "replace foo with bar in a.txt",
  "把 a.txt 里的 foo 改成 bar",
  "where is parseConfig used?",
  "search for TODO in src",
  "find all js files",
  "哪里用到了 parseConfig",
  "ask me which colour I want: red or blue",
  "make a plan to create file a.txt with hello",
  "track these todos: write, test, ship",
  "what is 17*3",
])("understands %s", async (prompt) => {
  expect(await wholeTurn(createOfflineModel(), prompt)).toMatchObject({ understood: true });
});

test("a request with too many steps does not count as understood", async () => {
  const steps = Array.from({ length: 9 }, (_, at) => `create file ${at}.txt with a${at}`).join(", then ");
  expect(await wholeTurn(createOfflineModel(), steps)).toEqual({
    text: "I stopped: 8 tool calls are my limit for one request. The steps before are done, the rest are not.",
    understood: false,
  });
});

test("after a failed step, the requested reply is withheld with a note", async () => {
  const results = { Execute: { status: "failed", text: "Error: Command failed (exit code: 1)" } } as const;
  const { text } = await createChat(createOfflineModel()).say("run `false`, then reply DONE", { results });
  expect(text).toBe(
    "`false` failed:\n\n```\nError: Command failed (exit code: 1)\n```\n\nSo I did not do the rest: Give the requested reply.",
  );
});
