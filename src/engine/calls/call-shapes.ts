import { isRecord } from "../../text/values.ts";

/** The arguments of one call, by name. */
export type Fields = Map<string, unknown>;

/** Folds a name for comparison, because agents spell names differently. */
export function folded(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, "");
}

interface Circumstances {
  readonly cwd: string;
}

/** Converts arguments of other forms to ours. */
export const shapes: Readonly<Record<string, (fields: Fields, circumstances: Circumstances) => void>> = {
  Execute(fields, { cwd }) {
    const command = fields.get("command");
    if (isTexts(command)) fields.set("command", commandLine(command));
    const folder = take(fields, "workdir", "working_directory", "cwd", "directory", "dir_path", "dir");
    const script = fields.get("command");
    const isElsewhere = typeof folder === "string" && !["", ".", "./", cwd, `${cwd}/`].includes(folder);
    if (isElsewhere && typeof script === "string") fields.set("command", inFolder(folder, script));
    const milliseconds = Number(take(fields, "timeout_ms", "timeout_milliseconds"));
    if (milliseconds > 0 && !fields.has("timeout")) {
      fields.set("timeout", Math.min(milliseconds / 1000, mostSeconds));
    }
    const timeout = Number(fields.get("timeout"));
    if (timeout > mostSeconds) fields.set("timeout", Math.min(timeout / 1000, mostSeconds));
  },

  Read(fields) {
    const range = take(fields, "view_range", "line_range");
    const [rangeStart, rangeEnd] = Array.isArray(range) ? (range as readonly unknown[]) : [];
    const start = Number(take(fields, "start_line", "start_line_one_indexed") ?? rangeStart);
    const end = Number(take(fields, "end_line", "end_line_one_indexed_inclusive") ?? rangeEnd);
    const first = start >= 1 ? start : 1;
    if (first > 1 && !fields.has("offset")) fields.set("offset", first - 1);
    if (end >= first && !fields.has("limit")) fields.set("limit", end - first + 1);
  },

  Grep(fields) {
    const isSensitive = take(fields, "case_sensitive");
    if (String(isSensitive) === "false" && !fields.has("case_insensitive")) fields.set("case_insensitive", true);
    const isExpression = take(fields, "is_regexp", "is_regex");
    if (String(isExpression) === "false" && !fields.has("fixed_string")) fields.set("fixed_string", true);
  },

  TodoWrite(fields) {
    const todos = listIn(fields.get("todos"))?.flatMap(flatTodos).map(todoLine);
    if (areWhole(todos)) fields.set("todos", todos.join("\n"));
  },

  AskUser(fields) {
    const given = fields.get("questionnaire");
    const options = take(fields, "options", "follow_up");
    const questions = listIn(given) ?? (options === undefined ? undefined : [{ question: given, options }]);
    const texts = questions?.map(questionLines);
    if (areWhole(texts)) fields.set("questionnaire", texts.join("\n\n"));
  },

  FetchUrl(fields) {
    const urls = fields.get("url");
    if (isTexts(urls) && urls.length === 1) fields.set("url", urls[0]);
  },
};

/** The longest time limit of a command in seconds. Larger numbers are milliseconds, as other agents' tools take them. */
const mostSeconds = 3600;

/** Removes the first of these arguments that is present, and returns its value. */
function take(fields: Fields, ...names: readonly string[]): unknown {
  const wanted = names.map(folded);
  const name = [...fields.keys()].find((key) => wanted.includes(folded(key)));
  if (name === undefined) return undefined;
  const value = fields.get(name);
  fields.delete(name);
  return value;
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((part) => typeof part === "string");
}

/** A list, or its JSON text. */
export function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== "string" || !value.trimStart().startsWith("[")) return undefined;
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the script of `["bash", "-lc", script]`; any other list is a program and its arguments. */
function commandLine(words: readonly string[]): string {
  const [shell = "", flag = "", script] = words;
  const isScript = /^(?:.*\/)?(?:ba|z|da)?sh$/.test(shell) && /^-[a-z]*c$/.test(flag);
  if (isScript && script !== undefined && words.length === 3) return script;
  return words.map(quoted).join(" ");
}

function inFolder(folder: string, script: string): string {
  const isOneCommand = !/[\n;&|#<>(){}`]/.test(script);
  const path = folder.startsWith("~/") ? `~/${quoted(folder.slice(2))}` : quoted(folder.replace(/^-/, "./-"));
  return `cd ${path} && ${isOneCommand ? script : `{\n${script}\n}`}`;
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]*$/.test(word) && word !== "" ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** A list with an item without text is left unchanged, so that the tool reports the format it expects. */
function areWhole(lines: readonly (string | undefined)[] | undefined): lines is readonly string[] {
  return lines?.every((line) => line !== undefined) === true;
}

/** An item, then the items below it. */
function flatTodos(todo: unknown): readonly unknown[] {
  if (Array.isArray(todo)) return (todo as readonly unknown[]).flatMap(flatTodos);
  if (!isRecord(todo)) return [todo];
  const { subtasks, children, items, tasks, todos, ...own } = todo;
  const below = [subtasks, children, items, tasks, todos].flatMap((list) =>
    Array.isArray(list) ? flatTodos(list) : [],
  );
  return wordsOf(own) === "" && below.length > 0 ? below : [own, ...below];
}

function wordsOf({ content, description, step, title, task, text }: Readonly<Record<string, unknown>>): string {
  return oneLine(content ?? step ?? task ?? title ?? description ?? text);
}

function todoLine(todo: unknown, index: number): string | undefined {
  const fields = isRecord(todo) ? todo : { content: todo };
  const words = wordsOf(fields);
  if (words === "") return undefined;
  const status = folded(String(fields.status ?? fields.state ?? ""));
  const isCancelled = /^cancell?ed$/.test(status);
  const isDone = isCancelled || /^(?:completed?|done)$/.test(status);
  const shown = isDone ? "completed" : /^(?:inprogress|active|doing)$/.test(status) ? "in_progress" : "pending";
  return `${index + 1}. [${shown}] ${words}${isCancelled ? " (cancelled)" : ""}`;
}

function questionLines(question: unknown, index: number): string | undefined {
  const fields = isRecord(question) ? question : { question };
  const { header, topic = header } = fields;
  const words = oneLine(fields.question ?? fields.text);
  const options = (listIn(fields.options) ?? []).map((option) =>
    oneLine(isRecord(option) ? (option.label ?? option.text) : option),
  );
  if (words === "" || options.includes("")) return undefined;
  return [
    `${index + 1}. [question] ${words}`,
    ...(topic === undefined ? [] : [`[topic] ${oneLine(topic)}`]),
    ...options.map((option) => `[option] ${option}`),
  ].join("\n");
}

function oneLine(value: unknown): string {
  return typeof value === "string" ? value.replace(/\s+/g, " ").trim() : "";
}
