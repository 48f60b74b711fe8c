/** Sentences of the offline model, in the language of the request. */
import type { ToolResultBlock } from "../../core/message.ts";
import type { Fact, Statement } from "./memory.ts";
import { type Language, languageOf } from "./words.ts";

export function inLanguage(language: Language, en: string, zh: string): string {
  return language === "zh" ? zh : en;
}

/** One line, so that it survives shells and logs. */
export function whatIAm(language: Language): string {
  return inLanguage(
    language,
    "I am Tinman's offline model: a small set of rules, not an AI. I can list, read, create, edit and search files, run commands, " +
      "ask you a question, make a plan, keep a todo list, summarize a repository, and remember and recall what you tell me. " +
      "For everything else choose another model with -m or TINMAN_MODEL; `tinman models` lists them.",
    "我是 Tinman 的离线模型：一组简单的规则，不是人工智能。我可以列出、读取、创建、修改和搜索文件，运行命令，向你提问，制定计划，记录待办，概述仓库，也能记住并复述你告诉我的内容。" +
      "其他事情请用 -m 或 TINMAN_MODEL 选用别的模型；`tinman models` 会列出它们。",
  );
}

const longestOutput = 12_000;
const mostLines = 300;

/** A tool's text as a code block, bounded, with a fence that it cannot close. */
export function block(text: string, language: Language): string {
  const body = bounded(text.replace(/\s+$/, ""), language);
  let fence = "```";
  while (body.includes(fence)) fence += "`";
  return `${fence}\n${body}\n${fence}`;
}

export function bounded(text: string, language: Language): string {
  const lines = text.split("\n");
  let kept = lines.slice(0, mostLines).join("\n");
  if (kept.length > longestOutput) kept = kept.slice(0, longestOutput);
  if (kept.length === text.length) return text;
  const left = text.length - kept.length;
  return `${kept}\n${inLanguage(language, `… (${left} more characters)`, `……（还有 ${left} 个字符）`)}`;
}

/** What went wrong with a call, without inventing a reason. */
export function trouble(result: ToolResultBlock, doing: string, language: Language): string {
  const words = bounded(result.text.replace(/^(?:Error:\s*)+/, "").trim(), language);
  switch (result.status) {
    case "refused":
      return inLanguage(language, `I was not allowed to ${doing}: ${words}`, `没有获得许可，未能${doing}：${words}`);
    case "interrupted":
      return inLanguage(
        language,
        `I was interrupted before I could ${doing}: ${words}`,
        `被中断，未能${doing}：${words}`,
      );
    default:
      return inLanguage(language, `I could not ${doing}: ${words}`, `未能${doing}：${words}`);
  }
}

/** What a command printed, without the tool's own remarks. */
export function printed(result: ToolResultBlock): string {
  const text = result.text.replace(/\s*\[Process exited with code -?\d+\]\s*$/, "").replace(/\s+$/, "");
  return text === "Command completed successfully" ? "" : text;
}

/** A fact as the end of a sentence; in the user's own words where these are of another language. */
export function told(fact: Pick<Fact, "subject" | "value">, language: Language): string {
  const { subject, value } = fact;
  if (subject === "") return language === "zh" ? `“${value}”` : `"${value}"`;
  if (languageOf(subject) !== language) return `${subject}: ${value}`;
  if (language === "zh") return `${toYou(subject)}是 ${value}`;
  const yours = toYou(subject);
  const named = /^(?:the|your|this|that|a|an|his|her|their)\s/i.test(yours) ? yours : `the ${yours}`;
  return `${named.charAt(0).toLowerCase()}${named.slice(1)} is ${value}`;
}

function toYou(subject: string): string {
  return subject.replace(/^(?:my|our)\b/i, "your").replace(/^我/, "你");
}

/** Whether `told` makes a clause that "that" can introduce. */
export function isClause(fact: Pick<Fact, "subject">): boolean {
  return fact.subject !== "" && languageOf(fact.subject) === "en";
}

export function noted(statement: Statement, language: Language): string {
  const fact = told(statement, language);
  return inLanguage(
    language,
    `OK, I will remember ${isClause(statement) ? "that " : ""}${fact}.`,
    `好的，我记住了：${fact}。`,
  );
}
