/**
 * How each kind of step is done: a generator that yields the calls it needs, is given their results, and returns its report.
 * It is run from its start for every reply with the results that are there already, so it must depend on nothing else.
 */
import type { ToolResultBlock } from "../../core/message.ts";
import { riskOf, shellWord } from "./commands.ts";
import type { Action } from "./intent-types.ts";
import { block, bounded, inLanguage, printed, trouble } from "./phrases.ts";
import { causeOf } from "./result-cause.ts";
import type { Language } from "./words.ts";

export interface Call {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** What is said while calling. */
  readonly say: string;
}

export interface Report {
  readonly text: string;
  readonly ok: boolean;
  /** The value alone, for "reply only with it". */
  readonly value?: string;
  /** False when no rule fits. */
  readonly understood?: boolean;
}

/** Yields the ways to get one result, the preferred first. */
export type Task = Generator<readonly Call[], Report, ToolResultBlock>;

export function* perform(step: Exclude<Action, { type: "plan" }>, language: Language): Task {
  switch (step.type) {
    case "list":
      return yield* list(step.path, language);
    case "run":
      return yield* run(step.command, language);
    case "create":
      return yield* create(step.path, step.content, language);
    case "read":
      return yield* read(step.path, language);
    case "edit":
      return yield* edit(step, language);
    case "grep":
      return yield* grep(step, language);
    case "glob":
      return yield* glob(step, language);
    case "ask":
      return yield* ask(step, language);
    case "todo":
      return yield* todo(step.items, language);
    case "summary":
      return yield* summary(step.path, language);
  }
}

function execute(command: string, say: string): Call {
  return { name: "Execute", input: { command, ...riskOf(command) }, say };
}

/** A name does not tell a file from a folder: each of these two gives way to the other once. */
function* list(path: string | undefined, language: Language, again = false): Task {
  const where = path ?? inLanguage(language, "this folder", "当前目录");
  const say = inLanguage(language, `I'll list the files in ${where}.`, `我来列出${where}的文件。`);
  const result = yield [
    { name: "LS", input: path === undefined ? {} : { directory_path: path }, say },
    execute(path === undefined ? "ls" : `ls ${shellWord(path)}`, say),
    { name: "Glob", input: { patterns: "*", ...(path === undefined ? {} : { folder: path }) }, say },
  ];
  if (causeOf(result) === "not_directory" && path !== undefined && !again) return yield* read(path, language, true);
  if (result.status !== "ok") return failed(result, `list ${where}`, `列出${where}`, language);
  return shown(printed(result), inLanguage(language, `Files in ${where}:`, `${where} 的文件：`), language);
}

function* run(command: string, language: Language): Task {
  const name = command.length <= 120 ? command : `${command.slice(0, 119)}…`;
  const result = yield [execute(command, inLanguage(language, `I'll run \`${name}\`.`, `我来运行 \`${name}\`。`))];
  const output = printed(result);
  if (result.status === "failed") {
    const text = inLanguage(language, `\`${name}\` failed:`, `\`${name}\` 失败：`);
    return { text: `${text}\n\n${block(output, language)}`, ok: false, value: bounded(output, language) };
  }
  if (result.status !== "ok") return failed(result, `run \`${name}\``, `运行 \`${name}\``, language);
  if (output === "")
    return {
      text: inLanguage(language, `\`${name}\` succeeded and printed nothing.`, `\`${name}\` 执行成功，没有输出。`),
      ok: true,
      value: "",
    };
  return shown(output, inLanguage(language, `\`${name}\` printed:`, `\`${name}\` 的输出：`), language);
}

function* create(path: string, content: string, language: Language): Task {
  const result = yield [
    {
      name: "Create",
      input: { file_path: path, content },
      say: inLanguage(language, `I'll create ${path}.`, `我来创建 ${path}。`),
    },
  ];
  if (result.status !== "ok") return failed(result, `create ${path}`, `创建 ${path}`, language);
  return { text: inLanguage(language, `I created ${path}.`, `已创建 ${path}。`), ok: true };
}

function* read(path: string, language: Language, again = false): Task {
  const say = inLanguage(language, `I'll read ${path}.`, `我来读取 ${path}。`);
  const result = yield [{ name: "Read", input: { file_path: path }, say }, execute(`cat ${shellWord(path)}`, say)];
  if (causeOf(result) === "is_directory" && !again) return yield* list(path, language, true);
  if (result.status !== "ok") return failed(result, `read ${path}`, `读取 ${path}`, language);
  return shown(result.name === "Execute" ? printed(result) : result.text, `${path}:`, language);
}

function* edit(step: Action & { type: "edit" }, language: Language): Task {
  const { path, from, to } = step;
  const seen = yield [
    {
      name: "Read",
      input: { file_path: path },
      say: inLanguage(language, `I'll read ${path} first.`, `我先读取 ${path}。`),
    },
  ];
  if (seen.status !== "ok") return failed(seen, `read ${path}`, `读取 ${path}`, language);
  const input = { file_path: path, old_str: from, new_str: to, ...(step.all ? { change_all: true } : {}) };
  const result = yield [
    {
      name: "Edit",
      input,
      say: inLanguage(language, `Now I'll change "${from}" to "${to}".`, `现在把“${from}”改成“${to}”。`),
    },
  ];
  if (result.status !== "ok") return failed(result, `edit ${path}`, `修改 ${path}`, language);
  return {
    text: inLanguage(
      language,
      `I replaced "${from}" with "${to}" in ${path}.`,
      `已在 ${path} 中把“${from}”改成“${to}”。`,
    ),
    ok: true,
  };
}

function* grep(step: Action & { type: "grep" }, language: Language): Task {
  const literal = /[.*+?^${}()|[\]\\]/.test(step.pattern);
  const input = {
    pattern: step.pattern,
    ...(step.path === undefined ? {} : { path: step.path }),
    output_mode: "content",
    line_numbers: true,
    ...(literal ? { fixed_string: true } : {}),
    ...(step.ignoreCase ? { case_insensitive: true } : {}),
  };
  const where = step.path === undefined ? "" : inLanguage(language, ` in ${step.path}`, `（在 ${step.path} 中）`);
  const result = yield [
    {
      name: "Grep",
      input,
      say: inLanguage(language, `I'll search for "${step.pattern}"${where}.`, `我来搜索“${step.pattern}”${where}。`),
    },
  ];
  return searched(result, step.pattern, language);
}

function* glob(step: Action & { type: "glob" }, language: Language): Task {
  const input = { patterns: step.pattern, ...(step.folder === undefined ? {} : { folder: step.folder }) };
  const result = yield [
    {
      name: "Glob",
      input,
      say: inLanguage(
        language,
        `I'll look for files that match ${step.pattern}.`,
        `我来查找匹配 ${step.pattern} 的文件。`,
      ),
    },
  ];
  return searched(result, step.pattern, language);
}

function searched(result: ToolResultBlock, pattern: string, language: Language): Report {
  if (result.status !== "ok") return failed(result, `search for "${pattern}"`, `搜索“${pattern}”`, language);
  if (causeOf(result) === "no_match") {
    return {
      text: inLanguage(language, `Nothing matches "${pattern}".`, `没有找到“${pattern}”。`),
      ok: true,
      value: "",
    };
  }
  return shown(result.text, inLanguage(language, `Matches for "${pattern}":`, `“${pattern}”的匹配结果：`), language);
}

function* ask(step: Action & { type: "ask" }, language: Language): Task {
  const open = inLanguage(language, "My own answer|Skip", "我自己填写|跳过").split("|");
  const yesNo = inLanguage(language, "Yes|No", "是|否").split("|");
  const closed = /^(?:do|does|is|are|should|shall|can|could|would|will|have|has)\b|是否|吗|要不要/i.test(step.question);
  const options = step.options.length > 0 ? step.options : closed ? yesNo : open;
  const questionnaire = [
    `1. [question] ${step.question}`,
    `[topic] ${step.topic}`,
    ...options.map((option) => `[option] ${option}`),
  ].join("\n");
  const result = yield [
    { name: "AskUser", input: { questionnaire }, say: inLanguage(language, "I'll ask you.", "我来问你。") },
  ];
  if (result.status !== "ok") {
    // With nobody there the tool's text goes on with advice for the model; its first sentence is for people.
    const nobody = {
      ...result,
      status: "failed",
      text: (/^.*?[.。](?=\s|$)/s.exec(result.text) ?? [result.text])[0],
    } as const;
    const told = result.status === "refused" ? nobody : result;
    return failed(told, `ask you "${step.question}"`, `向你提问“${step.question}”`, language);
  }
  const answers = [...result.text.matchAll(/^\[answer\]\s*(.*)$/gm)].map((match) => (match[1] ?? "").trim());
  const answer = answers.length > 0 ? answers.join(", ") : result.text.trim();
  return { text: inLanguage(language, `Your answer: ${answer}`, `你的回答：${answer}`), ok: true, value: answer };
}

function* todo(items: readonly string[], language: Language): Task {
  const lines = items.map((item, index) => `${index + 1}. [pending] ${item}`).join("\n");
  const result = yield [
    {
      name: "TodoWrite",
      input: { todos: lines },
      say: inLanguage(language, "I'll write the list down.", "我来记录清单。"),
    },
  ];
  if (result.status !== "ok") return failed(result, "write the todo list", "记录待办事项", language);
  const plainList = items.map((item, index) => `${index + 1}. ${item}`).join("\n");
  return { text: `${inLanguage(language, "Todo list:", "待办事项：")}\n${plainList}`, ok: true };
}

function* summary(path: string | undefined, language: Language): Task {
  const say = inLanguage(language, "I'll look at the files.", "我来看看文件。");
  const result = yield [
    { name: "LS", input: path === undefined ? {} : { directory_path: path }, say },
    execute("ls -p", say),
  ];
  if (result.status !== "ok") return failed(result, "list the files", "列出文件", language);
  const names = namesIn(printed(result));
  const readme = names.find((name) => /^readme(?:\.\w+)?$/i.test(name));
  const saw = names.slice(0, 30).join(", ") + (names.length > 30 ? ", …" : "");
  const parts = [
    inLanguage(
      language,
      "As an offline model I can only tell what the files show.",
      "我是离线模型，只能说出文件里能看到的内容。",
    ),
    names.length === 0
      ? inLanguage(language, "The folder is empty.", "这个目录是空的。")
      : inLanguage(
          language,
          `The folder has ${names.length === 1 ? "1 entry" : `${names.length} entries`}: ${saw}.`,
          `目录中有 ${names.length} 项：${saw}。`,
        ),
  ];
  if (readme !== undefined) {
    const text = yield [
      {
        name: "Read",
        input: { file_path: readme },
        say: inLanguage(language, `I'll read ${readme}.`, `我来读取 ${readme}。`),
      },
    ];
    if (text.status !== "ok") parts.push(failed(text, `read ${readme}`, `读取 ${readme}`, language).text);
    else parts.push(inLanguage(language, `${readme} begins: `, `${readme} 开头写道：`) + opening(text.text));
  }
  return { text: parts.join("\n\n"), ok: true };
}

/** Names of a plain or a long listing. */
function namesIn(listing: string): readonly string[] {
  return listing
    .split("\n")
    .map(
      (line) =>
        /^[-dlbcps?][-rwxsStT]{9}\S*\s.*?\d{1,2}:\d{2}\s+(.+)$/.exec(line)?.[1] ??
        (/^(?:total \d+|\[.*\])$/.test(line) ? "" : line.trim()),
    )
    .map((name) => name.replace(/^\.\/(?=.)/, ""))
    .filter((name) => name !== "" && name !== "." && name !== ".." && name !== "./" && name !== "../");
}

/** The first heading and the first paragraph of a text. */
function opening(text: string): string {
  const lines = text.split("\n");
  const heading =
    lines
      .find((line) => /^#+\s|^\S/.test(line))
      ?.replace(/^#+\s*/, "")
      .trim() ?? "";
  const body = lines.slice(lines.findIndex((line) => line.trim() !== "") + 1).join("\n");
  const paragraph =
    body
      .split(/\n\s*\n/)
      .map((part) => part.trim())
      .find((part) => part !== "" && !/^(?:#|```|!\[|\[!|<|[-=]{3,})/.test(part)) ?? "";
  const short = paragraph.replace(/\s+/g, " ");
  const joined = [heading, short.length > 600 ? `${short.slice(0, 599)}…` : short]
    .filter((part) => part !== "")
    .join(" — ");
  return joined === "" ? "…" : joined;
}

function shown(output: string, title: string, language: Language): Report {
  const text = output.trim() === "" ? inLanguage(language, "(empty)", "（空）") : block(output, language);
  return { text: `${title}\n\n${text}`, ok: true, value: bounded(output.trim(), language) };
}

function failed(result: ToolResultBlock, en: string, zh: string, language: Language): Report {
  return { text: trouble(result, inLanguage(language, en, zh), language), ok: false };
}
