import { high, type Judgement, judged } from "../judgement.ts";
import { type Arg, textOf } from "../programs/arg.ts";

/** Excludes `-v` and `-R`: they evaluate a subscript in the variable's name, which may run commands. */
export const harmlessUnary = /^-[abcdefghknoprstuwxzGLNOS]$/;
const harmlessBinary = /^(=|==|!=|<|>|-(nt|ot|ef))$/;
const numeric = /^-(eq|ne|lt|le|gt|ge)$/;

/** `[ … ]`: harmless unless an unknown word could be an operator. */
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
    "compares unquoted words that are not known in advance and may be operators, or tests a variable by its name",
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

/** `[[ … ]]` evaluates numbers, so both must be literals. */
export function binaryIsHarmless(operator: string, left: string, right: string): boolean {
  if (numeric.test(operator)) return /^-?\d+$/.test(left) && /^-?\d+$/.test(right);
  return harmlessBinary.test(operator);
}
