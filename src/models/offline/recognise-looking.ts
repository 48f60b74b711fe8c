/** Recognisers of requests that only look: list, read, summarise, search. */
import { type Clause, type Intent, previousPath } from "./intent-types.ts";
import { cleanPath, isFileName, soleFile } from "./paths.ts";
import { onlyWordsOf, plain, quotedSpans, withoutEnd, wordSet, wordsOf } from "./words.ts";

const fillers =
  "a an all any are around at available be can contained contains contents content current currently do does each every everything exist exists following for from full have here i in inside into is it its just like list look me my named now of on only our out please present see show some that the their them there these they things this to under us we what what's whats which with within working you your and let file's entire whole exactly";
const lookVerbs =
  "list show display enumerate print view give tell get check look read open cat dump inspect output see find browse examine peek explore fetch type go through take";
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
  "file text whole first lines line say says said written write inside read body source code show's called by does head up how",
);
const notFolder = wordSet(
  fillers,
  "file files folder folders directory directories dir repo repository project workspace root cwd details french english detail alphabetical order general particular",
);
const lookStart = new RegExp(
  `^(?:${lookVerbs.split(" ").join("|")}|what|what['’]s|whats|which|how many|are|is|let me see|i)\\b`,
  "iu",
);

const zhLook =
  /请|帮我|麻烦|列出来?|列一?下|列举|列|显示|展示|查看|看看|看一?下|看|告诉我|给我|打印|输出|读取|读一?下|读|打开|查|当前|目前|现在|这个|那个|本|该|此|这里|这儿|工作区|工作|目录|文件夹|文件名|文件|项目|仓库|根|里面|里边|里|下面|下|中|内容|内|的|都|所有|全部|有|哪些|什么|啥|多少|几个|几|东西|清单|列表|名字|名称|一下|在|吗|呢|吧|了|我|你|想|知道|包含|存在|子|与|和|及|写着?|是|把|出来|说|结构|路径|完整|一|个|[\s，。？！?!,.:：、]/gu;

/** "list the files", "what's in src/", 看看这个文件夹里有什么 */
export function list({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  if (/^(?:ls|dir|ll)$/iu.test(asked)) return { type: "run", command: "ls" };
  if (soleFile(asked) !== undefined && !/\/\s*$/u.test(asked)) return undefined;
  const { folder, rest } = /\p{Script=Han}/u.test(asked) ? folderZh(asked) : folderEn(asked);
  const path = folder === undefined || folder === "." ? {} : { path: folder };
  if (/\p{Script=Han}/u.test(asked)) {
    const about = /文件|目录|这里|这儿|东西|内容/u.test(asked) || folder !== undefined;
    const wants = /列|显示|展示|看|查|打印|输出|告诉|给我|读|有(?:哪些|什么|啥|多少|几)|哪些|什么|啥/u.test(asked);
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
    /(?<=^|\s)(\.{0,2}\/[\w./@~-]*|[\w.@~-]+\/[\w./@~-]*|~[\w./-]*|\.{1,2})(?=\s|$)/u,
    /\b(?:in|inside|of|under|within|from|at|ls)\s+(?:the\s+|my\s+|our\s+)?(?:(?:folder|directory|dir)\s+)?(?:called\s+|named\s+)?([\w.@-]+)(?:\s+(?:folder|directory|dir|subfolder))?\s*$/iu,
    /\b(?:the|my|our)\s+([\w.@-]+)\s+(?:folder|directory|dir|subfolder)\b/iu,
    /\b(?:folder|directory|dir)\s+(?:called\s+|named\s+)?([\w.@-]+)\b/iu,
  ];
  for (const rule of rules) {
    const match = rule.exec(text);
    const name = match?.[1];
    if (match === null || name === undefined || notFolder.has(name.toLowerCase())) continue;
    const start = match.index + match[0].indexOf(name);
    return cut(text, start, start + name.length, name);
  }
  return { folder: undefined, rest: text };
}

function folderZh(text: string): Folder {
  const [quoted] = quotedSpans(text);
  if (quoted !== undefined) return cut(text, quoted.start, quoted.end, quoted.inner);
  const match = /[\w.@~-]*[\w/][\w./@~-]*/u.exec(text);
  return match === null
    ? { folder: undefined, rest: text }
    : cut(text, match.index, match.index + match[0].length, match[0]);
}

function cut(text: string, start: number, end: number, folder: string): Folder {
  const clean = folder.length > 1 ? folder.replace(/\/+$/, "") : folder;
  return { folder: clean === "" ? "/" : clean, rest: `${text.slice(0, start)} ${text.slice(end)}` };
}

/** "show me README.md", "what does app.ts say", 读取 a.txt */
export function read({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  if (/\p{Script=Han}/u.test(asked)) {
    const body = asked.replace(
      /^(?:把|将)?(?:读取|读一?下|读|查看|看看|看一?下|看|打开|显示|展示|打印|输出|给我看看?)(?:一下|文件)?\s*/u,
      "",
    );
    const found = soleFile(body) ?? soleFile(asked);
    const looks = /读|看|打开|显示|展示|打印|输出|内容|什么|啥|写/u.test(asked);
    if (found !== undefined && looks && found.rest.replace(zhLook, "") === "")
      return { type: "read", path: found.path };
    if (/^(?:再)?(?:读取?|看看?|查看|显示|打开)(?:一下)?(?:它|该文件|这个文件|那个文件)(?:的内容)?$/u.test(asked))
      return { type: "read", path: previousPath };
    return undefined;
  }
  if (
    /^(?:read|show|display|print|cat|open|view|check)(?: me)?(?: back)? (?:it|that|that file|the file|this file|its contents?|the contents?(?: of (?:it|that file|the file))?)(?: back| again| to me| out)?$/iu.test(
      asked,
    )
  ) {
    return { type: "read", path: previousPath };
  }
  if (!lookStart.test(asked) && !/^(?:tell me|head|tail|less|more)\b/iu.test(asked)) return undefined;
  const found = soleFile(asked);
  if (found === undefined) {
    const named =
      /^(?:read|open|cat|show(?: me)?|display)\s+(?:the\s+)?file\s+(?:called\s+|named\s+)?([\w./@~-]+)$/iu.exec(
        asked,
      )?.[1];
    return named === undefined ? undefined : { type: "read", path: named };
  }
  return onlyWordsOf(found.rest, readWords) ? { type: "read", path: found.path } : undefined;
}

const summaryWords = wordSet(
  fillers,
  "summarize summarise summary summarization explain describe description analyze analyse analysis overview review understand introduce introduction walk through tell about brief short quick high level repo repository project codebase code base app application program source sources package library workspace folder do does structured organized organised work works purpose main idea how give make write what's one two few sentence sentences paragraph words",
);

/** "summarize this repo", 分析代码 */
export function summary({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  if (/\p{Script=Han}/u.test(asked)) {
    const rest = asked.replace(
      /总结|概括|概述|介绍|分析|解释|说明|描述|讲讲|讲解|看看|一下|这个|本|该|当前|我们的?|整个|仓库|项目|代码库|代码|工程|的|是|做|干|什么|啥|用途|作用|结构|用来|有关|关于|内容|简单|简要|告诉我|给我|有|[\s，。？！]/gu,
      "",
    );
    return rest === "" &&
      /仓库|项目|代码|工程/u.test(asked) &&
      /总结|概括|概述|介绍|分析|解释|说明|描述|讲|什么|啥/u.test(asked)
      ? { type: "summary" }
      : undefined;
  }
  const file = soleFile(asked);
  const verb =
    /^(?:summari[sz]e|explain|describe|analy[sz]e|review|give|what|what['’]s|how|tell|walk|introduce|provide|write|make|i)\b/iu;
  if (file !== undefined) {
    const wants = /^(?:summari[sz]e|explain|describe|analy[sz]e|review)\b/iu.test(asked);
    return wants && onlyWordsOf(file.rest, summaryWords) ? { type: "read", path: file.path } : undefined;
  }
  const about =
    /\b(?:repo|repository|project|codebase|code|app|application|program|package|library|workspace)\b/iu.test(asked);
  const wants =
    /\b(?:summari[sz]\w*|summary|explain|describe|analy[sz]e|analysis|overview|review|about|do|does|structured|organi[sz]ed|walk|introduc\w+|purpose)\b/iu.test(
      asked,
    );
  return verb.test(asked) && about && wants && onlyWordsOf(asked, summaryWords) ? { type: "summary" } : undefined;
}

const languages: Readonly<Record<string, string>> = {
  typescript: "ts",
  javascript: "js",
  python: "py",
  markdown: "md",
  rust: "rs",
  go: "go",
  golang: "go",
  java: "java",
  json: "json",
  yaml: "yaml",
  yml: "yml",
  css: "css",
  html: "html",
  text: "txt",
  shell: "sh",
  ruby: "rb",
  c: "c",
  "c++": "cpp",
  kotlin: "kt",
  swift: "swift",
  toml: "toml",
};

/** "find files named *.ts", 找出所有 .md 文件 */
export function glob({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  const inside = /\s+(?:in|inside|under|within)\s+(?:the\s+)?([\w./@~-]+)(?:\s+(?:folder|directory|dir))?$/iu.exec(
    asked,
  );
  const insideZh = /在?\s*([\w./@~-]+)\s*(?:目录|文件夹)?(?:里面?|中|下面?)/u.exec(asked);
  const folderName = inside?.[1] ?? insideZh?.[1];
  const folder = folderName === undefined || notFolder.has(folderName.toLowerCase()) ? {} : { folder: folderName };
  const body =
    inside !== null ? asked.slice(0, inside.index) : insideZh !== null ? asked.replace(insideZh[0], "") : asked;

  const byName =
    /^(?:find|list|search for|look for|locate|show(?: me)?|get|search)\s+(?:me\s+)?(?:all |every |any |the )*files?\s+(?:that (?:are|is) )?(?:named|called|matching(?: the pattern)?|with (?:the )?(?:name|extension|ending|pattern)|like|whose names? (?:is|are|matches|match|ends? with)|ending (?:in|with))\s+(\S+)$/iu.exec(
      body,
    )?.[1] ??
    /^(?:where(?:['’]s| is)|find|locate|look for|search for)\s+(?:me\s+)?(?:the )?(?:file )(?:named |called )?(\S+)$/iu.exec(
      body,
    )?.[1] ??
    /^(?:find|list|show(?: me)?|get|locate|search for|which|are there any)\s+(?:me\s+)?(?:all |every |the |any )*([`'"“]?\*?\*?\/?\*?\.[\w*.{},]+[`'"”]?)(?:\s+files?)?(?:\s+(?:are there|exist|here|there))*$/iu.exec(
      body,
    )?.[1] ??
    /^(?:查找|寻找|找出|找到|找一?下|找|搜索|列出)\s*(?:所有|全部)?(?:的)?(?:名为|名叫|叫做?|匹配|后缀为)?\s*([`'"“]?[\w*.\-/{},]*[.*][\w*.{},-]+[`'"”]?)\s*(?:的)?(?:文件)?$/u.exec(
      body,
    )?.[1];
  if (byName !== undefined) return { type: "glob", pattern: globPattern(byName), ...folder };

  const language =
    /^(?:find|list|show(?: me)?|get|which|what|count)\s+(?:me\s+)?(?:all |every |the |any )*([\w+]+)\s+(?:source\s+)?(?:files?|documents?)(?:\s+(?:are there|exist|here|there|do (?:we|i) have|are|in here))*$/iu.exec(
      body,
    )?.[1] ?? /^(?:查找|找出|找到|找|列出|搜索)(?:所有|全部)?的?\s*([A-Za-z+]+)\s*文件$/u.exec(body)?.[1];
  const ending = language === undefined ? undefined : languages[language.toLowerCase()];
  return ending === undefined ? undefined : { type: "glob", pattern: `**/*.${ending}`, ...folder };
}

function globPattern(name: string): string {
  const clean = cleanPath(plain(name));
  const pattern = /^\.\w+$/.test(clean) ? `*${clean}` : clean;
  return pattern.includes("/") ? pattern : `**/${pattern}`;
}

const searchRules = [
  /^(?:search|scan|look|grep|check)\s+(?:through\s+|in\s+|inside\s+)?(?:(?:all |every |the )*(?:code|codebase|files?|repo|repository|project|source|sources|folder|directory|everything|here)\s+)?(?:for|after)\s+(.+)$/iu,
  /^(?:search|look|grep|scan)\s+(?:through\s+|in\s+|inside\s+)?(?<path>[\w./@~-]+)\s+for\s+(.+)$/iu,
  /^(?:find|search(?: for)?|look for|locate|show(?: me)?|list|grep(?: for)?)\s+(?:me\s+)?(?:all |every |each |any |the |where the |where )*(?:text|string|word|words|phrase|pattern|occurrences? of|uses? of|usages? of|references? to|mentions? of|lines? (?:containing|with|that contain|matching)|calls? (?:to|of)|instances? of|places? (?:that|where))\s+(?:the (?:text|word|string) )?(.+)$/iu,
  /^where (?:is|are|do we|does|was)\s+(?:the (?:function|class|variable|constant|method|type|symbol|word|text|string) )?(.+?)\s+(?:used|defined|declared|called|mentioned|referenced|imported|implemented|set|appear|occur|exported)\b.*$/iu,
  /^(?:which|what) (?:files?|lines?|places?) (?:contain|contains|mention|mentions|use|uses|include|includes|reference|references|import|imports|have|has|call|calls)\s+(?:the (?:text|word|string) )?(.+)$/iu,
  /^(?:is there|are there|does (?:any|some)thing|does any file|do any files)\s+(?:any )?(?:mention|contain|use|reference|call)s?(?: of)?\s+(.+)$/iu,
  /^(?:grep|search|rg)\s+(?!files?\b)(.+)$/iu,
];
const searchRulesZh = [
  /^(?:在|从)\s*(?<path>[\w./@~-]+|代码|项目|仓库|所有文件|文件|当前目录|这里)\s*(?:目录|文件夹|文件)?(?:里面?|中|下面?|内)?\s*(?:搜索|查找|搜一?下|搜|查一?下|找一?下|找|检索)\s*(?:包含|含有|出现)?(?:文本|字符串|单词|关键词|关键字)?\s*(.+?)(?:的(?:地方|行|文件|内容))?$/u,
  /^(?:全局)?(?:搜索|查找|搜一?下|搜|检索|查一?下|找一?下|寻找)\s*(?:一下)?(?:所有|全部)?(?:包含|含有|出现)?(?:文本|字符串|单词|关键词|关键字|代码里?的?)?\s*(.+?)(?:的(?:地方|行|文件|内容|用法|引用))?$/u,
  /^(?<pat>[^\s我你他]\S*?)\s*(?:在|是在)(?:哪里|哪儿|哪个文件|什么地方|哪些文件|哪)(?:里|中)?(?:被)?(?:使用|用到|定义|调用|引用|出现|声明|用|提到)?(?:的|了|过)?$/u,
  /^(?:哪些|哪个|什么)(?:文件|地方)(?:里|中)?(?:包含|提到|用到|使用|引用|有|出现)(?:了|过)?\s*(.+)$/u,
];

/** "search for TODO in src", "where is parseConfig used?", 搜索 foo */
export function grep({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  const shell = /^(?:grep|rg)\s+(?<flags>(?:-\S+\s+)*)(?<pattern>\S+)\s+(?<path>[\w./@~-]+)$/u.exec(asked)?.groups;
  if (shell?.pattern !== undefined && shell.path !== undefined && shell.pattern !== "for") {
    return { type: "grep", pattern: plain(shell.pattern), path: shell.path, ignoreCase: /i/.test(shell.flags ?? "") };
  }
  for (const rule of [...searchRules, ...searchRulesZh]) {
    const match = rule.exec(asked);
    if (match === null) continue;
    const named = match.groups?.path;
    const what = match.groups?.pat ?? match[named === undefined ? 1 : 2] ?? "";
    const found = patternAndPlace(what);
    if (found === undefined || isFileName(found.pattern)) return undefined;
    const path = named !== undefined && /^[\w./@~-]+$/u.test(named) ? named : found.path;
    return {
      type: "grep",
      pattern: found.pattern,
      ignoreCase: found.ignoreCase,
      ...(path === undefined ? {} : { path }),
    };
  }
  return undefined;
}

function patternAndPlace(text: string): { pattern: string; path?: string; ignoreCase: boolean } | undefined {
  let rest = text.trim();
  const ignoreCase = /(?:^|\s)-i\b|\bignoring case\b|\bcase[- ]insensitive(?:ly)?\b|忽略大小写/iu.test(rest);
  rest = rest
    .replace(/(?:^|\s)-[a-zA-Z]+(?=\s)|,?\s*\b(?:ignoring case|case[- ]insensitive(?:ly)?)\b|，?忽略大小写/giu, "")
    .trim();
  rest = rest.replace(
    /\s+(?:anywhere|everywhere)?(?:\s*(?:in|across|throughout|over|inside)\s+)?(?:all |every |the |this |my |our |these |current )*(?:code|codebase|files?|repo|repository|project|source code|folder|directory|here)$|\s+(?:anywhere|everywhere|here)$/iu,
    "",
  );
  const [quoted] = quotedSpans(rest);
  const place =
    /\s+(?:in|inside|under|within|from|throughout|across)\s+(?:the\s+)?(?:file\s+|folder\s+|directory\s+)?([\w./@~-]+)(?:\s+(?:folder|directory|dir|file))?$/iu.exec(
      rest,
    ) ?? (quoted === undefined ? /^\S+\s+([\w.@~-]*\/[\w./@~-]*|\.)$/u.exec(rest) : null);
  const path = place?.[1] === undefined ? {} : { path: cleanPath(place[1]) };
  const body =
    quoted?.start === 0
      ? quoted.inner
      : place?.[1] === undefined
        ? rest
        : rest.slice(0, rest.length - (place[0].length === rest.length ? place[1].length : place[0].length)).trim();
  const pattern = plain(body.replace(/^(?:the (?:text|word|string|phrase)|text|string)\s+/iu, ""));
  return pattern === "" ? undefined : { pattern, ignoreCase, ...path };
}
