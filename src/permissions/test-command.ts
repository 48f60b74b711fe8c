import { type Arg, textOf } from "./arg.ts";
import { high, type Judgement, judged } from "./judgement.ts";

/** Not `-v` and `-R`: a subscript in the name of a variable is evaluated, and that may run commands. */
export const harmlessUnary = /^-[abcdefghknoprstuwxzGLNOS]$/;
const harmlessBinary = /^(=|==|!=|<|>|-(nt|ot|ef))$/;
const numeric = /^-(eq|ne|lt|le|gt|ge)$/;

/** `[ … ]`: harmless unless a word that is not known could be an operator. */
export function judgeTest(args: readonly Arg[]): Judgement {
  const words = textOf(args.at(-1)) === "]" ? args.slice(0, -1) : args;
  const from = words.findIndex((word) => textOf(word) !== "!");
  const rest = from === -1 ? [] : words.slice(from);
  const isHarmless = rest.every((word) => word.kind === "text")
    ? rest.every((word) => !/^-[vR]$/.test(textOf(word) ?? ""))
    : isClear(rest);
  if (isHarmless) return judged("read", "shell builtin", "compares");
  return high(
    "unknown-test",
    "compares words that are not known and not in quotes, which could be operators, or looks at a variable by its name",
  );
}

function isClear(words: readonly Arg[]): boolean {
  if (words.some((word) => word.kind !== "text" && !(word.kind === "unknown" && word.single))) return false;
  const [first, second, third] = words;
  if (words.length === 1) return true;
  if (words.length === 2) return harmlessUnary.test(textOf(first) ?? "");
  const operator = textOf(second) ?? "";
  return words.length === 3 && third !== undefined && (harmlessBinary.test(operator) || numeric.test(operator));
}

/** In `[[ … ]]` numbers are evaluated, so both must be written out. */
export function binaryIsHarmless(operator: string, left: string, right: string): boolean {
  if (numeric.test(operator)) return /^-?\d+$/.test(left) && /^-?\d+$/.test(right);
  return harmlessBinary.test(operator);
}
