import { visible } from "../check/visible.ts";

/** A rule as words, or its fault. */
type RuleWords = { readonly words: readonly string[] } | { readonly fault: string };

interface Word {
  readonly text: string;
  /** Partly quoted, so it is neither a pattern nor a shell keyword. */
  readonly isQuoted: boolean;
}

/** Characters that are special to a shell anywhere when unquoted. */
const syntax = /[;|&$`()<>{}[\]?]/;
/** Shell keywords, which never name a program. */
const shellsOwn = new Set(
  "if then else elif fi for while until do done case esac function select coproc time ! [[ ]]".split(" "),
);
/** Commands with these characters are refused, so a rule with one never matches. Usually a pasting mistake. */
const unseen = /(?!\t)[\p{Cc}\p{Cf}]|(?! )\p{Z}|\p{Default_Ignorable_Code_Point}/u;
const tilde = /(?:^|[=:])$/;
const assignment = /^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/;

/**
 * Splits a rule as a shell splits a simple command, with '…', "…" and backslashes. Other shell syntax is a fault, so
 * that no rule seems to cover more than it does. A final `*` means any further words.
 */
export function ruleWords(rule: string, use: "allow" | "deny"): RuleWords {
  const fault = (why: string): RuleWords => ({ fault: `invalid rule ${visible(rule)}: ${why}` });
  if (!rule.isWellFormed()) return fault("it contains half a character");
  const odd = unseen.exec(rule)?.[0];
  if (odd !== undefined)
    return fault(`it contains ${visible(odd)}, which is not allowed in commands or is not a plain space`);
  const split = splitWords(rule);
  if (typeof split === "string") return fault(split);
  const [program, ...rest] = split;
  if (program === undefined) return fault("it is empty");
  const isRest = ({ text, isQuoted }: Word): boolean => text === "*" && !isQuoted;
  const last = split.at(-1) ?? program;
  if (split.slice(0, -1).some(isRest)) return fault("* must be its last word");
  if (last.text === "*" && last.isQuoted) return fault("a quoted * as its last word is ambiguous");
  if (rest.length === 0 && isRest(program)) {
    return use === "deny" ? { words: ["*"] } : fault("it would allow every command");
  }
  if (program.text === "") return fault("it names no program");
  if (!program.isQuoted && shellsOwn.has(program.text)) return fault(`${program.text} is a shell keyword`);
  if (assignment.test(program.text)) return fault("it begins with an assignment; a rule begins with the program");
  return { words: split.map(({ text }) => text) };
}

function splitWords(rule: string): readonly Word[] | string {
  const words: Word[] = [];
  let [text, isWord, isQuoted] = ["", false, false];
  const end = (): void => {
    if (isWord) words.push({ text, isQuoted });
    [text, isWord, isQuoted] = ["", false, false];
  };
  for (let at = 0; at < rule.length; at += 1) {
    const char = rule[at] ?? "";
    if (char === " " || char === "\t") {
      end();
      continue;
    }
    if (char === "'" || char === '"') {
      const quoted = char === "'" ? singleQuoted(rule, at) : doubleQuoted(rule, at);
      if (typeof quoted === "string") return quoted;
      text += quoted.text;
      at = quoted.end;
      [isWord, isQuoted] = [true, true];
      continue;
    }
    if (char === "\\") {
      at += 1;
      const next = rule[at];
      if (next === undefined) return "it ends with a backslash";
      text += next;
      [isWord, isQuoted] = [true, true];
      continue;
    }
    const fault = unquotedFault(char, text, rule, at);
    if (fault !== undefined) return fault;
    text += char;
    isWord = true;
  }
  end();
  return words;
}

/** Why a character cannot be unquoted after the word's text so far. */
function unquotedFault(char: string, before: string, rule: string, at: number): string | undefined {
  const quoteIt = "quote it if it is part of a word";
  if (syntax.test(char)) return `${char} is shell syntax; ${quoteIt}`;
  if (char === "~" && tilde.test(before)) return `a shell would replace ~; ${quoteIt}`;
  if (char === "#" && before === "") return `# starts a comment in a shell; ${quoteIt}`;
  const isAlone = before === "" && /^$|^[ \t]/.test(rule.slice(at + 1, at + 2));
  if (char === "*" && !isAlone) return `* is only valid as the whole last word; ${quoteIt}`;
  return undefined;
}

type Quoted = { readonly text: string; readonly end: number } | string;

function singleQuoted(rule: string, start: number): Quoted {
  const end = rule.indexOf("'", start + 1);
  return end === -1 ? "a quote is not closed" : { text: rule.slice(start + 1, end), end };
}

function doubleQuoted(rule: string, start: number): Quoted {
  let text = "";
  for (let at = start + 1; at < rule.length; at += 1) {
    const char = rule[at] ?? "";
    if (char === '"') return { text, end: at };
    if (char === "$" || char === "`") return `${char} is shell syntax even in double quotes; use single quotes`;
    const next = rule[at + 1] ?? "";
    if (char === "\\" && next !== "" && '$`"\\'.includes(next)) {
      text += next;
      at += 1;
    } else text += char;
  }
  return "a quote is not closed";
}
