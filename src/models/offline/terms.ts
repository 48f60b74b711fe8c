/** Words of both languages brought to one form, so that "which color?" finds "my favourite colour" and 密码 finds "password". */

import { hasHan, letters } from "./words.ts";

const termWords = new RegExp(`[${letters}]+`, "g");

const families: Readonly<Record<string, string>> = {
  password: "password passwords passphrase passcode pass pw pwd 密码 口令",
  code: "code codes 暗号 代码 代号 编码 验证码 邀请码 识别码",
  codeword: "codeword codewords 暗语",
  secret: "secret secrets 秘密 机密",
  token: "token tokens 令牌",
  key: "key keys apikey 密钥 秘钥",
  pin: "pin pins",
  name: "name names named called 名字 姓名 名称 叫",
  color: "color colors colour colours 颜色",
  number: "number numbers num digits 数字 号码 编号",
  word: "word words 单词 词语",
  phrase: "phrase phrases 短语",
  favorite: "favorite favourite favorites favourites like likes love prefer preferred 最喜欢 喜欢 最爱 偏爱",
  city: "city town live lives home 城市 住在 住",
  animal: "animal pet 动物 宠物",
  food: "food dish meal 食物 菜",
  fruit: "fruit 水果",
  language: "language 语言",
  editor: "editor 编辑器",
  port: "port 端口",
  date: "date day 日期",
  birthday: "birthday 生日",
  birthplace: "birthplace born 出生地 出生",
  phone: "phone telephone mobile 电话 手机",
  email: "email mail 邮箱 邮件",
  address: "address 地址",
  server: "server host 服务器 主机",
  database: "database db 数据库",
  user: "user username login 用户名 用户",
  dog: "dog 狗",
  cat: "cat 猫",
  project: "project 项目",
  version: "version 版本",
  branch: "branch 分支",
  production: "production prod 生产 线上",
  staging: "staging 预发",
  test: "test testing 测试",
  deploy: "deploy deployment deploys 部署",
  room: "room 房间",
  age: "age old years 年龄 岁",
  job: "job work profession 工作 职业",
  company: "company employer 公司",
  team: "team 团队",
  meeting: "meeting 会议",
  time: "time 时间",
  car: "car 车",
  song: "song 歌",
  book: "book 书",
};

const canonical = new Map<string, string>();
const chinese: string[] = [];
for (const [term, spellings] of Object.entries(families)) {
  for (const spelling of spellings.split(" ")) {
    canonical.set(spelling, term);
    if (hasHan(spelling)) chinese.push(spelling);
  }
}
chinese.sort((a, b) => b.length - a.length);
const chineseTerms = new RegExp(chinese.join("|"), "g");

/** Things that people keep from others: asked for by name even when nobody has told one. */
const secrets: ReadonlySet<string> = new Set("password code codeword secret token key pin".split(" "));

const emptyWords: ReadonlySet<string> = new Set(
  (
    "a an the my your our his her its their mine yours this that these those of for in on at to from with about by as and or but not no is are was were be been am i me you we he she it they " +
    "do does did have has had can could would will should may might what whats which who whose whom where when why how tell told telling say said mention mentioned give gave given share shared " +
    "remember recall remind repeat know ask asked previously earlier before just again already now current currently new old latest last updated actual right correct only reply respond " +
    "please exactly nothing else more than so if then there here s t d ll re ve m let set get use used using called was 's ok okay still ever back once out up " +
    "thing things value values fact facts something anything information info stuff string text one"
  ).split(" "),
);
const emptyZh =
  /我们|你们|我|你|您|他|她|它|的|是|为|了|过|吗|呢|吧|啊|什么|啥|哪个|哪些|哪|多少|几|谁|刚才|刚刚|之前|先前|前面|以前|上次|告诉|说|提到|提过|提|讲|给|记住|记得|记|还|请|只|仅|回复|回答|输出|知道|现在|最新|新|旧|当前|这个|那个|这|那|让|叫你|东西|内容|信息|值|一下|就|都|个|和|与|跟|及|在|有|把|要|想|来|去|到|被|再|又|也|很|最|请问|重复|提醒|过来|出来|，|。/g;

/** The telling words of a phrase, in order, each once. */
export function termsOf(text: string): readonly string[] {
  const terms: string[] = [];
  const named = text.replace(chineseTerms, (spelling) => ` ${canonical.get(spelling) ?? spelling} `);
  for (const word of named.toLowerCase().match(termWords) ?? []) {
    for (const part of hasHan(word) ? hanParts(word) : [word]) {
      const term = canonical.get(part) ?? singular(part);
      if (!emptyWords.has(term) && !terms.includes(term)) terms.push(term);
    }
  }
  return terms;
}

/** Unknown Chinese text is compared by pairs of characters, as it has no spaces. */
function hanParts(word: string): readonly string[] {
  return word
    .replace(emptyZh, " ")
    .split(/\s+/)
    .filter((run) => run !== "")
    .flatMap((run) =>
      run.length <= 2 ? [run] : Array.from({ length: run.length - 1 }, (_, at) => run.slice(at, at + 2)),
    );
}

function singular(word: string): string {
  const short = word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  return canonical.get(short) ?? short;
}

/** Whether a phrase ends in a word that is worth keeping a value for. */
export function namesKnownThing(text: string): boolean {
  const last = termsOf(text).at(-1);
  return last !== undefined && Object.hasOwn(families, last);
}

export function namesOnlyKnownThings(text: string): boolean {
  return termsOf(text).every((term) => Object.hasOwn(families, term));
}

export function namesSecret(terms: readonly string[]): boolean {
  return terms.some((term) => secrets.has(term));
}

/** How well two terms agree: 2 for the same, 1 when one of them is "a secret" and the other a kind of it. */
export function agreement(a: string, b: string): number {
  if (a === b) return 2;
  if (a === "secret" || b === "secret") return secrets.has(a) && secrets.has(b) ? 1 : 0;
  if (a === "codeword" || b === "codeword")
    return ["code", "word", "codeword"].includes(a === "codeword" ? b : a) ? 2 : 0;
  return 0;
}
