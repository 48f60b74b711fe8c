import { type Cursor, cursor, isPlainText } from "./cursor.ts";

const notUnderstood = "is not understood";
const redirects = "may write a file or run a command";

const harmfulNames = new Map<string, string>([
  ["system", "runs a command"],
  ["getline", "may read a file or run a command"],
  ["ARGV", "may read other files"],
  ["ARGC", "may read other files"],
  ["SYMTAB", "may read other files"],
  ["FUNCTAB", "may read other files"],
  // Some awks pass these unchecked to the C library's printf, which can then read or write memory.
  ["OFMT", "sets an unchecked number format"],
  ["CONVFMT", "sets an unchecked number format"],
  ...["func", "switch", "case", "default"].map((name): [string, string] => [name, notUnderstood]),
]);

const functions = new Set(
  `and asort asorti atan2 close compl cos exp fflush gensub gsub index int isarray length log lshift match mktime or
  patsplit rand rshift sin split sprintf sqrt srand strftime strtonum sub substr systime tolower toupper typeof
  xor`.split(/\s+/),
);

/** The token kinds that can come next. */
type Next =
  /** The start of a statement or a pattern. */
  | "statement"
  /** The statement of an `if`, a loop or an `else`, where awks disagree about the meaning of a slash. */
  | "body"
  /** A value, after an operator or an opening bracket. */
  | "value"
  /** A value or the end of the statement, after `print`. */
  | "argument"
  /** An operator, one more value to join, or the end of the statement. */
  | "operator"
  /** Only the end of the statement, or a block. */
  | "end";

type Bracket = "{" | "[" | "(" | "call" | "if" | "for";

const closing: Readonly<Record<Bracket, string>> = { "{": "}", "[": "]", "(": ")", call: ")", if: ")", for: ")" };

const number = /(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y;
const string = /"(?:[^"\\\n]|\\[^\n])*"/y;
const name = /[A-Za-z_]\w*/y;
const operator = /\*\*=?|\+\+|--|&&|\|\||[-+*/%^=!<>]=|!~|[-+*/%^<>=!~?:,;(){}[\]$\n]/y;
/** Blanks, comments, and line continuations beside a blank. A continuation inside a word is not accepted. */
const space = /(?:[ \t]+(?:\\\n)?|\\\n(?=[ \t])|#(?:[^\n]*[^\n\\])?(?=\n|$))+/y;
const functionHead =
  /[ \t]+([A-Za-z_]\w*)[ \t]*\([ \t]*((?:[A-Za-z_]\w*[ \t]*(?:,[ \t]*[A-Za-z_]\w*[ \t]*)*)?)\)[ \t]*\n?[ \t]*\{/y;

const beforeRegex = new Set(["(", ",", "~", "!~", "!", "&&", "||", "?", ":", "="]);
/** After these some awks divide, and some start a regular expression. */
const beforeUnclearSlash = new Set(["++", "--", "length", "/"]);
const continuesLine = new Set([",", "&&", "||"]);

/**
 * Why an awk program is not harmless; `undefined` if it only prints its input in every awk. Not a full parser: it
 * follows values, operators and brackets closely enough to classify each slash, quote and `>`.
 */
export function awkProgram(text: string): string | undefined {
  if (!isPlainText(text)) return notUnderstood;
  const program = cursor(text);
  const reader = createReader(program);
  while (!program.isDone()) {
    if (program.take(space) !== undefined) continue;
    const reason = reader.passToken();
    if (reason !== undefined) return reason;
  }
  return reader.isWhole() ? undefined : notUnderstood;
}

function createReader(program: Cursor) {
  const open: Bracket[] = [];
  const defined = new Set<string>();
  const called = new Set<string>();
  /** Names that are assigned to. They are variables in every awk, so a bracket after them is just concatenated. */
  const assigned = new Set<string>();
  let next: Next = "statement";
  let last = "";
  /** The number of brackets open at the current statement's `print`. */
  let printedAt: number | undefined;

  /** Records a token if it is valid here. */
  function accept(isFitting: boolean, token: string, then: Next): string | undefined {
    if (!isFitting) return notUnderstood;
    last = token;
    next = then;
    if (then === "statement" || open.length < (printedAt ?? 0)) printedAt = undefined;
    return undefined;
  }

  function passToken(): string | undefined {
    if (program.sees(/\//y)) return passSlash();
    const value = program.take(string) ?? program.take(number);
    if (value !== undefined) return accept(next !== "end", value.charAt(0), "operator");
    const word = program.take(name);
    if (word !== undefined) return harmfulNames.get(word) ?? passWord(word);
    const mark = program.take(operator);
    if (mark !== undefined) return passMark(mark);
    return program.sees(/\|/y) ? redirects : notUnderstood;
  }

  function passSlash(): string | undefined {
    if (next === "operator") {
      program.take(/\/=?/y);
      return accept(!beforeUnclearSlash.has(last), "/=", "value");
    }
    const isRegex = next === "statement" || next === "argument" || (next === "value" && beforeRegex.has(last));
    program.take(/\//y);
    return accept(isRegex && program.passRegex("/"), "/", "operator");
  }

  function passWord(word: string): string | undefined {
    const isStart = next === "statement" || next === "body";
    switch (word) {
      case "BEGIN":
      case "END":
      case "BEGINFILE":
      case "ENDFILE":
        return accept(next === "statement" && open.length === 0, word, "end");
      case "function":
        return passFunctionHead();
      case "if":
      case "while":
      case "for":
        if (!isStart || program.take(/[ \t]*\(/y) === undefined) return notUnderstood;
        open.push(word === "for" ? "for" : "if");
        return accept(true, "(", word === "for" ? "statement" : "value");
      case "else":
      case "do":
        return accept(isStart, word, "body");
      case "print":
      case "printf":
        printedAt = open.length;
        return accept(isStart, word, "argument");
      case "return":
      case "exit":
        return accept(isStart, word, "argument");
      case "delete":
        return accept(isStart, word, "value");
      case "next":
      case "nextfile":
      case "break":
      case "continue":
        return accept(isStart, word, "end");
      case "in":
        return accept(next === "operator", word, "value");
      case "PROCINFO":
        return accept(program.take(/\["sorted_in"\]/y) !== undefined && next !== "end", "]", "operator");
      default:
        return passName(word);
    }
  }

  function passName(word: string): string | undefined {
    const isFunction = functions.has(word);
    const isCall = program.take(/[ \t]*\(/y) !== undefined;
    if (!isCall) {
      // `_"…"` looks the string up in a translation file.
      const isVariable = (!isFunction || word === "length") && !(word === "_" && program.sees(/"/y));
      return accept(next !== "end" && isVariable, word, "operator");
    }
    if (!isFunction) called.add(word);
    const isFitting = next !== "end";
    open.push("call");
    return accept(isFitting, "(", "value");
  }

  function passFunctionHead(): string | undefined {
    const [word, ...parameters] = program.take(functionHead)?.match(/\w+/g) ?? [];
    if (word === undefined || next !== "statement" || open.length > 0) return notUnderstood;
    if ([word, ...parameters].some((each) => harmfulNames.has(each) || functions.has(each))) return notUnderstood;
    defined.add(word);
    for (const each of parameters) assigned.add(each);
    open.push("{");
    return accept(true, "{", "statement");
  }

  function passMark(mark: string): string | undefined {
    const top = open.at(-1);
    const isOutside = top === undefined || top === "{";
    switch (mark) {
      case "\n":
        return passNewline(isOutside);
      case ";":
        return accept(next !== "value" && (isOutside || top === "for"), mark, "statement");
      case "{": {
        const isBlock = top === "{" && (next === "statement" || next === "body");
        const isAction = top === undefined && (next === "statement" || next === "operator" || next === "end");
        open.push("{");
        return accept(isBlock || isAction, mark, "statement");
      }
      case "(":
      case "[": {
        const isFitting = mark === "(" ? next !== "end" : next === "operator" && /^[A-Za-z_\]]/.test(last);
        open.push(mark);
        return accept(isFitting, mark, "value");
      }
      case "}":
      case ")":
      case "]":
        return passClosing(mark, top);
      case "$":
        return accept(next !== "end", mark, "value");
      case "!":
        return accept(next !== "end" && next !== "operator", mark, "value");
      case "+":
      case "-":
        return accept(next !== "end", mark, "value");
      case "++":
      case "--":
        return accept(next !== "end", mark, next === "operator" ? "operator" : "value");
      case ">":
      case ">=":
        if (mayRedirect()) return redirects;
        break;
      case "=":
      case "+=":
        assigned.add(last);
    }
    return accept(next === "operator", mark, "value");
  }

  /** Inside parentheses `>` compares. Elsewhere in a `print` it redirects, at least in some awks. */
  function mayRedirect(): boolean {
    return printedAt !== undefined && !open.slice(printedAt).some((bracket) => bracket === "(" || bracket === "call");
  }

  function passNewline(isOutside: boolean): string | undefined {
    if (next === "value") return continuesLine.has(last) ? undefined : notUnderstood;
    return accept(isOutside, "\n", next === "body" ? "body" : "statement");
  }

  function passClosing(mark: string, top: Bracket | undefined): string | undefined {
    if (top === undefined || closing[top] !== mark) return notUnderstood;
    open.pop();
    switch (top) {
      case "{":
        return accept(next !== "value", mark, "statement");
      case "if":
        return accept(next === "operator", mark, "body");
      case "for":
        return accept(next === "operator" || next === "statement", mark, "body");
      case "call":
        return accept(next === "operator" || last === "(", mark, "operator");
      default:
        return accept(next === "operator", mark, "operator");
    }
  }

  function isWhole(): boolean {
    return (
      open.length === 0 && next !== "value" && [...called].every((word) => defined.has(word) || assigned.has(word))
    );
  }

  return { passToken, isWhole };
}
