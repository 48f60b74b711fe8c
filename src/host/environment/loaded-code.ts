import { isAbsolute } from "node:path";
import { fileURLToPath } from "node:url";

export type Language = "python" | "perl" | "ruby" | "node";

type Environment = Readonly<Record<string, string | undefined>>;

/** Represents a place that depends on the working directory. */
const here = ".";

/** An unset or empty variable has no entries; an empty entry beside others is the working directory. */
function entries(value: string | undefined, separator: RegExp = /:/): string[] {
  return value ? value.split(separator).map((entry) => entry || here) : [];
}

/** The libraries given by path. Plain names are found in the library folders. */
function libraries(value: string | undefined): string[] {
  return (value ?? "").split(/[\s:]+/).filter((entry) => entry.includes("/"));
}

const libraryVariables = ["LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"] as const;
const libraryPathVariables = [
  "LD_LIBRARY_PATH",
  "DYLD_LIBRARY_PATH",
  "DYLD_FRAMEWORK_PATH",
  "DYLD_FALLBACK_LIBRARY_PATH",
  "DYLD_FALLBACK_FRAMEWORK_PATH",
  "GCONV_PATH",
] as const;

/** Places where variables make every program's loader find libraries. Relative entries are removed for commands. */
export function loaderPlaces(env: Environment): string[] {
  const folders = libraryPathVariables.flatMap((name) => entries(env[name], /[:;]/));
  return [...folders, ...libraryVariables.flatMap((name) => libraries(env[name]))].filter(isAbsolute);
}

/**
 * The environment without relative entries in the loader's variables: an empty one, as in `LD_LIBRARY_PATH=/opt/lib:`, would
 * make every program load libraries from the repository.
 */
export function withoutRelativeLibraries(env: Readonly<Record<string, string>>): Record<string, string> {
  const kept = { ...env };
  for (const name of [...libraryPathVariables, ...libraryVariables]) {
    const value = env[name];
    if (value === undefined) continue;
    const isName = (entry: string) => entry !== "" && !entry.includes("/") && name.endsWith("PRELOAD");
    const left = value.split(/[:;\s]+/).filter((entry) => isAbsolute(entry) || isName(entry));
    if (left.length === 0) delete kept[name];
    else kept[name] = left.join(":");
  }
  return kept;
}

/** Places where variables make a language's programs find code, as written. */
export function languagePlaces(language: Language, env: Environment): readonly string[] {
  const lists = listVariables[language].flatMap((name) => entries(env[name]));
  return [...lists, ...optionPlaces[language](env)];
}

const listVariables: Readonly<Record<Language, readonly string[]>> = {
  python: ["PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "PYTHONPYCACHEPREFIX"],
  perl: ["PERL5LIB", "PERLLIB"],
  ruby: ["RUBYLIB", "GEM_PATH", "GEM_HOME"],
  node: ["NODE_PATH"],
};

const optionPlaces: Readonly<Record<Language, (env: Environment) => readonly string[]>> = {
  python: () => [],
  perl: (env) => [
    ...(env.PERL_USE_UNSAFE_INC === "1" ? [here] : []),
    ...flagValues(env.PERL5OPT, /^-?[CDTUWtw]*(?:I|[Mm]-?lib=)(.*)$/s).flatMap((value) => value.split(",")),
  ],
  ruby: (env) => [
    ...flagValues(env.RUBYOPT, /^-?[dvwWTUE]*I(.*)$/s).flatMap((value) => value.split(":")),
    // Bundler runs the Gemfile of the working directory.
    ...flagValues(env.RUBYOPT, /^-?[dvwWTUE]*r(.*)$/s).filter((value) => /^[./]|^bundler|^$/.test(value)),
  ],
  node: (env) =>
    flagValues(env.NODE_OPTIONS, /^(?:-r|--(?:require|import|loader|experimental[-_]loader))(?:=(.*))?$/s).map(asPath),
};

/** The values of flags in a variable: in the word of the flag, which `flag` captures, or in the next one. */
function flagValues(options: string | undefined, flag: RegExp): readonly string[] {
  const words = (options ?? "").match(/(?:"(?:\\.|[^"])*"|[^\s"])+/g)?.map((word) => word.replace(/"/g, "")) ?? [];
  return words.flatMap((word, at) => {
    const match = flag.exec(word);
    return match === null ? [] : [match[1] || (words[at + 1] ?? "")];
  });
}

function asPath(module: string): string {
  try {
    return module.startsWith("file:") ? fileURLToPath(module) : module;
  } catch {
    return here;
  }
}
