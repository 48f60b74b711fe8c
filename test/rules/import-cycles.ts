import { readdirSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import ts from "typescript";

/** Files with their imports of each other, including types. */
export type ImportGraph = ReadonlyMap<string, readonly string[]>;

export function importGraph(texts: ReadonlyMap<string, string>): ImportGraph {
  const importsOf = (path: string, text: string): readonly string[] =>
    ts
      .preProcessFile(text, true, true)
      .importedFiles.map(({ fileName }) => posix.join(posix.dirname(path), fileName))
      .filter((target) => texts.has(target));
  return new Map([...texts].map(([path, text]) => [path, importsOf(path, text)]));
}

/** Each as the files that lead back to the first. Empty if the graph has no cycle. */
export function cyclesIn(graph: ImportGraph): readonly string[] {
  const cycles: string[] = [];
  const done = new Set<string>();
  const way: string[] = [];
  const visit = (path: string): void => {
    const at = way.indexOf(path);
    if (at >= 0) cycles.push([...way.slice(at), path].join(" -> "));
    if (at >= 0 || done.has(path)) return;
    way.push(path);
    for (const target of graph.get(path) ?? []) visit(target);
    way.pop();
    done.add(path);
  };
  for (const path of graph.keys()) visit(path);
  return cycles;
}

/** Every module of the program, by its path. */
export function sourceTexts(): ReadonlyMap<string, string> {
  const paths = readdirSync("src", { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts"));
  return new Map(paths.map((path) => [posix.join("src", path), readFileSync(posix.join("src", path), "utf8")]));
}
