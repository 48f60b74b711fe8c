/** The words of a simple command; `undefined` for one that is not known before it runs, and may be any number of words. */
export type Words = readonly (string | undefined)[];

/** A program that starts the one its words name. */
interface Launcher {
  /** How many words of its own stand before that one, flags aside. */
  readonly own: number;
  /** Letters of flags that have no value in the next word. Any other flag may have one. */
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
    { names: "unshare nsenter systemd-run caffeinate arch script" },
  ].flatMap(({ names, own = 0, alone = "" }) => names.split(" ").map((name) => [name, { own, alone }] as const)),
);
const fromInput = new Set(["xargs", "gxargs", "parallel"]);
const shells = new Set("sh bash dash zsh ksh mksh ash fish rbash csh tcsh su runuser".split(" "));
const evaluators = new Set(["eval", "trap"]);
/** Shells too, but only of a file. */
const sourcers = new Set(["source", "."]);
/** A file whose content is what comes by the input, or by another opened file. */
const stream = /^\/(?:dev|proc)\//;
/** Programs that start one for what they find, and the flag in front of it. */
const finders: ReadonlyMap<string, RegExp> = new Map([
  ...["find", "gfind"].map((name) => [name, /^-(?:exec|execdir|ok|okdir)$/] as const),
  ...["fd", "fdfind"].map((name) => [name, /^(?:-[a-zA-Z]*[xX]|--exec|--exec-batch)$/] as const),
]);
const isText = /[\s;|&$`<>()]/;
const notKnown: Words = [undefined];
/** Nobody means more than that; a chain without end is not followed. */
const mostReadings = 50;

/** For comparing where letter case, or one of two spellings, does not make another program or file on every machine. */
export function folded(text: string): string {
  return text.normalize("NFC").toUpperCase().toLowerCase();
}

/** A program by its name alone: wherever it lies, it is taken for the same. */
export function programKey(program: string): string {
  const name = program.slice(program.lastIndexOf("/") + 1);
  return folded(name === "" ? program : name).replace(/(?<=.)\.exe$/, "");
}

/**
 * Every way in which words may be a command: as they are, and what the program that they start would start in turn, as far as
 * its own words tell. `isTakenApart`: what it runs is known elsewhere. A way of which not even the program is known is
 * `[undefined]`.
 */
export function readingsOf(words: Words, isTakenApart: boolean): readonly Words[] {
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
    waiting.push(...startedBy(name, rest, isTakenApart));
  }
  return readings;
}

function startedBy(program: string, rest: Words, isTakenApart: boolean): readonly Words[] {
  if (shells.has(program) || evaluators.has(program) || sourcers.has(program)) {
    return !isTakenApart && runsUnknownText(program, rest) ? [notKnown] : [];
  }
  const startFlag = finders.get(program);
  if (startFlag !== undefined) return startedByFinder(rest, startFlag);
  const launcher = launchers.get(program);
  if (launcher === undefined) return [];
  if (/^g?env$/.test(program) && leadingFlags(rest).some((flag) => /^-[a-zA-Z0]*S|^--s/.test(flag))) {
    return isTakenApart ? [] : [notKnown];
  }
  // A shell, which reads its input.
  if (/^(?:sudo|doas)$/.test(program) && leadingFlags(rest).some((flag) => /^-[a-zA-Z]*[si]/.test(flag))) {
    return [notKnown];
  }
  const isFed = fromInput.has(program);
  const words = isFed ? filledIn(rest) : rest;
  return startsIn(words, launcher).map((at) => {
    // A word that is not known may be several, and the program among them.
    if (words.slice(0, at + 1).includes(undefined) || isText.test(words[at] ?? "")) return notKnown;
    return isFed ? [...words.slice(at), undefined] : words.slice(at);
  });
}

/** A shell is given its text as a word, by its input, or in a file. A file is a program like any other. */
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

/** The flags in front of the first word that is surely none, nor the value of one. */
function leadingFlags(words: Words): readonly string[] {
  return words.slice(0, leadingEnd(words)).filter(isFlag);
}

function leadingEnd(words: Words): number {
  const end = words.findIndex((word, at) => !isFlag(word) && !isFlag(words[at - 1]));
  return end === -1 ? words.length : end;
}

/** Where the program may stand: behind the launcher's flags, each with or without a value, assignments, and its own words. */
function startsIn(words: Words, { own, alone }: Launcher): readonly number[] {
  const isAssignment = (word: string | undefined): boolean => word !== undefined && /^\w+=/.test(word);
  const isAlone = (flag: string): boolean =>
    flag.includes("=") || [...flag.slice(1)].every((char) => alone.includes(char));
  let places = new Set([0]);
  for (let round = 0; round <= own; round += 1) {
    if (round > 0) places = new Set([...places].map((at) => at + 1));
    // A set goes on with what is added to it meanwhile.
    for (const at of places) {
      const word = words[at];
      if (isFlag(word) || isAssignment(word)) places.add(at + 1);
      if (isFlag(word) && !isAlone(word)) places.add(at + 2);
    }
  }
  return [...places].filter((at) => at < words.length && !isFlag(words[at]) && !isAssignment(words[at]));
}

/** The words of xargs without its marker, and not known where the marker stood for what comes by the input. */
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
    // A plus ends it only behind the braces.
    const ends = (word: string | undefined, at: number) => word === ";" || (word === "+" && words[at - 1] === "{}");
    const end = words.findIndex((word, at) => at >= from && ends(word, at));
    const inner = words.slice(from, end === -1 ? words.length : end);
    // fd puts the name behind the words when none of them has a place for it.
    return [...inner.map((word) => (word?.includes("{") === true ? undefined : word)), undefined];
  });
}
