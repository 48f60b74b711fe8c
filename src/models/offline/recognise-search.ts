/** Recognisers of searches: in the text of files, and for their names. */
import type { Clause, Intent } from "./intent-types.ts";
import { cleanPath, isFileName, isFolderWord } from "./paths.ts";
import { plain, quotedSpans, withoutEnd } from "./words.ts";

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

const nameRules = [
  /^(?:find|list|search for|look for|locate|show(?: me)?|get|search)\s+(?:me\s+)?(?:all |every |any |the )*files?\s+(?:that (?:are|is) )?(?:named|called|matching(?: the pattern)?|with (?:the )?(?:name|extension|ending|pattern)|like|whose names? (?:is|are|matches|match|ends? with)|ending (?:in|with))\s+(\S+)$/i,
  /^(?:where(?:['’]s| is)|find|locate|look for|search for)\s+(?:me\s+)?(?:the )?(?:file )(?:named |called )?(\S+)$/i,
  /^(?:where(?:['’]s| is)|find|locate)\s+(?:me\s+)?(?:the )?([\w.@-]{1,100}\.[A-Za-z]\w{0,9})$/i,
  /^(?:find|list|show(?: me)?|get|locate|search for|which|are there any)\s+(?:me\s+)?(?:all |every |the |any )*([`'"“]?\*?\*?\/?\*?\.[\w*.{},]+[`'"”]?)(?:\s+files?)?(?:\s+(?:are there|exist|here|there))*$/i,
  /^(?:查找|寻找|找出|找到|找一?下|找|搜索|列出)\s*(?:所有|全部)?(?:的)?(?:名为|名叫|叫做?|匹配|后缀为)?\s*([`'"“]?[\w*.\-/{},]*[.*][\w*.{},-]+[`'"”]?)\s*(?:的)?(?:文件)?$/,
];
const languageRules = [
  /^(?:find|list|show(?: me)?|get|which|what|count)\s+(?:me\s+)?(?:all |every |the |any )*([\w+]+)\s+(?:source\s+)?(?:files?|documents?)(?:\s+(?:are there|exist|here|there|do (?:we|i) have|are|in here))*$/i,
  /^(?:查找|找出|找到|找|列出|搜索)(?:所有|全部)?的?\s*([A-Za-z+]+)\s*文件$/,
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
  const inside = /\s+(?:in|inside|under|within)\s+(?:the\s+)?([\w./@~-]+)(?:\s+(?:folder|directory|dir))?$/i.exec(
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
  const ending = language === undefined ? undefined : languages[language.toLowerCase()];
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
  /^where (?:is|are|do we|does|was)\s+(?:the (?:function|class|variable|constant|method|type|symbol|word|text|string) )?(.+?)\s+(?:used|defined|declared|called|mentioned|referenced|imported|implemented|set|appear|occur|exported)\b.*$/i,
  /^(?:which|what) (?:files?|lines?|places?) (?:contain|contains|mention|mentions|use|uses|include|includes|reference|references|import|imports|have|has|call|calls)\s+(?:the (?:text|word|string) )?(.+)$/i,
  /^(?:is there|are there|does (?:any|some)thing|does any file|do any files)\s+(?:any )?(?:mention|contain|use|reference|call)s?(?: of)?\s+(.+)$/i,
  /^(?:grep|search|rg)\s+(?!files?\b)(.+)$/i,
  /^(?:find|show(?: me)?|list|locate)\s+(?:all |every |the )*(?=\S*(?:[A-Z]{2}|[a-z][A-Z]|_|\())(\S+)(?:\s+(?:comments?|markers?|calls?|usages?|references?|mentions?|notes?))?$/,
];
const searchRulesZh = [
  /^(?:在|从)\s*(?<path>[\w./@~-]+|代码|项目|仓库|所有文件|文件|当前目录|这里)\s*(?:目录|文件夹|文件)?(?:里面?|中|下面?|内)?\s*(?:搜索|查找|搜一?下|搜|查一?下|找一?下|找|检索)\s*(?:包含|含有|出现)?(?:文本|字符串|单词|关键词|关键字)?\s*(.+?)(?:的(?:地方|行|文件|内容))?$/,
  /^(?:全局)?(?:搜索|查找|搜一?下|搜|检索|查一?下|找一?下|寻找)\s*(?:一下)?(?:所有|全部)?(?:包含|含有|出现)?(?:文本|字符串|单词|关键词|关键字|代码里?的?)?\s*(.+?)(?:的(?:地方|行|文件|内容|用法|引用)|\s*(?:被)?(?:用)?在(?:哪里|哪儿|哪).*)?$/,
  /^(?<pat>[^\s我你他]\S*?)\s*(?:在|是在)(?:哪里|哪儿|哪个文件|什么地方|哪些文件|哪)(?:里|中)?(?:被)?(?:使用|用到|定义|调用|引用|出现|声明|用|提到)?(?:的|了|过)?$/,
  /^(?:哪些|哪个|什么)(?:文件|地方)(?:里|中)?(?:包含|提到|用到|使用|引用|有|出现)(?:了|过)?\s*(.+)$/,
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
    const found = patternAndPlace(what);
    if (found === undefined || isFileName(found.pattern)) return undefined;
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
