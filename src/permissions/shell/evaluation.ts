import { binaryIsHarmless, harmlessUnary } from "./test-command.ts";

/** A node of an expansion, as parsed. */
export interface Expansion {
  readonly type: string;
  readonly text?: string;
  readonly value?: unknown;
  readonly operator?: unknown;
  readonly left?: unknown;
  readonly right?: unknown;
  readonly expression?: unknown;
}

/**
 * A name with a prefix, suffix, default or replacement of letters and simple patterns. Excludes subscripts, offsets and
 * indirect names, which bash evaluates, and quotes and commands, which the parser may end elsewhere than bash.
 */
const plainExpansion = /^\$\{#?(?:\w+|[@*?#$!-])(?:(?::?[-+?]|%%?|##?|\^\^?|,,?|\/\/?)[\w.*?/ -]*)?\}$/;
const compares = "compares numbers, and bash runs commands in their values";
const calculates = "calculates with variables, and bash runs commands in their values";

/** Why an expansion may run commands in a variable's value; `undefined` if it cannot. */
export function evaluates(node: Expansion): string | undefined {
  if (node.type === "ArithmeticExpansion" && node.expression === undefined)
    return "has arithmetic that cannot be parsed";
  if (node.type === "ArithmeticWord")
    return /^(0[xX][0-9A-Fa-f]+|\d*)$/.test(String(node.value)) ? undefined : calculates;
  if (node.type === "ArithmeticCommandExpansion") return calculates;
  if (node.type === "TestUnary" || node.type === "TestBinary") return isHarmlessTest(node) ? undefined : compares;
  if (node.type === "Assignment" && startsList(node.value)) return "sets a variable to a list whose end is unclear";
  if (node.type === "ArrayValue") return "sets a list, whose subscripts and values may be evaluated";
  const isPlain = node.type !== "ParameterExpansion" || plainExpansion.test(node.text ?? "");
  return isPlain ? undefined : "expands a variable in a way that may run commands";
}

function isHarmlessTest({ operator, left, right }: Expansion): boolean {
  const text = (word: unknown): string => (isWord(word) ? word.value : "");
  const name = String(operator);
  return left === undefined ? harmlessUnary.test(name) : binaryIsHarmless(name, text(left), text(right));
}

function isWord(value: unknown): value is { readonly type: "Word"; readonly text: string; readonly value: string } {
  return typeof value === "object" && value !== null && "type" in value && value.type === "Word";
}

/** The parser returns such a list as a plain word. */
function startsList(value: unknown): boolean {
  return isWord(value) && value.text.startsWith("(");
}
