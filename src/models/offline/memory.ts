/** What the user has said to be so: "the password is X", 记住暗号是 X. Only the user's own sentences come here. */
import { agreement, namesKnownThing, namesOnlyKnownThings, namesSecret, termsOf } from "./terms.ts";
import { isQuestion, languageOf, plain, quotedSpans, withoutEnd } from "./words.ts";

export interface Statement {
  /** The words for what it is about; empty when only a thing to remember was given. */
  readonly subject: string;
  readonly value: string;
  /** Says something new about the last thing that was told: "sorry, it is X". */
  readonly correction: boolean;
  /** The user asked to remember it, so it is one beyond doubt. */
  readonly explicit: boolean;
}

export interface Fact {
  readonly subject: string;
  readonly terms: readonly string[];
  readonly value: string;
}

const asides =
  /^(?:(?:i think|just so you know|so you know|fyi|for your information|by the way|btw|also|actually|no|nope|sorry|oops|wait|well|correction|update|note|important|for the record|for (?:future |your )?reference|as a reminder|reminder|as i said|for later|from now on|and|but|so|ok|okay|hi|hello|hey)(?:\s*[,:;.!—–-]+\s*|\s+))+/i;
const askToRemember =
  /^(?:(?:please|pls|always|can you|could you)\s+)*(?:remember|memori[sz]e|(?:keep|bear)(?: this| that| it)? in mind|note(?: down)?|don['’]t forget|do not forget)(?:\s+(?:that|this|the following|of|for later))*\s*[:：,]?\s+/i;
const askToRememberZh =
  /^(?:请|你|帮我|麻烦|要|一定要|给我|务必)*(?:记住|记下来?|记得|牢记|别忘了?|不要忘记?|记一下|记录一?下?)(?:一下|了)?[\s：:，,]*/;
const correctionStart =
  /^(?:i (?:meant|mean)(?: to say)?|make (?:it|that)|change (?:it|that) to|it['’]s(?: now)?(?: actually)?|it is(?: now)?(?: actually)?|it should be|it has changed to|it changed to)\s+/i;
const correctionStartZh =
  /^(?:不对?[，,]?|错了[，,]?|更正[：:，,]?|我(?:说|记)错了[，,]?)+(?:应该)?(?:是|改成|改为)?\s*|^(?:应该是|改成|改为|它?现在是)\s*/;

/** Tried in this order: "my dog's name is Rex" is about the name. */
const copulas = [
  /\s+(?:is|are|was|equals|will be|shall be|should be|must be|(?:lives|listens|runs) (?:at|on)|has been set to|is set to|has changed to|changed to|reads|became|goes by)\s+(?:now\s+|actually\s+|currently\s+|called\s+|set to\s+)*|\s*(?:=|:=|：)\s*/i,
  /\s*:\s+|['’]s\s+(?=\S)/i,
];
const copulaZh =
  /\s*(?:现在是|已改为|改成了?|改为了?|换成了?|变成了?|设置?为|等于|应该是|就是|叫做|叫|是|为|＝|=|：|:)\s*/;

/** The statement in a sentence, if it makes one. */
export function statementIn(sentence: string): Statement | undefined {
  return languageOf(sentence) === "zh" ? (chinese(sentence) ?? english(sentence)) : english(sentence);
}

function english(sentence: string): Statement | undefined {
  let text = sentence.trim().replace(asides, "");
  const asked = askToRemember.test(text);
  if (isQuestion(sentence) && !(asked && !/\?\s*$/.test(sentence))) return undefined;
  text = text.replace(askToRemember, "").replace(asides, "");
  if (/^(?:if|unless|when|whether|because)\b/i.test(text)) return undefined;
  const fixed = correctionStart.exec(text);
  if (fixed !== null) return made("", text.slice(fixed[0].length), { correction: true, explicit: asked });
  return personal(text, asked) ?? renamed(text) ?? stated(text, asked) ?? bare(text, asked);
}

/** "I live in X", "call me X", "use X as the port". */
function personal(text: string, explicit: boolean): Statement | undefined {
  const rules: readonly (readonly [RegExp, string])[] = [
    [/^(?:you can |just )?call me\s+(.+)$/i, "my name"],
    [/^i(?: am|['’]m) (?:called|named)\s+(.+)$/i, "my name"],
    [/^i(?: am|['’]m)\s+(\p{Lu}[\p{L}'’-]+)[.!]?$/u, "my name"],
    [/^i(?: am|['’]m)\s+(\d+)(?: years old)?[.!]?$/i, "my age"],
    [/^i (?:live|am living) in\s+(.+)$/i, "my city"],
    [/^i was born in\s+(.+)$/i, "my birthplace"],
    [/^i work (?:at|for)\s+(.+)$/i, "my company"],
    [/^i (?:really )?(?:like|love|prefer)\s+(.+)$/i, "my favourite"],
  ];
  for (const [rule, subject] of rules) {
    const value = rule.exec(text)?.[1];
    if (value !== undefined) return made(subject, value, { correction: false, explicit });
  }
  const shown =
    /^(?:here(?:['’]s| is| are)|this is|let)\s+((?:a|an|the|my|our)\s+[^:,]{1,60}?)\s*(?:[:,]|\s+be\s)\s*(\S.*)$/i.exec(
      text,
    );
  if (shown !== null) return made(shown[1] ?? "", shown[2] ?? "", { correction: false, explicit });
  const fixed =
    /^(.{1,60}?)\s+(?:isn['’]t|wasn['’]t|is not|is no longer)\s+[^,;]+[,;]?\s+(?:it['’]s|it is|but)\s+(.+)$/i.exec(
      text,
    );
  if (fixed !== null) return made(fixed[1] ?? "", fixed[2] ?? "", { correction: false, explicit });
  const used = /^(?:use|take)\s+(\S+)\s+(?:as|for)\s+((?:the|my|our)\s+.+)$/i.exec(text);
  return used === null ? undefined : made(used[2] ?? "", used[1] ?? "", { correction: false, explicit });
}

/** "I changed the password to X", "set my code to X". */
function renamed(text: string): Statement | undefined {
  const match =
    /^(?:i(?:['’]ve| have)?\s+)?(?:just\s+)?(?:changed?|updated?|set|reset)\s+((?:the|my|our)\s+[^.]{1,60}?)\s+to\s+(\S+)\s*$/i.exec(
      withoutEnd(text),
    );
  return match === null ? undefined : made(match[1] ?? "", match[2] ?? "", { correction: false, explicit: false });
}

/** "the word I want you to remember" is "the word". */
const toRemember =
  /\s+(?:that\s+)?(?:(?:i want|i need|i would like) you to|you (?:should|must|need to|have to)|to)\s+(?:remember|keep|use|memori[sz]e|note)(?: in mind)?$/i;

function stated(text: string, explicit: boolean): Statement | undefined {
  const match = copulas.map((copula) => copula.exec(text)).find((found) => found !== null);
  if (match === undefined || match === null || match.index === 0) return undefined;
  const left = text.slice(0, match.index).replace(toRemember, "").trim();
  const right = text.slice(match.index + match[0].length).trim();
  if (/^(?:not|no longer|never)\b/i.test(right)) {
    const instead = /\bbut\s+(?:rather\s+)?(.+)$/i.exec(right)?.[1];
    return instead === undefined ? undefined : made(left, instead, { correction: false, explicit });
  }
  const determiner = /^(?:the|my|our|your|a|an|his|her|their)\s/i;
  if (!determiner.test(left) && /^(?:the|my|our)\s/i.test(right) && left.split(/\s+/).length <= 3) {
    return made(right, left, { correction: false, explicit });
  }
  const words = left.split(/\s+/);
  if (words.length > 9 || /^(?:it|this|that|there|here|he|she|they|what|you|i|we|these|those)\b/i.test(left))
    return undefined;
  if (/\b(?:did|tell|told|you|want|wants|asked|think|seems)\b/i.test(left)) return undefined;
  // Without "the" or "my" it must name a thing that has a value, or it is any sentence; "the tests are red" is one too.
  if (!explicit && !determiner.test(left) && !namesOnlyKnownThings(left)) return undefined;
  if (!explicit && /^\s+are\s/i.test(match[0]) && !/^(?:my|our)\s/i.test(left)) return undefined;
  return made(left, right, { correction: false, explicit });
}

/** "remember code GRAPE-7": the last word, or the quoted or number-like part, is the value. */
function bare(text: string, explicit: boolean): Statement | undefined {
  const whole = withoutEnd(text).replace(/\s+for (?:later|me)$/i, "");
  const secret = /^(?:the |my |our )?([a-z]+)\s+(?=\S*[\d-])\S+$/i.exec(whole)?.[1];
  if (whole === "" || (!explicit && (secret === undefined || !namesSecret(termsOf(secret))))) return undefined;
  const quoted = quotedSpans(whole).at(-1);
  if (quoted !== undefined)
    return made(whole.slice(0, quoted.start), quoted.inner, { correction: false, explicit: true });
  const words = whole.split(/\s+/);
  const valueAt = words.findIndex((word, at) => at > 0 && /\d|^\p{Lu}[\p{Lu}\d-]+$|[\p{L}\d][-_][\p{L}\d]/u.test(word));
  const nounish = /^(?:the|my|our|this|a|an|code|password|name|number|token|word|secret|pin|key|phrase)\b/i.test(whole);
  const at = valueAt > 0 ? valueAt : nounish && words.length > 1 ? words.length - 1 : 0;
  return made(words.slice(0, at).join(" "), words.slice(at).join(" "), { correction: false, explicit: true });
}

function chinese(sentence: string): Statement | undefined {
  let text = sentence.trim().replace(/^(?:对了|另外|还有|顺便说一下|其实|注意|好的)[，,：:]?\s*/, "");
  const explicit = askToRememberZh.test(text);
  if (isQuestion(sentence) || (!explicit && /回复|回答/.test(text))) return undefined;
  text = text.replace(askToRememberZh, "").replace(/^(?:如下|这个|以下)?[：:]\s*/, "");
  const fixed = correctionStartZh.exec(text);
  if (fixed !== null && fixed[0] !== "") {
    const rest = text.slice(fixed[0].length);
    return chinese(rest) ?? made("", rest, { correction: true, explicit });
  }
  const name = /^我叫\s*(.+)$/.exec(text)?.[1];
  if (name !== undefined) return made("我的名字", name, { correction: false, explicit });
  const home = /^我(?:现在)?住在?\s*(.+)$/.exec(text)?.[1];
  if (home !== undefined) return made("我住的城市", home, { correction: false, explicit });
  const liked = /^我(?:最|很|比较)?(?:喜欢|爱)(?!的)\s*(.+)$/.exec(text)?.[1];
  if (liked !== undefined) return made("我喜欢的", liked, { correction: false, explicit });
  const moved = /^(?:我)?(?:把|将)?(.{1,24}?)(?:改成|改为|换成|设为)了?\s*(.+)$/.exec(text);
  if (moved !== null && !/文件|\.[a-z]/i.test(moved[1] ?? "")) {
    const value = (moved[2] ?? "").replace(/\s*了[。！]?$/, "");
    return made((moved[1] ?? "").replace(/^我?(?:已经|刚)?(?:把|将)/, ""), value, {
      correction: false,
      explicit,
    });
  }
  const match = copulaZh.exec(text);
  if (match !== null && match.index > 0) {
    const left = text.slice(0, match.index).trim();
    const right = text.slice(match.index + match[0].length);
    const isThing = explicit || left.startsWith("我") || namesKnownThing(left);
    if (isThing && left.length <= 24 && !/^(?:这|那|它|他|她|你|不)$/.test(left) && !/^不/.test(right)) {
      return made(left, right, { correction: false, explicit });
    }
  }
  if (!explicit) return undefined;
  const parts =
    /^([^A-Za-z]*?[\u3400-\u9fff])\s+(\S.*)$/.exec(withoutEnd(text)) ??
    /^([\u3400-\u9fff]{2,8})([A-Za-z0-9].*)$/.exec(withoutEnd(text));
  return parts === null
    ? made("", text, { correction: false, explicit })
    : made(parts[1] ?? "", parts[2] ?? "", { correction: false, explicit });
}

/** "…, remember it": a request about the value, not part of it. */
const reminderTail =
  /[,;]?\s+(?:and\s+)?(?:please\s+)?(?:remember|keep|don['’]t forget|memori[sz]e) (?:it|that|this)\b.*$|[，,]\s*(?:请|你|要|一定|务必|帮我)*(?:记住|记好|记下|牢记|别忘).*$/i;

function made(
  subject: string,
  value: string,
  kind: { readonly correction: boolean; readonly explicit: boolean },
): Statement | undefined {
  const clean = plain(value.replace(reminderTail, "").replace(/^["'“”‘’「」]?(?:now|actually)\s+/i, ""));
  const about = subject.replace(/[\s:：,，]+$/, "").trim();
  if (clean === "" || clean.length > 400) return undefined;
  return { subject: about, value: clean, ...kind };
}

const demand = /\b(?:should|must|shall|will|needs?|ha(?:s|ve) to)\b|应该|必须|需要|务必|应当/i;
const assignment =
  /\b(?:task|goal|job|aim|objective|request|instructions?|question|criteri(?:on|a)|requirements?|condition|rule|policy|step|answer|verdict|result|output|response|reply)s?\b|任务|目标|要求|问题|条件|规则|标准|步骤|答案|结论|结果/i;

/** "The port is 80" tells something. "The tests must be green" and "the task: fix it" are something to do or to judge. */
export function isTold({ subject, value, explicit, correction }: Statement, sentence: string): boolean {
  if (/^(?:to\s|whether\b|if\b|for you\b|是否)/i.test(value)) return false;
  if (explicit || correction) return true;
  if (assignment.test(subject) || /[,;，；]/.test(value) || value.split(/\s+/).length > 3) return false;
  const isValue = /[\d\p{Lu}]/u.test(value) || /["“「`]/.test(sentence);
  const isKnown = namesKnownThing(subject);
  if (demand.test(sentence.replace(value, ""))) return isKnown && isValue;
  // "The code is safe" is about code, not a code.
  return isValue || (isKnown && termsOf(subject).at(-1) !== "code");
}

export function addStatement(facts: readonly Fact[], statement: Statement): readonly Fact[] {
  const last = facts.at(-1);
  const subject = statement.correction ? (last?.subject ?? "") : statement.subject;
  return [...facts, { subject, terms: termsOf(subject), value: statement.value }];
}

/** The fact that a question is about. The best match wins, then the more exact one, then the latest. */
export function bestFact(facts: readonly Fact[], question: string): Fact | undefined {
  const asked = termsOf(question);
  if (asked.length === 0) return facts.at(-1);
  let best: { readonly fact: Fact; readonly score: number; readonly extra: number } | undefined;
  for (const fact of facts) {
    let score = 0;
    let matched = 0;
    for (const term of fact.terms) {
      const strength = Math.max(0, ...asked.map((wanted) => agreement(wanted, term)));
      if (strength > 0) matched += 1;
      // The noun itself, the last word of the phrase, says more than what stands before it.
      score += term === headOf(fact) ? strength * 1.5 : strength;
    }
    if (fact.terms.length === 0) score = 0.5;
    if (score === 0) continue;
    const extra = fact.terms.length - matched;
    if (best === undefined || score > best.score || (score === best.score && extra <= best.extra)) {
      best = { fact, score, extra };
    }
  }
  return best?.fact;
}

/** Whether a fact has everything that the question names. */
export function isAbout(fact: Fact, question: string): boolean {
  return termsOf(question).every((wanted) => fact.terms.some((term) => agreement(wanted, term) > 0));
}

/** "deploy token for staging" is a token. */
function headOf(fact: Fact): string | undefined {
  const [noun] = fact.subject.split(/\s+(?:for|of|in|on|at|to)\s+/i);
  return termsOf(noun ?? "").at(-1);
}
