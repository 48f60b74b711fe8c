import { type Arg, knownStart, textOf } from "./arg.ts";
import { worse } from "./autonomy.ts";
import { high, type Judgement, judged } from "./judgement.ts";
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

/** `printf -v` sets a variable; its name may even hold commands. */
function judgePrintf([first, ...rest]: readonly Arg[]): Judgement {
  const start = first === undefined ? "" : knownStart(first);
  const isFormat = first === undefined || (start !== "" && (!start.startsWith("-") || textOf(first) === "--"));
  // With fewer than two words behind it, `-v` is an error.
  const isShort =
    first?.kind === "unknown" && first.single && rest.length < 2 && rest.every(({ kind }) => kind === "text");
  if (isFormat || isShort) return judged("read", "shell builtin", "prints its own words");
  return high("sets-variable", "may set a variable by printf");
}

function judgeWait(args: readonly Arg[]): Judgement {
  if (args.every((arg) => arg.kind === "text" && /^[%\d]/.test(arg.value))) {
    return judged("read", "shell builtin", "waits for what it started");
  }
  return high("unknown-use", "uses wait in a way that is not known");
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

function judgeRead(args: readonly Arg[]): Judgement {
  const isKnown = args.every((arg) => isPlain(arg, plainName) || /^-(r|s|[tn]\d*)$/.test(textOf(arg) ?? ""));
  const names = args.map((arg) => textOf(arg) ?? "");
  const isSafe = names.every((name) => name.startsWith("-") || variableRisk(name) !== "dangerous");
  if (isKnown && isSafe && args.some((arg) => isPlain(arg, plainName))) {
    return judged("read", "shell builtin", "reads a line into variables");
  }
  return high("sets-variable", "reads into variables that can do harm, or that are not known");
}

/** What they do to a value depends on what the name was before; for a list, commands in it are run. */
function judgeLocal(): Judgement {
  return high("sets-variable", "declares variables, whose values may be evaluated");
}

/** `export` and its kind; their assignments are judged where they are found. */
function judgeDeclaration(args: readonly Arg[]): Judgement {
  let accessClass: Judgement["class"] = "read";
  for (const arg of args) {
    const name = /^([A-Za-z_][A-Za-z0-9_]*)(=|$)/.exec(knownStart(arg))?.[1];
    const isFlag = /^-[xr]$/.test(textOf(arg) ?? "");
    if (isFlag) continue;
    // A value that is not quoted may be several words, each of which is taken for a variable.
    const isOneWord = arg.kind === "text" ? arg.disguised !== true : arg.kind === "unknown" && arg.single;
    const isClear = name !== undefined && isOneWord;
    if (!isClear || variableRisk(name) === "dangerous") {
      return high("dangerous-variable", "sets a variable that can make programs run others, or that is not known");
    }
    if (variableRisk(name) === "unknown" && !/^[a-z]/.test(name)) accessClass = worse(accessClass, "medium");
  }
  return judged(accessClass, "shell builtin", "sets variables");
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
