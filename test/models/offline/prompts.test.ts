import { describe, expect, test } from "vitest";
import { createOfflineModel } from "../../../src/models/offline/offline-model.ts";
import { createChat, invent } from "../harness.ts";

type Calls = readonly { readonly name: string; readonly input: unknown }[];
type Row = readonly [prompts: string | readonly string[], expected: string | Calls];

const read = (path: string): Calls => [{ name: "Read", input: { file_path: path } }];
const list = (path?: string): Calls => [{ name: "LS", input: path === undefined ? {} : { directory_path: path } }];
const run = (command: string): Calls => [{ name: "Execute", input: expect.objectContaining({ command }) }];
const create = (path: string, content: string): Calls => [{ name: "Create", input: { file_path: path, content } }];
const todo = (...items: readonly string[]): Calls => [
  { name: "TodoWrite", input: { todos: items.map((item, index) => `${index + 1}. [pending] ${item}`).join("\n") } },
];
const plan = (title: string): Calls => [{ name: "ExitSpecMode", input: expect.objectContaining({ title }) }];
const glob = (patterns: string, folder?: string): Calls => [
  { name: "Glob", input: { patterns, ...(folder === undefined ? {} : { folder }) } },
];
const grep = (pattern: string, path?: string): Calls => [
  {
    name: "Grep",
    input: { pattern, ...(path === undefined ? {} : { path }), output_mode: "content", line_numbers: true },
  },
];
const edit = (path: string, from: string, to: string, all = {}): Calls => [
  ...read(path),
  { name: "Edit", input: { file_path: path, old_str: from, new_str: to, ...all } },
];
const ask = (question: string, topic: string, ...options: readonly string[]): Calls => {
  const lines = [`1. [question] ${question}`, `[topic] ${topic}`, ...options.map((option) => `[option] ${option}`)];
  return [{ name: "AskUser", input: { questionnaire: lines.join("\n") } }];
};

/** With names and values that no rule can know. The last of several prompts is judged. */
function rows(seed: number): readonly Row[] {
  const g = invent(seed);
  const [word, other, secret, file, dir, han] = [g.word(), g.word(), g.secret(), g.file(), g.folder(), g.han()];
  const marker = word.toUpperCase();
  const symbol = `get_${other}`;
  return [
    [`Just reply ${marker}.`, marker],
    [`Respond only with: ${marker}`, marker],
    [`reply with the word ${word} and nothing else`, word],
    [`Please answer with exactly "${word}, sir."`, `${word}, sir.`],
    [`Could you please say nothing but ${marker}?`, marker],
    [`Your whole answer must be exactly: ${marker}`, marker],
    [`If you understand, reply ${marker}`, marker],
    ["Just reply A.", "A"],
    ["Just reply word-7", "word-7"],
    [`只回复 ${marker}。`, marker],
    [`请只回答“${han}”`, han],
    [`你只需要说“${han}”`, han],
    [`回复“${marker}”，不要说别的`, marker],

    [["run ls", "now just reply DONE"], "DONE"],
    ["run ls command", run("ls")],
    ["please run the ls -la command", run("ls -la")],
    [`run \`echo ${word} | wc -c\``, run(`echo ${word} | wc -c`)],
    [`run node ${dir}.js and show me the output`, run(`node ${dir}.js`)],
    [`run this: echo ${word}`, run(`echo ${word}`)],
    ["git status", run("git status")],
    ["What does `uname -s` print?", run("uname -s")],
    [`what does git log ${file} say?`, run(`git log ${file}`)],
    [`show me the output of echo ${word}`, run(`echo ${word}`)],
    ["运行 npm test", run("npm test")],
    ["在终端运行 ls -l", run("ls -l")],
    [`请执行一下 git show ${file} 命令`, run(`git show ${file}`)],
    ["pwd 输出什么？", run("pwd")],

    ["list the files here", list()],
    ["Which files are in this folder?", list()],
    [`what's in ${dir}/`, list(dir)],
    [`Can you show me the contents of the ${dir} directory`, list(dir)],
    [`list ${dir}/`, list(dir)],
    ["列出当前目录的文件", list()],
    ["看看这个文件夹里有什么", list()],
    [`请列出 ${dir} 目录下的所有文件`, list(dir)],
    [`${dir}/ 里有哪些文件？`, list(dir)],

    [`show me ${file}`, read(file)],
    [`What does ${dir}/${file} say?`, read(`${dir}/${file}`)],
    [`could you print the contents of ${file} for me`, read(file)],
    [`what's in ${file}?`, read(file)],
    [`read /etc/${word}`, read(`/etc/${word}`)],
    ["show Dockerfile", read("Dockerfile")],
    [`读取 ${file}`, read(file)],
    [`看看 ${file} 的内容是什么`, read(file)],
    [`打开${han}.md看看`, read(`${han}.md`)],

    [`create file ${file} with ${marker}`, create(file, marker)],
    [`create file ${file} with content-0`, create(file, "content-0")],
    [`Make a file called ${file} containing "{}"`, create(file, "{}")],
    [
      `I need you to add a file ${file} that says "${word}, ${dir} and so on"`,
      create(file, `${word}, ${dir} and so on`),
    ],
    [`write '${word} and then some' to ${dir}/${file}`, create(`${dir}/${file}`, `${word} and then some`)],
    [`create an empty file called ${dir}`, create(dir, "")],
    [`create ${file} with \`\`\`\n${word}\n\n${other}\n\`\`\``, create(file, `${word}\n\n${other}`)],
    [`创建文件 ${file}，内容为 你好`, create(file, "你好")],
    [`帮我新建一个叫 ${han}.txt 的文件，内容是“${word}”`, create(`${han}.txt`, word)],
    [`把“${han}”写入 ${dir}/${file}`, create(`${dir}/${file}`, han)],

    [`replace ${word} with ${other} in ${file}`, edit(file, word, other)],
    [`in ${file}, change port=80 to port=8080`, edit(file, "port=80", "port=8080")],
    [`replace all occurrences of "${word} 1" with "x" in ${file}`, edit(file, `${word} 1`, "x", { change_all: true })],
    [`把 ${file} 里的 ${word} 改成 ${other}`, edit(file, word, other)],
    [`将 ${file} 中的所有 ${word} 替换为 ${other}`, edit(file, word, other, { change_all: true })],

    [`search for ${symbol} in ${dir}`, grep(symbol, dir)],
    [`search for "${word} ${other}"`, grep(`${word} ${other}`)],
    [`find "${word} ${other}"`, grep(`${word} ${other}`)],
    [`Where is ${symbol} used?`, grep(symbol)],
    [`Find where ${symbol} is defined`, grep(symbol)],
    [`where do we use ${symbol}?`, grep(symbol)],
    [`which files mention ${symbol}?`, grep(symbol)],
    [`find the definition of ${symbol}`, grep(symbol)],
    [`搜索 ${symbol}`, grep(symbol)],
    [`在 ${dir} 里查找 ${symbol}`, grep(symbol, dir)],
    [`哪里用到了 ${symbol}`, grep(symbol)],
    [`${symbol} 被谁调用`, grep(symbol)],

    ["find all js files", glob("**/*.js")],
    [`list all python files in ${dir}`, glob("**/*.py", dir)],
    ["find files named *.kt", glob("**/*.kt")],
    [`where is the file ${file}?`, glob(`**/${file}`)],
    ["找出所有 .toml 文件", glob("**/*.toml")],
    [`列出 ${dir} 下所有的 ts 文件`, glob("**/*.ts", dir)],
    [`${file} 在哪里`, glob(`**/${file}`)],

    [`ask me which colour I want: ${word} or ${other}`, ask("Which colour do you want?", "Colour", word, other)],
    ["问我想要哪种颜色：红色还是蓝色", ask("你想要哪种颜色？", "颜色", "红色", "蓝色")],
    [`make a plan to read ${file}`, [...plan(`Read ${file}`), ...read(file)]],
    [`先做个计划：读取 ${file}`, [...plan(`读取 ${file}`), ...read(file)]],
    [`track these todos: buy ${word}, walk, call ${other}`, todo(`buy ${word}`, "walk", `call ${other}`)],
    [`todos:\n- ${word}\n- fix ${file}`, todo(word, `fix ${file}`)],
    [`add fix ${file} to my todo list`, todo(`fix ${file}`)],
    [`待办：洗衣服、买${han}`, todo("洗衣服", `买${han}`)],
    ["analyze code", list()],
    ["What does this project do?", list()],
    ["总结一下这个仓库", list()],
    ["what is 17*3", "17*3 = 51"],
    ["what is 7 / 2? Just the value.", "3.5"],
    ["3 加 4 等于多少？", "3+4 = 7"],

    [`create ${file} with ${secret} and read it`, [...create(file, secret), ...read(file)]],
    [`读取 ${file} 并列出文件`, [...read(file), ...list()]],
    [`读取 ${file}，然后运行 ls`, [...read(file), ...run("ls")]],
    [[`read ${file}`, "run pwd", "show me it"], read(file)],
  ];
}

describe.each([1, 71, 4_444])("with values of seed %i", (seed) => {
  test.each(rows(seed))("%s", async (given, expected) => {
    const chat = createChat(createOfflineModel());
    const prompts = typeof given === "string" ? [given] : given;
    for (const prompt of prompts.slice(0, -1)) await chat.say(prompt);
    const { calls, text } = await chat.say(prompts.at(-1) ?? "");
    if (typeof expected === "string") expect({ text, calls }).toEqual({ text: expected, calls: [] });
    else expect(calls).toEqual(expected);
  });
});

describe("a path that turns out to be of the other kind", () => {
  const failed = (text: string) => ({ status: "failed", text }) as const;
  const isFolder = failed("Error reading file: a/b is a directory.");
  const isFile = failed("LS tool call failed: Not a directory: a/b.");

  test.each([
    ["a folder is listed", "read a/b", { Read: isFolder, LS: "kept" }, [...read("a/b"), ...list("a/b")]],
    ["a file is read", "what's in a/b", { LS: isFile, Read: "kept" }, [...list("a/b"), ...read("a/b")]],
    ["only once", "what's in a/b", { LS: isFile, Read: isFolder }, [...list("a/b"), ...read("a/b")]],
  ])("%s", async (_, say, results, calls) => {
    const turn = await createChat(createOfflineModel()).say(say, { results });
    expect(turn.calls).toEqual(calls);
    if (results.LS === "kept" || results.Read === "kept") expect(turn.text).toContain("kept");
  });
});

test("'it' is the file of the previous request, whatever this one has read since", async () => {
  const chat = createChat(createOfflineModel());
  await chat.say("read a.txt");
  const turn = await chat.say("show me it, then create file b.txt with hi", { results: { Read: "first" } });
  expect(turn.text).toBe("a.txt:\n\n```\nfirst\n```\n\nI created b.txt.");
});
