import { spawn } from "node:child_process";
import {
  accessSync,
  constants,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** Programs that run another one. Their stubs do the same, and are not recorded, except `sudo`. */
const carriers = ["env", "nice", "nohup", "timeout", "stdbuf", "setsid", "time", "xargs", "find", "sudo", "bash", "sh"];
const initialFiles = { "a.txt": "one\ntwo\n", "b.txt": "two\n" };

export interface Run {
  /** Name and arguments of every stub that ran, in order. */
  readonly ran: readonly (readonly string[])[];
  /** New and changed files. */
  readonly written: readonly string[];
  readonly timedOut: boolean;
}

export interface StubWorld {
  /**
   * Runs a program with the real bash and a PATH of stubs only. Ends all its processes, at the latest after the limit.
   */
  run(program: string, limit?: number): Promise<Run>;
  remove(): void;
}

/** A world where only stubs can be started by name. Its programs must not contain absolute paths of programs. */
export function stubWorld(names: readonly string[]): StubWorld {
  const root = mkdtempSync(join(tmpdir(), "tinman-stubs-"));
  const bin = join(root, "bin");
  const bash = programPath("bash");
  mkdirSync(bin);
  for (const name of new Set([...names, ...carriers])) {
    writeFileSync(join(bin, name), stubScript(bash), { mode: 0o755 });
  }
  let runs = 0;
  return {
    async run(program, limit = 5_000) {
      runs += 1;
      const home = join(root, `run-${runs}`);
      const folder = join(home, "work");
      const log = join(root, `log-${runs}`);
      mkdirSync(folder, { recursive: true });
      for (const [name, content] of Object.entries(initialFiles)) writeFileSync(join(folder, name), content);
      writeFileSync(log, "");
      // FUNCNEST ends functions that call themselves.
      const env = { PATH: bin, STUB_LOG: log, HOME: home, FUNCNEST: "5", LC_ALL: "C.UTF-8" };
      const timedOut = await runGroup(bash, ["--noprofile", "--norc", "-c", program], folder, env, limit);
      const result = { ran: recordsOf(readFileSync(log, "utf8")), written: writtenIn(home), timedOut };
      rmSync(home, { recursive: true, force: true });
      rmSync(log, { force: true });
      return result;
    },
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/**
 * Whether bash accepts the syntax of each program, like `bash -n` but in one process. If a shell ignored `set -n`, it
 * would find no programs in the PATH and no builtins that reach beyond the empty folder.
 */
export async function acceptedByBash(programs: readonly string[]): Promise<readonly boolean[]> {
  const root = mkdtempSync(join(tmpdir(), "tinman-syntax-"));
  const check = `enable -n kill exec cd
    accepted() { (eval "set -n"$'\\n'"$1") 2>/dev/null; }
    [[ -z $(eval $'set -n\\necho alive') ]] || exit 1
    while IFS= read -r -d '' program; do
      if accepted "$program"; then printf 1; else printf 0; fi
    done <"$1" >"$1.verdicts"`;
  try {
    const half = Math.ceil(programs.length / 2);
    const halves = [programs.slice(0, half), programs.slice(half)].map(async (some, index) => {
      const file = join(root, String(index));
      writeFileSync(file, some.map((program) => `${program.replaceAll("\0", ")")}\0`).join(""));
      const env = { PATH: join(root, "none"), LC_ALL: "C.UTF-8" };
      await runGroup(programPath("bash"), ["--noprofile", "--norc", "-c", check, "check", file], root, env, 300_000);
      return [...readFileSync(`${file}.verdicts`, "utf8")].map((verdict) => verdict === "1");
    });
    return (await Promise.all(halves)).flat();
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

/** Works on a few items at a time. Results are in the order of the items. */
export async function eachOf<Item, Result>(
  items: readonly Item[],
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async () => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

/** Resolves when every process with one of the pipes has ended, with whether the limit ended them. */
function runGroup(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string>,
  limit: number,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    // The fourth pipe catches background processes that redirected their output.
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    for (const stream of child.stdio) if (stream && "resume" in stream) stream.resume();
    let timedOut = false;
    const end = () => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The group has already ended.
      }
    };
    const timer = setTimeout(() => {
      timedOut = true;
      end();
    }, limit);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", () => {
      clearTimeout(timer);
      end();
      resolve(timedOut);
    });
  });
}

/** A record is its number of fields, then the fields, each terminated by NUL. */
function recordsOf(log: string): readonly (readonly string[])[] {
  const fields = log.split("\0").slice(0, -1);
  const records: string[][] = [];
  for (let at = 0; at < fields.length; ) {
    const length = Number(fields[at]);
    records.push(fields.slice(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return records;
}

function writtenIn(home: string): readonly string[] {
  const initial = new Map(Object.entries(initialFiles).map(([name, content]) => [join("work", name), content]));
  return readdirSync(home, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length + 1))
    .filter((name) => readFileSync(join(home, name), "utf8") !== initial.get(name));
}

function programPath(name: string): string {
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    const path = join(folder, name);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {
      // The next folder may have it.
    }
  }
  throw new Error(`${name} is not installed`);
}

/** One script for every stub. It uses only builtins, and starts only programs found through the PATH. */
function stubScript(bash: string): string {
  return `#!/bin/sh
name=\${0##*/}
record() { printf '%s\\0' "$#" "$@" >>"$STUB_LOG"; }
report() { record "$name" "$@"; echo a.txt; exit 0; }
hand_on() {
  case "$1" in '' | */*) exit 0 ;; esac
  exec "$@"
}
case "$name" in
env)
  while :; do
    case "$1" in
    PATH=* | STUB_LOG=* | -i | -) shift ;;
    -u) shift 2 ;;
    -S) shift; set -- $1 ;;
    *=*) export "$1"; shift ;;
    *) break ;;
    esac
  done
  hand_on "$@" ;;
nice)
  case "$1" in -n) shift 2 ;; -*) shift ;; esac
  hand_on "$@" ;;
nohup) hand_on "$@" ;;
time | setsid | stdbuf)
  while :; do case "$1" in -*) shift ;; *) break ;; esac; done
  hand_on "$@" ;;
timeout)
  while :; do case "$1" in -k | -s) shift 2 ;; -*) shift ;; *) break ;; esac; done
  shift
  hand_on "$@" ;;
sudo)
  record "$name" "$@"
  while :; do case "$1" in -u) shift 2 ;; -*) shift ;; *) break ;; esac; done
  hand_on "$@" ;;
xargs)
  plain=1
  while :; do case "$1" in -I | -n | -d | -P) [ "$1" = -I ] && plain=; shift 2 ;; -I*) plain=; shift ;; -*) shift ;; *) break ;; esac; done
  while read -r line; do [ -n "$plain" ] && set -- "$@" $line; done
  hand_on "$@" ;;
find)
  case " $* " in *" -exec "* | *" -execdir "*) ;; *) report "$@" ;; esac
  left=$# state=before
  while [ "$left" -gt 0 ]; do
    word=$1 left=$((left - 1))
    shift
    case "$state:$word" in
    before:-exec | before:-execdir) state=in ;;
    in:';' | in:+) state=after ;;
    in:'{}') set -- "$@" a.txt ;;
    in:*) set -- "$@" "$word" ;;
    esac
  done
  hand_on "$@" ;;
bash | sh)
  case "$1" in
  '') exec ${bash} --noprofile --norc ;;
  -s) exec ${bash} --noprofile --norc "$@" ;;
  -c | -lc | -ec | -xc) shift; exec ${bash} --noprofile --norc -c "$@" ;;
  /dev/fd/*) exec ${bash} --noprofile --norc "$@" ;;
  *) report "$@" ;;
  esac ;;
*) report "$@" ;;
esac
`;
}
