import { high, type Judgement, judged, setting } from "../judgement.ts";
import { type Arg, knownStart, textOf } from "../programs/arg.ts";
import { type Judge, prefixing } from "../programs/wrappers.ts";
import { judgeTest } from "./test-command.ts";
import { variableRisk } from "./variables.ts";

/** Shell builtins, except those that are just built-in copies of programs. */
export const builtins: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  [":", harmless("does nothing")],
  ["cd", harmless("changes to another folder")],
  ["echo", harmless("prints its arguments")],
  ["exit", harmless("ends the shell")],
  ["return", harmless("ends a function")],
  ["break", harmless("ends a loop")],
  ["continue", harmless("continues a loop")],
  ["shift", harmless("shifts the shell's arguments")],
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

/** `printf` prints, unless `-v` or its format sets a variable, whose name may even contain commands. */
function judgePrintf(args: readonly Arg[]): Judgement {
  const isSetting = textOf(args[0]) === "-v";
  const [first, ...rest] = isSetting ? args.slice(2) : args;
  const format = textOf(first) === "--" ? rest[0] : first;
  const text = textOf(format);
  if (text === undefined) {
    if (format === undefined && !isSetting) return judged("read", "shell builtin", "prints nothing");
    return high("sets-variable", "prints with a format that is not known in advance and may set a variable");
  }
  const risk = text.startsWith("-") && text === textOf(first) ? "may set a variable with printf" : formatRisk(text);
  if (risk !== undefined) return high("sets-variable", risk);
  return isSetting ? assigning(args.slice(1, 2)) : judged("read", "shell builtin", "prints its arguments");
}

/** A directive with a small literal width and precision. A huge width would exhaust memory. */
const directive = /^%[-+ #0']*\d{0,4}(?:\.\d{0,4})?(?:hh|[hljztLq]|ll)?([diouxXeEfFgGaAcsbqQ]|\([^()]{0,100}\)T)/;

/**
 * Why a `printf` format may do more than print; `undefined` if it only prints. `%n` sets the variable that its argument
 * names, and `*` takes a width from an argument.
 */
function formatRisk(format: string): string | undefined {
  for (let at = format.indexOf("%"); at !== -1; at = format.indexOf("%", at)) {
    const rest = format.slice(at, at + 130);
    const known = /^%%/.exec(rest) ?? directive.exec(rest);
    if (known === null)
      return /^%[^a-zA-Z]*n/.test(rest) ? "sets a variable with printf" : "prints with an unknown format";
    at += known[0].length;
  }
  return undefined;
}

function judgeWait(args: readonly Arg[]): Judgement {
  const isAssigning = textOf(args[0]) === "-p" && args.length > 1;
  const rest = isAssigning ? args.slice(2) : args;
  if (!rest.every((arg) => arg.kind === "text" && /^([%\d]|-[nf]$)/.test(arg.value))) {
    return high("unknown-use", "uses wait in an unknown way");
  }
  if (isAssigning) return assigning(args.slice(1, 2));
  return judged("read", "shell builtin", "waits for background commands");
}

function judgeSet(args: readonly Arg[]): Judgement {
  const isKnown = args.every((arg) =>
    /^([-+][eufxC]*o?|pipefail|errexit|nounset|noglob|xtrace)$/.test(textOf(arg) ?? "?"),
  );
  if (isKnown && args.length > 0) return judged("read", "shell builtin", "sets options of the shell");
  return high("unknown-use", "uses set in an unknown way");
}

const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Names must be written plainly, so that searching the text finds every place that sets a variable. */
function isPlain(arg: Arg, pattern: RegExp): boolean {
  return arg.kind === "text" && arg.disguised !== true && pattern.test(arg.value);
}

/** A builtin that sets these variables is as harmful as the variables. */
function assigning(names: readonly Arg[]): Judgement {
  const isSafe = (name: string | undefined) => name !== undefined && variableRisk(name, undefined) !== "dangerous";
  if (names.length === 0 || !names.every((arg) => isPlain(arg, plainName) && isSafe(textOf(arg)))) {
    return high("sets-variable", "sets variables that are dangerous or unknown");
  }
  const touches = names.map((arg) => setting(textOf(arg) ?? ""));
  return judged("read", "shell builtin", "sets shell variables", { touches });
}

function judgeRead(args: readonly Arg[]): Judgement {
  return assigning(args.filter((arg) => !/^-(r|s|[tn]\d*)$/.test(textOf(arg) ?? "")));
}

/** The effect depends on the variable's earlier attributes. For an array, bash runs commands in the value. */
function judgeLocal(): Judgement {
  return high("sets-variable", "declares variables, whose values may be evaluated");
}

/** `export` and the like. Their assignments are judged separately. */
function judgeDeclaration(args: readonly Arg[]): Judgement {
  const exports: string[] = [];
  for (const arg of args) {
    const name = /^([A-Za-z_][A-Za-z0-9_]*)(=|$)/.exec(knownStart(arg))?.[1];
    const isFlag = /^-[xr]$/.test(textOf(arg) ?? "");
    if (isFlag) continue;
    // An unquoted value may be several words, each of which is read as a variable.
    const isOneWord = arg.kind === "text" ? arg.disguised !== true : arg.kind === "unknown" && arg.single;
    const isClear = name !== undefined && isOneWord;
    const value = textOf(arg)?.split(/=(.*)/s)[1];
    const risk = isClear ? variableRisk(name, value) : "dangerous";
    if (!isClear || risk === "dangerous") {
      return high("dangerous-variable", "sets an unknown variable, or one that can make programs run other programs");
    }
    if (risk !== "harmless") exports.push(name);
  }
  return judged("read", "shell builtin", "sets variables", { exports });
}

function judgeCommand(args: readonly Arg[], around: Parameters<Judge>[1]): Judgement {
  const [first] = args;
  if (/^-[vV]$/.test(textOf(first) ?? "")) return judged("read", "shell builtin", "prints what a command name means");
  return prefixing("command", "", 0)(args, around);
}

function judgeExec(args: readonly Arg[], around: Parameters<Judge>[1]): Judgement {
  if (args.length === 0) return judged("read", "shell builtin", "redirects the shell itself");
  return prefixing("exec", "", 0)(args, around);
}

function judgeEval(args: readonly Arg[], around: Parameters<Judge>[1]): Judgement {
  const words = args.map(textOf);
  if (words.some((word) => word === undefined)) {
    return high("unknown-script", "evaluates a text that is not known in advance");
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
    return high("unknown-script", "sets a trap that is not known in advance");
  }
  if (script === "-" || script === "") return judged("read", "shell builtin", "removes a trap");
  // It runs later, in whatever folder the shell is then.
  const later = { ...around, folders: undefined };
  return high("evaluates", "sets a script to run later", { runs: [{ kind: "shell", text: script, in: later }] });
}
