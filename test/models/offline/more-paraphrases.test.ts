import { describe, expect, test } from "vitest";
import type { ToolCause } from "../../../src/core/message.ts";
import { createOfflineModel } from "../../../src/models/offline/offline-model.ts";
import { createChat, invent } from "../harness.ts";

interface Values {
  readonly word: string;
  readonly other: string;
  readonly secret: string;
  readonly file: string;
  readonly dir: string;
  /** Like a name in a program. */
  readonly symbol: string;
}

function values(seed: number): Values {
  const g = invent(seed);
  const part = g.word();
  return {
    word: g.word(),
    other: g.word(),
    secret: g.secret(),
    file: g.file(),
    dir: g.folder(),
    symbol: `get${part.charAt(0).toUpperCase()}${part.slice(1)}`,
  };
}

type Calls = readonly { readonly name: string; readonly input: unknown }[];
type Made = {
  /** The last one is judged; the others are told before it. */
  readonly say: string | readonly string[];
  readonly reply?: string;
  readonly calls?: Calls;
};

const read = (path: string): Calls => [{ name: "Read", input: { file_path: path } }];
const list = (path: string): Calls => [{ name: "LS", input: { directory_path: path } }];
const run = (command: string): Calls => [{ name: "Execute", input: expect.objectContaining({ command }) }];
const make = (path: string, content: string): Calls => [{ name: "Create", input: { file_path: path, content } }];
const glob = (patterns: string, folder?: string): Calls => [
  { name: "Glob", input: { patterns, ...(folder === undefined ? {} : { folder }) } },
];
const grep = (pattern: string, path?: string): Calls => [
  {
    name: "Grep",
    input: { pattern, output_mode: "content", line_numbers: true, ...(path === undefined ? {} : { path }) },
  },
];
const change = (path: string, from: string, to: string): Calls => [
  ...read(path),
  { name: "Edit", input: { file_path: path, old_str: from, new_str: to } },
];

const rows: readonly (readonly [name: string, make: (v: Values) => Made])[] = [
  /* the text of an answer, untouched */
  ["a letter that is an article", () => ({ say: "Just reply A.", reply: "A" })],
  ["a keyword with a hyphen", () => ({ say: "Just reply word-7", reply: "word-7" })],
  ["any word that is called one", (v) => ({ say: `Reply with the word ${v.word}`, reply: v.word })],
  ["quoted", (v) => ({ say: `Output exactly \`{"${v.word}":1}\``, reply: `{"${v.word}":1}` })],
  ["two quoted words", (v) => ({ say: `Reply with exactly "${v.word} ${v.other}"`, reply: `${v.word} ${v.other}` })],
  ["zh output", (v) => ({ say: `请输出：“${v.word},${v.other}”`, reply: `${v.word},${v.other}` })],

  /* only the value */
  ...[
    "Reply only the word.",
    "Reply with the word only.",
    "Respond with only that word.",
    "Say just the word.",
    "Just the value.",
    "Answer with one word.",
    "Give me only the value.",
    "Reply with the value itself and nothing else.",
    "只回答这个词",
  ].map((note): readonly [string, (v: Values) => Made] => [
    `question. ${note}`,
    (v) => ({ say: [`The codeword is ${v.secret}.`, `What is the codeword? ${note}`], reply: v.secret }),
  ]),
  ...["只回答这个词", "只回答那个词。", "只说值", "只要答案。", "只回复暗号"].map(
    (note): readonly [string, (v: Values) => Made] => [
      `zh question. ${note}`,
      (v) => ({ say: [`暗号是 ${v.secret}`, `暗号是什么？${note}`], reply: v.secret }),
    ],
  ),
  ["a number", (v) => ({ say: [`The port is ${v.secret}.`, "Which port? Reply only the number."], reply: v.secret })],
  ["only the word, alone", (v) => ({ say: [`My codeword is ${v.secret}.`, "Reply only the word."], reply: v.secret })],
  ["told and asked at once", (v) => ({ say: `The codeword is ${v.secret}. Reply only the word.`, reply: v.secret })],
  ["what is it", (v) => ({ say: [`The codeword is ${v.secret}.`, "What is it? Just the word."], reply: v.secret })],

  /* several facts at once, and corrections */
  [
    "remember two with and",
    (v) => ({
      say: [`Remember ${v.word} is 12 and ${v.other} is 34.`, `what is ${v.other}? only the value`],
      reply: "34",
    }),
  ],
  [
    "remember two with =",
    (v) => ({ say: [`Remember: ${v.word}=12, ${v.other}=34`, `what is ${v.word}? only the value`], reply: "12" }),
  ],
  [
    "corrected",
    (v) => ({
      say: ["The port is 8080.", `Actually it's ${v.secret}.`, "Which port? just the value"],
      reply: v.secret,
    }),
  ],
  ["zh corrected", (v) => ({ say: ["密码是 123", `不对，是 ${v.secret}`, "密码是多少？只说值"], reply: v.secret })],

  /* files without an ending */
  ["read absolute", (v) => ({ say: `read /etc/${v.word}`, calls: read(`/etc/${v.word}`) })],
  ["cat nested", (v) => ({ say: `cat ${v.dir}/bin/${v.word}`, calls: read(`${v.dir}/bin/${v.word}`) })],
  ["show nested", (v) => ({ say: `show me ${v.dir}/bin/${v.word}`, calls: read(`${v.dir}/bin/${v.word}`) })],
  ["read ./", () => ({ say: "read ./Makefile", calls: read("./Makefile") })],
  ["show Dockerfile", () => ({ say: "show Dockerfile", calls: read("Dockerfile") })],
  ["contain", (v) => ({ say: `what does /etc/${v.word} contain?`, calls: read(`/etc/${v.word}`) })],
  ["zh read absolute", (v) => ({ say: `读取 /etc/${v.word}`, calls: read(`/etc/${v.word}`) })],
  ["zh open nested", (v) => ({ say: `打开 ${v.dir}/bin/${v.word}`, calls: read(`${v.dir}/bin/${v.word}`) })],
  ["what's in", (v) => ({ say: `what's in ${v.dir}/${v.word}`, calls: list(`${v.dir}/${v.word}`) })],
  ["zh list", (v) => ({ say: `列出 /etc/${v.word}`, calls: list(`/etc/${v.word}`) })],
  ["dir", (v) => ({ say: `dir ${v.dir}/`, calls: list(v.dir) })],
  ["first lines", (v) => ({ say: `read the first 5 lines of ${v.file}`, calls: run(`head -n 5 ${v.file}`) })],
  ["zh first lines", (v) => ({ say: `读取 ${v.file} 的前 3 行`, calls: run(`head -n 3 ${v.file}`) })],

  /* search */
  ["find where defined", (v) => ({ say: `Find where ${v.symbol} is defined`, calls: grep(v.symbol) })],
  [
    "show where used in",
    (v) => ({ say: `Show me where ${v.symbol} is used in ${v.dir}`, calls: grep(v.symbol, v.dir) }),
  ],
  ["where do we use", (v) => ({ say: `where do we use ${v.symbol}?`, calls: grep(v.symbol) })],
  ["who calls", (v) => ({ say: `who calls ${v.symbol}?`, calls: grep(v.symbol) })],
  ["definition of", (v) => ({ say: `find the definition of ${v.symbol}`, calls: grep(v.symbol) })],
  ["find quoted", (v) => ({ say: `find "${v.word} ${v.other}"`, calls: grep(`${v.word} ${v.other}`) })],
  ["files containing", (v) => ({ say: `find files containing ${v.symbol}`, calls: grep(v.symbol) })],
  ["which file defines", (v) => ({ say: `which file defines ${v.symbol}?`, calls: grep(v.symbol) })],
  ["does the code use", (v) => ({ say: `does the code use ${v.symbol}?`, calls: grep(v.symbol) })],
  ["the function", (v) => ({ say: `find the function ${v.symbol}`, calls: grep(v.symbol) })],
  ["zh called by whom", (v) => ({ say: `${v.symbol} 被谁调用`, calls: grep(v.symbol) })],
  ["zh where used", (v) => ({ say: `哪里用到了 ${v.symbol}`, calls: grep(v.symbol) })],
  ["zh where defined", (v) => ({ say: `哪里定义了 ${v.symbol}？`, calls: grep(v.symbol) })],
  ["zh who calls", (v) => ({ say: `谁调用了 ${v.symbol}`, calls: grep(v.symbol) })],
  ["zh find", (v) => ({ say: `找 ${v.symbol} 的定义`, calls: grep(v.symbol) })],
  ["find all js", () => ({ say: "find all js files", calls: glob("**/*.js") })],
  ["every .py", (v) => ({ say: `list every .py file in ${v.dir}`, calls: glob("**/*.py", v.dir) })],
  ["ending in", () => ({ say: "find all files ending in .md", calls: glob("**/*.md") })],
  ["how many", () => ({ say: "how many json files are there?", calls: glob("**/*.json") })],
  ["glob", () => ({ say: "glob **/*.css", calls: glob("**/*.css") })],
  ["zh js files", () => ({ say: "列出所有js文件", calls: glob("**/*.js") })],
  ["zh which md", () => ({ say: "有哪些 md 文件", calls: glob("**/*.md") })],
  ["zh files in", (v) => ({ say: `列出 ${v.dir} 下所有的 ts 文件`, calls: glob("**/*.ts", v.dir) })],
  ["zh where is the file", (v) => ({ say: `${v.file} 在哪里`, calls: glob(`**/${v.file}`) })],

  /* a question that a command answers */
  ["what does pwd print", () => ({ say: "what does pwd print?", calls: run("pwd") })],
  ["what does git say", (v) => ({ say: `what does git log ${v.file} say?`, calls: run(`git log ${v.file}`) })],
  ["the output of", (v) => ({ say: `show me the output of echo ${v.word}`, calls: run(`echo ${v.word}`) })],
  ["what does a file say", (v) => ({ say: `what does ${v.file} say`, calls: read(v.file) })],
  ["what does file x say", (v) => ({ say: `what does file ${v.file} say`, calls: read(v.file) })],
  ["run this:", (v) => ({ say: `run this: echo ${v.word}`, calls: run(`echo ${v.word}`) })],
  ["zh with the shell", (v) => ({ say: `用 shell 运行 echo ${v.word}`, calls: run(`echo ${v.word}`) })],
  ["zh prints what", () => ({ say: "pwd 输出什么？", calls: run("pwd") })],
  ["zh output is what", () => ({ say: "git log 的输出是什么", calls: run("git log") })],
  ["zh run and see", (v) => ({ say: `运行一下 echo ${v.word} 看看`, calls: run(`echo ${v.word}`) })],

  /* content that begins like a keyword */
  ...["content-0", "text-7", "following-3"].flatMap((content): readonly (readonly [string, (v: Values) => Made])[] => [
    [`with ${content}`, (v) => ({ say: `create file ${v.file} with ${content}`, calls: make(v.file, content) })],
    [`containing ${content}`, (v) => ({ say: `make ${v.file} containing ${content}`, calls: make(v.file, content) })],
  ]),
  ["new file", (v) => ({ say: `new file ${v.file} with "${v.word}"`, calls: make(v.file, v.word) })],
  ["zh keyword", (v) => ({ say: `创建文件 ${v.file}，内容为 “内容-0”`, calls: make(v.file, "内容-0") })],
  ["zh no copula", (v) => ({ say: `创建文件 ${v.file} 内容 ${v.secret}`, calls: make(v.file, v.secret) })],
  [
    "replace in the middle",
    (v) => ({ say: `replace the word ${v.word} in ${v.file} with ${v.other}`, calls: change(v.file, v.word, v.other) }),
  ],

  /* several steps */
  [
    "numbered on one line",
    (v) => ({
      say: `1. create ${v.file} with "${v.word}" 2. read ${v.file}`,
      calls: [...make(v.file, v.word), ...read(v.file)],
    }),
  ],
  [
    "dotted lines",
    (v) => ({ say: `- read ${v.file}\n- run echo ${v.word}`, calls: [...read(v.file), ...run(`echo ${v.word}`)] }),
  ],
  ["zh joined", (v) => ({ say: `读取 ${v.file} 并列出文件`, calls: [...read(v.file), { name: "LS", input: {} }] })],
  [
    "zh plan first",
    (v) => ({
      say: `先做个计划：读取 ${v.file}`,
      calls: [{ name: "ExitSpecMode", input: expect.objectContaining({ title: `读取 ${v.file}` }) }, ...read(v.file)],
    }),
  ],
];

describe.each([2, 71, 908])("with values of seed %i", (seed) => {
  test.each(rows)("%s", async (_, made) => {
    const { say, reply, calls = [] } = made(values(seed));
    const chat = createChat(createOfflineModel());
    const prompts = typeof say === "string" ? [say] : say;
    for (const prompt of prompts.slice(0, -1)) await chat.say(prompt);
    const turn = await chat.say(prompts.at(-1) ?? "");
    expect({ say, calls: turn.calls }).toEqual({ say, calls });
    if (reply !== undefined) expect({ say, text: turn.text }).toEqual({ say, text: reply });
  });
});

describe("a path that turns out to be the other thing", () => {
  const failed = (text: string, cause?: ToolCause) =>
    ({ status: "failed", text, ...(cause === undefined ? {} : { cause }) }) as const;

  test.each([
    ["in other words", failed("Error: a/b cannot be read.", "is_directory")],
    ["in words alone", failed("cat: a/b: Is a directory")],
  ])("a folder that was to be read is listed, also when a tool says so %s", async (_, Read) => {
    const results = { Read, LS: "kept" };
    const turn = await createChat(createOfflineModel()).say("read a/b", { results });
    expect(turn.calls).toEqual([...read("a/b"), ...list("a/b")]);
    expect(turn.text).toContain("kept");
  });

  test.each([
    ["in other words", failed("Error: a/b cannot be listed.", "not_directory")],
    ["in words alone", failed("ls: a/b: Not a directory")],
  ])("a file that was to be listed is read, also when a tool says so %s", async (_, LS) => {
    const results = { LS, Read: "kept" };
    const turn = await createChat(createOfflineModel()).say("what's in a/b", { results });
    expect(turn.calls).toEqual([...list("a/b"), ...read("a/b")]);
    expect(turn.text).toContain("kept");
  });

  test("only once", async () => {
    const results = { LS: failed("Not a directory"), Read: failed("a/b is a directory") };
    const turn = await createChat(createOfflineModel()).say("what's in a/b", { results });
    expect(turn.calls).toEqual([...list("a/b"), ...read("a/b")]);
  });
});

test.each(["what does rm -rf x print?", "who uses this?", "哪里有咖啡", "list ingredients", "what does it say?"])(
  "%s is no request for a tool",
  async (say) => {
    expect((await createChat(createOfflineModel()).say(say)).calls).toEqual([]);
  },
);
