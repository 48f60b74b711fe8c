/** A short plan in Markdown, made of the request's own steps. */
import { onlyLooks } from "./commands.ts";
import type { Step } from "./intent-types.ts";
import { inLanguage } from "./phrases.ts";
import type { Language } from "./words.ts";

export interface Plan {
  readonly title: string;
  readonly plan: string;
}

export function planFor(goal: string, steps: readonly Step[], language: Language): Plan {
  const subject = goal.replace(/\s+/g, " ").trim();
  const named = subject === "" ? inLanguage(language, "The requested work", "所要求的工作") : subject;
  const title = shorten(named.charAt(0).toUpperCase() + named.slice(1));
  const numbered = steps.map((step, index) => `${index + 1}. ${describe(step, language)}`).join("\n");
  return { title, plan: `# ${title}\n\n${numbered}` };
}

/** What a step does, as one line. */
export function describe(step: Step, language: Language): string {
  const say = (en: string, zh: string): string => inLanguage(language, en, zh);
  switch (step.type) {
    case "list":
      return say(`List the files in ${step.path ?? "this folder"}.`, `列出${step.path ?? "当前目录"}的文件。`);
    case "run":
      return say(`Run \`${shorten(step.command)}\`.`, `运行 \`${shorten(step.command)}\`。`);
    case "create":
      return say(`Create ${step.path}.`, `创建 ${step.path}。`);
    case "read":
      return say(`Read ${step.path}.`, `读取 ${step.path}。`);
    case "edit":
      return say(
        `In ${step.path}, replace "${shorten(step.from)}" with "${shorten(step.to)}".`,
        `在 ${step.path} 中把“${shorten(step.from)}”改成“${shorten(step.to)}”。`,
      );
    case "grep":
      return say(`Search for "${shorten(step.pattern)}".`, `搜索“${shorten(step.pattern)}”。`);
    case "glob":
      return say(`Find files that match ${step.pattern}.`, `查找匹配 ${step.pattern} 的文件。`);
    case "ask":
      return say(`Ask: ${step.question}`, `提问：${step.question}`);
    case "todo":
      return say("Write the todo list.", "记录待办事项。");
    case "summary":
      return say("Look at the repository.", "查看仓库。");
    case "plan":
      return say("Make a plan.", "制定计划。");
    default:
      return say("Answer in words.", "用文字回答。");
  }
}

/** Whether a step may change something, so that spec mode wants a plan first. */
export function changes(step: Step): boolean {
  if (step.type === "run") return !onlyLooks(step.command);
  return step.type === "create" || step.type === "edit";
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}
