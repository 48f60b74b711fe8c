import { projectText } from "./project-rows.ts";

/** Common task names whose effects can be repeated or undone. */
const tasks = [
  ..."all analyze bench benchmark build bundle check clean compile cov coverage debug default dev doc docs e2e".split(
    " ",
  ),
  ..."fix fmt format integration lint preview prettier start static test tests tsc type typecheck types unit".split(
    " ",
  ),
  ..."validate verify vet watch".split(" "),
];

const known: ReadonlySet<string> = new Set(tasks);

/** Words for tasks that reach beyond the project, or remove something permanently. */
const farReaching =
  /^(delete|deploy|destroy|drop|install|login|migrate|migrations?|prod|promote|publish|purge|push|release|remove|reset|rollback|seed|send|ship|sync|uninstall|update|upgrade|upload)$/;

/** The name of a task, as in `test`, `test:unit` or `build-docs`. */
export function taskName(text: string): string | undefined {
  // With a dot or a slash it may be a file, which some programs run.
  if (!/^[A-Za-z][\w:-]*$/.test(text)) return "is not the name of a well-known task";
  const [first = "", ...further] = text.toLowerCase().split(/[:_-]+/);
  if (!known.has(first)) return "is not the name of a well-known task";
  // A build for production is still a build.
  const isFar = further.some((word) => farReaching.test(word) && !(word === "prod" && first === "build"));
  return isFar ? "is a task that may reach beyond the project" : undefined;
}

/** A target of `make`: a task, or a file with a typical extension of build output. */
export function makeTarget(text: string): string | undefined {
  const isFile = /^[\w][\w./+-]*\.(a|bin|d|elf|exe|hex|html|i|lib|man|o|obj|out|pdf|s|so)$/.test(text);
  return isFile ? projectText(text) : taskName(text);
}

/** Tasks that pass further words on to their program. */
export const tasksWithWords: readonly string[] = [
  ...tasks,
  ..."build:prod format:check format:fix lint:fix test:ci test:coverage test:e2e test:integration test:unit test:watch".split(
    " ",
  ),
  "type-check",
];

/** Flags that test runners, linters and formatters have in common. */
export const taskFlags = `
  --bail --check --ci --coverage --fix --forceExit --list-different --noEmit --no-cache --no-color --no-coverage --no-watch
  --passWithNoTests --quiet --run --runInBand --silent --update --updateSnapshot --verbose --watch --write -u -v
  --grep: --max-warnings: --maxWorkers: --project: --reporter: --retries: --shard: --testNamePattern: --testPathPattern: -t:`;

const flagNames: ReadonlySet<string> = new Set(
  taskFlags
    .trim()
    .split(/\s+/)
    .map((flag) => flag.replace(/:$/, "")),
);

/** A word for a task's program, which is unknown here. */
export function taskWord(text: string): string | undefined {
  if (!text.startsWith("-")) return projectText(text);
  const [, name = "", value] = /^([^=]+)(?:=(.*))?$/s.exec(text) ?? [];
  if (!flagNames.has(name)) return "is an unknown flag";
  return value === undefined || value === "false" ? undefined : projectText(value);
}
