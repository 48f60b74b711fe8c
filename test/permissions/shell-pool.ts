import { type AccessClass, accessClasses } from "../../src/engine/permission.ts";

export const rowsOf = (text: string): readonly string[] => text.split(/,\s+/);

/** The invocations in generated programs. The longest row that an invocation starts with gives its class. */
export const pool: Readonly<Record<AccessClass, readonly string[]>> = {
  read: rowsOf(`ls, ls -la, cat a.txt, head -n 3 a.txt, tail a.txt, wc -l a.txt, grep -n two a.txt, sort a.txt, git status,
    git log --oneline, git diff, git show, git ls-files, diff a.txt b.txt, cut -c1 a.txt, tr a b, find . -name a.txt,
    find ., stat a.txt, basename a.txt, uname -a, du -sh, sed -n 1p a.txt`),
  low: rowsOf(`touch x.txt, mkdir -p d, mkdir e, cp a.txt c.txt, rmdir d, touch y.txt, mkdir f, cp a.txt f.txt,
    touch -c a.txt, mkdir -p g/h, mv c.txt e.txt, ln -s a.txt l.txt,
    sed -i s/a/b/ a.txt, tee o.txt`),
  medium:
    rowsOf(`make, make all, npm test, npm install, npm run build, git add a.txt, git commit -m note, git fetch, pytest,
    cargo build, go test, tsc, curl https://example.com, tar -xf a.tar, chmod +x a.txt`),
  high: rowsOf("rm -rf d, rm a.txt, git push, git reset --hard, git clean -fd, npm publish, dd of=a.txt, ssh host"),
};
const table = new Map(accessClasses.flatMap((level) => pool[level].map((row) => [row, level] as const)));
export const stubNames: readonly string[] = [...new Set([...table.keys()].map((row) => row.split(" ")[0] ?? row))];

/** Flags that change a program's class in any position. */
const flags: readonly (readonly [name: string, flag: string, level: AccessClass])[] = [
  ["find", "-delete", "high"],
  ["sort", "-o", "low"],
  ["sed", "-i", "low"],
];

/** The class of an invocation of a stub. Without a matching row, the lowest class of the rows for that program. */
export function classOfInvocation(words: readonly string[]): AccessClass | undefined {
  const flagged = flags.find(([name, flag]) => words[0] === name && words.includes(flag));
  if (flagged !== undefined) return flagged[2];
  for (let length = words.length; length > 0; length -= 1) {
    const level = table.get(words.slice(0, length).join(" "));
    if (level !== undefined) return level;
  }
  return accessClasses.find((level) => pool[level].some((row) => row.startsWith(`${words[0]} `)));
}
