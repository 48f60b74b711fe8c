import { isBuiltin } from "node:module";
import { posix } from "node:path";
import ts from "typescript";
import {
  deepestLevel,
  helpers,
  importRules,
  isFile,
  machineBuiltins,
  messageOf,
  startingBuiltin,
} from "../../scripts/import-rules.mjs";

export interface Import {
  /** `undefined` if it is computed. */
  readonly specifier: string | undefined;
  readonly how: "static" | "lazy" | "type";
}

type Row = (typeof importRules)[number];

/** Every import of a module, including re-exports, `import()` and `import("…")` types. */
export function importsOf(text: string): readonly Import[] {
  const found: Import[] = [];
  const add = (node: ts.Node | undefined, how: Import["how"]): void => {
    found.push({ specifier: node && ts.isStringLiteralLike(node) ? node.text : undefined, how });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(node.moduleSpecifier, isTypeOnly(node.importClause) ? "type" : "static");
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier)
      add(node.moduleSpecifier, node.isTypeOnly ? "type" : "static");
    else if (ts.isImportTypeNode(node))
      add(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : undefined, "type");
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
      add(node.arguments[0], "lazy");
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile("module.ts", text, ts.ScriptTarget.Latest));
  return found;
}

function isTypeOnly(clause: ts.ImportClause | undefined): boolean {
  return clause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
}

/** The faults of a module's imports, one sentence each. `path` is relative to `src`. */
export function importFaults(path: string, imports: readonly Import[]): readonly string[] {
  const row = rowOf(path);
  if (!row) return [`src/${path} has no row in scripts/import-rules.mjs`];
  if (!isFile(row.room) && depth(path) - depth(`${row.room}/x`) > deepestLevel)
    return [`src/${path} lies more than ${deepestLevel} folders below src/${row.room}`];
  return imports
    .filter((one) => !isAllowed(row, path, one))
    .map((one) => `${one.specifier ?? "a computed import"} (${one.how}) in src/${path}: ${messageOf(row)}`);
}

function isAllowed(row: Row, path: string, { specifier, how }: Import): boolean {
  if (specifier === undefined) return false;
  const lazily = how === "static" ? [] : (row.lazily ?? []);
  if (specifier.startsWith(".")) {
    const target = posix.join(posix.dirname(path), specifier);
    const room = rowOf(target)?.room;
    if (room === undefined) return false;
    if (room === row.room) return roomFolder(row, path) === roomFolder(row, target);
    return row.may.includes(room) || lazily.includes(room);
  }
  if (specifier === startingBuiltin) return row.startsPrograms === true;
  if (specifier.startsWith("node:"))
    return row.builtins === "all" || (row.builtins === "no-machine" && !machineBuiltins.includes(specifier));
  if (isBuiltin(specifier)) return false;
  const library = libraryOf(specifier);
  return (row.libraries ?? []).includes(library) || lazily.includes(library);
}

/** Unused allowances in the table. The helpers count as used. */
export function unusedAllowances(imports: ReadonlyMap<string, readonly Import[]>): readonly string[] {
  const used = new Set<string>();
  for (const [path, found] of imports) {
    for (const { specifier = "" } of found) {
      const what = specifier.startsWith(".")
        ? rowOf(posix.join(posix.dirname(path), specifier))?.room
        : libraryOf(specifier);
      used.add(`src/${rowOf(path)?.room} needs no ${what}`);
    }
  }
  return importRules
    .flatMap(({ room, may, lazily = [], libraries = [] }) =>
      [...may, ...lazily, ...libraries]
        .filter((name) => !helpers.includes(name))
        .map((name) => `src/${room} needs no ${name}`),
    )
    .filter((fault) => !used.has(fault));
}

/** Rows for a file come before rows for its folder. */
function rowOf(path: string): Row | undefined {
  return importRules.find(({ room }) => (isFile(room) ? path === room : matchesFolder(room, path)));
}

function matchesFolder(room: string, path: string): boolean {
  const names = path.split("/");
  const wanted = room.split("/");
  return names.length > wanted.length && wanted.every((name, i) => name === "*" || name === names[i]);
}

function libraryOf(specifier: string): string {
  return specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
}

/** Distinguishes `frontends/exec` from `frontends/acp`, which share a row. */
function roomFolder(row: Row, path: string): string {
  return path.split("/").slice(0, depth(row.room)).join("/");
}

function depth(path: string): number {
  return path.split("/").length;
}
