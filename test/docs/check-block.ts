import ts from "typescript";
import { parseAllDocuments } from "yaml";
import { type Block, looksLike } from "./blocks.ts";
import { type Program, type Runnable, runBlock, shellFault } from "./run-block.ts";

/** `skipped`: the missing programs. `faults`: messages for a person. */
export interface Verdict {
  readonly faults: readonly string[];
  readonly missing: readonly string[];
}

const runnable: Readonly<Record<string, Runnable>> = {
  sh: "shell",
  bash: "shell",
  js: "node",
  mjs: "node",
  go: "go",
  python: "python",
};

/** Not runnable. `console` shows a dialogue with prompts; `lua` and `elisp` are editor settings. */
const prose: ReadonlySet<string> = new Set(["text", "console", "diff", "markdown", "lua", "elisp"]);

/** Whether a block is a program that the page allows to run. */
export function isRunnable({ language, directives }: Block): boolean {
  return language in runnable && directives.noRun === undefined && directives.fileName === undefined;
}

/** Checks a block: its directives, its syntax, and unless it opts out, that it does what the page says. */
export async function checkBlock(
  block: Block,
  page: readonly Block[],
  tinman: string,
  run: typeof runBlock = runBlock,
): Promise<Verdict> {
  const { language, directives, text } = block;
  const faults = [...directives.faults];
  const kind = runnable[language];
  const syntaxFault = faultOfSyntax(language, text);
  if (syntaxFault !== undefined) faults.push(syntaxFault);
  if (kind === undefined || !isRunnable(block) || faults.length > 0) return { faults, missing: [] };

  const outcome = await run(programOf(block, kind, page), tinman);
  if (outcome.missing.length > 0) return { faults: [], missing: outcome.missing };
  const { exitCode, prints } = directives;
  const expectedOutput = outputAfter(block, page);
  if (outcome.exitCode !== exitCode) faults.push(`it ended with ${outcome.exitCode} instead of ${exitCode}`);
  for (const one of prints) if (!outcome.stdout.includes(one)) faults.push(`it did not print ${JSON.stringify(one)}`);
  if (expectedOutput !== undefined && !looksLike(expectedOutput, outcome.stdout))
    faults.push(`it did not print what the page shows:\n${expectedOutput}`);
  if (faults.length > 0) faults.push(`stdout:\n${outcome.stdout}`, `stderr:\n${outcome.stderr}`);
  return { faults, missing: [] };
}

function programOf(block: Block, kind: Runnable, page: readonly Block[]): Program {
  const before = page.slice(0, page.indexOf(block));
  const chain = [block];
  for (const earlier of before.toReversed()) {
    if (!chain[0]?.directives.continues) break;
    if (runnable[earlier.language] === kind && earlier.directives.noRun === undefined) chain.unshift(earlier);
  }
  const written = before.filter(({ directives }) => directives.fileName !== undefined);
  const named = Object.fromEntries(written.map(({ directives, text }) => [directives.fileName ?? "", text]));
  const silent = chain.slice(0, -1).map(({ text }) => `{\n${text}} >/dev/null\n`);
  return {
    kind,
    text: `${silent.join("")}${block.text}`,
    files: Object.assign({}, named, ...chain.map(({ directives }) => directives.files)),
    copies: chain.flatMap(({ directives }) => directives.copies),
    git: chain.some(({ directives }) => directives.git),
  };
}

/** The block with this one's expected output: the next one, if marked so. */
function outputAfter(block: Block, page: readonly Block[]): string | undefined {
  const next = page[page.indexOf(block) + 1];
  return next?.directives.isOutput ? next.text : undefined;
}

function faultOfSyntax(language: string, text: string): string | undefined {
  try {
    if (language === "json") JSON.parse(text);
    else if (language === "jsonl") for (const line of text.trim().split("\n")) JSON.parse(line);
    else if (language === "yaml")
      return parseAllDocuments(text).find(({ errors }) => errors.length > 0)?.errors[0]?.message;
    else if (language === "ts" || language === "js" || language === "mjs") return faultOfTypeScript(text);
    else if (runnable[language] === "shell") return shellFault(text);
    else if (!prose.has(language) && !runnable[language])
      return language === "" ? "say which language this is" : `no checker for ${language} blocks`;
    return undefined;
  } catch (error) {
    return String(error);
  }
}

function faultOfTypeScript(text: string): string | undefined {
  const options = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext };
  const { diagnostics } = ts.transpileModule(text, { reportDiagnostics: true, compilerOptions: options });
  const [first] = diagnostics ?? [];
  return first && ts.flattenDiagnosticMessageText(first.messageText, "\n");
}
