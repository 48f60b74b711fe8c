/** Text -> what is wanted. Rules are small and general, and the first that fits wins; the order is the only cleverness. */
import { clausesOf } from "./clauses.ts";
import { type Clause, type Intent, isAction, previousPath, type Recogniser } from "./intent-types.ts";
import { addStatement, type Fact, isDemand } from "./memory.ts";
import { asksForJudgement, describesAnswer, isReached, namesKind, pointsOut } from "./open-answer.ts";
import { isFileName } from "./paths.ts";
import { asksForWork } from "./plan.ts";
import { ask, plan, todo } from "./recognise-asking.ts";
import { run } from "./recognise-command.ts";
import { list, read, summary } from "./recognise-looking.ts";
import { sample } from "./recognise-samples.ts";
import { glob, grep } from "./recognise-search.ts";
import {
  askedToRemember,
  calculate,
  factFor,
  plainRecall,
  pointsAt,
  previous,
  reply,
  smallTalk,
  statedFact,
  toldRecall,
} from "./recognise-talk.ts";
import { create, edit } from "./recognise-writing.ts";
import { hasHan, isPolite, isQuestion, quotedSpans, withoutEnd, withoutPoliteness } from "./words.ts";

export interface Understanding {
  /** In the order in which they are to be done. Never empty. */
  readonly steps: readonly Intent[];
  /** Only the value is wanted, no sentence around it. */
  readonly bare: boolean;
  /** The whole answer, when the user gave it and everything else has gone well. */
  readonly exact: string | undefined;
}

/** These take the rest of the text as theirs, so they see it before it is cut into clauses. */
const wholeText: readonly Recogniser[] = [todo, plan, ask];

const ordered: readonly Recogniser[] = [
  todo,
  plan,
  ask,
  previous,
  toldRecall,
  reply,
  edit,
  create,
  askedToRemember,
  glob,
  grep,
  run,
  list,
  read,
  summary,
  sample,
  smallTalk,
  calculate,
  plainRecall,
  statedFact,
];

/** Of a long text only these make sense: the rest of it is content, and a rule must not look for its words in there. */
const forLongText: readonly Recogniser[] = [todo, reply, create, run];
const longestClause = 1_000;

const onlyNote =
  /^(?:only|just)\s+(?:the|that|its|my)\b|^nothing (?:else|more)\b|^no (?:other|extra|more|additional|explanations?|comments?|punctuation)\b|^(?:do not|don['’]t) (?:explain|add|say)\b|^one word\b|^(?:只要|只需|不要(?:其他|别的|解释|多余))/i;
const wantsOnly =
  /\bonly\b|\bnothing (?:but|else|more)\b|^(?:just|simply)\b|\b(?:reply|respond|answer|say|give me|tell me)\s+(?:with\s+)?just\b|只|仅/i;

/** Longer texts are read at both ends only, and only for what needs no tool: a rule must not guess in the middle of a document. */
const longestText = 10_000;
const readEnds = 2_000;
/** The same for text with gaps like these: it is a table or a drawing, and rules that skip spaces would be slow on it. */
const wideGap = /\s{40}/;

/** What a request asks for. `facts` is what the user has told before it. */
export function understand(text: string, facts: () => readonly Fact[]): Understanding {
  if (text.length > longestText || wideGap.test(text)) return understandEnds(text, facts);
  const clauseOf = (raw: string): Clause => ({ raw: raw.trim(), text: withoutPoliteness(raw), facts });
  for (const recogniser of text.length > longestClause ? [] : wholeText) {
    const whole = recogniser(clauseOf(text));
    if (whole !== undefined) return { steps: [whole], bare: false, exact: undefined };
  }
  const recognise = (raw: string): Intent | undefined => firstOf(clauseOf(raw));
  const cut = clausesOf(withoutNumbers(text), {
    stands: (piece, joint, before) => standsAlone(piece, joint, before, recognise),
    swallows: (before, joint) => isOpen(before, joint, recognise),
  });
  const clauses = cut.map((clause, index) => {
    const before = cut[index - 1];
    const goesOn = before !== undefined && isMoreToRemember(clause.text, before.text, recognise);
    return goesOn ? { ...clause, text: `remember ${clause.text}` } : clause;
  });
  return assemble(
    text,
    clauses.map((clause, index) => ({
      ...clauseOf(clause.text),
      inSequence: clause.joint === "then" || clauses[index + 1]?.joint === "then",
    })),
  );
}

function firstOf(clause: Clause): Intent | undefined {
  const long = clause.raw.length > longestClause;
  for (const recogniser of long ? forLongText : ordered) {
    const intent = recogniser(clause);
    if (intent !== undefined) return intent;
  }
  const alone = long ? "" : withoutEnd(clause.text);
  return isFileName(alone) ? { type: "read", path: alone } : undefined;
}

/** A text to write goes on over sentences, an answer or a fact over "then". A command must never take in words that follow it. */
function isOpen(
  before: string,
  joint: "start" | "then" | "sentence" | "soft",
  recognise: (raw: string) => Intent | undefined,
): boolean {
  const type = recognise(before)?.type;
  if (type === "create") return !/["'`”」]\s*[.。!]?\s*$/.test(before);
  return joint === "then" && (type === undefined || type === "reply" || type === "remember");
}

function standsAlone(
  piece: string,
  joint: "start" | "then" | "sentence" | "soft",
  before: string,
  recognise: (raw: string) => Intent | undefined,
): boolean {
  const intent = recognise(piece);
  if (intent === undefined) return isMoreToRemember(piece, before, recognise);
  if (joint !== "soft") return true;
  if (intent.type === "read" && isFileName(withoutEnd(piece))) return recognise(before)?.type === "read";
  if (isAction(intent)) return true;
  if (intent.type === "reply" || intent.type === "unknown") return true;
  if (intent.type === "recall") return isQuestion(piece);
  return intent.type === "remember" && (intent.statement.explicit || recognise(before)?.type === "remember");
}

/** "remember alpha is 1 and beta is 2": what was asked for once holds for both. */
function isMoreToRemember(piece: string, before: string, recognise: (raw: string) => Intent | undefined): boolean {
  if (!/^[\w-]+(?: [\w-]+)?(?: is |\s*[=:]\s*)\S+$/i.test(piece.trim())) return false;
  const told = recognise(before);
  return told?.type === "remember" && told.statement.explicit && recognise(piece) === undefined;
}

/** "1. do this 2. do that": numbers in order, and dots before lines, only part the steps. */
function withoutNumbers(text: string): string {
  if (/^\s*[-*]\s/.test(text)) return text.replace(/(?:^|\n)\s*[-*]\s+/g, "\n").trim();
  if (!/^\s*[(（]?1[.)）、]/.test(text)) return text;
  const quoted = quotedSpans(text);
  let count = 0;
  const steps = text.replace(/(?:^|\s)[(（]?(\d{1,2})[.)）、](?:\s+|(?=[\u3400-\u9fff]))/g, (mark, number, at) => {
    if (Number(number) !== count + 1 || quoted.some((span) => at > span.start && at < span.end)) return mark;
    count += 1;
    return "\n";
  });
  return count > 1 ? steps.trim() : text;
}

type Part = Clause & {
  /** "then" stands before or after it. */
  readonly inSequence: boolean;
};

function assemble(text: string, clauses: readonly Part[]): Understanding {
  const found = clauses.map((clause) => ({ clause, intent: firstOf(clause) ?? missed(clause) }));
  const known = found.flatMap(({ clause, intent }) => (intent === undefined ? [] : [{ clause, intent }]));
  let bare = found.some(({ clause, intent }) => intent === undefined && onlyNote.test(clause.text));
  const others = known.filter(({ intent }) => intent.type !== "reply" && intent.type !== "unknown");
  const steps: Intent[] = [];
  const exact: string[] = [];
  for (const { clause, intent } of known) {
    if (intent.type === "recall" && wantsOnly.test(clause.text)) bare = true;
    if (intent.type !== "reply") {
      steps.push(withPath(intent, steps));
      continue;
    }
    const { reference } = intent;
    const pointed =
      reference !== undefined &&
      others.some((other) => isPointedAt(reference, other.clause, other.intent, intent.text));
    if (pointed) bare = true;
    else if (
      reference !== undefined &&
      others.every((other) => other.intent.type === "remember") &&
      (others.some((other) => pointsAt(reference, other.clause.text)) || factFor(clause, reference))
    ) {
      steps.push({ type: "recall", question: reference, everything: false });
      bare = true;
    } else if (reference !== undefined && isDescribed(reference, intent.text)) {
      steps.push({ type: "unknown", text: "" });
    } else exact.push(intent.text);
  }
  if (exact.length > 0) {
    const isMore = found.some(({ clause, intent }) => asksForMore(clause, intent));
    if (isMore) steps.unshift({ type: "unknown", text: "" });
  }
  if (steps.length === 0 && exact.length === 0) steps.push({ type: "unknown", text: text.trim() });
  return { steps, bare, exact: exact.length === 0 ? undefined : exact.join("\n") };
}

/** "the word" can be an answer; "the name of the worst file" and "the result" only describe one. */
function isDescribed(reference: string, phrase: string): boolean {
  if (describesAnswer(reference) || pointsOut(reference)) return true;
  return !hasHan(reference) && !/^(?:the|that|this)\s+words?$/i.test(phrase) && namesKind(reference);
}

/** A literal answer counts only when nothing else is asked for: it would stand for work that was not done. */
function asksForMore({ raw, text }: Part, intent: Intent | undefined): boolean {
  if (intent === undefined) return !onlyNote.test(text) && !isReached(text) && !isPolite(raw);
  // "Check a.py" is done by reading it only as long as no verdict follows.
  if (intent.type === "read" || intent.type === "list") return asksForJudgement(text);
  return intent.type === "remember" && !intent.statement.explicit && isDemand(intent.statement, raw);
}

/** Small talk between requests may be passed over; a step that is not understood must be told. */
function missed(clause: Part): Intent | undefined {
  const step = clause.inSequence || asksForWork(clause.text) || asksForJudgement(clause.text);
  return step && !onlyNote.test(clause.text) ? { type: "unknown", text: clause.raw } : undefined;
}

function isPointedAt(reference: string, clause: Clause, intent: Intent, phrase: string): boolean {
  if (intent.type === "remember") return false;
  if (pointsAt(reference, clause.text)) return true;
  // "the first line" after "run ls": with an article it is no literal answer.
  return isAction(intent) && /^(?:the|its|that)\s/i.test(phrase);
}

/** "it" is the file of the step before. */
function withPath(intent: Intent, before: readonly Intent[]): Intent {
  if ((intent.type !== "read" && intent.type !== "edit") || intent.path !== previousPath) return intent;
  for (const earlier of before.toReversed()) {
    if ("path" in earlier && earlier.path !== undefined && earlier.path !== "")
      return { ...intent, path: earlier.path };
  }
  return intent;
}

/** A long text is a document with a request in its last line; work that its ends ask for is part of the request. */
function asksInLongText(end: string): boolean {
  const lines = end.trim().split("\n");
  const last = understand((lines.at(-1) ?? "").slice(-longestClause), () => []);
  if (lines.length > 1 && last.exact !== undefined && last.steps.some((step) => step.type === "unknown")) return true;
  return end
    .split(/[.!?。！？\n]+\s*/)
    .map(withoutPoliteness)
    .some((sentence) => asksForWork(sentence) || asksForJudgement(sentence));
}

function understandEnds(text: string, facts: () => readonly Fact[]): Understanding {
  const ends = [text.slice(-readEnds), text.slice(0, readEnds)].map((end) => end.replace(/\s{40,}/g, "\n"));
  for (const end of ends) {
    const found = understand(end, facts);
    const steps = found.steps.filter((step) => step.type === "remember" || step.type === "recall");
    if (found.exact !== undefined && ends.some(asksInLongText)) break;
    if (steps.length > 0 || found.exact !== undefined) return { ...found, steps };
  }
  return { steps: [{ type: "unknown", text: text.slice(0, readEnds) }], bare: false, exact: undefined };
}

/** What the user said to be so, over all of their messages, oldest first. */
export function factsToldIn(texts: readonly string[]): readonly Fact[] {
  let facts: readonly Fact[] = [];
  for (const text of texts) {
    for (const step of understand(text, () => facts).steps) {
      if (step.type === "remember") facts = addStatement(facts, step.statement);
    }
  }
  return facts;
}
