import { describe, expect, test } from "vitest";
import { createOfflineModel } from "../../../src/models/offline/offline-model.ts";
import { createChat, type Invented, invent } from "../harness.ts";

/** Fresh for every seed, so that no rule can know them. */
interface Values {
  readonly reply: string;
  /** Like a name in a program. */
  readonly symbol: string;
  readonly hanReply: string;
  readonly secretValue: string;
  readonly path: string;
  readonly dir: string;
}

function values(g: Invented): Values {
  return {
    reply: g.word().toUpperCase(),
    symbol: `get_${g.word()}`,
    hanReply: g.han(),
    secretValue: g.secret(),
    path: g.file(),
    dir: g.folder(),
  };
}

/** What a wording must lead to: an exact answer, or a first call with exactly this input. */
type Row = readonly [
  name: string,
  make: (g: Values) => { say: string; reply?: string; call?: string; input?: unknown },
];

const run = (command: string) => ({ call: "Execute", input: expect.objectContaining({ command }) });
const grep = (pattern: string, path?: string) => ({
  call: "Grep",
  input: { pattern, output_mode: "content", line_numbers: true, ...(path === undefined ? {} : { path }) },
});

const rows: readonly Row[] = [
  /* reply with exactly this */
  ["just reply", (g) => ({ say: `Just reply ${g.reply}.`, reply: g.reply })],
  ["respond only with", (g) => ({ say: `Respond only with: ${g.reply}`, reply: g.reply })],
  ["say", (g) => ({ say: `say ${g.reply}`, reply: g.reply })],
  ["the word and nothing else", (g) => ({ say: `reply with the word ${g.reply} and nothing else`, reply: g.reply })],
  ["quoted", (g) => ({ say: `Please answer with exactly "${g.reply}, sir."`, reply: `${g.reply}, sir.` })],
  ["your answer must be", (g) => ({ say: `Your whole answer must be exactly: ${g.reply}`, reply: g.reply })],
  ["nothing but", (g) => ({ say: `Could you please say nothing but ${g.reply}?`, reply: g.reply })],
  ["output only the text", (g) => ({ say: `Output only the text '${g.reply}'.`, reply: g.reply })],
  ["never anything except", (g) => ({ say: `Don't say anything except ${g.reply}!`, reply: g.reply })],
  ["condition first", (g) => ({ say: `If you understand, reply ${g.reply}`, reply: g.reply })],
  ["zh only", (g) => ({ say: `只回复 ${g.reply}。`, reply: g.reply })],
  ["zh quoted", (g) => ({ say: `请只回答“${g.hanReply}”`, reply: g.hanReply })],
  ["zh say", (g) => ({ say: `你只需要说“${g.hanReply}”`, reply: g.hanReply })],
  ["zh with", (g) => ({ say: `请用“${g.hanReply}”回复我`, reply: g.hanReply })],
  ["zh nothing else", (g) => ({ say: `回复“${g.reply}”，不要说别的`, reply: g.reply })],

  /* facts with an answer of their own */
  ["fact and reply", (g) => ({ say: `The password is ${g.secretValue}. Just reply OK.`, reply: "OK" })],
  ["fact, comma, reply", (g) => ({ say: `My badge number is ${g.secretValue}, reply only Noted`, reply: "Noted" })],
  [
    "remember and reply",
    (g) => ({ say: `Remember that the vault code is ${g.secretValue} and reply done`, reply: "done" }),
  ],
  ["zh fact and reply", (g) => ({ say: `密码是 ${g.secretValue}，只回复 收到。`, reply: "收到" })],

  /* list */
  ["run ls", () => ({ say: "run ls command", ...run("ls") })],
  ["run ls with flags", () => ({ say: "please run the ls -la command", ...run("ls -la") })],
  ["execute ls there", (g) => ({ say: `execute ls -l in the ${g.dir} folder`, ...run(`ls -l ${g.dir}`) })],
  ["zh run ls", () => ({ say: "在终端运行 ls -l", ...run("ls -l") })],
  ["list here", () => ({ say: "list the files here", call: "LS", input: {} })],
  ["which files", () => ({ say: "Which files are in this folder?", call: "LS", input: {} })],
  ["what do we have", () => ({ say: "what files do we have?", call: "LS", input: {} })],
  ["what's in", (g) => ({ say: `what's in ${g.dir}/`, call: "LS", input: { directory_path: g.dir } })],
  [
    "contents of",
    (g) => ({
      say: `Can you show me the contents of the ${g.dir} directory`,
      call: "LS",
      input: { directory_path: g.dir },
    }),
  ],
  [
    "everything inside",
    (g) => ({ say: `display everything inside ${g.dir}/lib`, call: "LS", input: { directory_path: `${g.dir}/lib` } }),
  ],
  ["zh list", () => ({ say: "列出当前目录的文件", call: "LS", input: {} })],
  ["zh look", () => ({ say: "看看这个文件夹里有什么", call: "LS", input: {} })],
  [
    "zh list folder",
    (g) => ({ say: `请列出 ${g.dir} 目录下的所有文件`, call: "LS", input: { directory_path: g.dir } }),
  ],
  ["zh folder has", (g) => ({ say: `${g.dir}/ 里有哪些文件？`, call: "LS", input: { directory_path: g.dir } })],

  /* run */
  ["backticks", (g) => ({ say: `run \`echo ${g.reply} | wc -c\``, ...run(`echo ${g.reply} | wc -c`) })],
  ["execute", () => ({ say: "execute pwd", ...run("pwd") })],
  ["the command:", (g) => ({ say: `Run the command: echo ${g.reply}`, ...run(`echo ${g.reply}`) })],
  ["use the shell", (g) => ({ say: `use the shell to run git log ${g.path}`, ...run(`git log ${g.path}`) })],
  ["and show the output", (g) => ({ say: `run node ${g.dir}.js and show me the output`, ...run(`node ${g.dir}.js`) })],
  ["what does it print", () => ({ say: "What does `uname -s` print?", ...run("uname -s") })],
  ["zh run", () => ({ say: "运行 npm test", ...run("npm test") })],
  ["zh execute command", (g) => ({ say: `请执行一下 git show ${g.path} 命令`, ...run(`git show ${g.path}`) })],

  /* create */
  [
    "create with",
    (g) => ({
      say: `create file ${g.path} with ${g.reply}`,
      call: "Create",
      input: { file_path: g.path, content: g.reply },
    }),
  ],
  [
    "write to",
    (g) => ({
      say: `write '${g.reply} and then some' to ${g.dir}/${g.path}`,
      call: "Create",
      input: { file_path: `${g.dir}/${g.path}`, content: `${g.reply} and then some` },
    }),
  ],
  [
    "make a file called",
    (g) => ({
      say: `Make a file called ${g.path} containing "{}"`,
      call: "Create",
      input: { file_path: g.path, content: "{}" },
    }),
  ],
  [
    "named, with the content",
    (g) => ({
      say: `Please create a new file named ${g.path} with the content "# ${g.reply}"`,
      call: "Create",
      input: { file_path: g.path, content: `# ${g.reply}` },
    }),
  ],
  [
    "put into",
    (g) => ({
      say: `put "${g.reply} ${g.reply}" into the file ${g.path}.`,
      call: "Create",
      input: { file_path: g.path, content: `${g.reply} ${g.reply}` },
    }),
  ],
  [
    "that says",
    (g) => ({
      say: `I need you to add a file ${g.path} that says "${g.reply}, ${g.dir} and ${g.reply}"`,
      call: "Create",
      input: { file_path: g.path, content: `${g.reply}, ${g.dir} and ${g.reply}` },
    }),
  ],
  [
    "empty",
    (g) => ({ say: `create an empty file called ${g.dir}`, call: "Create", input: { file_path: g.dir, content: "" } }),
  ],
  [
    "zh create",
    (g) => ({
      say: `创建文件 ${g.path}，内容为 你好`,
      call: "Create",
      input: { file_path: g.path, content: "你好" },
    }),
  ],
  [
    "zh called",
    (g) => ({
      say: `帮我新建一个叫 ${g.hanReply}.txt 的文件，内容是“${g.reply}”`,
      call: "Create",
      input: { file_path: `${g.hanReply}.txt`, content: g.reply },
    }),
  ],
  [
    "zh write into",
    (g) => ({
      say: `把“${g.hanReply}”写入 ${g.dir}/${g.path}`,
      call: "Create",
      input: { file_path: `${g.dir}/${g.path}`, content: g.hanReply },
    }),
  ],

  /* read */
  ["show me", (g) => ({ say: `show me ${g.path}`, call: "Read", input: { file_path: g.path } })],
  [
    "what does it say",
    (g) => ({ say: `What does ${g.dir}/${g.path} say?`, call: "Read", input: { file_path: `${g.dir}/${g.path}` } }),
  ],
  ["cat", (g) => ({ say: `cat ${g.path}`, call: "Read", input: { file_path: g.path } })],
  [
    "print the contents",
    (g) => ({ say: `could you print the contents of ${g.path} for me`, call: "Read", input: { file_path: g.path } }),
  ],
  ["what is in", (g) => ({ say: `what's in ${g.path}?`, call: "Read", input: { file_path: g.path } })],
  ["zh read", (g) => ({ say: `读取 ${g.path}`, call: "Read", input: { file_path: g.path } })],
  ["zh content", (g) => ({ say: `看看 ${g.path} 的内容是什么`, call: "Read", input: { file_path: g.path } })],
  ["zh name", (g) => ({ say: `打开${g.hanReply}.md看看`, call: "Read", input: { file_path: `${g.hanReply}.md` } })],

  /* edit: the file is read first */
  [
    "replace",
    (g) => ({ say: `replace ${g.reply} with ${g.dir} in ${g.path}`, call: "Read", input: { file_path: g.path } }),
  ],
  [
    "zh edit",
    (g) => ({ say: `把 ${g.path} 里的 ${g.reply} 改成 ${g.dir}`, call: "Read", input: { file_path: g.path } }),
  ],

  /* search */
  ["search for", (g) => ({ say: `search for ${g.symbol} in ${g.dir}`, ...grep(g.symbol, g.dir) })],
  ["find the text", (g) => ({ say: `find the text '${g.reply} ${g.dir}'`, ...grep(`${g.reply} ${g.dir}`) })],
  ["where used", (g) => ({ say: `Where is ${g.symbol} used?`, ...grep(g.symbol) })],
  ["which files mention", (g) => ({ say: `which files mention ${g.symbol}?`, ...grep(g.symbol) })],
  ["grep", (g) => ({ say: `grep ${g.reply} ${g.dir}`, ...grep(g.reply, g.dir) })],
  ["zh search", (g) => ({ say: `搜索 ${g.symbol}`, ...grep(g.symbol) })],
  ["zh search in", (g) => ({ say: `在 ${g.dir} 里查找 ${g.symbol}`, ...grep(g.symbol, g.dir) })],
  ["files named", () => ({ say: "find files named *.kt", call: "Glob", input: { patterns: "**/*.kt" } })],
  [
    "files of a language",
    (g) => ({ say: `list all python files in ${g.dir}`, call: "Glob", input: { patterns: "**/*.py", folder: g.dir } }),
  ],
  [
    "where is the file",
    (g) => ({ say: `where is the file ${g.path}?`, call: "Glob", input: { patterns: `**/${g.path}` } }),
  ],
  ["zh files", () => ({ say: "找出所有 .toml 文件", call: "Glob", input: { patterns: "**/*.toml" } })],

  /* ask */
  [
    "ask which",
    (g) => ({
      say: `ask me which colour I want: ${g.reply} or ${g.dir}`,
      call: "AskUser",
      input: {
        questionnaire: `1. [question] Which colour do you want?\n[topic] Colour\n[option] ${g.reply}\n[option] ${g.dir}`,
      },
    }),
  ],
  [
    "ask whether",
    () => ({
      say: "Please ask me whether to continue",
      call: "AskUser",
      input: { questionnaire: "1. [question] Should I continue?\n[topic] Choice\n[option] Yes\n[option] No" },
    }),
  ],
  [
    "let me choose",
    (g) => ({
      say: `let me pick a database: ${g.reply}, ${g.dir} or none`,
      call: "AskUser",
      input: {
        questionnaire: `1. [question] Which database do you choose?\n[topic] Database\n[option] ${g.reply}\n[option] ${g.dir}\n[option] none`,
      },
    }),
  ],
  [
    "zh ask",
    () => ({
      say: "问我想要哪种颜色，红色还是蓝色",
      call: "AskUser",
      input: { questionnaire: "1. [question] 你想要哪种颜色？\n[topic] 颜色\n[option] 红色\n[option] 蓝色" },
    }),
  ],

  /* plan, todo, summary */
  [
    "plan",
    (g) => ({
      say: `make a plan to create file ${g.path} with ${g.reply}`,
      call: "ExitSpecMode",
      input: expect.objectContaining({ title: `Create file ${g.path} with ${g.reply}` }),
    }),
  ],
  [
    "zh plan",
    (g) => ({
      say: `给运行 git show ${g.path} 做个计划`,
      call: "ExitSpecMode",
      input: expect.objectContaining({ title: `运行 git show ${g.path}` }),
    }),
  ],
  [
    "todos",
    (g) => ({
      say: `track these todos: buy ${g.reply}, walk, call ${g.dir}`,
      call: "TodoWrite",
      input: { todos: `1. [pending] buy ${g.reply}\n2. [pending] walk\n3. [pending] call ${g.dir}` },
    }),
  ],
  [
    "zh todos",
    (g) => ({
      say: `待办：洗衣服、买${g.hanReply}`,
      call: "TodoWrite",
      input: { todos: `1. [pending] 洗衣服\n2. [pending] 买${g.hanReply}` },
    }),
  ],
  ["summarize", () => ({ say: "summarize this repo", call: "LS", input: {} })],
  ["analyze", () => ({ say: "analyze code", call: "LS", input: {} })],
  ["what does it do", () => ({ say: "What does this project do?", call: "LS", input: {} })],
  ["zh summarize", () => ({ say: "总结一下这个仓库", call: "LS", input: {} })],

  /* arithmetic */
  ["arithmetic", () => ({ say: "what is 17*3", reply: "17*3 = 51" })],
  ["zh arithmetic", () => ({ say: "3 加 4 等于多少？", reply: "3+4 = 7" })],
];

describe.each([1, 20, 333, 4_444])("with values of seed %i", (seed) => {
  const g = invent(seed);

  test.each(rows)("%s", async (_, make) => {
    const { say, reply, call, input } = make(values(g));
    const turn = await createChat(createOfflineModel()).say(say);
    if (reply !== undefined)
      expect({ say, text: turn.text, calls: turn.calls }).toEqual({ say, text: reply, calls: [] });
    else expect({ say, call: turn.calls[0] }).toEqual({ say, call: { name: call, input } });
  });
});

test("there are at least sixty wordings, in both languages", () => {
  const han = rows.filter(([, make]) => /\p{Script=Han}/u.test(make(values(invent(5))).say));
  expect(rows.length).toBeGreaterThanOrEqual(60);
  expect(han.length).toBeGreaterThanOrEqual(20);
});
