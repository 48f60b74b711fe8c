/** Recognisers of requests to create a file or to edit one. */
import { type Clause, type Intent, previousPath } from "./intent-types.ts";
import { isCodeName, literalIn } from "./literal.ts";
import { anyPath, cleanPath, fileName, isFileName, zhPath } from "./paths.ts";
import { hasHan, once, quotedWhole, withoutEnd } from "./words.ts";

const withContent = String.raw`(?:[,;]?\s*(?:and\s+)?(?:with|containing|that contains|which contains|that says|which says|that reads|whose contents? (?:is|are)|having|saying|holding|including|put|write|fill it with|content|contents|text)(?![\w.\-])\s*(?:just |only |exactly |in it |inside )*(?:the |this |some |a )?(?:following |exact |single )?(?:(?:contents?|text|body|words?|line|string|data|message)(?![\w.\-]))?(?:\s+(?:is|are|of|in it)(?![\w.\-]))?\s*[:=]?\s*)`;
const fileWords = String.raw`(?:(?:me|us)\s+)?(?:(?:a|an|the|another|new|text|empty|blank|small|simple|plain|markdown|json|python|config|source|script)\s+)*`;
const calledWords = String.raw`(?:\s*(?:(?:called|named|with (?:the )?name|titled|at|as)(?![\w.\-])|:))?\s*`;
const makeVerb = "(?:create|new|make|add|write|touch)";

const createRules = once(() => [
  new RegExp(
    `^${makeVerb}\\s+${fileWords}file${calledWords}(?<path>${anyPath})${withContent}(?<content>[\\s\\S]+)$`,
    "i",
  ),
  new RegExp(
    `^${makeVerb}\\s+${fileWords}(?<path>${fileName}|"[^"]+"|\`[^\`]+\`)(?:\\s+file)?${withContent}(?<content>[\\s\\S]+)$`,
    "i",
  ),
  new RegExp(
    `^${makeVerb}\\s+${fileWords}file\\s+(?:with|containing|that says|that contains)\\s+(?:the )?(?:text |content |contents |words? )?(?<content>[\\s\\S]+?)\\s*(?:in it|inside)?[,\\s]+(?:and )?(?:called|named|(?:call|name) it|at|save it as|saved as|as)\\s+(?<path>${anyPath})[.!]?$`,
    "i",
  ),
  new RegExp(
    `^(?:write|put|save|store|place|insert|dump)\\s+(?:the )?(?:text |words? |line |content |string |message )?(?<content>[\\s\\S]+?)\\s+(?:to|into|in|inside|as)\\s+(?:a |the |new |text )*(?:file\\s+)?(?:called |named |at )?(?<path>${fileName}|"[^"]+"|\`[^\`]+\`)(?:\\s+file)?[.!]?$`,
    "i",
  ),
  new RegExp(
    `^(?:write|put|save|store)\\s+(?:the )?(?:text |words? |line |content |string |message )?(?<content>[\\s\\S]+?)\\s+(?:to|into|in)\\s+(?:a |the |new |text )*file\\s+(?:called |named |at )?(?<path>${anyPath})[.!]?$`,
    "i",
  ),
  new RegExp(
    `^(?:touch|(?:create|make|add) (?:an |a new )?(?:empty|blank) file(?: called| named)?)\\s+(?<path>${anyPath})[.!]?$`,
    "i",
  ),
]);
const createRulesZh = once(() => [
  new RegExp(
    `^(?:创建|新建|建立|建|生成|写|做|添加|新增)(?:一?个|一份)?(?:新的?|空的?|文本|空白)*(?:文件)?(?:[，,]?\\s*(?:名为|名字叫|名字是|叫做|叫|名叫|文件名为|文件名是))?\\s*[:：]?\\s*(?<path>${zhPath})\\s*(?:的)?(?:文件)?\\s*[，,。；]?\\s*(?:并)?(?:在?(?:里面|其中|里|文件里))?(?:文件)?(?:的)?(?:内容|文本|正文)?(?:(?:写入|写上|写着|写|填入|为|是|包含|含有|：|:)+|(?<=内容|文本|正文)(?=\\s))\\s*(?:(?:内容|文本)(?![-_.\\d]))?[:：]?\\s*(?<content>[\\s\\S]+)$`,
  ),
  new RegExp(
    `^(?:创建|新建|生成|写|建)(?:一?个)?(?:内容(?:为|是)|包含|写着)\\s*(?<content>[\\s\\S]+?)\\s*的?(?:文本)?文件\\s*(?:叫|名为|，名为|，叫)?\\s*(?<path>${zhPath})$`,
  ),
  new RegExp(
    `^(?:把|将)\\s*(?:文本|内容|文字)?\\s*(?<content>[\\s\\S]+?)\\s*(?:写入|写到|写进|保存到|保存为|存到|存入|存为|放到|放进|输出到)(?:一个|新)*(?:文件|叫做?|名为)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中)?[。]?$`,
  ),
  new RegExp(
    `^(?:在|往|向)\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中)?\\s*(?:写入|写上|写|保存)\\s*[:：]?\\s*(?<content>[\\s\\S]+)$`,
  ),
  new RegExp(`^(?:创建|新建)(?:一?个)?(?:空的?|空白)文件(?:[，,]?\\s*(?:名为|叫做|叫))?\\s*(?<path>${zhPath})[。]?$`),
]);

const writes = /^(?:create|new|make|add|write|touch|save|put|store|place|insert)\b/i;
const writesZh = /^(?:创建|新建|建|生成|写|做|添加|新增|把|将|在|往|向)/;

export function create({ text }: Clause): Intent | undefined {
  if (!writes.test(text) && !writesZh.test(text)) return undefined;
  const rules = hasHan(text) ? [...createRules(), ...createRulesZh()] : createRules();
  const folder =
    /^(?:create|make|add)\s+(?:a |an |the |new |empty )*(?:folder|directory|dir)\s+(?:called |named )?([\w./@~-]+)[.!]?$/i.exec(
      text,
    )?.[1] ??
    /^(?:创建|新建|建)(?:一?个)?(?:新)?(?:文件夹|目录)(?:名为|叫做?|叫)?\s*([\w./@~-]+)[。]?$/.exec(text)?.[1];
  if (folder !== undefined) return { type: "run", command: `mkdir -p ${cleanPath(folder)}` };
  for (const rule of rules) {
    const found = rule.exec(text)?.groups;
    if (found?.path === undefined) continue;
    const path = cleanPath(found.path);
    if (path === "" || /^(?:it|that|this|with|containing|and)$/i.test(path)) continue;
    const content = found.content === undefined ? "" : contentOf(found.content);
    if (content !== undefined) return { type: "create", path, content };
  }
  return undefined;
}

/** Only a literal text: "unit tests for a.py" and "APPROVE or REJECT" say what is to be written, and are not it. */
function contentOf(given: string): string | undefined {
  const text = given.trim().replace(/\s+(?:in it|inside(?: it)?)[.!]?$/i, "");
  if (literalIn(text) === undefined || /^(?:tests?|测试)$/i.test(text)) return undefined;
  return quotedWhole(text) ?? text.replace(/[.。]$/, "");
}

/* -------------------------------------------------------------------- edit */

const what = `(?:(?:all|every|each|any) )?(?:the )?(?:(?:occurrences?|instances?) of )?(?:the )?(?:word |text |string |phrase |line |value |name |variable |function |版本)?`;
const changeEn = String.raw`(?:replace|swap|substitute|change|rename|update|modify|turn|switch|correct|fix|edit)\s+(?<scope>${what})(?<from>[\s\S]+?)\s+(?:with|by|to|into|for|->|=>|→)\s+(?:the (?:word |text |string ))?(?<to>[\s\S]+?)`;
const inFile = String.raw`(?:in|inside|within|of|from)\s+(?:the )?(?:file )?(?<path>${fileName}|"[^"]+"|${"`"}[^${"`"}]+${"`"}|it|that file|the file)(?:\s+file)?`;
const everywhere = String.raw`(?<all>[,\s]+(?:everywhere|throughout|globally|all occurrences))?`;
const editRules = once(() => [
  new RegExp(`^${changeEn}${everywhere}\\s+${inFile}${everywhere.replace("all>", "all2>")}[.!]?$`, "i"),
  new RegExp(
    `^(?:in|inside|open|edit|update|modify|change)\\s+(?:the )?(?:file )?(?<path>${fileName}|"[^"]+"|\`[^\`]+\`)(?:\\s+file)?[,:]?\\s+(?:and |to |so that (?:it )?|by )?(?:please )?${changeEn.replace("replace|", "replac(?:e|ing)|").replace("change|", "chang(?:e|ing)|")}${everywhere}[.!]?$`,
    "i",
  ),
  new RegExp(
    `^(?:replace|swap|change|substitute|rename|update)\\s+(?<scope>${what})(?<from>[\\s\\S]+?)\\s+${inFile}\\s+(?:with|by|to|into|->|=>|→)\\s+(?<to>[\\s\\S]+?)[.!]?$`,
    "i",
  ),
  new RegExp(
    `^(?:edit|update|change)\\s+(?<path>${fileName})\\s*[:,]\\s*(?<scope>)(?<from>[\\s\\S]+?)\\s*(?:->|=>|→)\\s*(?<to>[\\s\\S]+?)$`,
    "i",
  ),
]);
const becomes = "(?:改成|改为|替换成|替换为|替换|换成|换为|变成|修改为|修改成)";
const editRulesZh = once(() => [
  new RegExp(
    `^(?:把|将)\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中|内)?的?(?<scope>所有|全部)?的?\\s*(?<from>[\\s\\S]+?)\\s*(?:都|全部|全)?${becomes}\\s*(?<to>[\\s\\S]+)$`,
  ),
  new RegExp(
    `^(?:in|在)?\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*(?:文件)?(?:里面?|中|内)?\\s*[，,]?\\s*(?:把|将)(?<scope>所有|全部)?的?\\s*(?<from>[\\s\\S]+?)\\s*(?:都|全部|全)?${becomes}\\s*(?<to>[\\s\\S]+)$`,
  ),
  new RegExp(
    `^(?:修改|编辑)\\s*(?:文件)?\\s*(?<path>${zhPath})\\s*[，,：:]?\\s*(?:把|将)(?<scope>所有|全部)?的?\\s*(?<from>[\\s\\S]+?)\\s*(?:都|全部|全)?${becomes}\\s*(?<to>[\\s\\S]+)$`,
  ),
]);

const edits =
  /\b(?:replac(?:e|ing)|swap|substitute|chang(?:e|ing)|rename|update|modify|turn|switch|correct|fix|edit)\b|改|换|变成/i;

export function edit({ text }: Clause): Intent | undefined {
  if (!edits.test(text)) return undefined;
  const rules = hasHan(text) ? [...editRules(), ...editRulesZh()] : editRules();
  for (const rule of rules) {
    const found = rule.exec(text)?.groups;
    if (found?.path === undefined || found.from === undefined || found.to === undefined) continue;
    const path = /^(?:it|that file|the file)$/i.test(found.path) ? previousPath : cleanPath(found.path);
    if (path !== previousPath && !isFileName(path) && !path.includes("/") && !/^["“`]/.test(found.path)) continue;
    const all =
      found.all !== undefined ||
      found.all2 !== undefined ||
      /\b(?:all|every|each)\b|所有|全部/i.test(found.scope ?? "");
    const [from, to] = [wordIn(found.from), wordIn(found.to)];
    if (from === undefined || to === undefined) continue;
    // Other words in the place of code may describe it: "eval 改成 安全的写法", "TODO to implementation".
    const isQuoted = quotedWhole(found.to.trim()) !== undefined;
    const describes = (hasHan(to) && !hasHan(from)) || (isCodeName(from) && /^[a-z]+$/.test(to));
    if (isQuoted || !describes) return { type: "edit", path, from, to, all };
  }
  return undefined;
}

/** A quoted text, or one word without spaces: "a better name" only describes one. */
function wordIn(text: string): string | undefined {
  const words = text.replace(/^the (?:word|text|string)\s+/i, "");
  return quotedWhole(words) ?? (/\s/.test(words.trim()) ? undefined : withoutEnd(words));
}
