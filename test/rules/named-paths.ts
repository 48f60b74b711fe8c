import { existsSync, readFileSync } from "node:fs";
import { posix } from "node:path";
import { keptFiles } from "./source-limits.ts";

const tops = "src|test|scripts|bench|schema|docs|examples|\\.ci";

/**
 * In pages: code that looks like a path in the repository, or like a file of the program. Not patterns and `<name>`.
 */
const inCode = new RegExp(`\`((?:${tops})/[\\w./@-]*|(?:[\\w-]+/)*[\\w-]+\\.(?:ts|mjs))\``, "g");

/** In comments, in code or not. */
const inComment = /(?<![\w./-])((?:[\w-]+\/)+[\w-]+\.(?:ts|mjs|md))\b/g;

/** Paths named in a page or a module's comments that the repository lacks. */
export function deadPaths(path: string, text: string, files: ReadonlySet<string>): readonly string[] {
  const isThere = (name: string): boolean => {
    const whole = name.replace(/\/$/, "");
    return [whole, `src/${whole}`, `name:${whole}`].some((at) => files.has(at));
  };
  const named = path.endsWith(".md") ? text.matchAll(inCode) : commentsIn(text).matchAll(inComment);
  return [...new Set(Array.from(named, ([, name = ""]) => name))].filter((name) => !isThere(name));
}

function commentsIn(text: string): string {
  const lines = text.split("\n").map((line) => /^\s*(?:\/\/|\/?\*)(.*)|.*\s\/\/ (.*)/.exec(line));
  return lines.map((found) => found?.[1] ?? found?.[2] ?? "").join("\n");
}

/** Every file and folder, and each file by its name alone. */
export function namesOf(paths: readonly string[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const path of paths) {
    names.add(path).add(`name:${posix.basename(path)}`);
    for (let at = posix.dirname(path); at !== "."; at = posix.dirname(at)) names.add(at);
  }
  return names;
}

/** A history can name files that no longer exist. */
export function deadPathsOfRepository(): readonly string[] {
  const paths = keptFiles();
  const names = namesOf(paths);
  return paths
    .filter((path) => /\.(?:md|ts|mjs|cjs)$/.test(path) && path !== "CHANGELOG.md" && existsSync(path))
    .flatMap((path) => deadPaths(path, readFileSync(path, "utf8"), names).map((name) => `${path} names ${name}`));
}
