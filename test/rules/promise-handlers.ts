import ts from "typescript";

/**
 * Promises without an await or a handler, whose rejection would end the process with every user's sessions. Biome's
 * noFloatingPromises accepts `void promise`.
 */
export function unhandledPromises(program: ts.Program, isChecked: (path: string) => boolean): readonly string[] {
  const checker = program.getTypeChecker();
  const faults: string[] = [];

  const isPromise = (node: ts.Expression): boolean => isThenable(checker.getTypeAtLocation(node));
  const isThenable = (type: ts.Type): boolean =>
    type.isUnion() ? type.types.some(isThenable) : type.getProperty("then") !== undefined;
  const isVoid = (type: ts.Type): boolean => (type.flags & ts.TypeFlags.Void) !== 0;

  /** The code expects a callback that returns nothing, and gets one that returns a promise. */
  function isLostByCallback(node: ts.Node): node is ts.ArrowFunction | ts.FunctionExpression {
    if (!ts.isArrowFunction(node) && !ts.isFunctionExpression(node)) return false;
    const expected = checker.getContextualType(node)?.getCallSignatures() ?? [];
    if (expected.length === 0 || !expected.every((signature) => isVoid(signature.getReturnType()))) return false;
    const own = checker.getSignatureFromDeclaration(node)?.getReturnType();
    if (own === undefined || !isThenable(own)) return false;
    return ts.isBlock(node.body) || !isHandled(node.body);
  }

  function visit(node: ts.Node): void {
    const isLost =
      (ts.isVoidExpression(node) && isPromise(node.expression) && !isHandled(node.expression)) ||
      isLostByCallback(node);
    if (isLost) {
      const file = node.getSourceFile();
      const { line } = file.getLineAndCharacterOfPosition(node.getStart());
      faults.push(`${pathOf(file, program)}:${line + 1} ${firstLine(node)}`);
    }
    ts.forEachChild(node, visit);
  }

  for (const file of program.getSourceFiles()) if (isChecked(pathOf(file, program))) visit(file);
  return faults;
}

/**
 * By `catch`, or by `then` with two handlers; a `finally` after them changes nothing. An assignment keeps it for later.
 */
function isHandled(node: ts.Expression): boolean {
  if (ts.isParenthesizedExpression(node)) return isHandled(node.expression);
  if (ts.isBinaryExpression(node)) return true;
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (name.text === "catch") return node.arguments.length > 0;
  if (name.text === "then") return node.arguments.length > 1;
  return name.text === "finally" && isHandled(expression);
}

function pathOf({ fileName }: ts.SourceFile, program: ts.Program): string {
  return fileName.replace(`${program.getCurrentDirectory()}/`, "");
}

function firstLine(node: ts.Node): string {
  return node.getText().split("\n")[0] ?? "";
}
