import { expect, test } from "vitest";
import { ruleWords } from "../../../src/config/rules/rule-words.ts";

test.each<readonly [string, readonly string[]]>([
  ["git fetch origin", ["git", "fetch", "origin"]],
  ["  git\t fetch  ", ["git", "fetch"]],
  ["npm run *", ["npm", "run", "*"]],
  ["make CC=gcc", ["make", "CC=gcc"]],
  ["git reset HEAD~1 a^ '@{u}'", ["git", "reset", "HEAD~1", "a^", "@{u}"]],
  ["echo 'a  b' \"c d\" e\\ f", ["echo", "a  b", "c d", "e f"]],
  [String.raw`echo "a\"b\\c\$d\e" '\n'`, ["echo", 'a"b\\c$d\\e', "\\n"]],
  ["g'i't pu\"sh\"", ["git", "push"]],
  ["git commit -m ''", ["git", "commit", "-m", ""]],
  ["find . -name '*.ts' -exec cat '{}' \\;", ["find", ".", "-name", "*.ts", "-exec", "cat", "{}", ";"]],
  ["find '*' x", ["find", "*", "x"]],
  [String.raw`echo \$HOME \~`, ["echo", "$HOME", "~"]],
  ["find . ! -name x", ["find", ".", "!", "-name", "x"]],
  ["'if' x", ["if", "x"]],
  ["'[' -f x ']'", ["[", "-f", "x", "]"]],
  ["größe 你好 *", ["größe", "你好", "*"]],
  ["a#b c", ["a#b", "c"]],
])("%j", (rule, words) => {
  expect(ruleWords(rule, "deny")).toEqual({ words });
  expect(ruleWords(rule, "allow")).toEqual({ words });
});

test.each([
  ["", "empty"],
  [" \t ", "empty"],
  ["''", "no program"],
  ["'' x", "no program"],
  ["git push; ls", "; is shell syntax"],
  ["git push;", "; is shell syntax"],
  ["ls | sh", "| is shell syntax"],
  ["a && b", "& is shell syntax"],
  ["sleep 1 &", "& is shell syntax"],
  ["echo $HOME", "$ is shell syntax"],
  ["echo $\u007bx}", "$ is shell syntax"],
  ["echo $'a'", "$ is shell syntax"],
  ["$(x)", "$ is shell syntax"],
  ["echo `x`", "` is shell syntax"],
  ['echo "$x"', "$ is shell syntax even in double quotes"],
  ['echo "`x`"', "` is shell syntax even in double quotes"],
  ["ls > x", "> is shell syntax"],
  ["ls 2>&1", "> is shell syntax"],
  ["cat <x", "< is shell syntax"],
  ["(ls)", "( is shell syntax"],
  ["{ ls", "{ is shell syntax"],
  ["echo {a,b}", "{ is shell syntax"],
  ["ls [ab]", "[ is shell syntax"],
  ["ls a?", "? is shell syntax"],
  ["ls *.ts", "* is only valid as the whole last word"],
  ["ls src/*", "* is only valid as the whole last word"],
  ["ls **", "* is only valid as the whole last word"],
  ["ls a*", "* is only valid as the whole last word"],
  ["ls 'a'*", "* is only valid as the whole last word"],
  ["ls *'a'", "* is only valid as the whole last word"],
  ["ls * x", "* must be its last word"],
  ["* push", "* must be its last word"],
  ["* *", "* must be its last word"],
  ["ls '*'", "is ambiguous"],
  ["ls \\*", "is ambiguous"],
  ["'*'", "is ambiguous"],
  ["ls ~", "would replace ~"],
  ["~/bin/x", "would replace ~"],
  ["make P=~/x", "would replace ~"],
  ["ls # all", "# starts a comment"],
  ["A=1 make", "an assignment"],
  ["A+=1 make", "an assignment"],
  ["A=", "an assignment"],
  ["if x", "is a shell keyword"],
  ["! ls", "is a shell keyword"],
  ["time make", "is a shell keyword"],
  ["echo 'a", "a quote is not closed"],
  ['echo "a', "a quote is not closed"],
  ['echo "a\\"', "a quote is not closed"],
  ["echo a\\", "ends with a backslash"],
  ["git push\n", String.raw`\u{a}`],
  ["git\npush", String.raw`\u{a}`],
  ["git\r", String.raw`\u{d}`],
  ["git\0push", String.raw`\u{0}`],
  ["git\u001b[2Jpush", String.raw`\u{1b}`],
  ["git\u00a0push", String.raw`\u{a0}`],
  ["git pu\u200bsh", String.raw`\u{200b}`],
  ["git 'pu\u202esh'", String.raw`\u{202e}`],
  ["git \ufe0f", String.raw`\u{fe0f}`],
  ["git \ud800", "half a character"],
])("%j is rejected", (rule, fault) => {
  for (const use of ["allow", "deny"] as const) {
    const read = ruleWords(rule, use);
    expect(read).toEqual({ fault: expect.stringContaining("invalid rule ") });
    expect(read).toEqual({ fault: expect.stringContaining(fault) });
    expect(read).toEqual({ fault: expect.not.stringMatching(/\p{Cc}|\p{Cf}|\p{Cs}/u) });
  }
});

test("all commands can be denied, but not allowed", () => {
  expect(ruleWords(" * ", "deny")).toEqual({ words: ["*"] });
  expect(ruleWords("*", "allow")).toEqual({ fault: 'invalid rule "*": it would allow every command' });
});

test("a fault shows only the start of a long rule", () => {
  expect(ruleWords(`echo ${"x".repeat(10_000)};`, "deny")).toEqual({ fault: expect.stringMatching(/^.{90,200}$/u) });
});
