/** Recognisers of requests that only look: list, read, summarise. */
import { shellWord } from "./commands.ts";
import { type Clause, type Intent, previousPath } from "./intent-types.ts";
import { isFolderWord, soleFile, solePath } from "./paths.ts";
import { hasHan, onlyWordsOf, quotedSpans, withoutEnd, wordSet, wordsOf } from "./words.ts";

const fillers =
  "a an all any are around at available be can contained contains contents content current currently do does each every everything exist exists following for from full have here i in inside into is it its just like list look me my named now of on only our out please present see show some that the their them there these they things this to under us we what what's whats which with within working you your and let file's entire whole exactly";
const lookVerbs = "list show display enumerate print view give tell get read open cat dump output see";
const listWords = wordSet(
  fillers,
  lookVerbs,
  "file files folder folders directory directories dir dirs entry entries listing listings name names filenames filename item items stuff documents tree structure layout ls how many repo repository project workspace cwd details hidden size sizes including subfolders location place root top level",
);
const listNouns = wordSet(
  "file files folder folders directory directories dir contents content entries listing here items stuff filenames tree structure layout everything things documents",
);
const readWords = wordSet(
  fillers,
  lookVerbs,
  "file text whole first lines line say says said written write inside read body source code show's called by does head up how contain hold holds",
);
const lookStart = new RegExp(
  `^(?:${lookVerbs.split(" ").join("|")}|what|what['’]s|whats|which|how many|are|is|let me see|i|(?:a |the )?(?:directory |file )?(?:listing|list))\\b`,
  "i",
);

const zhLook =
  /请|帮我|麻烦|列出来?|列一?下|列举|列|显示|展示|查看|看看|看一?下|看|告诉我|给我|打印|输出|读取|读一?下|读|打开|查|当前|目前|现在|这个|那个|本|该|此|这里|这儿|工作区|工作|目录|文件夹|文件名|文件|项目|仓库|根|里面|里边|里|下面|下|中|内容|内|的|都|所有|全部|有|哪些|什么|啥|多少|几个|几|东西|清单|列表|名字|名称|一下|在|吗|呢|吧|了|我|你|想|知道|包含|存在|子|与|和|及|写着?|是|把|出来|说|结构|路径|完整|一|个|[\s，。？！?!,.:：、]/g;

/** Whoever says so means a file, whatever its name looks like. */
const readsOnly =
  /^(?:read|cat|open|print|head|tail|less)\b(?!.*\b(?:files|folder|directory|dir)\b)|^(?:读|打开)(?!.*(?:目录|文件夹|有))/i;

/** "list the files", "what's in src/", 看看这个文件夹里有什么 */
export function list({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  if (/^(?:ls|dir|ll)$/i.test(asked)) return { type: "run", command: "ls" };
  const named =
    /^(?:list|dir|ll)\s+(?:the\s+)?([\w.@~-]+\/|src|lib|tests?|docs|dist|bin|app|apps|packages|scripts|examples)$/i;
  const direct = named.exec(asked)?.[1];
  if (direct !== undefined) return { type: "list", path: direct.replace(/\/$/, "") };
  if (soleFile(asked) !== undefined && !/\/\s*$/.test(asked)) return undefined;
  if (readsOnly.test(asked) && solePath(asked) !== undefined) return undefined;
  const { folder, rest } = hasHan(asked) ? folderZh(asked) : folderEn(asked);
  const path = folder === undefined || folder === "." ? {} : { path: folder };
  if (hasHan(asked)) {
    const about = /文件|目录|这里|这儿|东西|内容/.test(asked) || folder !== undefined;
    const wants = /列|显示|展示|看|查|打印|输出|告诉|给我|读|有(?:哪些|什么|啥|多少|几)|哪些|什么|啥/.test(asked);
    return about && wants && rest.replace(zhLook, "") === "" ? { type: "list", ...path } : undefined;
  }
  const words = wordsOf(rest);
  const about =
    words.some((word) => listNouns.has(word)) ||
    (folder !== undefined && words.some((word) => word === "in" || word === "inside" || word === "list"));
  if (!about || !lookStart.test(asked) || !onlyWordsOf(rest, listWords)) return undefined;
  return { type: "list", ...path };
}

interface Folder {
  readonly folder: string | undefined;
  readonly rest: string;
}

function folderEn(text: string): Folder {
  const [quoted] = quotedSpans(text);
  if (quoted !== undefined) return cut(text, quoted.start, quoted.end, quoted.inner);
  const rules = [
    /(?<=^|\s)(\.{0,2}\/[\w./@~-]*|[\w.@~-]+\/[\w./@~-]*|~[\w./-]*|\.{1,2})(?=\s|$)/,
    /\b(?:in|inside|of|under|within|from|at|ls)\s+(?:the\s+|my\s+|our\s+)?(?:(?:folder|directory|dir)\s+)?(?:called\s+|named\s+)?([\w.@-]+)(?:\s+(?:folder|directory|dir|subfolder))?\s*$/i,
    /\b(?:the|my|our)\s+([\w.@-]+)\s+(?:folder|directory|dir|subfolder)\b/i,
    /\b(?:folder|directory|dir)\s+(?:called\s+|named\s+)?([\w.@-]+)\b/i,
  ];
  for (const rule of rules) {
    const match = rule.exec(text);
    const name = match?.[1];
    if (match === null || name === undefined || isFolderWord(name)) continue;
    const start = match.index + match[0].indexOf(name);
    return cut(text, start, start + name.length, name);
  }
  return { folder: undefined, rest: text };
}

function folderZh(text: string): Folder {
  const [quoted] = quotedSpans(text);
  if (quoted !== undefined) return cut(text, quoted.start, quoted.end, quoted.inner);
  const match = /[\w.@~-]*[\w/][\w./@~-]*/.exec(text);
  return match === null
    ? { folder: undefined, rest: text }
    : cut(text, match.index, match.index + match[0].length, match[0]);
}

function cut(text: string, start: number, end: number, folder: string): Folder {
  const clean = folder.length > 1 ? folder.replace(/\/+$/, "") : folder;
  return { folder: clean === "" ? "/" : clean, rest: `${text.slice(0, start)} ${text.slice(end)}` };
}

const numbers: Readonly<Record<string, string>> = { ten: "10", five: "5", three: "3", two: "2", twenty: "20" };

/** "the first 5 lines of a.txt", a.txt 的前 3 行 */
function someLines(asked: string): Intent | undefined {
  if (!/\blines?\b|行/i.test(asked)) return undefined;
  const part =
    /\b(first|top|last|final|bottom) (?:(\d{1,4}|ten|five|three|two|twenty) )?lines?\b/i.exec(asked) ??
    /(前|后|最后|末尾|第一)\s*(\d{1,4})?\s*行/.exec(asked);
  const found = part === null ? undefined : (soleFile(asked) ?? solePath(asked));
  if (part === null || found === undefined) return undefined;
  const count = (part[2] ?? "1").toLowerCase();
  const tool = /^(?:last|final|bottom|后|最后|末尾)$/i.test(part[1] ?? "") ? "tail" : "head";
  return { type: "run", command: `${tool} -n ${numbers[count] ?? count} ${shellWord(found.path)}` };
}

/** "show me README.md", "what does app.ts say", 读取 a.txt */
export function read({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  const lines = someLines(asked);
  if (lines !== undefined) return lines;
  if (hasHan(asked)) {
    const body = asked.replace(
      /^(?:把|将)?(?:读取|读一?下|读|查看|看看|看一?下|看|打开|显示|展示|打印|输出|给我看看?)(?:一下|文件)?\s*/,
      "",
    );
    const found = soleFile(body) ?? soleFile(asked) ?? solePath(asked);
    const looks = /读|看|打开|显示|展示|打印|输出|内容|什么|啥|写/.test(asked);
    if (found !== undefined && looks && found.rest.replace(zhLook, "") === "")
      return { type: "read", path: found.path };
    if (/^(?:再)?(?:读取?|看看?|查看|显示|打开)(?:一下)?(?:它|该文件|这个文件|那个文件)(?:的内容)?$/.test(asked))
      return { type: "read", path: previousPath };
    return undefined;
  }
  if (
    /^(?:read|show|display|print|cat|open|view|check)(?: me)?(?: back)? (?:it|that|that file|the file|this file|its contents?|the contents?(?: of (?:it|that file|the file))?)(?: back| again| to me| out)?$/i.test(
      asked,
    )
  ) {
    return { type: "read", path: previousPath };
  }
  if (!lookStart.test(asked) && !/^(?:tell me|head|tail|less|more)\b/i.test(asked)) return undefined;
  const found = soleFile(asked) ?? solePath(asked);
  if (found === undefined) {
    const named =
      /^(?:read|open|cat|show(?: me)?|display)\s+(?:the\s+)?file\s+(?:called\s+|named\s+)?([\w./@~-]+)$/i.exec(
        asked,
      )?.[1];
    return named === undefined ? undefined : { type: "read", path: named };
  }
  return !/\bdo$/i.test(asked) && onlyWordsOf(found.rest, readWords) ? { type: "read", path: found.path } : undefined;
}

const repository = "(?:this |the |my |our )*(?:repo|repository|project|codebase|code|workspace)";
const summaryRules = [
  new RegExp(`^(?:summari[sz]e|analy[sz]e|give me (?:a (?:summary|overview)|an overview) of) ${repository}$`, "i"),
  new RegExp(`^what (?:does ${repository} do|is ${repository} about|is ${repository})$`, "i"),
  /^(?:总结|概括|概述|介绍|分析)(?:一下)?(?:这个|本|当前|整个)?(?:仓库|项目|代码库|代码)$/,
  /^(?:这个|本)(?:仓库|项目)是(?:做|干)?什么的?$/,
];

/** "summarize this repo", 分析代码. A single file would have to be read by somebody who understands it. */
export function summary({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  return summaryRules.some((rule) => rule.test(asked)) ? { type: "summary" } : undefined;
}
