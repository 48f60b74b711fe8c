/** The recogniser of command lines. */
import { riskOf } from "./commands.ts";
import type { Clause, Intent } from "./intent-types.ts";
import { isFileName } from "./paths.ts";
import { plain, quotedSpans, quotedWhole, withoutEnd, wordSet } from "./words.ts";

/** "what does git status say?", git log 的输出是什么: a question whose answer is what a command prints. */
const printedBy =
  /^(?:what (?:does|do)\s+(?:running\s+)?(?<a>.+?)\s+(?:print|say|output|return|show|give|display|report|tell)s?(?: (?:me|us|back|out|here|now))*|(?:what(?:['’]s| is)|show(?: me)?|give me|tell me|print|get)\s+(?:the )?(?:output|result)s? (?:of|from)\s+(?:running |the command )?(?<b>.+))$/i;
const printedByZh =
  /^(?:(?:显示|告诉我|给我看?|看看|查看)\s*)?(?<a>[\x21-\x7e][\x20-\x7e]*?)\s*(?:命令)?(?:会|都|能)?(?:的?(?:输出|结果|打印)(?:结果)?(?:是|了|出)?(?:些)?(?:什么|啥)?|(?:显示|返回|打印|说)(?:了|的是)?(?:些)?(?:什么|啥))$/;

const runStart = /^(?:run|execute|exec|launch)(?:\s*[:：]\s*|\s+)(?<rest>[\s\S]+)$/i;
const runStartZh =
  /^(?:(?:在|用)\s*(?:终端|命令行|shell|bash)(?:里|中)?\s*(?:来)?)?(?:运行|执行|跑一?下|跑|敲一?下|敲|调用)(?:一下)?\s*(?<rest>[\s\S]+)$/i;
const programs = wordSet(
  "git npm npx pnpm yarn node deno bun python python3 pip make cargo go ls pwd echo cat head tail wc grep rg find tree date whoami uname env which touch mkdir cp mv rm curl wget docker kubectl sleep true false test sed awk sort uniq diff du df ps kill bash sh java javac mvn gradle tsc vitest jest eslint biome ruby php perl printf hostname id stat file seq",
);
const standAlone = wordSet("git npm npx pnpm yarn pwd whoami uname hostname ls mkdir touch echo");
/** After these, "run" is not about a command line. */
const notPrograms = wordSet(
  "it that this these those everything something away a an some all my your our me you into out through over by and the for to with of on in as something anything nothing not",
);
const nicknames: readonly (readonly [RegExp, string])[] = [
  [/^(?:the |all |our |my |all the )*(?:unit |project )?tests?(?: suite)?$|^(?:所有)?(?:单元)?测试$/i, "npm test"],
  [/^(?:the |a |our )*(?:build|production build)(?: script)?$|^构建$/i, "npm run build"],
  [/^(?:the |a |our )*(?:linter|lint)(?: script)?$/i, "npm run lint"],
];
const phrases: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:what(?:['’]s| is)|show(?: me)?|check|get|tell me|give me|see|查看|看看|看一下|显示)\s*(?:the |current |our )*git\s*(status|log|diff|branch)(?:的)?(?:输出|结果)?$/i,
    "git $1",
  ],
  [
    /^(?:which|what) (?:git )?branch (?:am i|are we|is this)\b.*$|^(?:现在|当前)?(?:在)?(?:哪个|什么)分支(?:上)?$/i,
    "git branch --show-current",
  ],
  [
    /^(?:where am i|(?:what(?:['’]s| is)|show(?: me)?|print|tell me) (?:the )?(?:current |present )?(?:working directory|current directory|cwd))$|^(?:当前|现在的?)?(?:工作)?(?:目录|路径)是(?:什么|哪个|哪里|啥)$/i,
    "pwd",
  ],
];

export function run(clause: Clause): Intent | undefined {
  const asked = withoutTrailingNote(clause.text);
  for (const [rule, command] of phrases) {
    const match = rule.exec(asked);
    if (match !== null) return { type: "run", command: command.replace("$1", (match[1] ?? "").toLowerCase()) };
  }
  const shown =
    /^(?:show(?: me)?|give me|tell me|what(?:['’]s| is)|what does|print|告诉我|显示)\s*(?:the )?(?:output|result)?\s*(?:of|from)?\s*(?:running |the command )?`([^`]+)`(?:\s*(?:print|say|output|return|show|give|do|的输出|的结果)s?)?$/i.exec(
      asked,
    )?.[1];
  if (shown !== undefined && !isFileName(shown)) return { type: "run", command: shown };
  const printing = /\bwhat|output|result/i.test(asked)
    ? printedBy.exec(asked)?.groups
    : /输出|结果|打印|显示|返回|说/.test(asked)
      ? printedByZh.exec(asked)?.groups
      : undefined;
  const printer = plain(printing?.a ?? printing?.b ?? "").replace(/\s+command$/i, "");
  const [program = "", argument = ""] = printer.split(/\s+/);
  // A question must not do harm, and "what does file a.txt say" is about the file.
  if (programs.has(program) && !(program === "file" && isFileName(argument)) && riskOf(printer).riskLevel !== "high")
    return { type: "run", command: printer };
  const rest = (runStart.exec(asked) ?? runStartZh.exec(asked))?.groups?.rest;
  if (rest !== undefined) {
    const command = commandIn(rest);
    return command === undefined ? undefined : { type: "run", command };
  }
  const whole = quotedWhole(asked) ?? asked;
  const [first, second] = whole.split(/\s+/);
  const bare = standAlone.has(first ?? "") && (second === undefined || !/^(?:is|are|was|the|a|an)$/i.test(second));
  return bare && /^[\x20-\x7e]+$/.test(whole) ? { type: "run", command: whole } : undefined;
}

function commandIn(given: string): string | undefined {
  for (const [rule, command] of nicknames) if (rule.test(withoutEnd(given))) return command;
  const labelled =
    /^(?:the |a |this |following |shell |bash |terminal |以下|下面的?|如下|这个|shell|终端|bash)*\s*(?:(?:commands?|cmd)(?![\w.-])|命令|指令|(?:following|this|以下|这个)(?=\s*[:：]))\s*[:：,，]?\s*(?<rest>[\s\S]+)$/i.exec(
      given,
    )?.groups?.rest;
  const body = (labelled ?? given.replace(/^(?:the|this|an?(?=\s+(?:ls|pwd|git)\b))\s+/i, "")).trim();
  const place = placeOf(body);
  const [quoted] = quotedSpans(place.text);
  if (
    quoted?.start === 0 &&
    place.text[0] !== "'" &&
    /^[\s.!,。，]*(?:command|命令|指令)?[\s.!。]*$/i.test(place.text.slice(quoted.end))
  ) {
    return inFolder(quoted.inner.trim(), place.folder);
  }
  const named = /[\s\x60"'](?:command|cmd)$|\s*(?:命令|指令)$/i.test(place.text);
  const command = place.text
    .replace(/\s+(?:shell )?(?:command|cmd)$|\s*(?:这个|的)?(?:命令|指令)$/i, "")
    .replace(/^[`"“](.*)[`"”]$/, "$1")
    .trim();
  const program = /^(?:\w+=\S+\s+)*([\w./~+-]+)/.exec(command)?.[1];
  if (program === undefined || notPrograms.has(program.toLowerCase())) return undefined;
  // "run a security audit" names no program; "run frobnicate --now" does.
  const isCommand =
    labelled !== undefined || named || programs.has(program) || /[./]/.test(program) || /^\S+\s+-/.test(command);
  if (!isCommand || prose.test(command)) return undefined;
  return command === "" ? undefined : inFolder(command, place.folder);
}

/** Words behind a command that is not quoted are a request of their own, which no rule knows. */
const prose = /\s(?:and|or|then|whether|if|that|which|tell|until)\s/i;

/** "in the src folder" says where; "here" and "in the terminal" say nothing. */
function placeOf(text: string): { readonly text: string; readonly folder: string | undefined } {
  const here =
    /\s+(?:here|(?:in|on|from|using) (?:the |this |a |my |your |current )*(?:terminal|shell|bash|console|command line|cwd|(?:working |current )?(?:directory|folder)|repo|repository|project|workspace|machine))$/i;
  const trimmed = text.replace(here, "");
  const match =
    /\s+in (?:the )?(?:folder |directory )?([\w./@~-]+)(?:\s+(?:folder|directory|dir))$|\s+in (?:the )?(?:folder |directory )([\w./@~-]+)$|\s+in ([\w.@~-]+\/[\w./@~-]*)$/i.exec(
      trimmed,
    );
  const folder = match?.[1] ?? match?.[2] ?? match?.[3];
  return match === null || folder === undefined
    ? { text: trimmed, folder: undefined }
    : { text: trimmed.slice(0, match.index), folder };
}

function inFolder(command: string, folder: string | undefined): string {
  if (folder === undefined) return command;
  return /^ls(?:\s+-\S+)*$/.test(command) ? `${command} ${folder}` : `cd ${folder} && ${command}`;
}

/** "and show me the output" is what we do anyway. */
function withoutTrailingNote(text: string): string {
  return withoutEnd(text)
    .replace(
      /[,\s]+(?:and|then)\s+(?:show|tell|give|print|report|paste)(?:\s+me)?\s+(?:the\s+)?(?:output|results?|it)$/i,
      "",
    )
    .replace(/[，,\s]*(?:并|然后|再)?(?:看看|(?:告诉我|给我看|显示|输出|返回)(?:结果|输出))$/, "")
    .trim();
}
