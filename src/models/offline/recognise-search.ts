/** Recognisers of searches: in the text of files, and for their names. */
import type { Clause, Intent } from "./intent-types.ts";
import { isCodeName } from "./literal.ts";
import { cleanPath, isFileName, isFolderWord } from "./paths.ts";
import { once, plain, quotedSpans, withoutEnd, wordSet } from "./words.ts";

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

/** What people say for a kind of file when they name its ending. */
const endings = once(() =>
  wordSet(
    ...Object.values(languages),
    "tsx jsx mjs cjs mts cts h hpp cc cs xml svg png jpg csv sql log lock scss vue lua dart php ini cfg conf env pdf",
  ),
);

const nameRules = [
  /^glob\s+(?:for\s+)?(\S+)$/i,
  /^(?:find|list|search for|look for|locate|show(?: me)?|get|search)\s+(?:me\s+)?(?:all |every |any |the )*files?\s+(?:that (?:are|is) )?(?:named|called|matching(?: the pattern)?|with (?:the )?(?:name|extension|ending|pattern)|like|whose names? (?:is|are|matches|match|ends? with)|(?:that )?end(?:s|ing)? (?:in|with))\s+(\S+)$/i,
  /^(?:where(?:['’]s| is)|find|locate|look for|search for)\s+(?:me\s+)?(?:the )?(?:file )(?:named |called )?(\S+)$/i,
  /^(?:where(?:['’]s| is)|find|locate)\s+(?:me\s+)?(?:the )?([\w.@-]{1,100}\.[A-Za-z]\w{0,9})$/i,
  /^(?:find|list|show(?: me)?|get|locate|search for|which|are there any)\s+(?:me\s+)?(?:all |every |the |any |of )*([`'"“]?\*?\*?\/?\*?\.[\w*.{},]+[`'"”]?)(?:\s+files?)?(?:\s+(?:are there|exist|here|there))*$/i,
  /^(?:查找|寻找|找出|找到|找一?下|找|搜索|列出|显示|看看|有哪些|有多少|所有|全部)\s*(?:所有|全部)?(?:的)?(?:名为|名叫|叫做?|匹配|后缀为)?\s*([`'"“]?[\w*.\-/{},]*[.*][\w*.{},-]+[`'"”]?)\s*(?:的)?(?:文件)?$/,
  /^(?:文件)?\s*([\w.@-]{1,100}\.[A-Za-z]\w{0,9})\s*(?:这个)?(?:文件)?在(?:哪里|哪儿|哪个(?:目录|文件夹)|什么地方|哪)(?:里|下)?$/,
];
const languageRules = [
  /^(?:find|list|show(?: me)?|get|which|what|count|locate|search for|look for|how many|are there any)\s+(?:me\s+)?(?:all |every |each |the |any |of )*\.?([\w+]+)\s+(?:source\s+)?(?:files?|documents?)(?:\s+(?:are there|exist|here|there|do (?:we|i) have|are|in here))*$/i,
  /^(?:查找|找出|找到|找一?下|找|列出|搜索|显示|看看|有哪些|有多少|有几个|所有|全部)\s*(?:所有|全部)?的?\s*([A-Za-z+]+)\s*(?:源)?文件$/,
  /^(?:这里|当前目录)?(?:有|都有)(?:哪些|什么|多少|几个)\s*([A-Za-z+]+)\s*(?:源)?文件$/,
];

function firstMatch(rules: readonly RegExp[], text: string): string | undefined {
  for (const rule of rules) {
    const found = rule.exec(text)?.[1];
    if (found !== undefined) return found;
  }
  return undefined;
}

/** "find files named *.ts", 找出所有 .md 文件 */
export function glob({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  const inside =
    /(?<!\bend(?:s|ing)?)\s+(?:in|inside|under|within)\s+(?:the\s+)?([\w./@~-]+)(?:\s+(?:folder|directory|dir))?$/i.exec(
      asked,
    );
  const insideZh = /在?\s*([\w./@~-]+)\s*(?:目录|文件夹)?(?:里面?|中|下面?)/.exec(asked);
  const folderName = inside?.[1] ?? insideZh?.[1];
  const folder = folderName === undefined || isFolderWord(folderName) ? {} : { folder: folderName };
  const body =
    inside !== null ? asked.slice(0, inside.index) : insideZh !== null ? asked.replace(insideZh[0], "") : asked;

  const byName = firstMatch(nameRules, body);
  if (byName !== undefined) return { type: "glob", pattern: globPattern(byName), ...folder };

  const language = firstMatch(languageRules, body);
  const named = language?.toLowerCase() ?? "";
  const ending = Object.hasOwn(languages, named) ? languages[named] : endings().has(named) ? named : undefined;
  return ending === undefined ? undefined : { type: "glob", pattern: `**/*.${ending}`, ...folder };
}

function globPattern(name: string): string {
  const clean = cleanPath(plain(name));
  const pattern = /^\.\w+$/.test(clean) ? `*${clean}` : clean;
  return pattern.includes("/") ? pattern : `**/${pattern}`;
}

const searchRules = [
  /^(?:search|scan|look|grep|check)\s+(?:through\s+|in\s+|inside\s+)?(?:(?:all |every |the )*(?:code|codebase|files?|repo|repository|project|source|sources|folder|directory|everything|here)\s+)?(?:for|after)\s+(.+)$/i,
  /^(?:search|look|grep|scan)\s+(?:through\s+|in\s+|inside\s+)?(?<path>[\w./@~-]+)\s+for\s+(.+)$/i,
  /^(?:find|search(?: for)?|look for|locate|show(?: me)?|list|grep(?: for)?)\s+(?:me\s+)?(?:all |every |each |any |the |where the |where )*(?:text|string|word|words|phrase|pattern|occurrences? of|uses? of|usages? of|references? to|mentions? of|lines? (?:containing|with|that contain|matching)|calls? (?:to|of)|instances? of|places? (?:that|where))\s+(?:the (?:text|word|string) )?(.+)$/i,
  /^(?:find|show(?: me)?|tell me|locate|look up|see|search(?: for)?|check|find out)\s+where\s+(?:the (?:function|class|variable|constant|method|type|symbol|word|text|string) )?(?!we\b|i\b)(.+?)\s+(?:(?:is|are|was|gets?|has been)\s+)?(?:being\s+)?(?:used|defined|declared|called|mentioned|referenced|imported|implemented|set|appears?|occurs?|exported|comes? from|lives)\b(?<tail>.*)$/i,
  /^(?:(?:find|show(?: me)?|tell me)\s+)?(?:where|who) (?:do |does |did )?(?:we |i |you |it )?(?:uses?|calls?|defines?|declares?|imports?|mentions?|references?|implements?|exports?)\s+(?:the (?:function|class|variable|constant|method|type|symbol) )?(?!(?:this|that|it|them|you|me|my|your|our)\b)(.+)$/i,
  /^(?:find|show(?: me)?|locate|go to|get|search for|look for|what(?:['’]s| is)|where(?:['’]s| is))\s+(?:me\s+)?(?:the )?(?:definition|declaration|implementation)s? (?:of|for)\s+(.+)$/i,
  /^(?:find|list|show(?: me)?|which|get)\s+(?:me\s+)?(?:all |every |the |any )*files?\s+(?:(?:that |which )?(?:contain|mention|use|include|import|reference)s?|containing|mentioning|using|including|importing|referencing)\s+(.+)$/i,
  /^(?:find|locate|show(?: me)?|search for|look for)\s+(?:me\s+)?(?:the )?(?:function|class|variable|constant|method|symbol|interface)\s+([\w$.]+)$/i,
  /^does (?:the|this|our|my) (?:code|codebase|repo|repository|project|app) (?:use|contain|mention|import|reference|call|have)s?\s+(?!any\b|an?\b|the\b)(\S+)(?: anywhere)?$/i,
  /^(?:find|locate)\s+((?:"[^"]+"|'[^']+'|`[^`]+`|“[^”]+”)(?:\s+in\s+\S+)?)$/i,
  /^where (?:is|are|do we|does|was)\s+(?:the (?:function|class|variable|constant|method|type|symbol|word|text|string) )?(.+?)\s+(?:used|defined|declared|called|mentioned|referenced|imported|implemented|set|appear|occur|exported|come from)\b(?<tail>.*)$/i,
  /^(?:which|what) (?:files?|lines?|places?) (?:contain|contains|mention|mentions|use|uses|include|includes|reference|references|import|imports|have|has|call|calls|defines?|declares?|implements?|exports?)\s+(?:the (?:text|word|string) )?(.+)$/i,
  /^(?:is there|are there|does (?:any|some)thing|does any file|do any files)\s+(?:any )?(?:mention|contain|use|reference|call)s?(?: of)?\s+(.+)$/i,
  /^(?:grep|search|rg)\s+(?!files?\b)(.+)$/i,
  /^(?:find|show(?: me)?|list|locate)\s+(?:all |every |the )*(?=\S*(?:[A-Z]{2}|[a-z][A-Z]|_|\())(\S+)(?:\s+(?:comments?|markers?|calls?|usages?|references?|mentions?|notes?))?$/,
];
const searchRulesZh = [
  /^(?:在|从)\s*(?<path>[\w./@~-]+|代码|项目|仓库|所有文件|文件|当前目录|这里)\s*(?:目录|文件夹|文件)?(?:里面?|中|下面?|内)?\s*(?:搜索|查找|搜一?下|搜|查一?下|找一?下|找|检索)\s*(?:包含|含有|出现)?(?:文本|字符串|单词|关键词|关键字)?\s*(.+?)(?:的(?:地方|行|文件|内容))?$/,
  /^(?:全局)?(?:搜索|查找|搜一?下|搜|检索|查一?下|找一?下|寻找)\s*(?:一下)?(?:所有|全部)?(?:包含|含有|出现)?(?:文本|字符串|单词|关键词|关键字|代码里?的?)?\s*(.+?)(?:的(?:地方|行|文件|内容|用法|引用)|\s*(?:被)?(?:用)?在(?:哪里|哪儿|哪).*)?$/,
  /^(?<pat>[^\s我你他]\S*?)\s*(?:在|是在)(?:哪里|哪儿|哪个文件|什么地方|哪些文件|哪)(?:里|中)?(?:被)?(?:使用|用到|定义|调用|引用|出现|声明|用|提到)?(?:的|了|过)?$/,
  /^(?:哪些|哪个|什么)(?:文件|地方)(?:里|中)?(?:包含|提到|用到|使用|引用|有|出现)(?:了|过)?\s*(.+)$/,
  /^(?:(?:是)?谁|(?:都)?(?:是)?在?(?:哪里|哪儿|何处)|(?:都)?(?:有|在|是)?(?:哪些|哪个|什么)(?:文件|地方|代码|函数))(?:里|中)?(?:有)?(?:包含|提到|用到|用|使用|引用|有|出现|定义|调用|声明|导入|实现)(?:了|过)?\s*(?:函数|变量|类|方法)?\s*([\x21-\x7e]+|“[^”]+”|「[^」]+」)$/,
  /^(?<pat>[\x21-\x7e]+)\s*(?:是)?被(?:谁|哪里|哪些(?:文件|地方|函数))(?:使用|用到|调用|引用|导入|用)(?:了|的|过)?$/,
  /^(?:找到|找出|找)\s*(?:函数|变量|类|方法)?\s*([\x21-\x7e]+)\s*(?:的)?(?:定义|用法|引用|调用|声明|实现)?(?:的(?:地方|位置))?$/,
];

/** "search for TODO in src", "where is parseConfig used?", 搜索 foo */
export function grep({ text }: Clause): Intent | undefined {
  const asked = withoutEnd(text);
  const shell = /^(?:grep|rg)\s+(?<flags>(?:-\S+\s+)*)(?<pattern>\S+)\s+(?<path>[\w./@~-]+)$/.exec(asked)?.groups;
  if (shell?.pattern !== undefined && shell.path !== undefined && shell.pattern !== "for") {
    return { type: "grep", pattern: plain(shell.pattern), path: shell.path, ignoreCase: /i/.test(shell.flags ?? "") };
  }
  for (const rule of [...searchRules, ...searchRulesZh]) {
    const match = rule.exec(asked);
    if (match === null) continue;
    const named = match.groups?.path;
    const what = match.groups?.pat ?? match[named === undefined ? 1 : 2] ?? "";
    const place = match.groups?.tail?.trim() ?? "";
    const found = patternAndPlace(/^in\s/i.test(place) ? `${what} ${place}` : what);
    if (found === undefined || isFileName(found.pattern)) return undefined;
    // "search for vulnerabilities" asks for a finding, not for the lines with that word.
    if (quotedSpans(what).length === 0 && !isCodeName(found.pattern)) return undefined;
    const path = named !== undefined && /^[\w./@~-]+$/.test(named) ? named : found.path;
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
  const ignoreCase = /(?:^|\s)-i\b|\bignoring case\b|\bcase[- ]insensitive(?:ly)?\b|忽略大小写/i.test(rest);
  rest = rest
    .replace(/(?:^|\s)-[a-zA-Z]+(?=\s)|,?\s*\b(?:ignoring case|case[- ]insensitive(?:ly)?)\b|，?忽略大小写/gi, "")
    .trim();
  rest = rest.replace(
    /\s+(?:anywhere|everywhere)?(?:\s*(?:in|across|throughout|over|inside)\s+)?(?:all |every |the |this |my |our |these |current )*(?:code|codebase|files?|repo|repository|project|source code|folder|directory|here)$|\s+(?:anywhere|everywhere|here)$/i,
    "",
  );
  const [quoted] = quotedSpans(rest);
  const place =
    /\s+(?:in|inside|under|within|from|throughout|across)\s+(?:the\s+)?(?:file\s+|folder\s+|directory\s+)?([\w./@~-]+)(?:\s+(?:folder|directory|dir|file))?$/i.exec(
      rest,
    ) ?? (quoted === undefined ? /^\S+\s+([\w.@~-]*\/[\w./@~-]*|\.)$/.exec(rest) : null);
  const path = place?.[1] === undefined ? {} : { path: cleanPath(place[1]) };
  const body =
    quoted?.start === 0
      ? quoted.inner
      : place?.[1] === undefined
        ? rest
        : rest.slice(0, rest.length - (place[0].length === rest.length ? place[1].length : place[0].length)).trim();
  const pattern = plain(body.replace(/^(?:the (?:text|word|string|phrase)|text|string)\s+/i, ""));
  return pattern === "" ? undefined : { pattern, ignoreCase, ...path };
}
