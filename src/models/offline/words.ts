/** Small helpers on English and Chinese text. Nothing here knows what a request means. */

export type Language = "en" | "zh";

/** Letters and digits of every script that file names are likely to have. Ranges cost less to compile than Unicode properties. */
export const letters = String.raw`A-Za-z0-9\u00c0-\u024f\u0370-\u1fff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af`;

const letter = new RegExp(`[${letters}]`);
const words = new RegExp(`[${letters}]+(?:['’][${letters}]+)?`, "g");

export function hasHan(text: string): boolean {
  return /[\u3400-\u9fff]/.test(text);
}

export function languageOf(text: string): Language {
  return hasHan(text) ? "zh" : "en";
}

/** Makes its value when it is first needed: most requests need few of the rules. */
export function once<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const quotePairs: readonly (readonly [string, string])[] = [
  ["```", "```"],
  ["`", "`"],
  ['"', '"'],
  ["“", "”"],
  ["「", "」"],
  ["『", "』"],
  ["‘", "’"],
  ["'", "'"],
];

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly inner: string;
}

/** Quoted parts, outermost only. An apostrophe inside a word opens nothing. */
export function quotedSpans(text: string): readonly Span[] {
  const spans: Span[] = [];
  let index = 0;
  while (index < text.length) {
    const span = spanAt(text, index);
    if (span === undefined) index += 1;
    else {
      spans.push(span);
      index = span.end;
    }
  }
  return spans;
}

function spanAt(text: string, start: number): Span | undefined {
  for (const [open, close] of quotePairs) {
    if (!text.startsWith(open, start)) continue;
    const single = open === "'" || open === "‘";
    if (single && letter.test(text.charAt(start - 1))) continue;
    let at = text.indexOf(close, start + open.length);
    while (single && at >= 0 && /[a-z0-9]/i.test(text.charAt(at + 1))) {
      at = text.indexOf(close, at + 1);
    }
    if (at < 0) continue;
    return { start, end: at + close.length, inner: text.slice(start + open.length, at) };
  }
  return undefined;
}

/** The inside of a text that is one quotation, with whatever punctuation stands around it; else `undefined`. */
export function quotedWhole(text: string): string | undefined {
  const trimmed = text.trim();
  const [first, ...others] = quotedSpans(trimmed);
  if (first === undefined || first.start !== 0 || others.length > 0) return undefined;
  if (!/^[\s.!?。！？，,；;]*$/.test(trimmed.slice(first.end))) return undefined;
  return first.inner.startsWith("\n") ? first.inner.slice(1).replace(/\n$/, "") : first.inner;
}

/** A phrase as it was meant: without the quotes around it, or without the sentence's end. */
export function plain(text: string): string {
  return quotedWhole(text) ?? withoutEnd(text);
}

export function withoutEnd(text: string): string {
  return text.trim().replace(/[\s.!?。！？，,；;：:…]+$/, "");
}

export function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(words) ?? [];
}

/** True when every word of `text` is in `vocabulary`. */
export function onlyWordsOf(text: string, vocabulary: ReadonlySet<string>): boolean {
  return wordsOf(text).every((word) => vocabulary.has(word));
}

export function wordSet(...lists: readonly string[]): ReadonlySet<string> {
  return new Set(lists.join(" ").split(" "));
}

/** The first words of what `politeStart` knows; most requests have none of them and are spared the rest. */
const politeWords = wordSet(
  "please pls kindly now next first firstly second secondly third finally lastly then also and so ok okay well hey hi hello tinman alright great thanks could can would will you i i'd i’d let's let’s lets let go try help your use using with via",
);

/** One of each at a time: a repeated group of this size is slow to compile. */
const politeStart =
  /^(?:please|pls|kindly|now|next|first|firstly|second|secondly|third|finally|lastly|then|also|and|so|ok|okay|well|hey|hi|hello|tinman|alright|great|thanks|(?:could|can|would|will) you(?: please)?|you (?:should|must|can|need to|have to|may)|i (?:want|need|would like|expect) you to|i['’]d like you to|i (?:want|need|would like) to|i['’]d like to|i(?:['’]d| would) like(?= an? | the )|let['’]?s|let us|go ahead and|try to|help me(?: to)?|your (?:task|job) is to|(?:use|using|with|via) (?:the |your |a )?(?:shell|terminal|bash|command line|[a-z]+ tool|read|ls|execute|create|edit|grep|glob)(?: tool)?(?: to|,| and))(?:\s*[,:!]\s*|\s+)/i;
const politeEnd =
  /(?:,\s*(?:please|pls|thanks|thank you|ok|okay|will you|would you|if you can)|\s+(?:please|pls|for me|right now|if you can))(?=[\s.!?]*$)/i;
const politeStartZh =
  /^(?:请问|请|麻烦你?|劳驾|帮我|帮忙|替我|你能不能|你能(?!做|干)|你可以(?!做|干)|能不能|能否|可不可以|可以|现在|接下来|首先|先(?=运行|执行|跑|列|读|看|创建|新建|建|写|把|将|在|搜|查|找|修改|打开|做|制定|问|回)|其次|最后|然后|接着|之后|随后|再(?!见)|并且|并|给我(?=看|列|读|写|建|创|跑|运|执|搜|找|查|做|总)|我(?:想|要|希望)(?:让|请)?你|我想(?=看|知道)|那么|好的?[，,])[\s，,：:]*/;
const politeEndZh =
  /(?:[，,]\s*(?:谢谢你?|多谢|好吗|可以吗|行吗|好不好)|(?:好吗|可以吗|行吗|好不好|吧|一下))(?=[\s。！!？?]*$)/;

/** The request inside its politeness. */
export function withoutPoliteness(text: string): string {
  const rules = hasHan(text) ? [politeStartZh, politeEndZh, politeEnd] : [politeEnd];
  let rest = text.trim();
  for (let round = 0; round < 8; round += 1) {
    let next = politeWords.has(/^[a-z'’]+/i.exec(rest)?.[0].toLowerCase() ?? "")
      ? rest.replace(politeStart, "").trim()
      : rest;
    for (const rule of rules) next = next.replace(rule, "").trim();
    if (next === rest || withoutEnd(next) === "") break;
    rest = next;
  }
  return rest;
}

const politeness =
  /^(?:(?:please|pls|thanks?|thank you|thx|cheers|sorry|excuse me|ok|okay|alright|great|well|hey|hi|hello|tinman|much|so|very|a lot|in advance|have a (?:nice|good|great) day|this is (?:only |just )?a test|testing|test)[\s,.!:;-]*)+$|^(?:(?:请|谢谢你?|多谢|麻烦你?了?|辛苦了?|你好|您好|好的?|不好意思|抱歉|这(?:只)?是(?:一个|个)?测试|测试)[\s，,。！!]*)+$/i;

/** Whether a clause asks for nothing and tells nothing. */
export function isPolite(text: string): boolean {
  return politeness.test(text.trim());
}

/** Takes a rule's match away until there is none. */
export function withoutAll(text: string, rule: RegExp): string {
  let rest = text;
  for (let round = 0; round < 8; round += 1) {
    const next = rest.replace(rule, "");
    if (next === rest) break;
    rest = next;
  }
  return rest;
}

const questionStart =
  /^(?:what|whats|what['’]s|which|who|whose|whom|where|when|why|how|is|are|am|was|were|do|does|did|can|could|would|will|should|have|has|had|may|shall)\b/i;
const questionZh =
  /[？?]\s*$|什么|啥|哪|吗[\s。]*$|呢[\s。]*$|多少|几[个号点]|是谁|怎么|为何|是否|是不是|有没有|记不记得/;

export function isQuestion(text: string): boolean {
  return /[?？]\s*$/.test(text) || questionStart.test(text.trim()) || questionZh.test(text);
}
