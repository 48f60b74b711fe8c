/** Tells an answer that the request gives from one that it only frames: alternatives, conditions, descriptions. */

/** "yes or no", "one of A, B": the answer is one of them, and no rule knows which. */
const alternatives =
  /\b(?:or|either|one of|any of|vs|versus|respectively)\b|或(?!许|然)|还是|抑或|要么|之一|其一|[二三]选一|\||、/i;
/** PASS/FAIL, YES\NO. A path has a dot, a digit or a slash at one of its ends. */
const slashed =
  /^(?!n\/a$)[a-z_\u3400-\u9fff]+(?:\s*[/\\]\s*[a-z_\u3400-\u9fff]+)+$|^[01]\s*[/\\]\s*[01]$|^\S+\s+[/\\]\s+\S+$/i;
const condition =
  /\b(?:if|unless|otherwise|depending|depends|whether|when|whenever|once|after|before|until|till|while|as (?:soon|long) as|provided|providing|assuming|supposing|given|in case|in the event|(?:where|as|when|if) (?:appropriate|applicable|needed|necessary|required)|accordingly|except)\b|\b(?<!(?:nothing|anything|something|no one) )else\b|\b(?:for|on|upon|because|since|based)\s+\S|如果|否则|除非|要是|不然|反之|一旦|直到|假如|假设|倘若|若|的话|的时候|[之以然]后|完成后|通过后|时[，,\s]*(?:再|才|就)?(?:回复|回答|说)?$|才[能可]?(?:回复|回答|说)?|视情况|酌情|根据|只有/i;
const range = /^(?:between|from)\s.+\s(?:and|to)\s|^\d+\s*(?:-|–|to)\s*\d+$/i;
const describing =
  "verdict|decision|label|score|rating|grade|review|summary|explanation|analysis|assessment|opinion|recommendation|conclusion|report|list|category|class|classification|description|diagnosis|findings?|judge?ment|evaluation|translation|estimate|answer|outcome|reasons?|details|steps|changes|issues?|bugs?|problems?|vulnerabilit(?:y|ies)|json|yaml|xml|csv|markdown|html";
const adjectives =
  "(?:(?:brief|short|final|overall|concise|clear|simple|single|one-line|one-word|valid|raw|detailed|total|exact|correct|right|appropriate|suitable|proper|corresponding)\\s+)*";
const description = new RegExp(`^${adjectives}(?:${describing})\\b`, "i");
/** Kinds of values: "a boolean", "the number of bugs". */
const valueKind = new RegExp(
  `^${adjectives}(?:${describing}|bool(?:ean)?|truth value|integer|int|float|numbers?|digits?|percentages?|percent|counts?|totals?|status|states?|values?|names?|paths?|file ?names?|files?|urls?|links?|lines?|words?|letters?|characters?|strings?|objects?|arrays?|tables?|sentences?|paragraphs?|questions?|poems?|haikus?|jokes?|stor(?:y|ies)|patch(?:es)?|diffs?|snippets?|titles?|dates?|times?|versions?|hash(?:es)?|sizes?|lengths?|results?|types?|emojis?|codes?|commands?|suggestions?|fix(?:es)?)(?![-\\w])`,
  "i",
);
/** "the worst file", "the file with the most bugs": words that say which one is meant. */
const pointing =
  /\b(?:of|in|from|that|which|whose|who|with|about|per|by|under|needed|required|best|worst|most|least|biggest|largest|smallest|slowest|fastest|correct|right|appropriate)\b/i;
const descriptionZh =
  /^(?:你的|最终的?|审查的?|检查的?|一个|总)*(?:布尔值?|数量|个数|总数|评分|分数|评级|结论|判断|意见|建议|理由|原因|报告|分析|评价|摘要|总结|状态|标签|类别)|的(?:结果|数量|个数|名字|名称|文件名|总数|结论|状态|分数|原因|列表)$|^(?:是否|有没有|多少)/;

/** Whether an unquoted text is no literal answer. */
export function isOpenAnswer(text: string): boolean {
  const words = text.trim().replace(/[.!?。！？]+$/, "");
  return (
    alternatives.test(words) ||
    slashed.test(words) ||
    condition.test(words) ||
    range.test(words) ||
    listsAnswers(words) ||
    isPlaceholder(words) ||
    describesAnswer(words)
  );
}

const bracketed = /^(?:\{([^{}"']*)\}|<([^<>"']*)>|\[([^[\]"']*)\]|\(([^()"']*)\))$/;

/** `{A,B}`, `<A/B>`, `<verdict>`: a form to fill in. */
function isPlaceholder(words: string): boolean {
  const inner = bracketed
    .exec(words)
    ?.slice(1)
    .find((part) => part !== undefined);
  return inner !== undefined && /[a-z\u3400-\u9fff]/i.test(inner);
}

const listed = /^[\p{L}\d_-]+(?:\s*(?:[,，;；]\s*(?:and\s+)?|\s+and\s+)[\p{L}\d_-]+)+$/u;

/** "APPROVE, REJECT": words of one shape. "Hello, world" and "a,b" are texts. */
function listsAnswers(words: string): boolean {
  if (!listed.test(words)) return false;
  const parts = words.split(/[\s,，;；]+(?:and\s+)?/);
  if (parts.every((part) => /^\p{Lu}[\p{Lu}\d_-]*$/u.test(part))) return true;
  if (!/[,;]\s|[，；]|\sand\s/.test(words)) return false;
  return new Set(parts.map((part) => /^\p{Lu}/u.test(part))).size === 1;
}

export function describesAnswer(text: string): boolean {
  return description.test(text.trim()) || descriptionZh.test(text.trim());
}

/** Whether the words after "a" or "an" say what kind of answer is wanted: "a boolean". */
export function namesKind(text: string): boolean {
  return valueKind.test(text.trim());
}

/** Whether the words after "the" say which thing is meant: "the name of the worst file". */
export function pointsOut(text: string): boolean {
  return pointing.test(text);
}

const judging =
  /^(?:review|check|search|hunt|test|think|try|finish|complete|wait|verify|validate|inspect|audit|examine|evaluate|assess|analy[sz]e|investigate|debug|diagnose|look\s+(?:at|for|into|over|through)|classify|categori[sz]e|compare|decide|determine|judge|rate|score|grade|count|translate|explain|describe|summari[sz]e|explore|scan|identify|detect|ensure|make sure|proofread|suggest|recommend|find)\b/i;
const judgingZh =
  /^(?:请|帮我|麻烦你?)*(?:审查|检查|评审|审核|验证|分析|判断|评估|解释|翻译|比较|找出|调查|总结|统计|搜索|查找|寻找|测试|确认|完成|等)/;
const ifStart = /^(?:if|when|unless|in case|once|whenever)\b|^(?:如果|若|假如|要是|除非)/i;
/** "If you understand" asks only for the answer itself. */
const ifReached =
  /^(?:if|when|once)\s+(?:you|u)\s+(?:understand|understood|get it|got it|(?:can )?(?:see|read|hear|receive)d? (?:this|me|it)(?: message)?|(?:have )?(?:read|received) (?:this|it)(?: message)?|are (?:there|ready|listening))(?: (?:this|me|that))?[\s.,!]*$|^如果你?(?:明白|理解|懂|看到|收到|准备好)了?[\s。，,]*$/i;

/** Whether a clause only asks to be understood before it is answered. */
export function isReached(text: string): boolean {
  return ifReached.test(text.trim());
}

/** Whether a clause asks for thought, or sets a condition: what follows it depends on it. */
export function asksForJudgement(text: string): boolean {
  const asked = text.trim();
  return judging.test(asked) || judgingZh.test(asked) || (ifStart.test(asked) && !isReached(asked));
}
