/** Tells an answer that the request gives from one that it only frames: alternatives, conditions, descriptions. */

/** "yes or no", "one of A, B": the answer is one of them, and no rule knows which. */
const alternatives = /\b(?:or|either|one of|any of)\b|或者?(?!许|然)|还是|之一|\||、/i;
/** PASS/FAIL. A path has a dot, a digit or a slash at one of its ends. */
const slashed = /^(?!n\/a$)[a-z\u3400-\u9fff]+(?:\s*\/\s*[a-z\u3400-\u9fff]+)+$/i;
const condition =
  /\b(?:if|unless|otherwise|depending|whether)\b|\b(?<!(?:nothing|anything|something|no one) )else\b|如果|否则|除非|要是|不然/i;
const range = /^(?:between|from)\s.+\s(?:and|to)\s|^\d+\s*(?:-|–|to)\s*\d+$/i;
const description =
  /^(?:(?:brief|short|final|overall|concise|clear|simple|one-line|one-word|valid|raw|detailed)\s+)*(?:verdict|decision|label|score|rating|grade|review|summary|explanation|analysis|assessment|opinion|recommendation|conclusion|report|list|category|class|classification|description|diagnosis|findings?|judge?ment|evaluation|translation|estimate|answer|outcome|reasons?|details|steps|changes|issues?|bugs?|problems?|vulnerabilit(?:y|ies)|json|yaml|xml|csv|markdown|html)\b/i;

/** Whether an unquoted text is no literal answer. */
export function isOpenAnswer(text: string): boolean {
  const words = text.trim().replace(/[.!?。！？]+$/, "");
  return (
    alternatives.test(words) ||
    slashed.test(words) ||
    condition.test(words) ||
    range.test(words) ||
    describesAnswer(words)
  );
}

export function describesAnswer(text: string): boolean {
  return description.test(text.trim());
}

/** Whether a second answer follows a quoted one: "A" or "B". */
export function offersAnother(rest: string): boolean {
  return /^[\s,]*(?:or\b|\/|\||、|或|还是)|^\s*,\s*["'`“‘「]/i.test(rest) || condition.test(rest);
}

const judging =
  /^(?:review|check|verify|validate|inspect|audit|examine|evaluate|assess|analy[sz]e|investigate|debug|diagnose|look\s+(?:at|for|into|over|through)|classify|categori[sz]e|compare|decide|determine|judge|rate|score|grade|count|translate|explain|describe|summari[sz]e|explore|scan|identify|detect|ensure|make sure|proofread|suggest|recommend|find)\b/i;
const judgingZh = /^(?:请|帮我|麻烦你?)*(?:审查|检查|评审|审核|验证|分析|判断|评估|解释|翻译|比较|找出|调查|总结|统计)/;
const ifStart = /^(?:if|when|unless|in case|once|whenever)\b|^(?:如果|若|假如|要是|除非)/i;
const ifReached =
  /^(?:if|when|once)\s+(?:you|u)\s+(?:understand|understood|get|got|agree|accept|see|read|receive|received|hear|are|can)\b|^如果你?(?:明白|理解|懂|看到|收到|同意|准备好)/i;

/** Whether a clause asks for thought, or sets a condition: what follows it depends on it. */
export function asksForJudgement(text: string): boolean {
  const asked = text.trim();
  return judging.test(asked) || judgingZh.test(asked) || (ifStart.test(asked) && !ifReached.test(asked));
}
