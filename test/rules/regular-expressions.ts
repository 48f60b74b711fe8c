import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { analyse } from "scslre";
import ts from "typescript";

const source = fileURLToPath(new URL("../../src/", import.meta.url));

export interface SlowPattern {
  readonly file: string;
  readonly pattern: string;
  /** A hostile text's time grows exponentially with its length, or as a power of it. */
  readonly growth: "exponential" | "polynomial";
}

/** The literals in TypeScript source that take more than linear time for some texts. */
export function slowPatternsIn(file: string, text: string): readonly SlowPattern[] {
  const found: SlowPattern[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf("/");
      const { reports } = analyse({ source: node.text.slice(1, end), flags: node.text.slice(end + 1) });
      const growth = reports.some(({ exponential }) => exponential) ? "exponential" : "polynomial";
      if (reports.length > 0) found.push({ file, pattern: node.text, growth });
    }
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true));
  return found;
}

/** Files that build patterns from strings, which the analysis does not see. */
export function filesWithMadePatterns(): readonly string[] {
  return sourceFiles().filter((file) => /\bnew RegExp\(/.test(readFileSync(join(source, file), "utf8")));
}

function sourceFiles(): readonly string[] {
  const names = readdirSync(source, { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).sort();
}

export function slowPatternsOfSource(): readonly SlowPattern[] {
  return sourceFiles().flatMap((file) => slowPatternsIn(`src/${file}`, readFileSync(join(source, file), "utf8")));
}
