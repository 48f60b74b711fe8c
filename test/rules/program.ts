import ts from "typescript";

/** The repository's `src`, with these texts by path in place of its files or beside them. */
export function programOf(planted: ReadonlyMap<string, string>): ts.Program {
  const cwd = process.cwd();
  const { config } = ts.readConfigFile("tsconfig.json", ts.sys.readFile);
  const { options, fileNames } = ts.parseJsonConfigFileContent(config, ts.sys, cwd);
  const host = ts.createCompilerHost(options, true);
  const read = host.readFile.bind(host);
  const exists = host.fileExists.bind(host);
  const textOf = (path: string): string | undefined => planted.get(path.replace(`${cwd}/`, ""));
  host.readFile = (path) => textOf(path) ?? read(path);
  host.fileExists = (path) => textOf(path) !== undefined || exists(path);
  const own = fileNames.filter((path) => /^(?:src|text-files)\b/.test(path.slice(cwd.length + 1)));
  return ts.createProgram([...own, ...planted.keys()], options, host);
}
