/**
 * The offline model's steps: replies, and actions. An action is a tool call, its descriptions, and what follows its
 * result.
 */
import type { ToolCause, ToolResultBlock } from "../../engine/message.ts";
import { headAndTail } from "../../text/output.ts";
import { causeOf } from "./result-cause.ts";
import type { Talk } from "./talk.ts";
import { riskOf, type Say, shorten, type Words } from "./texts.ts";

export type Step = Action | Talk | { readonly kind: "plan"; readonly goal: string };
/** A literal answer, or a reference to one: "the password" in "reply only the password". */
export type Answer = { readonly kind: "reply" | "pick"; readonly text: string };
export type Intent = Step | Answer | { readonly kind: "aside" };

export interface Action {
  readonly kind: "act";
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** "read a.txt": for plans, failures, and announcements without `saying`. */
  readonly does: Words;
  readonly saying?: Words;
  /** The meaning of "it" after this step. */
  readonly path?: string;
  /** The texts that "reply only with …" can refer to. */
  readonly gives?: string;
  /** Needs a plan in spec mode. */
  readonly changes?: boolean;
  /** The user must judge the result. */
  readonly isLoose?: boolean;
  /** The report: fixed text, or a title for the result, with text for an empty one. */
  readonly did?: Words;
  readonly title?: Words;
  readonly nothing?: Words;
  /** A title for a failed call's output. */
  readonly failing?: Words;
  /** The step to take next, or instead if the result has this cause. */
  next?(text: string, say: Say): Report | Action;
  readonly instead?: readonly [cause: ToolCause, Action];
}

export interface Report {
  readonly text: string;
  readonly ok: boolean;
  /** The bare value, for "reply only with it". */
  readonly value?: string;
  readonly understood?: boolean;
}

export function act(tool: string, input: Action["input"], does: Words, more: Partial<Action>): Action {
  return { kind: "act", tool, input, does, ...more };
}

/** A name can be a file or a folder, so each falls back to the other once. */
export function list(folder: string, isSecondTry = false): Action {
  const [en, zh] = folder === "" || folder === "." ? ["this folder", "当前目录"] : [folder, folder];
  return act("LS", en === folder ? { directory_path: folder } : {}, [`list the files in ${en}`, `列出${zh}的文件`], {
    title: [`Files in ${en}:`, `${zh} 的文件：`],
    ...(isSecondTry || en !== folder ? {} : { instead: ["not_directory", read(folder, true)] }),
  });
}

export function read(path: string, isSecondTry = false): Action {
  return act("Read", { file_path: path }, [`read ${path}`, `读取 ${path}`], {
    path,
    title: [`${path}:`, `${path}:`],
    gives: "content contents text it 内容",
    ...(isSecondTry ? {} : { instead: ["is_directory", list(path, true)] }),
  });
}

const reasons = { low: "It only reads.", medium: "It may change files.", high: "It may do lasting harm." };

export function run(command: string): Action {
  const name = `\`${shorten(command, 120)}\``;
  const riskLevel = riskOf(command);
  const input = { command, riskLevel, riskLevelReason: reasons[riskLevel] };
  return act("Execute", input, [`run ${name}`, `运行 ${name}`], {
    title: [`${name} printed:`, `${name} 的输出：`],
    nothing: [`${name} succeeded and printed nothing.`, `${name} 执行成功，没有输出。`],
    failing: [`${name} failed:`, `${name} 失败：`],
    gives: "output result it 输出 结果",
    changes: riskLevel !== "low",
  });
}

export function create(path: string, content: string): Action {
  const did: Words = [`I created ${path}.`, `已创建 ${path}。`];
  const does: Words = [`create ${path}`, `创建 ${path}`];
  const creation = act("Create", { file_path: path, content }, does, { path, did, changes: true });
  const saying: Words = [`${path} exists, so I'll read it first.`, `${path} 已存在，我先读取它。`];
  const reading = act("Read", { file_path: path }, does, { path, saying, next: () => creation });
  return { ...creation, instead: ["not_read", reading] };
}

export function edit(path: string, from: string, to: string, all: boolean): Action {
  const input = { file_path: path, old_str: from, new_str: to, ...(all ? { change_all: true } : {}) };
  const does: Words = [`replace "${from}" with "${to}" in ${path}`, `在 ${path} 中把“${from}”改成“${to}”`];
  const did: Words = [`I replaced "${from}" with "${to}" in ${path}.`, `已${does[1]}。`];
  const change = act("Edit", input, does, { did });
  const saying: Words = [`I'll read ${path} first.`, `我先读取 ${path}。`];
  return act("Read", { file_path: path }, does, { path, saying, changes: true, next: () => change });
}

function search(tool: string, input: Action["input"], does: Words, what: string): Action {
  const title: Words = [`Matches for "${what}":`, `“${what}”的匹配结果：`];
  return act(tool, input, does, { title, nothing: [`Nothing matches "${what}".`, `没有找到“${what}”。`] });
}

export function grep(pattern: string, path: string): Action {
  const literally = /[.*+?^${}()|[\]\\]/.test(pattern) ? { fixed_string: true } : {};
  const place = path === "" ? {} : { path };
  const input = { pattern, ...place, output_mode: "content", line_numbers: true, ...literally };
  const does: Words = [`search for "${pattern}"${path && ` in ${path}`}`, `${path && `在 ${path} 中`}搜索“${pattern}”`];
  return search("Grep", input, does, pattern);
}

export function glob(name: string, folder: string): Action {
  const patterns = name.includes("/") ? name : `**/${name}`;
  const does: Words = [`look for files that match ${patterns}`, `查找匹配 ${patterns} 的文件`];
  return search("Glob", { patterns, ...(folder === "" ? {} : { folder }) }, does, patterns);
}

export function ask(question: string, topic: string, options: readonly string[]): Action {
  const lines = [`1. [question] ${question}`, `[topic] ${topic}`, ...options.map((option) => `[option] ${option}`)];
  return act("AskUser", { questionnaire: lines.join("\n") }, [`ask you "${question}"`, `向你提问“${question}”`], {
    saying: ["I'll ask you.", "我来问你。"],
    next(text, say) {
      const answer = /^\[answer\](.*)$/m.exec(text)?.[1]?.trim() ?? text.trim();
      return { text: say([`Your answer: ${answer}`, `你的回答：${answer}`]), ok: true, value: answer };
    },
  });
}

export function todo(items: readonly string[]): Action {
  const lines = (status: string): string => items.map((item, index) => `${index + 1}. ${status}${item}`).join("\n");
  const did: Words = [`Todo list:\n${lines("")}`, `待办事项：\n${lines("")}`];
  return act("TodoWrite", { todos: lines("[pending] ") }, ["write the todo list", "记录待办事项"], { did });
}

/** Quotes the files only: no rule could judge them. */
export function summary(): Action {
  const intro: Words = [
    "As an offline model I can only tell what the files show.",
    "我是离线模型，只能说出文件里能看到的内容。",
  ];
  const next = (listing: string, say: Say): Report | Action => {
    const lines = listing.split("\n").filter((line) => !/^\[.*\]$|^\s*$/.test(line));
    const names = lines.map((line) => line.replace(/^\S{10}\s.*?\d\d:\d\d\s+/, ""));
    const saw = names.slice(0, 30).join(", ") + (names.length > 30 ? ", …" : "");
    const entries = names.length === 1 ? "1 entry" : `${names.length} entries`;
    const some: Words = [`The folder has ${entries}: ${saw}.`, `目录中有 ${names.length} 项：${saw}。`];
    const text = `${say(intro)}\n\n${say(names.length === 0 ? ["The folder is empty.", "这个目录是空的。"] : some)}`;
    const readme = names.find((name) => /^readme(?:\.\w+)?$/i.test(name));
    if (readme === undefined) return { text, ok: true };
    const begins: Words = [`${readme} begins: `, `${readme} 开头写道：`];
    return { ...read(readme), next: (content) => ({ text: `${text}\n\n${say(begins)}${opening(content)}`, ok: true }) };
  };
  return act("LS", {}, ["look at the files", "查看文件"], { isLoose: true, next });
}

/** A heading and what follows it. */
function opening(text: string): string {
  const [first = "…", second] = text.split(/\n\s*\n/).map((part) => part.replace(/^#+\s*/, "").trim());
  return shorten(second === undefined ? first : `${first} — ${second}`, 600);
}

/** The text for a result, or the next step. */
export function reportOf(action: Action, result: ToolResultBlock, say: Say): Report | Action {
  const { does, did, title, nothing, failing, instead } = action;
  const text = outputOf(result);
  const isFailed = result.status === "failed";
  if (isFailed && failing !== undefined) return { text: `${say(failing)}\n\n${block(text, say)}`, ok: false };
  if (isFailed && instead !== undefined && causeOf(result) === instead[0]) return instead[1];
  if (result.status !== "ok") return trouble(result, does, say);
  if (action.next !== undefined) return action.next(text, say);
  if (title === undefined) return { text: say(did ?? does), ok: true };
  if (nothing !== undefined && (text === "" || causeOf(result) === "no_match"))
    return { text: say(nothing), ok: true, value: "" };
  const shown = text === "" ? say(["(empty)", "（空）"]) : block(text, say);
  return { text: `${say(title)}\n\n${shown}`, ok: true, value: bounded(text.trim(), say) };
}

/** Why a call failed, without invented reasons or the tool's advice for models. */
export function trouble(result: ToolResultBlock, does: Words, say: Say): Report {
  const why = bounded(outputOf(result).replace(/^(?:Error:\s*)+| Decide by yourself.*$/gs, ""), say);
  const [en, zh] =
    result.status === "refused" ? ["I was not allowed to", "没有获得许可，未能"] : ["I could not", "未能"];
  return { text: say([`${en} ${does[0]}: ${why}`, `${zh}${does[1]}：${why}`]), ok: false };
}

/** Without the tool's own remarks. */
function outputOf({ name, text }: ToolResultBlock): string {
  if (name !== "Execute") return text.trimEnd();
  return text.replace(/(?:^Command completed successfully)?\s*\[Process exited with code -?\d+\]\s*$/, "").trimEnd();
}

/** A tool's output as a fenced block, limited in length, with a fence longer than any inside. */
function block(text: string, say: Say): string {
  const body = bounded(text, say);
  let fence = "```";
  while (body.includes(fence)) fence += "`";
  return `${fence}\n${body}\n${fence}`;
}

const bounded = (text: string, say: Say): string =>
  headAndTail(text, 12_000, (left) => say([`… (${left} more characters)`, `……（还有 ${left} 个字符）`]));
