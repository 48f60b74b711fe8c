import type { AccessClass } from "../core/permission.ts";
import { readOnlyCommands } from "./commands.ts";

export interface CommandRisk {
  readonly class: AccessClass;
  readonly extractedCommands: readonly string[];
  readonly rule: string;
  readonly why: string;
}

/** Words and single spaces only: nothing here means anything to a shell, so the words are what the program gets. */
const plainCommand = /^[A-Za-z0-9_][A-Za-z0-9_-]*( [A-Za-z0-9_./:@%+=,^-]+)*$/;

/** Execute resolves the files that this many words name, and more. */
const mostWords = 100;

/**
 * What a shell command can change. It is `read` only when it is one plain command from the table; whatever is not
 * recognised, or uses any shell syntax at all, is `high`.
 */
export function commandRisk(command: string): CommandRisk {
  const extractedCommands = programsOf(command);
  if (!plainCommand.test(command)) {
    return {
      class: "high",
      extractedCommands,
      rule: "shell-syntax",
      why: "it uses shell syntax, which is not read yet",
    };
  }
  const [program = "", ...words] = command.split(" ");
  if (words.length > mostWords) {
    return { class: "high", extractedCommands, rule: "too-long", why: "it has too many words to be looked through" };
  }
  const row = readOnlyCommands.find((entry) => {
    if (entry.program !== program) return false;
    const rest = entry.sub === undefined ? words : words.slice(1);
    if (entry.sub !== undefined && words[0] !== entry.sub) return false;
    return rest.every((word) => (word.startsWith("-") ? entry.flags.test(word) : (entry.words?.test(word) ?? true)));
  });
  if (row !== undefined) return { class: "read", extractedCommands, rule: "read-only-command", why: row.why };
  return { class: "high", extractedCommands, rule: "unknown-command", why: "it is not known to be harmless" };
}

/** The programs that a command names, for display. Not used for any decision. */
function programsOf(command: string): readonly string[] {
  const names = command
    .split(/&&|\|\||[;|&\n]/)
    .map((part) => part.trim().split(/\s+/))
    .map(([program = "", sub]) => {
      const name = program.split("/").at(-1) ?? "";
      return (name === "git" || name === "npm") && sub !== undefined && /^[a-z-]+$/.test(sub) ? `${name} ${sub}` : name;
    });
  return [...new Set(names.filter((name) => name !== ""))].slice(0, 50);
}
