/** Recognisers of an answer that the request gives, and of one that it points at. */
import type { Clause, Intent } from "./intent-types.ts";
import { literalIn } from "./literal.ts";
import { hasHan, quotedWhole, withoutAll, withoutEnd } from "./words.ts";

const verb = "(?:reply|respond|answer|say|output)";
const only = "(?:only|just|exactly|simply|nothing but|nothing except)";
const replyRules = [
  new RegExp(
    `^(?:(?:just|only|simply)\\s+)*${verb}(?:\\s+(?:back|to me))?(?:\\s+${only})?(?:\\s+with)?(?:\\s+${only})?(?<word>\\s+the\\s+(?:(?:exact|single)\\s+)?(?:word|text|string|phrase))?(?:\\s*:)?\\s+(?<rest>\\S[\\s\\S]*)$`,
    "i",
  ),
  /^your (?:(?:whole|entire|only) )?(?:reply|answer|response) (?:should|must) be (?:exactly|only|just)?\s*:?\s*(?<rest>\S[\s\S]*)$/i,
  /^(?:don['’]?t|do not) say anything (?:but|except)\s+(?<rest>\S[\s\S]*)$/i,
  /^(?:你|就)*(?:只需要?|只要|只|仅|直接)?(?:需要?|要)?(?:回复|回答|答复|说|输出)(?:我|一句|一声)?\s*[:：]?\s*(?<rest>\S[\s\S]*)$/,
  /^(?:你)*(?:只|仅)?用\s*(?<rest>\S.*?)\s*(?:来)?(?:回复|回答)(?:我|即可|就行)*$/,
];
/** What may follow the answer: it asks for nothing more. */
const tail =
  /,?\s+(?:and\s+)?(?:with\s+)?(?:nothing (?:else|more)|no other (?:words?|text)|no explanations?|only|please|if you (?:understand|understood))$|[，,\s]*(?:就(?:行|好|可以)了?|即可|(?:不要|别|无需)(?:说|加|写)?(?:别的|其他|解释|多余的).{0,6})$/i;

/** "Just reply OK", 只回复 OK: the answer is given in the request. */
export function reply({ text }: Clause): Intent | undefined {
  for (const rule of replyRules) {
    const found = rule.exec(text.trim())?.groups;
    if (found?.rest === undefined) continue;
    const given = quotedWhole(found.rest) === undefined ? withoutAll(withoutEnd(found.rest), tail) : found.rest;
    const word = found.word !== undefined && /^[\w-]+$/.test(given) && !pointing.test(given) ? given : undefined;
    const literal = literalIn(given) ?? word;
    if (literal !== undefined && literal !== "") return { type: "reply", text: literal };
  }
  return undefined;
}

const pointing = /^(?:only|alone|itself|it|that|this)$/i;
const asked =
  "(?:(?:reply|respond|answer|say|output|print|return|give|tell|show)(?:\\s+me)?(?:\\s+back)?(?:\\s+with)?\\s+)";
const pickRules = [
  new RegExp(
    `^(?:(?:just|only)\\s+)?${asked}?(?:only|just|nothing but)\\s+(?:with\\s+)?(?:(?:the|my|that|this|its|our)\\s+)?(?<what>[\\w'’ -]{1,60}?)(?:\\s+itself)?(?:,?\\s+(?:and\\s+)?nothing else)?$`,
    "i",
  ),
  new RegExp(
    `^${asked}(?:the|my|that|this|its|our)\\s+(?<what>[\\w'’ -]{1,60}?)(?:\\s+only|\\s+alone|\\s+itself|,?\\s+(?:and\\s+)?nothing else)+$`,
    "i",
  ),
  /^(?:answer|reply|respond) (?:with|in) (?:one|a single) (?<what>word)$/i,
  /^(?:你|就)*(?:只需要?|只要|只|仅|直接)(?:需要?|要)?(?:回复|回答|说|输出|告诉我|给我|给出)?(?:我|出)?(?:这个|那个|它的)?\s*(?<what>[\u3400-\u9fff]{1,12}?)(?:本身)?(?:就(?:行|好|可以)了?|即可)?$/,
];

/** "Reply only the password", 只回答这个词: points at something else that the request asks for, and wants nothing around it. */
export function pick({ text }: Clause): Intent | undefined {
  const clause = withoutEnd(text);
  for (const rule of hasHan(clause) ? pickRules.slice(-1) : pickRules.slice(0, -1)) {
    const what = rule.exec(clause)?.groups?.what;
    if (what !== undefined) return { type: "pick", what };
  }
  return undefined;
}
