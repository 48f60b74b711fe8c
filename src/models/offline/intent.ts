/**
 * Text -> what is wanted. Rules are small, and the first that fits wins. A request is understood as a whole or not at all: what no
 * rule knows may be the work that the rest depends on.
 */
import { clausesOf } from "./clauses.ts";
import {
  type Answer,
  type Clause,
  type Intent,
  isAction,
  isAnswer,
  previousPath,
  type Recogniser,
  type Step,
} from "./intent-types.ts";
import { isAcknowledgement } from "./literal.ts";
import { addStatement, type Fact } from "./memory.ts";
import { isFileName } from "./paths.ts";
import { ask, plan, todo } from "./recognise-asking.ts";
import { run } from "./recognise-command.ts";
import { list, read, summary } from "./recognise-looking.ts";
import { pick, reply } from "./recognise-reply.ts";
import { sample } from "./recognise-samples.ts";
import { glob, grep } from "./recognise-search.ts";
import {
  askedToRemember,
  calculate,
  plainRecall,
  pointsAt,
  previous,
  smallTalk,
  statedFact,
  toldRecall,
} from "./recognise-talk.ts";
import { create, edit } from "./recognise-writing.ts";
import { isPolite, isQuestion, quotedSpans, withoutEnd, withoutPoliteness } from "./words.ts";

export interface Understanding {
  /** In the order in which they are to be done. Never empty, but for an answer that the user gave. */
  readonly steps: readonly Step[];
  /** Only the value is wanted, no sentence around it. */
  readonly bare: boolean;
  /** The whole answer, when the user gave it and everything else has gone well. */
  readonly exact: string | undefined;
}

const notUnderstood: Understanding = { steps: [{ type: "unknown" }], bare: false, exact: undefined };

/** These take the rest of the text as theirs, so they see it before it is cut into clauses. */
const wholeText: readonly ((clause: Clause) => Step | undefined)[] = [todo, plan, ask];

const ordered: readonly Recogniser[] = [
  ...wholeText,
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
  pick,
];

/** Of a long text only these make sense: the rest of it is content, and a rule must not look for its words in there. */
const forLongText: readonly Recogniser[] = [todo, reply, create, run];
const longestClause = 1_000;
/** Longer texts are documents, and so are those with gaps like these, on which rules that skip spaces would be slow. */
const longestText = 10_000;
const wideGap = /\s{40}/;

/** What a request asks for. `facts` is what the user has told before it. */
export function understand(text: string, facts: () => readonly Fact[]): Understanding {
  if (text.length > longestText || wideGap.test(text)) return notUnderstood;
  const clauseOf = (raw: string): Clause => ({ raw: raw.trim(), text: withoutPoliteness(raw), facts });
  for (const recogniser of text.length > longestClause ? [] : wholeText) {
    const whole = recogniser(clauseOf(text));
    if (whole !== undefined) return { steps: [whole], bare: false, exact: undefined };
  }
  const recognise = (raw: string): Intent | undefined => firstOf(clauseOf(raw));
  const clauses = clausesOf(withoutNumbers(text), (piece, _, before) => standsAlone(piece, before, recognise));
  return assemble(
    clauses.map((clause, index) => {
      const before = clauses[index - 1];
      const goesOn = before !== undefined && isMoreToRemember(clause, before, recognise);
      return clauseOf(goesOn ? `remember ${clause}` : clause);
    }),
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

/** Whether a piece behind a comma or "and" is a clause. */
function standsAlone(piece: string, before: string, recognise: (raw: string) => Intent | undefined): boolean {
  const intent = recognise(piece);
  if (intent === undefined)
    return (isAside(piece) && recognise(before) !== undefined) || isMoreToRemember(piece, before, recognise);
  if (intent.type === "read" && isFileName(withoutEnd(piece))) return recognise(before)?.type === "read";
  if (isAction(intent) || isAnswer(intent)) return true;
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

const aside =
  /^(?:nothing (?:else|more)|no (?:other|extra|more|additional) (?:words?|text|output|punctuation)|no (?:explanations?|comments?|punctuation)|(?:do not|don['’]t) (?:explain|add anything|say anything else)|one word|(?:if|when) you (?:understand|understood|got it|(?:can )?(?:see|read|hear) (?:this|me)|are (?:there|ready))|(?:不要|无需|不用)(?:其他|别的|解释|多余)的?.{0,6}|如果你?(?:明白|理解|看到|收到)了?)$/i;

/** What asks for nothing beside the rest. */
function isAside(clause: string): boolean {
  return aside.test(withoutEnd(clause)) || isPolite(clause);
}

function assemble(clauses: readonly Clause[]): Understanding {
  const steps: Step[] = [];
  const asked: { readonly clause: string; readonly step: Step }[] = [];
  const answers: Answer[] = [];
  for (const clause of clauses) {
    const intent = firstOf(clause);
    if (intent === undefined && !isAside(clause.raw)) return notUnderstood;
    if (intent === undefined) continue;
    if (isAnswer(intent)) answers.push(intent);
    else {
      const step = withPath(intent, steps);
      steps.push(step);
      asked.push({ clause: clause.text, step });
    }
  }
  // A verdict in a file is one as well: nobody has reached it.
  const [, ...later] = steps;
  const hasVerdict = later.some(
    (step) => step.type === "create" && /^[A-Z]+$/.test(step.content) && !isAcknowledgement(step.content),
  );
  if (hasVerdict && steps.some((step) => !isWriting(step))) return notUnderstood;
  const [answer, ...others] = answers;
  if (others.length > 0 || (answer === undefined && steps.length === 0)) return notUnderstood;
  if (answer === undefined) {
    const isBare = steps.some((step) => step.type === "recall") && clauses.some(({ text }) => onlyWords.test(text));
    return { steps, bare: isBare, exact: undefined };
  }
  if (answer.type === "reply") {
    const { text } = answer;
    const isAllowed = steps.every(isGreeting) || (steps.every(isPlainWork) && isAcknowledgement(text));
    return isAllowed ? { steps, bare: false, exact: text } : notUnderstood;
  }
  const { what } = answer;
  if (steps.every((step) => step.type === "remember")) {
    const recall = { type: "recall", question: what, everything: false, isGuess: true, isStrict: true } as const;
    return { steps: [...steps, recall], bare: true, exact: undefined };
  }
  const isMeant = asked.some(({ clause, step }) => givesOnly(what, clause, step));
  return isMeant ? { steps, bare: true, exact: undefined } : notUnderstood;
}

function isWriting(step: Intent): boolean {
  return step.type === "create" || step.type === "edit" || step.type === "remember";
}

const onlyWords = /\bonly\b|\bnothing (?:but|else|more)\b|\bjust\b|只|仅/i;

function isGreeting({ type }: Step): boolean {
  return type === "greet" || type === "thanks";
}

/** After these, "done" is true and "OK" judges nothing. */
function isPlainWork(step: Step): boolean {
  if (step.type === "remember" || isGreeting(step)) return true;
  return isAction(step) && step.type !== "plan" && step.type !== "summary";
}

/** Whether "only the output" is about this part of the request. */
function givesOnly(what: string, clause: string, step: Step): boolean {
  if (step.type === "recall" || step.type === "calculate") return pointsAt(what, clause);
  if (step.type === "run") return /^(?:output|results?|it|输出|结果)$/i.test(what);
  return step.type === "read" && /^(?:contents?|text|it|内容)$/i.test(what);
}

/** "it" is the file of the step before. */
function withPath(intent: Step, before: readonly Step[]): Step {
  if ((intent.type !== "read" && intent.type !== "edit") || intent.path !== previousPath) return intent;
  for (const earlier of before.toReversed()) {
    if ("path" in earlier && earlier.path !== undefined && earlier.path !== "")
      return { ...intent, path: earlier.path };
  }
  return intent;
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
