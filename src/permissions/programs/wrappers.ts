import { high, type Judgement, judged, type Surroundings } from "../judgement.ts";
import { variableRisk } from "../shell/variables.ts";
import { type Arg, knownStart, text, textOf, unknownWords } from "./arg.ts";
import { fitted, parsedRow } from "./argv.ts";
import { judgeFind } from "./find.ts";
import { touchesOf } from "./touches.ts";

export type Judge = (args: readonly Arg[], around: Surroundings) => Judgement;

/** Programs that run the command in their arguments. */
export const wrappers: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ["sudo", asAnotherUser("sudo")],
  ["doas", asAnotherUser("doas")],
  ["env", judgeEnv],
  ["nice", prefixing("nice", "-n: --adjustment: -#", 0)],
  ["ionice", prefixing("ionice", "-c: -n: -t", 0)],
  ["nohup", prefixing("nohup", "", 0)],
  ["time", prefixing("time", "-p", 0)],
  ["stdbuf", prefixing("stdbuf", "-i: -o: -e: --input: --output: --error:", 0)],
  ["timeout", prefixing("timeout", "-k: -s: -v --kill-after: --signal: --preserve-status --foreground --verbose", 1)],
  ["xargs", judgeXargs],
  ["find", judgeFind],
  ["bash", shell("bash")],
  ["sh", shell("sh")],
  ["dash", shell("dash")],
]);

/** The command after the wrapper's own flags and `skipped` further words. */
export function prefixing(name: string, flags: string, skipped: number): Judge {
  return (args, around) => {
    const rest = leadingFlags(name, flags, args)?.rest;
    if (rest === undefined || rest.slice(0, skipped).some((arg) => arg.kind !== "text") || rest.length <= skipped) {
      return high("unknown-wrapper", `uses ${name} in an unknown way`);
    }
    const isExternal = name !== "command" && name !== "builtin";
    return judged("read", `unwrapped ${name}`, `runs the command given to ${name}`, {
      runs: [{ kind: "words", args: rest.slice(skipped), in: { ...around, isExternal } }],
    });
  };
}

const mostFlags = 40;

/** The flags before the first word that is neither a flag nor a flag's value. */
function leadingFlags(
  program: string,
  flags: string,
  args: readonly Arg[],
):
  | { readonly given: ReadonlySet<string>; readonly values: ReadonlyMap<string, string>; readonly rest: readonly Arg[] }
  | undefined {
  const first = args.findIndex((arg) => !knownStart(arg).startsWith("-"));
  const last = Math.min(args.length, mostFlags);
  const row = parsedRow({ program, class: "read", flags, why: "" });
  for (let end = first === -1 ? args.length : first; end <= last; end += 1) {
    const next = args[end];
    if (next !== undefined && knownStart(next).startsWith("-")) continue;
    const found = fitted(row, args.slice(0, end));
    if (found === undefined) continue;
    const values = new Map(found.values.map(({ flag, arg }) => [flag, textOf(arg) ?? ""]));
    return { given: found.given, values, rest: args.slice(end) };
  }
  return undefined;
}

function asAnotherUser(name: string): Judge {
  return (args, around) => {
    const from = args.findIndex((arg) => !knownStart(arg).startsWith("-"));
    const runs = from === -1 ? [] : [{ kind: "words" as const, args: args.slice(from), in: around }];
    return high("other-user", `runs as another user, with ${name}`, { runs });
  };
}

/** `env`: variables, then a command. Without a command it prints the environment. */
function judgeEnv(args: readonly Arg[], around: Surroundings): Judgement {
  const variables = [...(around.variables ?? [])];
  let isBare = false;
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] as Arg;
    const word = textOf(arg);
    if (word === "-i" || word === "--ignore-environment" || word === "-") {
      isBare = true;
      continue;
    }
    if (word === "-u" || word === "--unset") {
      at += 1;
      // An unknown value may be several words, the second of them a command.
      const name = textOf(args[at]) ?? "PATH";
      isBare ||= variableRisk(name, undefined) === "dangerous";
      variables.push(name);
      continue;
    }
    if (word === "--") {
      at += 1;
      break;
    }
    if (knownStart(arg).startsWith("-")) return high("unknown-wrapper", "uses env in an unknown way");
    const assigned = /^([A-Za-z_][A-Za-z0-9_]*)=/.exec(knownStart(arg))?.[1];
    if (assigned === undefined) break;
    const isOneWord = arg.kind === "text" || (arg.kind === "unknown" && arg.single);
    const risk = isOneWord ? variableRisk(assigned, word?.slice(assigned.length + 1)) : "dangerous";
    if (risk === "dangerous")
      return high("dangerous-variable", `sets ${assigned}, which can make programs run other programs`);
    if (risk !== "harmless") variables.push(assigned);
  }
  const command = args.slice(at);
  if (command.length === 0) return judged("read", "row env", "prints the environment");
  // Without a PATH a shell uses its default, which may start with the working directory.
  const bare = "runs a command without the variables that locate programs";
  if (isBare) return high("dangerous-variable", bare, { runs: [{ kind: "words", args: command, in: around }] });
  return judged("read", "unwrapped env", "runs the command given to env", {
    runs: [{ kind: "words", args: command, in: { ...around, isExternal: true, variables } }],
  });
}

const xargsFlags =
  "-0 -r -t -x -n: -L: -P: -s: -d: -I: --null --no-run-if-empty --verbose --exit --max-args: --max-procs: --max-chars: --delimiter:";

/** `xargs`: a command, followed by the words from standard input. */
function judgeXargs(args: readonly Arg[], around: Surroundings): Judgement {
  const found = leadingFlags("xargs", xargsFlags, args);
  if (found === undefined) return high("unknown-wrapper", "uses xargs in an unknown way");
  const { given, values, rest: command } = found;
  // Some versions let one of the two override the other.
  const replaces = given.has("-I");
  const bundles = ["-n", "-L", "--max-args", "--max-lines"].some((flag) => given.has(flag));
  if (replaces && (bundles || command.some((arg) => arg.kind !== "text"))) {
    return high("unknown-wrapper", "uses xargs in an unknown way");
  }
  const { input } = around;
  const whole = given.has("-0") || given.has("--null") ? input?.zeros === true : false;
  const isClear = input !== undefined && (whole || !(given.has("-0") || given.has("--null") || given.has("-d")));
  const words: Arg = isClear ? { kind: "input", printed: input, asWords: !whole } : unknownWords;
  const marker = values.get("-I");
  const full = command.length === 0 ? [text("echo")] : command;
  const replaced =
    marker === undefined
      ? [...full, words]
      : full.map((arg) => (arg.kind === "text" ? filled(arg, marker, words) : arg));
  return judged("read", "unwrapped xargs", "runs a command with arguments from its input", {
    runs: [{ kind: "words", args: replaced, in: { ...around, input: undefined, isExternal: true } }],
  });
}

function filled(arg: Arg & { kind: "text" }, marker: string, words: Arg): Arg {
  const at = arg.value.indexOf(marker);
  if (at === -1) return arg;
  return arg.value === marker ? words : { kind: "unknown", prefix: arg.value.slice(0, at), single: true };
}

/** Syntax that other shells read differently than bash, or not at all. */
const bashOnly = /\$['"]|\{|\[\[|\(\(|[<>]\(|&>|\|&|<<<|\$\[|[?*+@!]\(|\+=|=\(/;

export function isPlainShell(command: string): boolean {
  return !bashOnly.test(command);
}

/** A shell with a script as an argument. The effect of a script file or of its input is unknown. */
function shell(name: string): Judge {
  return (args, around) => {
    // An option's name only follows a flag that takes one.
    const isFlag = (at: number): boolean => {
      const word = textOf(args[at]) ?? "";
      return word.startsWith("-") || (word === "pipefail" && /^-\w*o$/.test(textOf(args[at - 1]) ?? ""));
    };
    const first = args.findIndex((_, at) => !isFlag(at));
    const flags = args.slice(0, first === -1 ? args.length : first).map(textOf);
    const isKnown = flags.every(
      (flag) => flag !== undefined && /^(-[eulx]*[co]?|pipefail|--no(rc|profile)|--login)$/.test(flag),
    );
    const isLogin = flags.some(
      (flag) => flag === "--login" || (flag !== undefined && /^-\w/.test(flag) && flag.includes("l")),
    );
    const runsText = flags.some((flag) => flag !== undefined && /^-[a-z]*c$/.test(flag));
    const script = first === -1 ? undefined : textOf(args[first]);
    if (flags.length === 1 && flags[0] === "-n" && script !== undefined && first === args.length - 1) {
      const touches = touchesOf(text(script), "read", "read", around);
      if (touches !== undefined) return judged("read", `row ${name} -n`, "checks the syntax of a script", { touches });
    }
    if (!isKnown || !runsText || script === undefined) {
      return high("unknown-script", `has ${name} run something that is not known in advance`);
    }
    if (name !== "bash" && !isPlainShell(script)) {
      return high("other-shell", `runs a script that ${name} and bash read differently`);
    }
    const runs = [{ kind: "shell" as const, text: script, in: { ...around, input: undefined } }];
    // Start-up files can set keys and the PATH, so nothing known about the script's commands holds.
    if (isLogin)
      return high("login-shell", `starts ${name} as a login shell, which runs start-up files first`, { runs });
    return judged("read", `unwrapped ${name}`, `has ${name} run a script`, { runs });
  };
}
