/** How requests are written: languages, quotes, file names, commands, and literal texts. */

/** A text in English and Chinese. */
export type Words = readonly [en: string, zh: string];
export type Say = (words: Words) => string;

export const hasHan = (text: string): boolean => /[\u3400-\u9fff]/.test(text);
export const withoutEnd = (text: string): string => text.trim().replace(/[\s.!?。！？…]+$/, "");
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function shorten(text: string, most: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= most ? line : `${line.slice(0, most - 1)}…`;
}

const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(" "));

const quotation =
  /```[\s\S]+?```|`[^`]+`|"[^"]*"|“[^”]*”|「[^」]*」|『[^』]*』|‘[^’]*’|(?<![a-z0-9])'(?:[^'\n]|(?<=[a-z])'(?=[a-z]))*'(?![a-z0-9])/gi;
/** Private-use characters; each marks the place of a quote. */
const mark = "[\\ue000-\\uf8ff]";

/** A text without its quotes, so that patterns don't match inside them. */
export interface Masked {
  readonly text: string;
  /** A part's quoted text, if it is a single quote. */
  quoted(part: string): string | undefined;
  /** The part as written. */
  open(part: string): string;
}

export function mask(text: string): Masked | undefined {
  if (new RegExp(mark).test(text)) return undefined;
  const found: string[] = [];
  const masked = text.replace(quotation, (quoted) => String.fromCharCode(0xe000 + found.push(quoted) - 1));
  const open = (part: string): string =>
    part.replace(new RegExp(mark, "g"), (char) => found[char.charCodeAt(0) - 0xe000] ?? "");
  const quoted = (part: string): string | undefined => {
    const marks = open(part).startsWith("```") ? 3 : 1;
    return new RegExp(`^${mark}$`).test(part)
      ? open(part)
          .slice(marks, -marks)
          .replace(/^\n|\n$/g, "")
      : undefined;
  };
  return { text: masked.replace(/[^\S\n]+/g, " ").trim(), quoted, open };
}

/** Words that only acknowledge. */
const acknowledgements = wordSet(
  "ok okay done noted understood acknowledged ready received 好 好的 完成 收到 明白 知道了",
);
const greetings = /^(?:yes|no|hi|hello|hey|bye|thanks|ping|pong|(?:hello|hi),? world|你好|您好|是|否|谢谢|再见)$/i;
/** Literals such as OK, PINEAPPLE, DOLPHIN-2288, word-7, 42. PASS-FAIL is a choice, not a literal. */
const marker =
  /^(?!(?:JSON|YAML|XML|CSV|HTML|SQL)$)(?:\d+|[A-Z][A-Z0-9]*|[A-Za-z]+\d[A-Za-z0-9]*|[A-Za-z][A-Za-z0-9]*(?:[-_](?=\D*\d)[A-Za-z0-9]+)+)$/;

export const isAcknowledgement = (text: string): boolean => acknowledgements.has(withoutEnd(text).toLowerCase());
const isLiteral = (text: string): boolean => isAcknowledgement(text) || greetings.test(text) || marker.test(text);

/** Identifiers that cannot be a verdict: `parseConfig`, `max_size`, TODO. */
export const isCodeName = (text: string): boolean =>
  /^(?:TODO|FIXME|(?=.*(?:[a-z][A-Z]|\d|[_$.:(]))[A-Za-z_$][\w$]*(?:(?:\.|::)[\w$]+)*(?:\(\))?)$/.test(text);

const programs = wordSet(
  "git npm npx pnpm yarn node deno bun python python3 pip make cargo go ls pwd echo cat head tail wc grep rg find tree date whoami uname env which touch mkdir cp mv rm curl wget docker sleep true false test sed awk sort uniq diff du df ps kill bash sh java mvn gradle tsc vitest jest eslint ruby perl printf hostname id stat seq",
);
const readers =
  /^(?:ls|pwd|cat|head|tail|wc|echo|date|whoami|uname|which|grep|rg|stat|du|df|printf|seq|true|git (?:status|log|diff|show))\b/;
const dangers = /\b(?:sudo|rm|git push|dd|reboot|kill|chmod|chown|curl|wget|ssh|scp|deploy|publish)\b/;

/** An estimate, as advice: the engine decides for itself. */
export function riskOf(command: string): "low" | "medium" | "high" {
  if (readers.test(command) && !/[;&|<>$`(){}\n\\]/.test(command)) return "low";
  return dangers.test(command) ? "high" : "medium";
}

/** A known program, a path, or a name with a flag, unless a sentence follows. */
const isCommand = (text: string): boolean =>
  (programs.has(text.split(" ", 1)[0] ?? "") || /^(?:[\w.~-]*\/[\w./-]+|[\w.-]+ -)/.test(text)) &&
  !/[,;:.!?-] |[\s(](?:and|or|then|until|while|unless|whether|when|if|that|which|tell)\s|[\u3000-\u9fff\uff00-\uffef]/.test(
    text,
  );

const isFile = (text: string): boolean =>
  /\.[A-Za-z]\w*$|(?:^|\/)(?:\.[a-z][\w.-]*|Makefile|Dockerfile|LICENSE|README)$/.test(text);

const languages = new Map(
  Object.entries({ typescript: "ts", javascript: "js", python: "py", markdown: "md", rust: "rs" }),
);
const endings = wordSet(
  "ts tsx js jsx mjs cjs py md rs go java json yaml yml css html txt sh rb c h cpp kt swift toml xml csv sql lock",
);

/** The extension for a kind of file: "python", ".py" and "*.py" are the same. */
export function endingOf(kind: string): string | undefined {
  const name = kind.replace(/^\*?\./, "").toLowerCase();
  return languages.get(name) ?? (endings.has(name) ? name : undefined);
}

const path = `${mark}|[\\w.@~+/\\u00c0-\\u9fff-]{1,200}\\.[A-Za-z]\\w{0,9}(?!\\w)|[\\w.@~+/-]{1,200}|它`;
const any = (): boolean => true;
const isPhrase = (text: string): boolean => !/[,;:，；：、]/.test(text);

/** Slot kinds of patterns: where a slot begins and ends, and whether text fits. A quote always fits. */
export const slots: Readonly<Record<string, readonly [source: string, fits: (text: string) => boolean]>> = {
  file: [path, isFile],
  path: [path, (text) => isFile(text) || /\/.*[^/]$/.test(text)],
  name: [path, (text) => !/^(?:it|它|with|that)$/.test(text)],
  folder: [`${mark}|[\\w.@~+/-]{1,200}`, (text) => /^\.\/?$/.test(text) || !isFile(text)],
  glob: [`${mark}|\\S*[.*]\\S*?`, any],
  ending: ["[\\w.*]{1,10}", (text) => endingOf(text) !== undefined],
  command: [".{1,400}?", isCommand],
  shell: [".{1,400}?", (text) => /^(?:git|npm|npx|pwd|whoami|ls|mkdir|touch|echo)\b/.test(text) && isCommand(text)],
  text: [`${mark}|.{1,100}?`, isLiteral],
  content: [`${mark}|.{0,99}[^\\s.。]`, (text) => isLiteral(withoutEnd(text))],
  word: [`${mark}|\\S{1,200}?`, any],
  bareWord: ["[\\w-]{1,100}", (text) => !/^(?:only|alone|itself)$/i.test(text)],
  code: [`${mark}|[!-~]{1,200}?`, isCodeName],
  token: [`${mark}|[A-Za-z\\d][!-~]{0,99}?`, (text) => /[A-Z\d]|\w-\w/.test(text) && !isFile(text)],
  sum: ["\\d.{0,100}?", any],
  some: [".{1,60}?", isPhrase],
  mine: ["(?:the|my|our) .{1,60}?", isPhrase],
  value: [".{0,199}?[^\\s.!?。！？]", (text) => !/[,;，；或]|\s(?:and|but|or)\s/.test(text)],
  rest: ["[\\s\\S]{1,2000}", any],
};
