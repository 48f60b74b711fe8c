import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { liesBelow } from "../files/where-it-leads.ts";
import { programFile } from "../processes/program-file.ts";
import { isThere, leadsTo } from "./repository.ts";

const shells = /^(?:\S*\/)?(?:ba|da|z|k)?sh$/;
const launchers = /^(?:\S*\/)?(?:env|exec|command|nice|nohup|time|timeout|stdbuf|xargs)$/;
const interpreters = /^(?:\S*\/)?(?:python[\d.]*|node|deno|bun|perl|ruby|php|lua)$/;
const python = /^(?:\S*\/)?python[\d.]*$/;
/** Programs that run code or plug-ins from their working directory. */
const runners =
  /^(?:\S*\/)?(?:npx|npm|pnpm|pnpx|yarn|bunx|g?make|just|task|rake|bundle|cargo|go|gradle|mvn|ant|ninja|uv|uvx|poetry|pipenv|pdm|hatch|tox|nox|invoke|composer|mix|sbt|direnv|pre-commit|prettier|eslint|stylelint)$/;
const scripted = /^(?:\S*\/)?(?:g?sed|[gmn]?awk)$/;
const loads = /\b(?:require|require_relative|import|__import__|from|load|do|use|include|open|exec|execfile|source)\b/;
const syntax = /^(?:!|[{}()]|if|then|else|do|while|\w+\(\)|\w+=.*)$/;

/** Whether a command in git's settings is, or loads, a file in one of the folders that git works in. */
export function runsFileOf(folders: readonly string[], command: string): boolean {
  const exists = (name: string): boolean => folders.some((folder) => isThere(join(folder, name)));
  const holds = (path: string): boolean =>
    [path, leadsTo(path, "/")].some((at) => at !== undefined && folders.some((folder) => liesBelow(at, folder)));
  if (/\$\{?(?:PWD|OLDPWD)\b|\$\(\s*pwd|`\s*pwd|--show-toplevel/.test(command)) return true;
  if (absolutePaths(command).some(holds)) return true;
  return command.split(/[|;&\n]+|\$\(|`/).some((part) => {
    const words = part.replace(/["']/g, "").trim().replace(/^!/, "").split(/\s+/);
    const program = words.slice(words.findIndex((word) => word !== "" && !syntax.test(word)));
    return isOwnStart(program, { command, exists, holds });
  });
}

/** Absolute paths anywhere in a command, with variables expanded. */
function absolutePaths(command: string): readonly string[] {
  const home = process.env.HOME || homedir();
  const known = command
    .replace(/(^|[\s"'=:!])~(?=\/)/g, `$1${home}`)
    .replace(/\$(?:\{(\w+)\}|(\w+))/g, (written, braced, plain) => process.env[braced ?? plain] ?? written);
  // Paths with blanks are quoted.
  const quoted = [...known.matchAll(/"([^"]*)"|'([^']*)'/g)].map(([, double, single]) => double ?? single ?? "");
  return [...known.split(/[\s"'=:;|&()<>!`]+/), ...quoted].filter((word) => isAbsolute(word) && word !== "/");
}

interface Around {
  readonly command: string;
  readonly exists: (name: string) => boolean;
  readonly holds: (path: string) => boolean;
}

function isOwnStart([first = "", ...rest]: readonly string[], around: Around): boolean {
  if (first.includes("/") && !/^[/~$]/.test(first)) return true;
  if (runners.test(first) || isFoundInside(first, around)) return true;
  const at = rest.findIndex((word) => !word.startsWith("-"));
  const next = rest[at] ?? "";
  if (launchers.test(first)) {
    const start = rest.findIndex((word) => !/^-|^[\d.]+[smhd]?$|^\w+=/.test(word));
    return start >= 0 && isOwnStart(rest.slice(start), around);
  }
  if (/^(?:\.|source)$/.test(first)) return !/^[/~$]/.test(next);
  if (scripted.test(first)) return takesRelativeFile(rest);
  const isShell = shells.test(first);
  if (!isShell && !interpreters.test(first)) return false;
  if (!isShell && (loadsByFlag(first, rest, around) || loadsInText(around))) return true;
  if (at < 0) return false;
  const flags = rest.slice(0, at);
  // The program's text follows `-c` or `-e`.
  if (flags.some((word) => /^-\w*[ceE]$/.test(word))) return isShell && isOwnStart(rest.slice(at), around);
  if (python.test(first) && flags.some((word) => /^-\w*m/.test(word))) return false;
  return !/^[/~$]/.test(next);
}

/** Whether the PATH may find a name in the repository. With a relative folder in the PATH, any file of that name counts. */
function isFoundInside(name: string, { exists, holds }: Around): boolean {
  if (!/^[\w+-][\w.+-]*$/.test(name)) return false;
  return programFile(name)?.some(holds) ?? exists(name);
}

/** Sed and awk scripts can run commands. */
function takesRelativeFile(words: readonly string[]): boolean {
  return words.some((word, index) => {
    const match = /^(?:-[a-zA-Z]*?f|--(?:file|include|exec|load)=?)(.*)$/.exec(word);
    const file = match?.[1] || (words[index + 1] ?? "");
    return match !== null && file !== "" && !/^[/~$]/.test(file);
  });
}

/** Python finds modules in the folder first, unless a flag prevents it. */
function loadsByFlag(program: string, words: readonly string[], { exists }: Around): boolean {
  if (python.test(program)) {
    if (words.some((word) => /^-[a-zA-Z]*[IP]/.test(word))) return false;
    return words.some((word, index) => {
      const match = /^-[a-zA-Z]*?m(.*)$/.exec(word);
      const module = (match?.[1] || (words[index + 1] ?? "")).replace(/\..*/, "");
      return match !== null && module !== "" && (exists(module) || exists(`${module}.py`));
    });
  }
  return words.some((word, index) => {
    const match = /^(?:-[Ir]|-Mlib=|--(?:require|import|loader|preload)=?)(.*)$/.exec(word);
    const path = match?.[1] || (words[index + 1] ?? "");
    return match !== null && !/^[/~$]/.test(path) && (path.startsWith(".") || exists(path));
  });
}

const endings = ["", ".py", ".js", ".mjs", ".cjs", ".rb", ".pl", ".pm", ".php", ".lua"];

/** Whether inline code that loads files names one in the folder. */
function loadsInText({ command, exists }: Around): boolean {
  if (!/\s-\w*[ceEr]\s|\s--eval|\s-c["']/.test(command) || !loads.test(command)) return false;
  const isIsolated = /python[\d.]*["']?(?:\s+-\w+)*\s+-\w*[IP]/.test(command);
  const names = (command.match(/[\w./-]+/g) ?? []).filter((name) => /\w/.test(name) && !/^[-/]/.test(name));
  const isFile = (name: string): boolean =>
    endings.some((ending) => exists(`${name}${ending}`)) || exists(join("node_modules", name));
  return !isIsolated && names.some((name) => isFile(name) || isFile(name.replace(/\..*/, "") || name));
}
