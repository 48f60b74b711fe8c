/** Replies in words, mostly the user's facts, and how questions find them. */
import { hasHan, isCodeName, type Words } from "./texts.ts";

export interface Talk {
  readonly kind: "say";
  readonly words: Words;
  /** The bare value, for "reply only with it", and the names such a request can use. */
  readonly value?: string;
  readonly gives?: string;
  /** A fact to remember. */
  readonly fact?: Fact;
  readonly isPolite?: boolean;
  readonly understood?: boolean;
}

export interface Fact {
  /** The words for its subject; empty if only a value was given. */
  readonly subject: string;
  readonly value: string;
  readonly terms: readonly string[];
}

export const talk = (en: string, zh = en): Talk => ({ kind: "say", words: [en, zh] });

/** One line, so that it survives shells and logs. */
export const introduction: Words = [
  "I am Tinman's offline model: a small set of rules, not an AI. I can list, read, create, edit and search files, run commands, " +
    "ask you a question, make a plan, keep a todo list, summarize a repository, and remember and recall what you tell me. " +
    "For everything else choose another model with -m or TINMAN_MODEL; `tinman models` lists them.",
  "我是 Tinman 的离线模型：一组简单的规则，不是人工智能。我可以列出、读取、创建、修改和搜索文件，运行命令，向你提问，制定计划，记录待办，概述仓库，也能记住并复述你告诉我的内容。" +
    "其他事情请用 -m 或 TINMAN_MODEL 选用别的模型；`tinman models` 会列出它们。",
];
export const introduced = (en: string, zh: string): Talk => talk(en + introduction[0], zh + introduction[1]);

/** Things that have a value, each with its synonyms. */
const things =
  "password passphrase 密码 口令|code 暗号 代码 代号|word 单词|secret 秘密|token 令牌|key 密钥|pin|name 名字 姓名|color colour 颜色|number 号码 编号|city 城市|port 端口|branch 分支|version 版本|language 语言|email 邮箱|phone 电话|address 地址|birthday 生日";
const canonical = new Map(
  things.split("|").flatMap((line) => line.split(" ").map((spelling, _, [thing = ""]) => [spelling, thing] as const)),
);
const known = new Set(canonical.values());
const ignored = new Set("the a an my our your his her this that these of for in on at to s is i".split(" "));

/** The significant words of a phrase, the same in both languages: "my favourite colours" and 我的颜色 share one. */
export function termsOf(text: string): readonly string[] {
  let spaced = text
    .toLowerCase()
    .replace(/codeword/g, "code word")
    .replace(/我们?|的|个/g, " ");
  for (const [spelling, thing] of canonical) if (hasHan(spelling)) spaced = spaced.replaceAll(spelling, ` ${thing} `);
  const words = spaced.match(/[a-z0-9\u00c0-\u1fff]+|[\u3040-\ud7af]+/g) ?? [];
  const terms = words.map((word) => canonical.get(word) ?? canonical.get(word.replace(/s$/, "")) ?? word);
  return [...new Set(terms)].filter((term) => !ignored.has(term));
}

/** "deploy token for staging" is a token. */
const headOf = (text: string): string => termsOf(text.replace(/\s(?:for|of|in|on)\s.*$/i, "")).at(-1) ?? "";

/** Whether a phrase names something that has a value. */
export const namesThing = (text: string): boolean => known.has(headOf(text));

/** Something to do or judge, without a value: "the task is X". */
const assignment =
  /\b(?:task|goal|job|aim|request|instruction|question|requirement|rule|policy|step|answer|verdict|result|output|reply)s?\b|任务|目标|要求|问题|规则|标准|答案|结论|结果/i;

/** A fact in the user's words. Without "remember", only known things count: "the tests are red" is a remark. */
export function factFrom(given: string, value: string, kind: "asked" | "stated" | "quoted"): Fact | undefined {
  const subject = given.trim();
  const terms = termsOf(subject);
  const isNone = /^(?:it|this|that|there|what|which|who)$|^(?:to|if|when|whether|how|why)\s|吗|什么|哪|多少/i.test(
    subject,
  );
  if (isNone || /^$|^(?:to|not|no|whether|if|in|at|on)\s|^(?:不|没|是否|什么|啥|多少|谁)|[吗呢]$/i.test(value))
    return undefined;
  if (kind === "asked") return { subject, value, terms };
  if (terms.length === 0 || terms.length > 5 || assignment.test(subject)) return undefined;
  const words = value.split(/\s+/);
  const isName = words.every((word) => /^\p{Lu}|\d/u.test(word) || isCodeName(word));
  // "The code is safe" is about code, not a code.
  const isValue =
    words.length <= 3 && value.length <= 60 && (isName || (namesThing(subject) && headOf(subject) !== "code"));
  return kind === "quoted" || isValue ? { subject, value, terms } : undefined;
}

/** The fact that matches all words asked for; the most exact one, then the latest. */
export function factFor(asked: string, facts: readonly Fact[]): Fact | undefined {
  const terms = termsOf(asked);
  const fitting = facts.filter((fact) => terms.length > 0 && terms.every((term) => fact.terms.includes(term)));
  const size = Math.min(...fitting.map((fact) => fact.terms.length));
  return fitting.findLast((fact) => fact.terms.length === size);
}

/** A fact as the end of a sentence, quoted if it is in the other language. */
function told({ subject, value }: Fact): Words {
  if (subject === "") return [`"${value}"`, `“${value}”`];
  if (hasHan(subject)) return [`${subject}: ${value}`, `${subject.replace(/^我/, "你")}是 ${value}`];
  const yours = subject.replace(/^(?:my|our)\b/i, "your");
  const named = /^(?:the|your|this|that|an?|his|her)\s/i.test(yours) ? yours : `the ${yours}`;
  return [`that ${named.charAt(0).toLowerCase()}${named.slice(1)} is ${value}`, `${subject}: ${value}`];
}

export function noted(fact: Fact | undefined): Talk | undefined {
  const [en, zh] = fact === undefined ? [] : told(fact);
  return fact && { ...talk(`OK, I will remember ${en}.`, `好的，我记住了：${zh}。`), fact };
}

/** Words such as "just the value" that can refer to any fact. */
const values = "value answer it number word name 值 数值 答案 数字 词 内容";

export function recalled(fact: Fact | undefined, asked: string): Talk {
  const gives = `${asked} ${values}`;
  const unknown = talk("You have not told me anything about that.", "在你告诉我的内容中，我没有找到这一项。");
  if (fact === undefined) return { ...unknown, gives };
  const [en, zh] = told(fact);
  return { ...talk(`You told me ${en}.`, `你告诉过我：${zh}。`), value: fact.value, gives };
}

const operators = ["+ plus 加 加上", "- minus 减 减去", "* times × 乘 乘以", "/ ÷ 除以"];
const number = "(\\d{1,9}(?:\\.\\d{1,6})?)";

/** Arithmetic on two numbers. Longer numbers would exceed a double's precision. */
export function sumOf(given: string): Talk | undefined {
  const [, a, name = "?", b] = new RegExp(`^${number} ?(\\D+?) ?${number}$`).exec(given) ?? [];
  const [left, right] = [Number(a), Number(b)];
  const operator = operators.find((names) => names.split(" ").includes(name))?.charAt(0) ?? "";
  const total = { "+": left + right, "-": left - right, "*": left * right, "/": left / right }[operator];
  if (total === undefined || !Number.isFinite(total)) return undefined;
  const value = String(Number(total.toPrecision(12)));
  return { ...talk(`${left}${operator}${right} = ${value}`), value, gives: values };
}
