import type { CommandPart, CommandRules } from "../../engine/permission.ts";
import { type DenyRule, deniesWords, denyRule, isMentioned } from "./deny-rule.ts";
import { programKey, readingsOf } from "./launched-words.ts";
import { codeIn, mayStartOthers, type Words } from "./started-by-options.ts";

export interface Denial {
  /** The rule as a configuration would write it. */
  readonly rule: string;
  /** An administrator's rule. It applies even to unsafe runs. */
  readonly always: boolean;
  readonly part: CommandPart;
  /** False if part of the command is not known in advance, so that it only might match. */
  readonly isCertain: boolean;
}

/**
 * The rule that denies a command: administrator's rules first, then by the first part that matches. Unknown words match
 * anything. `text`: the whole command.
 */
export function deniedBy(root: CommandPart, rules: CommandRules, text = root.source): Denial | undefined {
  if (rules.alwaysDeny.length === 0 && rules.deny.length === 0) return undefined;
  return firstDenied(root, rules.alwaysDeny, text, true) ?? firstDenied(root, rules.deny, text, false);
}

/** The rule that allows a simple command: every word is known and matches, and it runs in the session's own folder. */
export function allowingRule(part: CommandPart, rules: CommandRules): string | undefined {
  const { words } = part;
  if (words === undefined || words.length === 0 || part.kind === "unreadable" || part.inWorkspaceRoot !== true) {
    return undefined;
  }
  const rule = rules.allow.find((allowed) => isExactly(words, allowed));
  return rule === undefined ? undefined : ruleText(rule);
}

function isExactly(words: Words, rule: readonly string[]): boolean {
  if (rule.length === 0 || rule[0] === "*") return false;
  const isPrefix = rule.at(-1) === "*";
  const fixed = isPrefix ? rule.length - 1 : rule.length;
  if (isPrefix ? words.length < fixed : words.length !== fixed) return false;
  return words.every((word, at) => word !== undefined && (at >= fixed || word === rule[at]));
}

interface RuleIndex {
  readonly all: readonly DenyRule[];
  readonly byProgram: ReadonlyMap<string, readonly DenyRule[]>;
}

const indexes = new WeakMap<CommandRules["deny"], RuleIndex>();

/** Cached: the rules stay the same for a whole run, and every part of every command is compared with them. */
function indexOf(rules: CommandRules["deny"]): RuleIndex {
  const known = indexes.get(rules);
  if (known !== undefined) return known;
  const all = rules.filter((words) => words.length > 0).map(denyRule);
  const byProgram = new Map<string, DenyRule[]>();
  for (const rule of all) {
    const same = byProgram.get(rule.program);
    if (same === undefined) byProgram.set(rule.program, [rule]);
    else same.push(rule);
  }
  const index = { all, byProgram };
  indexes.set(rules, index);
  return index;
}

function firstDenied(
  root: CommandPart,
  rules: CommandRules["deny"],
  text: string,
  always: boolean,
): Denial | undefined {
  const index = indexOf(rules);
  const [anyRule] = index.all;
  if (anyRule === undefined) return undefined;
  const waiting = [root];
  for (let part = waiting.pop(); part !== undefined; part = waiting.pop()) {
    const found = denialOf(part, index, anyRule, text);
    if (found !== undefined) return { rule: ruleText(found.rule.words), always, part, isCertain: found.isCertain };
    waiting.push(...part.parts.toReversed());
  }
  return undefined;
}

interface Found {
  readonly rule: DenyRule;
  readonly isCertain: boolean;
}

/** Rules of parts that may run a command from a value, a script or a variable. */
const runsAnything = new Set(
  "evaluates evaluation sets-variable dangerous-variable unknown-script unknown-wrapper unknown-node unknown-test other-shell function git-options".split(
    " ",
  ),
);
/** Builtins that change the meaning of words, and programs whose own language can run commands. */
const meansAnything = /^(alias|hash|mapfile|readarray|let|unset|getopts|enable|bind|complete|g?sed|[gmn]?awk)$/;
const mostWords = 500;

function mayRunAnything({ kind, class: accessClass, rule, words }: CommandPart): boolean {
  if (kind === "unreadable" || (words?.length ?? 0) > mostWords) return true;
  if (accessClass !== "high") return false;
  return runsAnything.has(rule) || meansAnything.test(words?.[0] ?? "");
}

function denialOf(part: CommandPart, index: RuleIndex, anyRule: DenyRule, whole: string): Found | undefined {
  if (mayRunAnything(part)) return { rule: anyRule, isCertain: false };
  if (part.words === undefined || part.words.length === 0) return undefined;
  const every = index.byProgram.get("*")?.[0];
  if (every !== undefined) return { rule: every, isCertain: true };
  const isParsed = part.parts.some(({ kind }) => kind === "unwrapped");
  for (const words of readingsOf(part.words, isParsed)) {
    const [program] = words;
    if (program === undefined) return { rule: anyRule, isCertain: false };
    const rule = index.byProgram.get(programKey(program))?.find((candidate) => deniesWords(candidate, words));
    if (rule !== undefined) return { rule, isCertain: !words.includes(undefined) };
    if (part.hasUnclearFlag === true && part.class === "high" && mayStartOthers(programKey(program), words.slice(1))) {
      return { rule: anyRule, isCertain: false };
    }
    const code = part.class === "high" ? codeIn(programKey(program), words.slice(1)) : undefined;
    const mentioned = code && index.all.find((candidate) => isMentioned(candidate, code === "input" ? whole : code));
    if (mentioned) return { rule: mentioned, isCertain: false };
  }
  return undefined;
}

/** As a configuration would write it. */
export function ruleText(rule: readonly string[]): string {
  const quoted = (word: string): string =>
    /^[\w@%+=:,./^~-]+$/.test(word) && !word.startsWith("~") ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
  return rule.map((word, at) => (word === "*" && at === rule.length - 1 ? word : quoted(word))).join(" ");
}
