/** A node of an expansion, as the parser gives it. */
export interface Expansion {
  readonly type: string;
  readonly text?: string;
  readonly value?: unknown;
  readonly expression?: unknown;
  readonly prefix?: unknown;
  readonly index?: { readonly value: string } | undefined;
  readonly operation?: Operation | undefined;
}

interface Operation {
  readonly type: string;
  readonly operator: string;
  readonly offset?: { readonly value: string };
  readonly length?: { readonly value: string } | undefined;
}

const calculates = "calculates with variables, and bash runs commands that it finds in their values";

/** Why an expansion may run commands that stand in the value of a variable; `undefined` when it cannot. */
export function evaluates(node: Expansion): string | undefined {
  if (node.type === "ArithmeticExpansion" && node.expression === undefined)
    return "has arithmetic that cannot be parsed";
  if (node.type === "ArithmeticWord") return /^(0[xX])?[0-9A-Fa-f]*$/.test(String(node.value)) ? undefined : calculates;
  if (node.type === "ArithmeticCommandExpansion") return calculates;
  if (node.type !== "ParameterExpansion") return undefined;
  // Where such a command ends is easily got wrong: in `${x/$(a b/c)/d}` the parser takes the first slash for the second.
  if (/`|\$\(|[<>]\(/.test(node.text ?? "")) return "runs a command inside the expansion of a variable";
  if (node.prefix === "!") return "takes the name of a variable from another one";
  if (node.index !== undefined && !/^([@*]|\d+)$/.test(node.index.value))
    return "has a subscript, which bash evaluates";
  return node.operation === undefined ? undefined : operates(node.operation);
}

function operates({ type, operator, offset, length }: Operation): string | undefined {
  switch (type) {
    case "Remove":
    case "Replace":
    case "CaseModification":
      return undefined;
    case "Default":
      return operator.endsWith("=") ? "sets a variable in an expansion" : undefined;
    case "Slice":
      return [offset, length].every((word) => word === undefined || /^\s*-?\d*$/.test(word.value))
        ? undefined
        : calculates;
    default:
      return "expands a variable in a way that may run commands";
  }
}
