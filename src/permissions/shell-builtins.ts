import { type Arg, knownStart, textOf } from "./arg.ts";
import { high, type Judgement, judged, setting } from "./judgement.ts";
import { formatRisk } from "./printf-format.ts";
import { judgeTest } from "./test-command.ts";
import { variableRisk } from "./variables.ts";
import { type Judge, prefixing } from "./wrappers.ts";

/** Commands of the shell itself that are not just programs built in. */
export const builtins: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  [":", harmless("does nothing")],
  ["cd", harmless("goes to another folder")],
  ["echo", harmless("prints its own words")],
  ["exit", harmless("ends the shell")],
  ["return", harmless("ends a function")],
  ["break", harmless("ends a loop")],
  ["continue", harmless("goes on with a loop")],
  ["shift", harmless("moves the shell's own words")],
  ["wait", judgeWait],
  ["printf", judgePrintf],
  ["test", judgeTest],
  ["[", judgeTest],
  ["set", judgeSet],
  ["read", judgeRead],
  ["export", judgeDeclaration],
  ["readonly", judgeDeclaration],
  ["local", judgeLocal],
  ["declare", judgeLocal],
  ["typeset", judgeLocal],
  ["command", judgeCommand],
  ["builtin", prefixing("builtin", "", 0)],
  ["exec", judgeExec],
  ["eval", judgeEval],
  ["trap", judgeTrap],
  ["source", () => high("unknown-script", "runs a file as part of the shell")],
  [".", () => high("unknown-script", "runs a file as part of the shell")],
]);

function harmless(why: string): Judge {
  return () => judged("read", "shell builtin", why);
}

/** `printf` prints, unless `-v` or its format has it set a variable, whose name may even hold commands. */
function judgePrintf(args: readonly Arg[]): Judgement {
  const isSetting = textOf(args[0]) === "-v";
  const [first, ...rest] = isSetting ? args.slice(2) : args;
  const format = textOf(first) === "--" ? rest[0] : first;
  const text = textOf(format);
  if (text === undefined) {
    if (format === undefined && !isSetting) return judged("read", "shell builtin", "prints nothing");
    return high("sets-variable", "prints by a format that is not known before it runs, which may set a variable");
  }
  const risk = text.startsWith("-") && text === textOf(first) ? "may set a variable by printf" : formatRisk(text);
  if (risk !== undefined) return high("sets-variable", risk);
  return isSetting ? assigning(args.slice(1, 2)) : judged("read", "shell builtin", "prints its own words");
}

function judgeWait(args: readonly Arg[]): Judgement {
  const isAssigning = textOf(args[0]) === "-p" && args.length > 1;
  const rest = isAssigning ? args.slice(2) : args;
  if (!rest.every((arg) => arg.kind === "text" && /^([%\d]|-[nf]$)/.test(arg.value))) {
    return high("unknown-use", "uses wait in a way that is not known");
  }
  if (isAssigning) return assigning(args.slice(1, 2));
  return judged("read", "shell builtin", "waits for what it started");
}

function judgeSet(args: readonly Arg[]): Judgement {
  const isKnown = args.every((arg) =>
    /^([-+][eufxC]*o?|pipefail|errexit|nounset|noglob|xtrace)$/.test(textOf(arg) ?? "?"),
  );
  if (isKnown && args.length > 0) return judged("read", "shell builtin", "sets how the shell itself behaves");
  return high("unknown-use", "uses set in a way that is not known");
}

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names are taken as they are written, so that a later look at the text finds every place that sets a variable. */
function isPlain(arg: Arg, pattern: RegExp): boolean {
  return arg.kind === "text" && arg.disguised !== true && pattern.test(arg.value);
}

/** A builtin that sets the variables of these names is judged by what they are. */
function assigning(names: readonly Arg[]): Judgement {
  const isSafe = (name: string | undefined) => name !== undefined && variableRisk(name, undefined) !== "dangerous";
  if (names.length === 0 || !names.every((arg) => isPlain(arg, plainName) && isSafe(textOf(arg)))) {
    return high("sets-variable", "sets variables that can do harm, or that are not known");
  }
  const touches = names.map((arg) => setting(textOf(arg) ?? ""));
  return judged("read", "shell builtin", "sets variables of the shell", { touches });
}

function judgeRead(args: readonly Arg[]): Judgement {
  return assigning(args.filter((arg) => !/^-(r|s|[tn]\d*)$/.test(textOf(arg) ?? "")));
}

/** What they do to a value depends on what the name was before; for a list, commands in it are run. */
function judgeLocal(): Judgement {
  return high("sets-variable", "declares variables, whose values may be evaluated");
}

/** `export` and its kind; their assignments are judged where they are found. */
function judgeDeclaration(args: readonly Arg[]): Judgement {
  const exports: string[] = [];
  for (const arg of args) {
    const name = /^([A-Za-z_][A-Za-z0-9_]*)(=|$)/.exec(knownStart(arg))?.[1];
    const isFlag = /^-[xr]$/.test(textOf(arg) ?? "");
    if (isFlag) continue;
    // A value that is not quoted may be several words, each of which is taken for a variable.
    const isOneWord = arg.kind === "text" ? arg.disguised !== true : arg.kind === "unknown" && arg.single;
    const isClear = name !== undefined && isOneWord;
    const value = textOf(arg)?.split(/=(.*)/s)[1];
    const risk = isClear ? variableRisk(name, value) : "dangerous";
    if (!isClear || risk === "dangerous") {
      return high("dangerous-variable", "sets a variable that can make programs run others, or that is not known");
    }
    if (risk === "unknown") exports.push(name);
  }
  return judged("read", "shell builtin", "sets variables", { exports });
}

function judgeCommand(args: readonly Arg[], around: Parameters<Judge>[1]): Judgement {
  const [first] = args;
  if (/^-[vV]$/.test(textOf(first) ?? "")) return judged("read", "shell builtin", "says what a name stands for");
  return prefixing("command", "", 0)(args, around);
}

function judgeExec(args: readonly Arg[], around: Parameters<Judge>[1]): Judgement {
  if (args.length === 0) return judged("read", "shell builtin", "redirects the shell itself");
  return prefixing("exec", "", 0)(args, around);
}

function judgeEval(args: readonly Arg[], around: Parameters<Judge>[1]): Judgement {
  const words = args.map(textOf);
  if (words.some((word) => word === undefined)) {
    return high("unknown-script", "evaluates a text that is not known before it runs");
  }
  const script = words.join(" ").replace(/^-- /, "");
  return high("evaluates", "evaluates a text in the shell itself", {
    runs: [{ kind: "shell", text: script, in: around }],
  });
}

function judgeTrap(args: readonly Arg[], around: Parameters<Judge>[1]): Judgement {
  const [script, ...signals] = args.map(textOf);
  if (args.length === 0) return judged("read", "shell builtin", "lists traps");
  const isKnown = script !== undefined && signals.every((signal) => signal !== undefined && /^[A-Z0-9]+$/.test(signal));
  if (!isKnown || (script.startsWith("-") && script !== "-")) {
    return high("unknown-script", "sets a trap that is not known before it runs");
  }
  if (script === "-" || script === "") return judged("read", "shell builtin", "takes a trap back");
  // It runs later, wherever the shell is by then.
  const later = { ...around, folders: undefined };
  return high("evaluates", "has a text run later", { runs: [{ kind: "shell", text: script, in: later }] });
}
