/** Recognisers of requests that may change something: run a command, create a file, edit one. */
import { type Clause, type Intent, previousPath } from "./intent-types.ts";
import { anyPath, cleanPath, fileName, isFileName, zhPath } from "./paths.ts";
import { plain, quotedSpans, quotedWhole, withoutEnd, wordSet } from "./words.ts";

/* ---------------------------------------------------------------- commands */

const runStart =
  /^(?:run|execute|exec|launch|invoke|issue|perform|fire off|try(?: running)?|use|call|do)(?:\s*[:：]\s*|\s+)(?<rest>[\s\S]+)$/iu;
const runStartZh =
  /^(?:在(?:终端|命令行|shell|bash)(?:里|中)?)?(?:运行|执行|跑一?下|跑|敲一?下|敲|调用)(?:一下)?\s*(?<rest>[\s\S]+)$/iu;
const programs = wordSet(
  "git npm npx pnpm yarn node deno bun python python3 pip make cargo go ls pwd echo cat head tail wc grep rg find tree date whoami uname env which touch mkdir cp mv rm curl wget docker kubectl sleep true false test sed awk sort uniq diff du df ps kill bash sh java javac mvn gradle tsc vitest jest eslint biome ruby php perl printf hostname id stat file seq",
);
const standAlone = wordSet("git npm npx pnpm yarn pwd whoami uname hostname ls mkdir touch echo");
/** After these, "run" is not about a command line. */
const notPrograms = wordSet(
  "it that this these those everything something away a an some all my your our me you into out through over by and the for to with of on in as something anything nothing not",
);
const nicknames: readonly (readonly [RegExp, string])[] = [
  [/^(?:the |all |our |my |all the )*(?:unit |project )?tests?(?: suite)?$|^(?:所有)?(?:单元)?测试$/iu, "npm test"],
  [/^(?:the |a |our )*(?:build|production build)(?: script)?$|^构建$/iu, "npm run build"],
  [/^(?:the |a |our )*(?:linter|lint)(?: script)?$/iu, "npm run lint"],
];
const phrases: readonly (readonly [RegExp, string])[] = [
  [
    /^(?:what(?:['’]s| is)|show(?: me)?|check|get|tell me|give me|see|查看|看看|看一下|显示)\s*(?:the |current |our )*git\s*(status|log|diff|branch)(?:的)?(?:输出|结果)?$/iu,
    "git $1",
  ],
  [
    /^(?:which|what) (?:git )?branch (?:am i|are we|is this)\b.*$|^(?:现在|当前)?(?:在)?(?:哪个|什么)分支(?:上)?$/iu,
    "git branch --show-current",
  ],
  [
    /^(?:where am i|(?:what(?:['’]s| is)|show(?: me)?|print|tell me) (?:the )?(?:current |present )?(?:working directory|current directory|cwd))$|^(?:当前|现在的?)?(?:工作)?(?:目录|路径)是(?:什么|哪个|哪里|啥)$/iu,
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
    /^(?:show(?: me)?|give me|tell me|what(?:['’]s| is)|what does|print|告诉我|显示)\s*(?:the )?(?:output|result)?\s*(?:of|from)?\s*(?:running |the command )?`([^`]+)`(?:\s*(?:print|say|output|return|show|give|do|的输出|的结果)s?)?$/iu.exec(
      asked,
    )?.[1];
  if (shown !== undefined && !isFileName(shown)) return { type: "run", command: shown };
  const rest = (runStart.exec(asked) ?? runStartZh.exec(asked))?.groups?.rest;
  if (rest !== undefined) {
    const verb = /^(?:use|call|do|try)\b/iu.test(asked) ? "vague" : "clear";
    const command = commandIn(rest, verb);
    return command === undefined ? undefined : { type: "run", command };
  }
  const whole = quotedWhole(asked) ?? asked;
  const [first, second] = whole.split(/\s+/);
  const bare = standAlone.has(first ?? "") && (second === undefined || !/^(?:is|are|was|the|a|an)$/iu.test(second));
  return bare && /^[\x20-\x7e]+$/.test(whole) ? { type: "run", command: whole } : undefined;
}

function commandIn(given: string, verb: "clear" | "vague"): string | undefined {
  for (const [rule, command] of nicknames) if (rule.test(withoutEnd(given))) return command;
  const labelled =
    /^(?:the |a |this |following |shell |bash |terminal |以下|下面的?|如下|这个|shell|终端|bash)*\s*(?:(?:commands?|cmd)(?![\w.-])|命令|指令|following(?=\s*[:：]))\s*[:：,，]?\s*(?<rest>[\s\S]+)$/iu.exec(
      given,
    )?.groups?.rest;
  const body = (labelled ?? given.replace(/^(?:the|this|an?(?=\s+(?:ls|pwd|git)\b))\s+/iu, "")).trim();
  const place = placeOf(body);
  const [quoted] = quotedSpans(place.text);
  if (
    quoted?.start === 0 &&
    place.text[0] !== "'" &&
    /^[\s.!,。，]*(?:command|命令|指令)?[\s.!。]*$/iu.test(place.text.slice(quoted.end))
  ) {
    return inFolder(quoted.inner.trim(), place.folder);
  }
  const named = /[\s\x60"'](?:command|cmd)$|\s*(?:命令|指令)$/iu.test(place.text);
  const command = place.text
    .replace(/\s+(?:shell )?(?:command|cmd)$|\s*(?:这个|的)?(?:命令|指令)$/iu, "")
    .replace(/^[`"“](.*)[`"”]$/u, "$1")
    .trim();
  const program = /^(?:\w+=\S+\s+)*([\w./~+-]+)/.exec(command)?.[1];
  if (program === undefined || notPrograms.has(program.toLowerCase())) return undefined;
  const known = programs.has(program) || /[./]/.test(program);
  const sure = labelled !== undefined || named || known;
  const articled = labelled === undefined && /^(?:the|this)\s/iu.test(given);
  if (
    !sure &&
    (verb === "vague" || articled || /^[A-Z]/.test(program) || /\b(?:the|a|an|my|your|of|that|which)\b/iu.test(command))
  )
    return undefined;
  return command === "" ? undefined : inFolder(command, place.folder);
}

/** "in the src folder" says where; "here" and "in the terminal" say nothing. */
function placeOf(text: string): { readonly text: string; readonly folder: string | undefined } {
  const here =
    /\s+(?:here|(?:in|on|from|using) (?:the |this |a |my |your |current )*(?:terminal|shell|bash|console|command line|cwd|(?:working |current )?(?:directory|folder)|repo|repository|project|workspace|machine))$/iu;
  const trimmed = text.replace(here, "");
  const match =
    /\s+in (?:the )?(?:folder |directory )?([\w./@~-]+)(?:\s+(?:folder|directory|dir))$|\s+in (?:the )?(?:folder |directory )([\w./@~-]+)$|\s+in ([\w.@~-]+\/[\w./@~-]*)$/iu.exec(
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
      /[,\s]+(?:and|then|to)\s+(?:show|tell|give|report|print|let me|paste|explain|see|return|summari[sz]e|check what|send|share)\b[^`]*$/iu,
      "",
    )
    .replace(/[，,\s]*(?:并|然后|再)?(?:告诉我|给我看|把结果|显示结果|输出结果|返回结果|看看结果).*$/u, "")
    .trim();
}

/* ------------------------------------------------------------------ create */

const withContent = String.raw`(?:[,;]?\s*(?:and\s+)?(?:with|containing|that contains|which contains|that says|which says|that reads|whose contents? (?:is|are)|having|saying|holding|including|put|write|fill it with|content|contents|text)(?![\w.\-])\s*(?:just |only |exactly |in it |inside )*(?:the |this |some |a )?(?:following |exact |single )?(?:(?:contents?|text|body|words?|line|string|data|message)(?![\w.\-]))?(?:\s+(?:is|are|of|in it)(?![\w.\-]))?\s*[:=]?\s*)`;
const fileWords = String.raw`(?:(?:me|us)\s+)?(?:(?:a|an|the|another|new|text|empty|blank|small|simple|plain|markdown|json|python|config|source|script)\s+)*`;
const calledWords = String.raw`(?:\s*(?:(?:called|named|with (?:the )?name|titled|at|as)(?![\w.\-])|:))?\s*`;
const makeVerb = "(?:create|make|add|generate|write|produce|touch|set up|start|save|prepare|build)";

const createRules = [
  new RegExp(
    `^${makeVerb}\\s+${fileWords}file${calledWords}(?<path>${anyPath})${withContent}(?<content>[\\s\\S]+)$`,
    "iu",
  ),
  new RegExp(
    `^${makeVerb}\\s+${fileWords}(?<path>${fileName}|"[^"]+"|\`[^\`]+\`)(?:\\s+file)?${withContent}(?<content>[\\s\\S]+)$`,
    "iu",
  ),
  new RegExp(
    `^${makeVerb}\\s+${fileWords}file\\s+(?:with|containing|that says|that contains)\\s+(?:the )?(?:text |content |contents |words? )?(?<content>[\\s\\S]+?)\\s*(?:in it|inside)?[,\\s]+(?:and )?(?:called|named|(?:call|name) it|at|save it as|saved as|as)\\s+(?<path>${anyPath})[.!]?$`,
    "iu",
  ),
  new RegExp(
    `^(?:write|put|save|store|place|insert|dump)\\s+(?:the )?(?:text |words? |line |content |string |message )?(?<content>[\\s\\S]+?)\\s+(?:to|into|in|inside|as)\\s+(?:a |the |new |text )*(?:file\\s+)?(?:called |named |at )?(?<path>${fileName}|"[^"]+"|\`[^\`]+\`)(?:\\s+file)?[.!]?$`,
    "iu",
  ),
  new RegExp(
    `^(?:write|put|save|store)\\s+(?:the )?(?:text |words? |line |content |string |message )?(?<content>[\\s\\S]+?)\\s+(?:to|into|in)\\s+(?:a |the |new |text )*file\\s+(?:called |named |at )?(?<path>${anyPath})[.!]?$`,
    "iu",
  ),
  new RegExp(`^${makeVerb}\\s+${fileWords}file${calledWords}(?<path>${anyPath})[.!]?$`, "iu"),
  new RegExp(`^(?:create|make|add|touch|generate)\\s+${fileWords}(?<path>${fileName})(?:\\s+file)?[.!]?$`, "iu"),
];
const createRulesZh = [
  new RegExp(
    `^(?:创建|新建|建立|建|生成|写|做|添加|新增)(?:一?个|一份)?(?:新的?|空的?|文本|空白)*(?:文件)?(?:[，,]?\\s*(?:名为|名字叫|名字是|叫做|叫|名叫|文件名为|文件名是))?\\s*[:：]?\\s*(?<path>${zhPath})\\s*(?:的)?(?:文件)?\\s*[，,。；]?\\s*(?:并)?(?:在?(?:里面|其中|里|文件里))?(?:文件)?(?:的)?(?:内容|文本|正文)?(?:写入|写上|写着|写|填入|为|是|包含|含有|：|:)+\\s*(?:内容|文本)?[:：]?\\s*(?<content>[\\s\\S]+)$`,
    "u",
  ),
  new RegExp(
    `^(?:创建|新建|生成|写|建)(?:一?个)?(?:内容(?:为|是)|包含|写着)\\s*(?<content>[\\s\\S]+?)\\s*的?(?:文本)?文件\\s*(?:叫|名为|，名为|，叫)?\\s*(?<path>${zhPath})$`,
    "u",
  ),
  new RegExp(
    `^(?:把|将)\\s*(?:文本|内容|文字)?\\s*(?<content>[\\s\\S]+?)\\s*(?:写入|写到|写进|保存到|保存为|存到|存入|存为|放到|放进|输出到)(?:一个|新)*(?:文件|叫做?|名为)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中)?[。]?$`,
    "u",
  ),
  new RegExp(
    `^(?:在|往|向)\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中)?\\s*(?:写入|写上|写|保存)\\s*[:：]?\\s*(?<content>[\\s\\S]+)$`,
    "u",
  ),
  new RegExp(
    `^(?:创建|新建|建立|建|生成|添加|新增)(?:一?个)?(?:新的?|空的?|文本|空白)*(?:文件)?(?:[，,]?\\s*(?:名为|叫做|叫|名叫))?\\s*[:：]?\\s*(?<path>${zhPath})\\s*(?:的)?(?:空)?(?:文件)?[。]?$`,
    "u",
  ),
];

export function create({ text }: Clause): Intent | undefined {
  const folder =
    /^(?:create|make|add)\s+(?:a |an |the |new |empty )*(?:folder|directory|dir)\s+(?:called |named )?([\w./@~-]+)[.!]?$/iu.exec(
      text,
    )?.[1] ??
    /^(?:创建|新建|建)(?:一?个)?(?:新)?(?:文件夹|目录)(?:名为|叫做?|叫)?\s*([\w./@~-]+)[。]?$/u.exec(text)?.[1];
  if (folder !== undefined) return { type: "run", command: `mkdir -p ${cleanPath(folder)}` };
  for (const rule of [...createRules, ...createRulesZh]) {
    const found = rule.exec(text)?.groups;
    if (found?.path === undefined) continue;
    const path = cleanPath(found.path);
    if (path === "" || /^(?:it|that|this|with|containing|and)$/iu.test(path)) continue;
    return { type: "create", path, content: contentOf(found.content ?? "") };
  }
  return undefined;
}

function contentOf(given: string): string {
  const quoted =
    quotedWhole(given) ??
    quotedWhole(given.replace(/\s+(?:in it|inside(?: it)?|as (?:its )?contents?)[.!]?\s*$/iu, ""));
  if (quoted !== undefined) return quoted;
  const text = given.trim().replace(/\s+(?:in it|inside it)[.!]?$/iu, "");
  // One sentence loses the request's own full stop; several keep theirs.
  return /[.。!?！？]\s*\S/u.test(text.replace(/\d\.\d/g, "")) ? text : text.replace(/[.。]$/u, "");
}

/* -------------------------------------------------------------------- edit */

const what = `(?:(?:all|every|each|any) )?(?:the )?(?:(?:occurrences?|instances?) of )?(?:the )?(?:word |text |string |phrase |line |value |name |variable |function |版本)?`;
const changeEn = String.raw`(?:replace|swap|substitute|change|rename|update|modify|turn|switch|correct|fix|edit)\s+(?<scope>${what})(?<from>[\s\S]+?)\s+(?:with|by|to|into|for|->|=>|→)\s+(?:the (?:word |text |string ))?(?<to>[\s\S]+?)`;
const inFile = String.raw`(?:in|inside|within|of|from)\s+(?:the )?(?:file )?(?<path>${fileName}|"[^"]+"|${"`"}[^${"`"}]+${"`"}|it|that file|the file)(?:\s+file)?`;
const everywhere = String.raw`(?<all>[,\s]+(?:everywhere|throughout|globally|all occurrences))?`;
const editRules = [
  new RegExp(`^${changeEn}${everywhere}\\s+${inFile}${everywhere.replace("all>", "all2>")}[.!]?$`, "iu"),
  new RegExp(
    `^(?:in|inside|open|edit|update|modify|change)\\s+(?:the )?(?:file )?(?<path>${fileName}|"[^"]+"|\`[^\`]+\`)(?:\\s+file)?[,:]?\\s+(?:and |to |so that (?:it )?|by )?(?:please )?${changeEn.replace("replace|", "replac(?:e|ing)|").replace("change|", "chang(?:e|ing)|")}${everywhere}[.!]?$`,
    "iu",
  ),
  new RegExp(
    `^(?:edit|update|change)\\s+(?<path>${fileName})\\s*[:,]\\s*(?<scope>)(?<from>[\\s\\S]+?)\\s*(?:->|=>|→)\\s*(?<to>[\\s\\S]+?)$`,
    "iu",
  ),
];
const becomes = "(?:改成|改为|替换成|替换为|替换|换成|换为|变成|修改为|修改成)";
const editRulesZh = [
  new RegExp(
    `^(?:把|将)\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中|内)?的?(?<scope>所有|全部)?的?\\s*(?<from>[\\s\\S]+?)\\s*(?:都|全部|全)?${becomes}\\s*(?<to>[\\s\\S]+)$`,
    "u",
  ),
  new RegExp(
    `^(?:in|在)?\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中|内)?\\s*[，,]?\\s*(?:把|将)(?<scope>所有|全部)?的?\\s*(?<from>[\\s\\S]+?)\\s*(?:都|全部|全)?${becomes}\\s*(?<to>[\\s\\S]+)$`,
    "u",
  ),
  new RegExp(
    `^(?:修改|编辑)\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*[，,：:]?\\s*(?:把|将)(?<scope>所有|全部)?的?\\s*(?<from>[\\s\\S]+?)\\s*(?:都|全部|全)?${becomes}\\s*(?<to>[\\s\\S]+)$`,
    "u",
  ),
];

export function edit({ text }: Clause): Intent | undefined {
  for (const rule of [...editRules, ...editRulesZh]) {
    const found = rule.exec(text)?.groups;
    if (found?.path === undefined || found.from === undefined || found.to === undefined) continue;
    const path = /^(?:it|that file|the file)$/iu.test(found.path) ? previousPath : cleanPath(found.path);
    if (path !== previousPath && !isFileName(path) && !path.includes("/") && !/^["“`]/.test(found.path)) continue;
    const all =
      found.all !== undefined ||
      found.all2 !== undefined ||
      /\b(?:all|every|each)\b|所有|全部/iu.test(found.scope ?? "");
    return { type: "edit", path, from: plainPart(found.from), to: plainPart(found.to), all };
  }
  return undefined;
}

function plainPart(text: string): string {
  return quotedWhole(text) ?? plain(text.replace(/^the (?:word|text|string)\s+/iu, ""));
}
