import { commandsIn, startedByOptions, type Words, wordsBehindSub } from "./started-by-options.ts";

/** A program that starts the command in its arguments. */
interface Launcher {
  /** The number of its own words before that command, without flags. */
  readonly own: number;
  /** Letters of flags that never take the next word as a value. Any other flag may. */
  readonly alone: string;
}

const launchers: ReadonlyMap<string, Launcher> = new Map(
  [
    { names: "sudo doas", alone: "AbEHKknPSis" },
    { names: "env genv", alone: "i0v" },
    { names: "xargs gxargs", alone: "0rtpxo" },
    { names: "nice gnice", alone: "0123456789" },
    { names: "time gtime", alone: "pvaq" },
    { names: "stdbuf gstdbuf", alone: "ioeL0123456789" },
    { names: "command", alone: "pvV" },
    { names: "exec", alone: "cl" },
    { names: "setsid", alone: "cfw" },
    { names: "npx bunx pnpx", alone: "yq" },
    { names: "timeout gtimeout", own: 1, alone: "v" },
    { names: "flock chroot taskset chrt setarch", own: 1 },
    { names: "nohup gnohup builtin pkexec ionice unbuffer strace ltrace watch parallel busybox toybox" },
    {
      names:
        "unshare nsenter systemd-run caffeinate arch script entr valgrind firejail bwrap proot fakeroot rlwrap uvx",
    },
    {
      names: "setpriv prlimit numactl cgexec dbus-run-session xvfb-run dumb-init tini catatonit chpst cross-env dotenv",
    },
    { names: "cross-env-shell env-cmd nodemon watchexec hyperfine systemd-inhibit runcon eatmydata proxychains" },
    {
      names:
        "proxychains4 torsocks concurrently expect screen dtach abduco start-stop-daemon gdbserver pkexec sem ts nq",
    },
    { names: "gosu su-exec setuidgid faketime direnv", own: 1 },
  ].flatMap(({ names, own = 0, alone = "" }) => names.split(" ").map((name) => [name, { own, alone }] as const)),
);
const fromInput = new Set(["xargs", "gxargs", "parallel"]);
const shells = new Set("sh bash dash zsh ksh mksh ash fish rbash csh tcsh su runuser".split(" "));
const evaluators = new Set(["eval", "trap"]);
/** Like shells, but only for files. */
const sourcers = new Set(["source", "."]);
/** A file whose content comes from standard input or another open file. */
const stream = /^\/(?:dev|proc)\//;
/** Programs that start a command for their matches, and the flag before that command. */
const finders: ReadonlyMap<string, RegExp> = new Map([
  ...["find", "gfind"].map((name) => [name, /^-(?:exec|execdir|ok|okdir)$/] as const),
  ...["fd", "fdfind"].map((name) => [name, /^(?:-[a-zA-Z]*[xX]|--exec|--exec-batch)$/] as const),
]);
const isText = /[\s;|&$`<>()]/;
const notKnown: Words = [undefined];
/** More than any real command needs. Limits endless chains. */
const mostReadings = 50;

/** Comparison form: on some machines, names that differ in case or Unicode normalisation are the same file. */
export function folded(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}

/** A program's name without its folder, so that it matches wherever it is. */
export function programKey(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return folded(name === "" ? program : name).replace(/(?<=.)\.exe$/, "");
}

/**
 * Every command the words may run: as they are, and those that the program starts according to its words.
 * `isParsed`: the started command is judged separately. `[undefined]` is a command whose program is unknown.
 */
export function readingsOf(words: Words, isParsed: boolean): readonly Words[] {
  const readings: Words[] = [];
  const waiting: Words[] = [words];
  const seen = new Set<string>();
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const key = JSON.stringify(next);
    if (seen.has(key)) continue;
    seen.add(key);
    if (readings.length > mostReadings) return [...readings, notKnown];
    const [program, ...rest] = next;
    if (program === undefined) {
      readings.push(notKnown);
      continue;
    }
    readings.push(next);
    const name = programKey(program);
    if (name.startsWith("git-")) readings.push(["git", name.slice(4), ...rest]);
    if (name === "git" && rest.some((word) => /^(?:--config-env=)?alias\./i.test(word ?? ""))) {
      readings.push(["git", undefined]);
    }
    // A setting that later git commands run: an alias, a pager, a hook.
    if (name === "git" && rest.includes("config")) {
      const values = rest.slice(rest.indexOf("config") + 1).filter((word) => word === undefined || !/^-/.test(word));
      waiting.push(
        ...values.slice(1).flatMap((value) => [...commandsIn(value), ["git", ...(value?.split(/\s+/) ?? [value])]]),
      );
    }
    waiting.push(...startedBy(name, rest, isParsed), ...startedByOptions(name, rest));
    for (const { words: behind, own } of wordsBehindSub(name, rest)) {
      waiting.push(
        ...startsIn(behind, { own, alone: "" }).flatMap((at) =>
          isText.test(behind[at] ?? "") ? commandsIn(behind[at]) : [behind.slice(at)],
        ),
      );
    }
  }
  return readings;
}

function startedBy(program: string, rest: Words, isParsed: boolean): readonly Words[] {
  if (shells.has(program) || evaluators.has(program) || sourcers.has(program)) {
    return !isParsed && runsUnknownText(program, rest) ? [notKnown] : [];
  }
  const startFlag = finders.get(program);
  if (startFlag !== undefined) return startedByFinder(rest, startFlag);
  const launcher = launchers.get(program);
  if (launcher === undefined) return [];
  if (/^g?env$/.test(program) && leadingFlags(rest).some((flag) => /^-[a-zA-Z0]*S|^--s/.test(flag))) {
    return isParsed ? [] : [notKnown];
  }
  // These flags start a shell that reads its input.
  if (/^(?:sudo|doas)$/.test(program) && leadingFlags(rest).some((flag) => /^-[a-zA-Z]*[si]/.test(flag))) {
    return [notKnown];
  }
  const isFed = fromInput.has(program);
  const words = isFed ? filledIn(rest) : rest;
  return startsIn(words, launcher).map((at) => {
    // An unknown word may be several words, with the program among them.
    if (words.slice(0, at + 1).includes(undefined) || isText.test(words[at] ?? "")) return notKnown;
    return isFed ? [...words.slice(at), undefined] : words.slice(at);
  });
}

/** Whether a shell's script is unknown: an argument or its input. A script file counts as a program like any other. */
function runsUnknownText(program: string, rest: Words): boolean {
  if (rest.includes(undefined) || rest.some((word) => stream.test(word ?? ""))) return true;
  if (sourcers.has(program)) return false;
  if (evaluators.has(program)) return rest.length > 0;
  if (program === "su" || program === "runuser") return true;
  if (rest.length === 1 && /^--(?:version|help)$/.test(rest[0] ?? "")) return false;
  return rest.every(isFlag) || leadingFlags(rest).some((flag) => /^[-+][a-zA-Z]*[cs]/.test(flag));
}

function isFlag(word: string | undefined): word is string {
  return word !== undefined && /^[-+]/.test(word);
}

/** The flags before the first word that is certainly neither a flag nor a flag's value. */
function leadingFlags(words: Words): readonly string[] {
  return words.slice(0, leadingEnd(words)).filter(isFlag);
}

function leadingEnd(words: Words): number {
  const end = words.findIndex((word, at) => !isFlag(word) && !isFlag(words[at - 1]));
  return end === -1 ? words.length : end;
}

/**
 * The positions the program can have: after the launcher's flags, their possible values, assignments, and its own
 * words.
 */
function startsIn(words: Words, { own, alone }: Launcher): readonly number[] {
  const isAssignment = (word: string | undefined): boolean => word !== undefined && /^\w+=/.test(word);
  const isAlone = (flag: string): boolean =>
    flag.includes("=") || [...flag.slice(1)].every((char) => alone.includes(char));
  let places = new Set([0]);
  for (let round = 0; round <= own; round += 1) {
    if (round > 0) places = new Set([...places].map((at) => at + 1));
    // Iterating a set includes elements added meanwhile.
    for (const at of places) {
      const word = words[at];
      if (isFlag(word) || isAssignment(word)) places.add(at + 1);
      if (isFlag(word) && !isAlone(word)) places.add(at + 2);
    }
  }
  return [...places].filter((at) => at < words.length && !isFlag(words[at]) && !isAssignment(words[at]));
}

/** The words of xargs without its marker flag, and `undefined` for words that contain the marker. */
function filledIn(words: Words): Words {
  const end = leadingEnd(words);
  const flag = words.findIndex((word, at) => at < end && /^-[a-zA-Z0-9]*[IiJ]|^--replace/.test(word ?? ""));
  const named = words[flag] ?? "";
  const attached = named.replace(/^-[a-zA-Z0-9]*?[IiJ]|^--replace=?/, "");
  const isNext = attached === "" && /[IJ]$/.test(named);
  const marker = (isNext ? words[flag + 1] : attached) || "{}";
  const isOwn = (at: number): boolean => flag !== -1 && (at === flag || (isNext && at === flag + 1));
  const isMarked = (word: string | undefined): boolean =>
    word?.includes(marker) === true || word?.includes("{}") === true;
  return words.filter((_, at) => !isOwn(at)).map((word) => (isMarked(word) ? undefined : word));
}

function startedByFinder(words: Words, startFlag: RegExp): readonly Words[] {
  const starts = words.flatMap((word, at) => (word !== undefined && startFlag.test(word) ? [at + 1] : []));
  return starts.map((from) => {
    // A plus ends it only after the braces.
    const ends = (word: string | undefined, at: number) => word === ";" || (word === "+" && words[at - 1] === "{}");
    const end = words.findIndex((word, at) => at >= from && ends(word, at));
    const inner = words.slice(from, end === -1 ? words.length : end);
    // fd appends the name if no word has a placeholder for it.
    return [...inner.map((word) => (word?.includes("{") === true ? undefined : word)), undefined];
  });
}
