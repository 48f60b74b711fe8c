import type { AccessClass, Touch } from "../../engine/permission.ts";
import type { Surroundings } from "../judgement.ts";
import { type Arg, escaped, knownStart, text, textOf, unescaped } from "./arg.ts";
import { folderTouches, touchesOf } from "./touches.ts";

const mostSuspects = 100;

/** Whether a word may expand to no word at all. */
export function mayBeNoWord(arg: Arg): boolean {
  return arg.kind === "input" || (arg.kind === "unknown" && arg.prefix === "" && !arg.single);
}

/**
 * Words that may be paths: a protected place among them needs approval. Programs also take paths after a flag, an
 * equals sign, a colon or a comma (`-k~/.ssh/id_rsa`, `--key=…`, `-v ~/.ssh:/x`).
 */
export function suspects(
  args: readonly Arg[],
  around: Surroundings,
  use: "read" | "write" = "read",
  accessClass: AccessClass = "read",
): readonly Touch[] {
  const touches = (arg: Arg): readonly Touch[] =>
    touchesOf(arg, use, accessClass, around) ?? touchesNear(arg, use, accessClass, around);
  return args.slice(0, mostSuspects).flatMap((arg) => {
    if (arg.kind === "unknown") return (arg.mayBe ?? []).flatMap((word) => guessed(word, around.home).flatMap(touches));
    const word = textOf(arg);
    if (word !== undefined) return [...pathsIn(word, around.home).map(text), ...addressedFiles(word)].flatMap(touches);
    const pieces = arg.kind === "pattern" ? pathsIn(arg.value, around.home) : [];
    return [arg, ...pieces.map((value) => ({ kind: "pattern" as const, value }))].flatMap(touches);
  });
}

/** A relative path in each of the folders that the shell may be in. */
function touchesNear(
  arg: Arg,
  use: "read" | "write",
  accessClass: AccessClass,
  { near = [] }: Surroundings,
): readonly Touch[] {
  if (arg.kind !== "text" && arg.kind !== "pattern") return [];
  return near.map((folder) => {
    const isPlain = arg.kind === "text" && escaped(unescaped(folder)) === folder;
    const name = arg.kind === "pattern" ? arg.value : escaped(arg.value);
    const lookup: Touch["lookup"] = isPlain
      ? { what: "path", path: `${unescaped(folder)}/${arg.value}` }
      : { what: "matches", path: `${folder}/${name}` };
    return { use, class: accessClass, lookup, recursive: false };
  });
}

/** A guess may be a pattern, which also names the folder it starts in. */
function guessed(word: string, home: string): readonly Arg[] {
  return pathsIn(word, home).flatMap((path): readonly Arg[] => {
    if (!/[*?[]/.test(path)) return [text(path)];
    const folder = /^[^*?[]*\//.exec(path)?.[0];
    return [{ kind: "pattern", value: path }, ...(folder === undefined ? [] : [text(folder)])];
  });
}

/** Every path that a word may contain: the word itself, and each piece after a separator that looks like a path. */
function pathsIn(word: string, home: string): readonly string[] {
  if (word === "" || /\s/.test(word)) return [];
  const bare = word.replace(/^-[A-Za-z](?=[~/.])/, "").replace(/^@/, "");
  const pieces = bare.split(/[=:,;]/).slice(bare.startsWith("-") ? 1 : 0);
  const all = bare.startsWith("-") ? pieces : [bare, ...pieces.filter((piece) => /^[~/.]|\//.test(piece))];
  const address = /^file:\/\/[^/]*(\/.*)$/i.exec(bare)?.[1] ?? "";
  const expanded = [address, ...all].map((piece) => piece.replace(/^@/, "").replace(/^~(?=\/|$)/, home));
  return [...new Set(expanded)].filter((piece) => piece !== "" && !piece.startsWith("-"));
}

/** The file that a `file:` address names. It may be encoded, and curl expands lists and ranges in it. */
function addressedFiles(word: string): readonly Arg[] {
  const at = word.indexOf(":") + 1;
  const path = at === 0 ? "" : word.slice(at).replace(/^\/\/[^/]*/, "");
  if (!path.startsWith("/") || !/[%[{]/.test(path)) return [];
  const decoded = path.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) =>
    Buffer.from(bytes.replaceAll("%", ""), "hex").toString("utf8"),
  );
  let all = [""];
  for (const piece of decoded.split(/(\{[^{}]*\}|\[[^[\]]*\])/)) {
    const choices = choicesOf(piece);
    if (all.length * choices.length > mostSuspects) {
      const pattern = decoded
        .split(/\{[^{}]*\}|\[[^[\]]*\]/)
        .map(escaped)
        .join("*");
      return [{ kind: "pattern", value: pattern }];
    }
    all = all.flatMap((start) => choices.map((choice) => start + choice));
  }
  return all.map(text);
}

/** The texts that a piece of an address can mean: several for `{a,b}` and `[a-c]`, otherwise the piece itself. */
function choicesOf(piece: string): readonly string[] {
  if (piece.startsWith("{")) return piece.slice(1, -1).split(",");
  const range = /^\[(.)-(.)(?::\d+)?\]$/.exec(piece);
  const [from, to] = [range?.[1]?.charCodeAt(0) ?? 0, range?.[2]?.charCodeAt(0) ?? -1];
  if (from > to) return [piece];
  return Array.from({ length: to - from + 1 }, (_, at) => String.fromCharCode(from + at));
}

/** Flags whose value is an output path in most programs. */
const outputFlag =
  /^(?:-[oOdCt]|--?(?:out|dest|target|install|prefix|root|dir|cwd|chdir|save|export)[\w-]*|-v|--volume|--mount|-B)$/i;
/** Programs that process everything in a folder. */
const wholeFolders = new Set(
  "tar gtar bsdtar zip 7z 7za rsync scp sftp rclone restic borg docker podman nerdctl".split(" "),
);

/** Programs that replace every file in a folder. */
const replacesFiles = /^(?:gzip|gunzip|bzip2|bunzip2|xz|unxz|lzma|zstd|unzstd|lz4|pigz|compress)$/;

/**
 * The same for a call that is not understood. Depending on its program and flags, a folder may be processed whole, and
 * the value of an output flag may be written.
 */
export function suspectsOf(program: string, args: readonly Arg[], around: Surroundings): readonly Touch[] {
  const isWritten = (arg: Arg, at: number): boolean => {
    const [flag = "", value] = knownStart(arg).split("=", 2);
    return value === undefined ? outputFlag.test(textOf(args[at - 1]) ?? "") : outputFlag.test(flag);
  };
  const written = replacesFiles.test(program) ? args : args.filter(isWritten);
  const read = suspects(args, around);
  return [
    ...(wholeFolders.has(program) ? read.map((touch) => ({ ...touch, recursive: true })) : read),
    ...suspects(written, around, "write").map((touch) => ({ ...touch, recursive: true })),
    ...(args.some(isNamedByServer) && /^(?:curl|wget|aria2c)$/.test(program) ? anyNameIn(around) : []),
    ...(program === "ps" && args.some(showsEnvironments) ? environments(around) : []),
  ];
}

function isNamedByServer(arg: Arg): boolean {
  return arg.kind !== "text" || /^-\w*[OJ]|^--remote-/.test(arg.value);
}

function anyNameIn(around: Surroundings): readonly Touch[] {
  return folderTouches(around, "low", true) ?? [];
}

/** `ps e` prints the environments of processes, ours among them. */
function showsEnvironments(arg: Arg): boolean {
  return arg.kind !== "text" || (/^[A-Za-z]+$/.test(arg.value) && arg.value.includes("e")) || /^-\w*?E/.test(arg.value);
}

function environments(around: Surroundings): readonly Touch[] {
  return (touchesOf(text("/proc"), "read", "read", around) ?? []).map((touch) => ({ ...touch, recursive: true }));
}
