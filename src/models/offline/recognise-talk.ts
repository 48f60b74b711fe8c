/** Recognisers of what can be answered with words alone. */
import { evaluate } from "./arithmetic.ts";
import type { Clause, Intent, Talk } from "./intent-types.ts";
import { bestFact, statementIn } from "./memory.ts";
import { asksForJudgement, isOpenAnswer, namesKind, pointsOut } from "./open-answer.ts";
import { asksForWork } from "./plan.ts";
import { agreement, namesSecret, termsOf } from "./terms.ts";
import {
  hasHan,
  isQuestion,
  once,
  onlyWordsOf,
  plain,
  quotedSpans,
  quotedWhole,
  withoutAll,
  withoutEnd,
  wordSet,
} from "./words.ts";

const replyEn =
  /^(?<just>(?:just|only|simply|merely|always)\s+)*(?<verb>reply|respond|answer|say|output|print|return|write|type|send|echo|acknowledge|confirm)\b(?:\s+(?:back|to me|to this(?: message)?|to it|your answer)\b)*(?<only>\s+(?:only|just|exactly|simply|solely|literally|verbatim)\b)*(?:\s+in (?:one|a single) word\b)?(?<with>\s+(?:with|by saying|using|as)\b)?(?<but>\s+(?:only|just|exactly|simply|nothing but|nothing except|nothing other than)\b)*(?<said>(?:\s+(?<det>the|my|this|that|your|its|a|an|one)(?=[\s:"'“]))?(?:\s+(?:one|single|exact|following|literal|precise|short|(?:two|three|four|five)(?=\s+(?:word|letter|number|line|character)s))(?=[\s:"'“]))*(?<meta>\s+(?:words?|texts?|phrase|string|letters?|numbers?|sentence|message|line|characters?)\b(?!-))?\s*(?<colon>[:：])?[\s,]*(?<rest>\S[\s\S]*))$/i;
const replyOtherEn = [
  /^(?:your|the)\s+(?:whole |entire |only |complete |full )*(?:reply|answer|response|output|message)\s+(?:should|must|has to|needs to|is to|will|shall)\s+(?:only |just )?be\b(?:\s*(?:exactly|only|just|simply)\b)*\s*(?:the words?\s+)?[:]?\s*(.+)$/i,
  /^the only (?:thing|word) (?:that )?you (?:should|may|can|must|are to) (?:say|reply|write|answer|output)(?: with)? is\s*[:]?\s*(.+)$/i,
  /^(?:don['’]?t|do not|never) (?:say|reply|write|answer|output|respond)(?: with)? anything (?:but|except(?: for)?|other than|besides)\b\s*[:]?\s*(.+)$/i,
  /^(?:i )?(?:only )?want to (?:see|hear|read) (?:only|just|nothing but|exactly)\b\s*[:]?\s*(.+)$/i,
  /^(?:repeat(?: after me)?|echo(?: back)?|copy)\s*[:：]\s*(.+)$/i,
  /^(?:repeat|echo)(?: back)? (?:after me|this|the following)\s*[:：,]?\s+(.+)$/i,
  /^(?:跟我(?:说|念)|重复(?:我的话)?|复述)\s*[:：]\s*(.+)$/,
  /^say nothing (?:but|except|other than)\b\s*[:]?\s*(.+)$/i,
  /^just\s+(?:the words?\s+)?(["'`“][^"'`”]+["'`”]|[A-Z]{2,}\d*)[.!]*$/,
];
const replyZh =
  /^(?:你|就|请)*(?<only>(?:只需要?|只要|只能|只用|只许|只|仅仅|仅需|仅|直接|简单地?|原样|统一))?(?:需要?|要|能|用|给我|须)?(?<verb>回复|回答|答复|回应|应答|回|说|答|输出|返回|打印|写)(?:我|一个|一声|一句|出)?(?<meta>(?:以下|下面|如下|这个|这句)?(?:单词|词|字|文字|内容|话|文本))?(?:为|是)?\s*(?<colon>[:：])?[\s，,]*(?<rest>\S[\s\S]*)$/;
const replyWithZh =
  /^(?:你|请)*(?:只|仅)?用\s*(.+?)\s*(?:这[一两几个]*[字词]|两个字|一个词)?来?(?:回复|回答|答复|回应)(?:我|即可|就行|就好)*[。！]*$/;
/** What may follow the answer. One at a time: a repeated group of this size is slow to compile. */
const tailEn =
  /[\s,;.–—-]+(?:(?:and|but)\s+)?(?:with\s+)?(?:(?:absolutely )?nothing (?:else|more)|no (?:other|extra|more|additional) (?:words?|text|output|punctuation)|no explanations?|without (?:any|further|explanation|punctuation|quotes)\b.*|only|exactly|verbatim|(?:do not|don['’]t) (?:say|add|write|explain)\b.*|to (?:this|me)|in (?:response|return|reply)|if you (?:understand|understood|got it|get it)(?: (?:this|that|me))?)[\s.!]*$/i;
const tailZh =
  /[\s，,]*(?:就(?:行|好|可以|够)了?|即可|就可以了?|不要.*|别.*|无需.*|不需要.*|不用.*|其他.*|这?[一两几二三四五]个(?:字母|字|词)|这个(?:单?词|字)|吧|哦|啊)[。！!.\s]*$/;

/** "give me just the value", 只回答这个词: points at what is asked for, and wants nothing around it. */
const valueNouns = "words?|values?|answers?|results?|outputs?|numbers?|names?|texts?|phrase|string|code|contents?";
const onlyValue = once(
  () =>
    new RegExp(
      `^(?:(?:reply|respond|answer|say|output|print|return|tell|give|show|send|write)(?:\\s+(?:me|back|with|to me))*\\s+)?(?:(?<only>only|just|nothing but)\\s+)?(?:the|that|its|this)\\s+(?:bare |exact |raw )?(?<noun>${valueNouns})(?<only2>(?:\\s+itself)?\\s+(?:only|alone|and nothing else)|\\s+itself)?[\\s.!]*$`,
      "i",
    ),
);
const onlyValueZh =
  /^(?:你|请|就)*(?:只需要?|只要|只能|只|仅仅|仅需|仅|直接)(?:需要?|要|能|给我|给|用)?(?:回复|回答|答复|回应|输出|返回|打印|告诉我|给出|说出|说|写)?(?:我|出)?(?:这个|那个|该|它的|其)?(?<noun>单词|词|字|数值|值|答案|结果|数字|内容|名字|名称|文件名|输出|密码|暗号|日期|时间|颜色|号码)(?:本身)?(?:就(?:行|好|可以)了?|即可)?[\s。！!.]*$/;

function valueOnly(text: string): Intent | undefined {
  if (hasHan(text)) {
    const noun = onlyValueZh.exec(text)?.groups?.noun;
    return noun === undefined ? undefined : { type: "reply", text: noun, reference: noun };
  }
  if (text.length > 80 || !/ (?:the|that|its|this) /i.test(` ${text}`)) return undefined;
  const found = onlyValue().exec(text)?.groups;
  if (found?.noun === undefined || (found.only ?? found.only2) === undefined) return undefined;
  return { type: "reply", text: `the ${found.noun}`, reference: found.noun };
}

/** "Just reply OK", 只回复 OK: the answer is given in the request. */
export function reply({ text }: Clause): Intent | undefined {
  const given = replyTo(text);
  return given === "open" ? { type: "unknown", text: "" } : given;
}

/** `open`: the answer is not given, only what it may be. */
function replyTo(text: string): Intent | "open" | undefined {
  const pointing = valueOnly(text);
  if (pointing !== undefined) return pointing;
  const given = replyIn(replyEn.exec(text)?.groups, tailEn, false);
  if (given !== undefined) return given;
  for (const rule of replyOtherEn) {
    const found = rule.exec(text)?.[1];
    if (found !== undefined) return exactly(withoutAll(found, tailEn));
  }
  if (!hasHan(text)) return undefined;
  const used = replyWithZh.exec(text)?.[1];
  return used === undefined ? replyIn(replyZh.exec(text)?.groups, tailZh, true) : exactly(used);
}

function replyIn(
  found: Record<string, string | undefined> | undefined,
  tail: RegExp,
  zh: boolean,
): Intent | "open" | undefined {
  const given = found?.rest;
  if (found === undefined || given === undefined) return undefined;
  const tailed = /[\s,;.–—，-]\S|[\u3400-\u9fff]/.test(given) && tail.test(given);
  const rest = (tailed && withoutAll(given, tail).trim()) || given;
  const [first] = quotedSpans(rest);
  const quoted = first?.start === 0 ? first.inner : undefined;
  const marked =
    [found.just, found.only, found.but, found.with, found.meta, found.colon, quoted].some(
      (mark) => mark !== undefined,
    ) || tailed;
  const verb = (found.verb ?? "").toLowerCase();
  const isOpen =
    first !== undefined && quoted !== undefined
      ? /[^\s.!?。！？，,；;]/.test(rest.slice(first.end))
      : isOpenAnswer(rest) || wantsOneOfList(found, rest) || wantsKind(found, rest);
  if (isOpen && answering.has(verb)) return "open";
  if (!marked && !["reply", "respond", "say", "回复", "回答", "说", "答复"].includes(verb)) return undefined;
  const strong = [found.just, found.only, found.but].some((mark) => mark !== undefined) || tailed;
  const listed = zh && found.colon !== undefined && verb !== "写";
  if (["write", "写", "打印", "输出", "send"].includes(verb) && !strong && !listed) return undefined;
  if (["print", "type", "echo"].includes(verb) && !strong && found.meta === undefined) return undefined;
  if (isOpen) return "open";
  if (quoted !== undefined) return { type: "reply", text: quoted };
  if (!zh && found.meta !== undefined && found.colon === undefined && nothingGiven.test(rest)) {
    const noun = found.meta.trim().toLowerCase();
    return found.det === undefined && found.only === undefined && found.but === undefined
      ? exactly(noun)
      : { type: "reply", text: `${found.det ?? "the"} ${noun}`, reference: noun };
  }
  if (zh ? /^(?:说|明|一下|一说|什么|我的|这个|问题|关于|为什么)/.test(rest) : notLiteral.test(rest)) return undefined;
  const det = found.meta === undefined ? found.det : undefined;
  const words = withoutEnd(rest);
  if (words === "") return undefined;
  if (zh) return found.only === undefined ? exactly(rest) : { type: "reply", text: words, reference: words };
  if (det !== undefined) {
    const pointing = /^(?:the|my|that|your|its|this)$/i.test(det);
    if (pointing && found.colon !== undefined) return { type: "reply", text: words };
    // As it was written: what stands between the two words may be more than a space.
    const before = (found.said ?? "").slice(0, -given.length).trimStart();
    return { type: "reply", text: before + words, ...(pointing ? { reference: words } : {}) };
  }
  return { type: "reply", text: words, ...(generic.test(words) ? { reference: words } : {}) };
}

const notLiteral =
  /^(?:to\b|about\b|something|anything|what\b|why\b|how\b|if\b|when\b|whether\b|in\s+(?!one\b)|once\b|after\b|questions?\b|when\b)/i;
/** "reply with the word only": no word follows, so an answer that has been asked for is meant. */
const nothingGiven = /^(?:only|alone|itself|exactly|verbatim|please|back)?[\s.!?]*$/i;
const generic = /^(?:it|that|value|values|answer|result|output|contents?|(?:file ?)?names?|number|yes or no)$/i;

function exactly(text: string): Intent | "open" | undefined {
  const words = plain(text);
  if (quotedWhole(text) === undefined && isOpenAnswer(text)) return "open";
  return words === "" ? undefined : { type: "reply", text: words };
}

const answering: ReadonlySet<string> = wordSet(
  "reply respond answer say output return confirm 回复 回答 答复 回应 说 输出",
);

/** "one word: positive, negative, neutral" */
function wantsOneOfList({ said }: Record<string, string | undefined>, rest: string): boolean {
  if (/^\s+one\s+of\b/i.test(said ?? "")) return true;
  return /^\s+(?:one|a single|single)\b/i.test(said ?? "") && /^[\w-]+(?:\s*,\s*[\w-]+)+$/.test(withoutEnd(rest));
}

/** "a boolean", "the number of bugs", "a word that fits". */
function wantsKind({ det, meta, colon }: Record<string, string | undefined>, rest: string): boolean {
  if (colon !== undefined) return false;
  if (meta !== undefined) return /^(?:of|that|which|with|from|in|between)\s/i.test(rest);
  return /^(?:an?|one|your)$/i.test(det ?? "") && namesKind(rest);
}

const told =
  /\b(?:did|have|had) i (?:just |already |previously |earlier |ever )*(?:tell|told|mention|mentioned|say|said|give|gave|given|share|shared|ask|asked|specify|specified|set|provide|provided|choose|chose|pick|send|sent|want you to)\b|\bi(?:['’]ve| have|['’]d| had)? (?:just |previously |earlier |already |once )*(?:told|mentioned|gave|given|said|shared|asked|provided|set|chose|specified|sent)\b|\byou (?:still )?(?:remember|recall)\b|\bremind me\b|\bi(?:['’]ve| have)? (?:forgot|forgotten|lost|can['’]t remember|cannot remember|don['’]t remember)\b|\byou (?:were|have been|['’]ve been) (?:told|given)\b|\bfrom (?:earlier|before|our conversation|my (?:first|last|previous) message)\b/i;
const toldZh =
  /(?:刚才|之前|刚刚|先前|前面|以前|上次|早些时候|曾经).*(?:告诉|说|提|讲|给|记|设|发|让)|我(?:跟你|和你|对你|向你)?(?:告诉|说过|说的|提到|提过|提的|讲过|讲的|给过?你|让你记|叫你记|要你记)|还?记得|记不记得|提醒我|我(?:忘|不记得)/;
const asksFor =
  /^(?:tell|give|show|repeat|recall|say|reveal|name|provide|state|reply|respond|answer|output|print|return|remind|what|which|who|only|just)\b/i;

/** A question about what the user said before. */
export function toldRecall({ raw, text }: Clause): Intent | undefined {
  if (!(hasHan(raw) ? toldZh.test(raw) : /\b(?:i|me|my|you)\b/i.test(raw) && told.test(raw))) return undefined;
  if (!isQuestion(raw) && !asksFor.test(text) && !/只|仅|重复|再说|说一?遍|告诉我|提醒/.test(text)) return undefined;
  if (/^(?:remember|memori[sz]e)\b(?!.*\?)/i.test(text) || /^记得/.test(text)) return undefined;
  return recallOf(text);
}

/** The same without a sign that it was told: "what is my name?", 暗号是啥. */
export function plainRecall({ raw, text, facts }: Clause): Intent | undefined {
  const english =
    /^(?:what|whats|what['’]s|which|who|where|when|how)\b/i.test(text) ||
    /^(?:just |only )*(?:tell me|give me|show me|repeat|recall|say|reveal|name)\s+(?:only |just )*(?:the|my|our)\b/i.test(
      text,
    ) ||
    /^(?:and\s+)?(?!(?:is|are|was|were|do|does|did|can|could|should|will|would|has|have)\b)(?:the |my |our )?[a-z\s'’-]{2,40}\?$/i.test(
      text,
    );
  const chinese = isQuestion(raw) || /^(?:告诉我|说出|重复|说一下)/.test(text);
  if (!(hasHan(text) ? chinese : english)) return undefined;
  const terms = termsOf(text);
  if (/\b(?:my|i|mine)\b/i.test(text) || /我(?!们)/.test(text.replace(/告诉我|给我/g, ""))) {
    return /\bhow (?:do|can|should|could|would|to)\b|\bshould i\b|怎么|如何/i.test(text)
      ? undefined
      : { ...recallOf(text), isGuess: true };
  }
  if (/^what(?:['’]s| is| was) (?:it|that)\?*$/i.test(text) && facts().length > 0) return recallOf(text);
  if (terms.length === 0 || terms.length > 6) return undefined;
  const known = facts().some((fact) => fact.terms.some((term) => terms.includes(term)));
  return known || (namesSecret(terms) && terms.length <= 2) ? { ...recallOf(text), isGuess: true } : undefined;
}

function recallOf(question: string): Talk & { type: "recall" } {
  const everything =
    /\b(?:everything|all (?:the )?(?:facts|things)|all that|what (?:do|did) you (?:know|remember)|what have i told)\b|所有|全部|哪些|都(?:告诉|说)/i.test(
      question,
    );
  return {
    type: "recall",
    question: question.replace(/\bwho am i\b|\bwhat am i called\b|我是谁/i, "my name"),
    everything,
  };
}

export function askedToRemember({ raw, text }: Clause): Intent | undefined {
  const statement = statementIn(text) ?? statementIn(raw);
  return statement?.explicit === true ? { type: "remember", statement } : undefined;
}

export function statedFact({ raw, text }: Clause): Intent | undefined {
  // "Check that the version is 1.2" states nothing. "Update: the port is 80" does.
  if (!/^\w+\s*[:：,，]/.test(text) && (asksForWork(text) || asksForJudgement(text))) return undefined;
  const statement = statementIn(raw) ?? statementIn(text);
  return statement === undefined ? undefined : { type: "remember", statement };
}

export function calculate({ text }: Clause): Intent | undefined {
  const expression = withoutEnd(text)
    .replace(
      /^(?:what(?:['’]s| is)|whats|calculate|compute|evaluate|how much is|work out|solve|计算|算一?下|算)\s*[:：]?\s*/i,
      "",
    )
    .replace(/\s*(?:=|equals?|等于(?:多少|几)?|是多少|是几|得多少|得几|\?|？)+\s*$/i, "")
    .replace(/\s*(?:plus|加上?)\s*/gi, "+")
    .replace(/\s*(?:minus|减去?)\s*/gi, "-")
    .replace(/\s*(?:times|multiplied by|乘以?|×|(?<=\d)\s*x\s*(?=\d))\s*/gi, "*")
    .replace(/\s*(?:divided by|除以|÷)\s*/gi, "/");
  const value = evaluate(expression);
  return value === undefined ? undefined : { type: "calculate", expression, value };
}

const helloWords = wordSet(
  "hi hello hey hiya howdy yo greetings good morning afternoon evening day there tinman again everyone",
);

export function smallTalk({ raw, text }: Clause): Intent | undefined {
  const said = withoutEnd(raw);
  const asked = withoutEnd(text);
  if (/^(?:hi|hello|hey|hiya|howdy|yo|greetings|good)\b/i.test(said) && onlyWordsOf(said, helloWords))
    return { type: "greet" };
  if (/^(?:你好|您好|嗨|哈喽|早上好|早安|下午好|晚上好|大家好)[呀啊吗]?$/.test(said)) return { type: "greet" };
  if (
    /^(?:who|what) (?:are|r) you\b|\bwhat (?:kind of |sort of )?(?:ai |language )?model (?:are|is)\b|\bwhich model\b|^what(?:['’]s| is) your name|^introduce yourself|^are you (?:an? )?(?:ai|model|human|bot|real)|^tell me about yourself/i.test(
      asked,
    )
  )
    return { type: "identity" };
  if (/你是谁|你是什么|你叫什么|哪个模型|什么模型|介绍(?:一下)?你?自己/.test(said)) return { type: "identity" };
  if (
    /^(?:help(?: me)?|usage|commands?)$|\bwhat (?:all )?(?:can|could) (?:you|i)\b.*\b(?:do|ask|help)|\bhow (?:can|do) (?:you help|i use you)|\bwhat (?:are|is) your (?:abilities|capabilities|features)/i.test(
      asked,
    )
  )
    return { type: "help" };
  if (
    /^(?:帮助|救命)$|你(?:都)?(?:能|会|可以)(?:为我|帮我)?(?:做|干)(?:些|点)?(?:什么|啥|哪些)|有(?:什么|哪些)功能|怎么用你/.test(
      said,
    )
  )
    return { type: "help" };
  if (
    /^(?:ok(?:ay)?[\s,]+)?(?:(?:thank(?:s| you)|thx|cheers|great|perfect|nice|cool|awesome|well done|good job|much appreciated)[\s,]*(?:so much|a lot|very much|job|work)?[\s,]*)+$/i.test(
      said,
    )
  )
    return { type: "thanks" };
  if (/^(?:谢谢你?|多谢|感谢|太好了|很好|辛苦了)$/.test(said)) return { type: "thanks" };
  if (
    /^(?:continue|go on|keep going|carry on|proceed|next(?: step| one| please)?|resume|go ahead|more)\b(?:\s+(?:with|to|from|the|next|step|steps|one|it|that|task|work|where|you|we|left|off|please|now|and|your|my))*$/i.test(
      asked || said,
    )
  )
    return { type: "continue" };
  if (
    /^(?:继续|接着(?:做|来)?|往下|下一步|继续(?:做|下一步|执行|吧|任务|工作)*)$/.test(asked) ||
    /^(?:继续|下一步)/.test(said)
  )
    return { type: "continue" };
  return undefined;
}

/** "what did I just ask?" is about the request before, not about something that was told. */
export function previous({ raw, text }: Clause): Intent | undefined {
  if (!/^(?:what|我)/i.test(text) && !raw.startsWith("我")) return undefined;
  const asked = withoutEnd(text);
  const english =
    /^what (?:did i (?:just )?(?:ask|say|write)(?: (?:you|to you|just now|last|before))*|was my (?:last|previous) (?:question|request|message|prompt))$/i;
  const chinese = /^我(?:刚才|刚刚|上一?次|之前)(?:问|说)(?:了|的是)?(?:什么|啥)$/;
  return english.test(asked) || chinese.test(withoutEnd(raw)) ? { type: "previous" } : undefined;
}

/** Whether a "reply only …" points at what another clause asks for. */
export function pointsAt(reference: string, question: string): boolean {
  if (
    generic.test(reference) ||
    /^(?:它|数?值|答案|结果|内容|文件名|输出|数字|名字|名称|单?词|字|日期|时间|颜色|号码|列表|清单|words?|texts?|phrase|string|letters?|sentence|line|code)$/i.test(
      reference,
    )
  )
    return true;
  const wanted = termsOf(question);
  return termsOf(reference).some((term) => wanted.includes(term));
}

export function factFor(clause: Clause, reference: string): boolean {
  const terms = termsOf(reference);
  if (terms.length === 0 || quotedWhole(reference) !== undefined) return false;
  if (namesSecret(terms) && terms.length <= 2) return true;
  const found = bestFact(clause.facts(), reference);
  const agrees = (wanted: string): boolean => found?.terms.some((term) => agreement(wanted, term) > 0) === true;
  return pointsOut(reference) ? terms.every(agrees) : terms.some(agrees);
}
