/** A short plan in Markdown, made of the request's own parts. */
import { onlyLooks } from "./commands.ts";
import { type Intent, isAction } from "./intent-types.ts";
import { inLanguage } from "./phrases.ts";
import type { Language } from "./words.ts";

export interface Plan {
  readonly title: string;
  readonly plan: string;
}

export function planFor(goal: string, steps: readonly Intent[], language: Language): Plan {
  const subject = goal.replace(/\s+/g, " ").trim();
  const named = subject === "" ? inLanguage(language, "The requested work", "所要求的工作") : subject;
  const title = shorten(named.charAt(0).toUpperCase() + named.slice(1));
  const actions = steps.filter(isAction);
  const listed = actions.length > 0 ? actions.map((step) => describe(step, language)) : parts(named, language);
  const numbered = listed.map((step, index) => `${index + 1}. ${step}`).join("\n");
  return { title, plan: `# ${title}\n\n${numbered}` };
}

/** A request that no rule understands is planned by its parts, between looking and checking. */
function parts(goal: string, language: Language): readonly string[] {
  const split = goal
    .split(/\s*(?:,|;|，|；|、|\s+and then\s+|\s+then\s+|然后|接着|\s+and\s+)\s*/i)
    .filter((part) => part !== "");
  return [
    inLanguage(language, "Look at the files that this touches.", "查看涉及的文件。"),
    ...split.slice(0, 8).map((part) => sentence(part, language)),
    inLanguage(language, "Check the result.", "检查结果。"),
  ];
}

function sentence(part: string, language: Language): string {
  const text = shorten(part.charAt(0).toUpperCase() + part.slice(1));
  return /[.!?。！？…]$/.test(text) ? text : text + inLanguage(language, ".", "。");
}

/** What a step does, as one line. */
export function describe(step: Intent, language: Language): string {
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
export function changes(step: Intent): boolean {
  if (step.type === "run") return !onlyLooks(step.command);
  if (step.type === "unknown") return asksForWork(step.text);
  return step.type === "create" || step.type === "edit";
}

/** Whether a text begins like a piece of work. */
export function asksForWork(text: string): boolean {
  return (
    /^(?:please\s+|can you\s+|could you\s+|let['’]s\s+|i want (?:you )?to\s+)*(?:add|fix|implement|refactor|build|update|migrate|remove|delete|rename|rewrite|improve|optimi[sz]e|upgrade|convert|integrate|set up|install|write|create|make|change|move|extend|clean|port|introduce|replace|deploy|configure|support|design|develop|generate|append|split|merge|bump)\b/i.test(
      text.trim(),
    ) ||
    /^(?:请|帮我|麻烦你?)*(?:给|为|把|将)?.{0,20}?(?:添加|增加|修复|实现|重构|构建|更新|迁移|删除|移除|重命名|重写|改进|优化|升级|修改|编写|开发|部署|配置|安装|设计|写一)/.test(
      text.trim(),
    )
  );
}

function shorten(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 100 ? line : `${line.slice(0, 99)}…`;
}
