const commandTypes = new Set(
  (
    "Command Pipeline AndOr Subshell BraceGroup CompoundList Redirected If While For Case Function TestCommand " +
    "ArithmeticCommand ArithmeticFor Select Coproc Statement"
  ).split(" "),
);

/** Whether a syntax node is a command rather than a part of a word. */
export function isCommand(node: { readonly type: string }): boolean {
  return commandTypes.has(node.type);
}

/** Whether a command only sets variables, to plain texts, so that it cannot fail. */
export function isPlainAssignment(node: {
  readonly type: string;
  readonly name?: unknown;
  readonly redirects?: readonly unknown[];
  readonly prefix?: readonly { readonly type: string; readonly text?: string; readonly value?: unknown }[];
}): boolean {
  if (node.type !== "Command" || node.name !== undefined || (node.redirects ?? []).length > 0) return false;
  const known = /\$(?:(?:HOME|PWD)(?![A-Za-z0-9_])|\{(?:HOME|PWD)\})/g;
  const isPlain = (text: string): boolean => !/[$`<>(]/.test(text.replace(known, ""));
  return (node.prefix ?? []).every((entry) => entry.type === "Assignment" && isPlain(entry.text ?? "$"));
}

/** The text of a node. Its positions point into the parsed text. */
export function sourceOf(
  node: { readonly pos: number; readonly end: number },
  { source }: { readonly source: string },
): string {
  return source.slice(node.pos, node.end);
}

type RunsScript = "CommandExpansion" | "ProcessSubstitution" | "ArithmeticCommandExpansion";

export function runsScript<T extends { readonly type: string }>(node: T): node is Extract<T, { type: RunsScript }> {
  return /^(Command|ArithmeticCommand)Expansion$|^ProcessSubstitution$/.test(node.type);
}
