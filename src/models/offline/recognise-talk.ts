/** Recognisers of what can be answered with words alone. */
import { evaluate } from "./arithmetic.ts";
import type { Clause, Intent, Talk } from "./intent-types.ts";
import { isTold, statementIn } from "./memory.ts";
import { namesSecret, termsOf } from "./terms.ts";
import { hasHan, isQuestion, onlyWordsOf, withoutEnd, wordSet } from "./words.ts";

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
  if (/\b(?:whether|if|why|how)\b|是否|为什么|怎么/i.test(text)) return undefined;
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
  return known || (namesSecret(terms) && terms.length <= 2)
    ? { ...recallOf(text), isGuess: true, isStrict: true }
    : undefined;
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
  return statement?.explicit === true && isTold(statement, raw) ? { type: "remember", statement } : undefined;
}

export function statedFact({ raw, text }: Clause): Intent | undefined {
  const statement = statementIn(raw) ?? statementIn(text);
  return statement !== undefined && isTold(statement, raw) ? { type: "remember", statement } : undefined;
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
    /^(?:(?:who|what) (?:are|r) you|(?:what|which) (?:kind of |sort of )?(?:ai |language )?model (?:are you|is this)(?: using)?|what(?:['’]s| is) your name|introduce yourself|are you (?:an? )?(?:ai|model|human|bot|real)|tell me about yourself)$/i.test(
      asked,
    )
  )
    return { type: "identity" };
  if (/^(?:请问)?(?:你是谁|你是(?:什么|哪个)(?:模型)?|你叫什么(?:名字)?|(?:请|你)?介绍(?:一下)?你?自己)$/.test(said))
    return { type: "identity" };
  if (
    /^(?:help(?: me)?|usage|commands?|what (?:all )?can you (?:do|help (?:me )?with)(?: for me)?|what can i ask(?: you)?|how (?:can|do) (?:you help(?: me)?|i use you)|what are your (?:abilities|capabilities|features))$/i.test(
      asked,
    )
  )
    return { type: "help" };
  if (
    /^(?:帮助|救命|你(?:都)?(?:能|会|可以)(?:为我|帮我)?(?:做|干)(?:些|点)?(?:什么|啥|哪些)(?:事|事情)?|你?有(?:什么|哪些)功能|怎么用你)$/.test(
      said,
    )
  )
    return { type: "help" };
  if (
    /^(?:ok(?:ay)?[\s,]+)?(?:thank(?:s| you)|thx|cheers|great|perfect|nice|cool|awesome|well done|good job|much appreciated)(?:[\s,]+(?:thank(?:s| you)|thx|cheers|great|perfect|nice|cool|awesome|well done|good job|much appreciated|so much|a lot|very much|job|work))*[\s,]*$/i.test(
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
  if (/^(?:继续|接着(?:做|来)?|往下|下一步|继续(?:做|下一步|执行|吧|任务|工作)*)$/.test(asked))
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

const generic =
  /^(?:it|that|它|数?值|答案|结果|内容|文件名|输出|数字|名字|名称|单?词|字|日期|时间|颜色|号码|values?|answer|result|names?|number|words?|texts?|phrase|string|letters?|code)$/i;

/** Whether "reply only the number" is about this question. */
export function pointsAt(what: string, question: string): boolean {
  const wanted = termsOf(question);
  return generic.test(what) || termsOf(what).some((term) => wanted.includes(term));
}
