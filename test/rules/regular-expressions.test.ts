import { expect, test } from "vitest";
import { filesWithMadePatterns, slowPatternsIn, slowPatternsOfSource } from "./regular-expressions.ts";

/**
 * Patterns with polynomial time for hostile texts, and why none reaches them. The offline model's are not listed,
 * because it rejects prompts of more than 10,000 characters.
 */
const reviewed: Readonly<Record<string, string>> = {
  "src/commands/program.ts": "our own help",
  "src/config/models/factory-models.ts": "an address in the user's own settings",
  "src/text/glob-pattern.ts": "patterns have at most 400 characters",
  "src/frontends/acp/session/slash-commands.ts": "what follows is taken whole, so that it never fails late",
  "src/connect/line.ts": "what follows is taken whole, so that it never fails late",
  "src/server/gatekeeper.ts": "Node reads at most 16 KiB of headers",
  "src/host/git/git-config.ts": "one line of a file of at most 256 KiB, and what follows is taken whole",
  "src/host/git/git-credentials.ts": "lines of a file of at most 256 KiB; a line ends each attempt",
  "src/host/git/git-user-settings.ts": "the user's own environment",
  "src/host/git/repository-commands.ts": "words of the user's own settings",
  "src/host/search/ripgrep.ts": "patterns have at most 400 characters",
  "src/host/files/save-plan.ts": "the end of a line always fits",
  "src/host/environment/secret-names.ts": "names of the user's own environment",
  "src/host/environment/secret-values.ts": "the user's own environment",
  "src/models/calls/redact.ts": "keys of the user",
  "src/permissions/shell/guesses.ts": "a word has at most 4096 characters",
  "src/permissions/programs/scripts/awk.ts": "tried at one place each",
  "src/permissions/programs/scripts/sed.ts": "tried at one place each",
  "src/tools/search/ls.ts": "patterns have at most 400 characters",
  "src/tools/web/page-text.ts": "looks at no more than 1000 characters from each place, in the head of a page",
  "src/tools/ask/questionnaire.ts": "what follows is taken whole, so that it never fails late",
};

test("finds what a hostile text makes slow", () => {
  const planted = "const a = /^(a+)+$/, b = /\\s+$/, c = /^[a-z]+:\\d+$/;";
  expect(slowPatternsIn("planted.ts", planted)).toEqual([
    { file: "planted.ts", pattern: "/^(a+)+$/", growth: "exponential" },
    { file: "planted.ts", pattern: "/\\s+$/", growth: "polynomial" },
  ]);
});

test("no pattern takes exponential time, and those above linear time are reviewed", () => {
  const slow = slowPatternsOfSource();
  expect(slow.filter(({ growth }) => growth === "exponential")).toEqual([]);
  const files = new Set(slow.map(({ file }) => file).filter((file) => !file.startsWith("src/models/offline/")));
  expect([...files].sort()).toEqual(Object.keys(reviewed).sort());
}, 60_000);

/** The same for patterns built from strings. */
const made: Readonly<Record<string, string>> = {
  "config/models/factory-models.ts": "one set of characters",
  "config/check/form.ts": "written in src/config/schema, and reviewed there",
  "text/terminal-text.ts": "alternatives of one character each",
  "host/git/git-config.ts": "a line ends each attempt",
  "host/search/line-search.ts": "the model's own, in a thread that is ended after 10 seconds",
  "host/environment/secret-values.ts": "the user's own environment",
  "models/calls/redact.ts": "the user's keys, literally",
  "models/scripted/script-choice.ts": "a script that the user wrote",
  "models/scripted/script-format.ts": "a script that the user wrote",
  "permissions/programs/arg.ts": "one set of characters",
  "permissions/reader/bindings.ts": "one name",
  "permissions/programs/scripts/sed.ts": "each character fits one alternative",
};

test("patterns built from strings are reviewed", () => {
  const files = filesWithMadePatterns().filter((file) => !file.startsWith("models/offline/"));
  expect(files).toEqual(Object.keys(made).sort());
});
