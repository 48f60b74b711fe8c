import ts from "typescript";

/** Files as they are on disk. Parsing them takes as long as half of a check, so all programs share them. */
const parsed = new Map<string, ts.SourceFile | undefined>();

/** Other tests run in the same process, and a few hundred megabytes would slow down every collection. */
export function forgetSources(): void {
  parsed.clear();
}

/** Of the repository's `src`, or of texts by path. */
export function programOf(planted?: ReadonlyMap<string, string>): ts.Program {
  const cwd = process.cwd();
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, cwd);
  const host = ts.createCompilerHost(options, true);
  const read = host.readFile.bind(host);
  const exists = host.fileExists.bind(host);
  const textOf = (path: string): string | undefined => planted?.get(path.replace(`${cwd}/`, ""));
  host.readFile = (path) => textOf(path) ?? read(path);
  host.fileExists = (path) => textOf(path) !== undefined || exists(path);
  const parse = host.getSourceFile.bind(host);
  host.getSourceFile = (path, version, ...more) => {
    const text = textOf(path);
    if (text !== undefined) return ts.createSourceFile(path, text, version, true);
    if (!parsed.has(path)) parsed.set(path, parse(path, version, ...more));
    return parsed.get(path);
  };
  const own = fileNames.filter((path) => /^(?:src|text-files)\b/.test(path.slice(cwd.length + 1)));
  return ts.createProgram(planted === undefined ? own : [...planted.keys()], options, host);
}
