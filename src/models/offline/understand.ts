/**
 * Turns a request into steps. It is understood as a whole or not at all, because an unknown part may change the rest.
 */
import { type Earlier, type Rule, rules, type State } from "./grammar.ts";
import type { Answer, Intent, Step } from "./steps.ts";
import { type Fact, factFor, recalled, termsOf } from "./talk.ts";
import { hasHan, isAcknowledgement, type Masked, mask, slots } from "./texts.ts";

export interface Understanding {
  /** In order. */
  readonly steps: readonly Step[];
  /** Only the value is wanted, without a sentence around it. */
  readonly bare: boolean;
  /** The literal answer that the user asked for, given if everything else succeeds. */
  readonly exact?: string;
}

/** These bound the time that patterns take. */
const longestText = 10_000;
const longestClause = 600;
const mostPieces = 16;

const sentenceEnd =
  /(?<=[.!?])\s+|(?<=[。！？；])\s*|\n\s*|;\s|[，,.;]?\s(?:and )?(?:then|after that),?\s|[，,；。]?\s?(?:然后|接着|随后)再?[，,]?\s?/i;
const joint =
  /\s?[,，]\s?(?:(?:and|but)\s|并且?|再|最后)?|\s(?:and|but|-|–|—)\s|(?<=\S)\s?并(?=[且运执读列创新搜查打把只])且?/gi;
const politeStart =
  /^(?:(?:please|kindly|now|also|and|first|finally|(?:could|can|would|will) you(?: please)?|i (?:want|need|would like) you to|i(?:'d| would) like to|let's|help me)[\s,:]+|(?:请|麻烦你?|帮我|给我(?=看)|能不能|现在|先|再|最后|我(?:想|要)请?你)[\s,，：:]*)(?=\S)/i;
const politeEnd =
  /(?<=\S)(?:[\s,，]\s?(?:please|thanks|thank you|for me)|[,，]?\s?(?:谢谢|好吗|可以吗|吧|一下))(?=[\s.!?。！？]*$)/i;

/** The steps of a request; `undefined` if part of it is not understood. */
export function understand(text: string, before: State): Understanding | undefined {
  const masked = text.length > longestText ? undefined : mask(text);
  if (masked === undefined) return undefined;
  const whole = recognise(masked.text, masked, before, true);
  if (whole !== undefined) return assemble([whole], before, masked.text);
  const intents: Intent[] = [];
  let state = before;
  for (const sentence of masked.text.split(sentenceEnd)) {
    const joints = [...sentence.matchAll(joint)];
    const starts = [0, ...joints.map((found) => found.index + found[0].length)];
    const ends = [...joints.map((found) => found.index), sentence.length];
    if (starts.length > mostPieces) return undefined;
    for (let from = 0, to = ends.length; from < starts.length; from = to + 1, to = ends.length) {
      let intent: Intent | undefined;
      // A comma or "and" can be part of a clause, so the longest is tried first.
      while (intent === undefined && to > from) {
        to -= 1;
        intent = recognise(sentence.slice(starts[from], ends[to]), masked, state, false);
      }
      if (intent === undefined) return undefined;
      intents.push(intent);
      state = after(state, intent);
    }
  }
  return assemble(intents, before, masked.text);
}

/** Context from earlier messages, oldest first. Computed on first use. */
export function stateAfter(texts: readonly string[], path: string | undefined): State {
  const facts: Fact[] = [];
  let last: string | undefined;
  const unread = [...texts];
  const earlier = (): Earlier => {
    for (let text = unread.shift(); text !== undefined; text = unread.shift()) {
      const found = understand(text, { path, earlier: () => ({ facts, last }) });
      facts.push(...(found?.steps ?? []).flatMap(factIn));
      last = found && text;
    }
    return { facts, last };
  };
  return { path, earlier };
}

const factIn = (intent: Intent): readonly Fact[] =>
  intent.kind === "say" && intent.fact !== undefined ? [intent.fact] : [];

function after({ path, earlier }: State, intent: Intent): State {
  if (intent.kind === "act") return { path: intent.path ?? path, earlier };
  const told = factIn(intent);
  const withThese = ({ facts, last }: Earlier): Earlier => ({ facts: [...facts, ...told], last });
  return { path, earlier: told.length === 0 ? earlier : () => withThese(earlier()) };
}

function recognise(clause: string, masked: Masked, state: State, isWhole: boolean): Intent | undefined {
  let text = clause.trim();
  for (let round = 0; round < 4; round += 1) text = text.replace(politeStart, "").replace(politeEnd, "").trim();
  if (text === "") return { kind: "aside" };
  if (!isWhole && text.length > longestClause) return undefined;
  for (const rule of rules) {
    if (isWhole !== rule.pattern.includes("{rest}") || (hasHan(rule.pattern) && !hasHan(clause))) continue;
    const match = expressionOf(rule).exec(text);
    const intent = match === null ? undefined : intentOf(rule, match.groups ?? {}, masked, state);
    if (intent !== undefined) return intent;
  }
  return undefined;
}

const slotIn = /\{(\w+)(?::(\w+))?\}/g;
const expressions = new Map<string, RegExp>();

function expressionOf({ pattern }: Rule): RegExp {
  const known = expressions.get(pattern);
  if (known !== undefined) return known;
  const source = pattern
    .replaceAll("'", "['’]")
    .replace(/\((?!\?)/g, "(?:")
    .replaceAll(" ", hasHan(pattern) ? "\\s*" : "\\s")
    .replace(slotIn, (_, name, kind = name) => `(?<${name}>${slots[kind]?.[0]})`);
  // Questions state no facts.
  const end = pattern.includes("{value") ? "[\\s.!。！]*" : "[\\s.!?。！？]*";
  const made = new RegExp(`^(?:${source})${end}$`, "i");
  expressions.set(pattern, made);
  return made;
}

function intentOf(rule: Rule, groups: Readonly<Record<string, string | undefined>>, masked: Masked, state: State) {
  const meant = new Map([["all", groups.all ?? ""]]);
  for (const [, name = "", kind = name] of rule.pattern.matchAll(slotIn)) {
    const text = groups[name]?.trim();
    if (text === undefined) continue;
    const quoted = masked.quoted(text);
    const written = /^(?:it|它)$/.test(text) && /^(?:file|path)$/.test(kind) ? state.path : masked.open(text);
    if (written === undefined || (quoted === undefined && slots[kind]?.[1](written) !== true)) return undefined;
    meant.set(name, quoted ?? written);
  }
  const isQuoted = (name: string): boolean => masked.quoted(groups[name] ?? "") !== undefined;
  return rule.make((name) => meant.get(name) ?? "", state, isQuoted);
}

function assemble(intents: readonly Intent[], before: State, text: string): Understanding | undefined {
  const steps = intents.filter((intent): intent is Step => !/^(?:reply|pick|aside)$/.test(intent.kind));
  const [answer, ...others] = intents.filter((intent): intent is Answer => /^(?:reply|pick)$/.test(intent.kind));
  if (others.length > 0 || (answer === undefined && steps.length === 0) || hasVerdict(steps)) return undefined;
  if (answer === undefined) {
    const givesValue = steps.some((step) => step.kind === "say" && step.gives !== undefined);
    return { steps, bare: givesValue && /\bonly\b|\bjust (?:the|my)\b|nothing else|只|仅/i.test(text) };
  }
  if (answer.kind === "reply") {
    const isPolite = steps.every((step) => step.kind === "say" && step.isPolite === true);
    const isTrue = steps.every(isPlainWork) && isAcknowledgement(answer.text);
    return isPolite || isTrue ? { steps, bare: false, exact: answer.text } : undefined;
  }
  if (steps.some((step) => "gives" in step && isNameOf(answer.text, step.gives ?? ""))) return { steps, bare: true };
  // "The codeword is X. Reply only the codeword."
  const isTold = steps.every((step) => step.kind === "say" && step.fact !== undefined);
  const fact = isTold ? factFor(answer.text, intents.reduce(after, before).earlier().facts) : undefined;
  return fact === undefined ? undefined : { steps: [...steps, recalled(fact, answer.text)], bare: true };
}

/** A verdict that a file asks for counts too: no rule can have reached it. */
function hasVerdict(steps: readonly Step[]): boolean {
  const contents = steps.flatMap((step) => (step.kind === "act" ? [String(step.input.content ?? "")] : []));
  return (
    contents.includes("") &&
    contents.some((content) => /^(?:[A-Z]+|yes|no|是|否)$/.test(content) && !isAcknowledgement(content))
  );
}

/** After these, "done" is true and "OK" judges nothing. */
function isPlainWork(step: Step): boolean {
  if (step.kind === "say") return step.fact !== undefined || step.isPolite === true;
  return step.kind === "act" && step.isLoose !== true;
}

function isNameOf(what: string, gives: string): boolean {
  const [names, terms] = [[...gives.split(" "), ...termsOf(gives)], termsOf(what)];
  return terms.length > 0 && terms.every((term) => names.includes(term));
}
