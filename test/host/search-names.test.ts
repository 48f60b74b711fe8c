import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { GrepQuery, SearchResult } from "../../src/engine/ports.ts";
import { createSearch } from "../../src/host/search/ripgrep.ts";
import { nameOfBytes } from "../../src/text/shown-name.ts";
import { tempFolder } from "./support.ts";

const signal = new AbortController().signal;
const plain: Omit<GrepQuery, "pattern" | "path"> = {
  ...{ globs: [], mode: "content", caseInsensitive: false, fixedString: false, multiline: false },
  ...{ lineNumbers: true, before: 0, after: 0, limit: 100 },
};

async function tree(contents: Readonly<Record<string, string>>): Promise<string> {
  const folder = await tempFolder();
  for (const [path, text] of Object.entries(contents)) {
    const file = Buffer.from(join(folder, path), "latin1");
    await mkdir(Buffer.from(dirname(join(folder, path)), "latin1"), { recursive: true });
    await writeFile(file, text);
  }
  return folder;
}

function found(...lines: readonly string[]): SearchResult {
  return { lines, truncated: false };
}

describe.each([
  ["ripgrep", createSearch()],
  ["the built-in search", createSearch({ locate: async () => undefined })],
])("%s", (_, search) => {
  const grep = (pattern: string, path: string, changes: Partial<GrepQuery> = {}) =>
    search.grep({ ...plain, pattern, path, ...changes }, signal);
  const glob = (folder: string, ...include: readonly string[]) =>
    search.glob({ folder, include, exclude: [], limit: 100 }, signal);
  const paths = { mode: "file_paths" } as const;

  test("shows each name on one line, whatever is in it", async () => {
    const folder = await tree({
      "a\n./b": "fox",
      "caf\xe9/\xff.txt": "fox",
      'q: binary file matches (found "\\0" byte around offset 5)\n./z': "fox\nfox",
    });
    const names = [
      "./a\\x0a./b",
      "./caf\\xe9/\\xff.txt",
      './q: binary file matches (found "\\0" byte around offset 5)\\x0a./z',
    ];
    expect(await glob(folder, "**")).toEqual(found(...names));
    expect(await grep("fox", folder, paths)).toEqual(found(...names));
    expect(await grep("fox", folder, { after: 1 })).toEqual(
      found(`${names[0]}:1:fox`, "--", `${names[1]}:1:fox`, "--", `${names[2]}:1:fox`, `${names[2]}:2:fox`),
    );
  });

  test("searches a file and a folder whose names are not UTF-8", async () => {
    const folder = await tree({ "caf\xe9/\xff.txt": "fox" });
    const inside = join(folder, nameOfBytes(Buffer.from("caf\xe9", "latin1")));
    expect(await glob(inside, "*")).toEqual(found("./\\xff.txt"));
    expect(await grep("fox", inside)).toEqual(found("./\\xff.txt:1:fox"));
    const file = join(inside, nameOfBytes(Buffer.from("\xff.txt", "latin1")));
    expect(await grep("fox", file)).toEqual(found("./\\xff.txt:1:fox"));
  });

  test("finds names that look exactly like a pattern", async () => {
    const folder = await tree({ "app/[id]/page.tsx": "fox", "app/i/page.tsx": "fox", "a[b": "fox", "{x}/y": "fox" });
    const both = found("./app/[id]/page.tsx", "./app/i/page.tsx");
    for (const pattern of ["app/[id]/page.tsx", "app/[id]/*.tsx", join(folder, "app/[id]/page.tsx")])
      expect(await glob(folder, pattern)).toEqual(both);
    expect(await glob(folder, "app/[id]", "a[b", "{x}")).toEqual(found("./a[b", "./app/[id]/page.tsx", "./{x}/y"));
    for (const [pattern, expected] of [
      ["app/[id]/page.tsx", both.lines],
      ["app/[id]", ["./app/[id]/page.tsx"]],
      ["{x}", ["./{x}/y"]],
      ["app", both.lines],
    ] as const)
      expect(await grep("fox", folder, { ...paths, globs: [pattern] })).toEqual(found(...expected));
  });

  test("accepts a name in its displayed form as a pattern", async () => {
    const folder = await tree({ "sub/two\nlines": "fox" });
    expect(await glob(folder, "sub/two\\x0alines")).toEqual(found("./sub/two\\x0alines"));
    expect(await grep("fox", folder, { ...paths, globs: ["two\\x0alines"] })).toEqual(found("./sub/two\\x0alines"));
  });

  test("needs no folder for its own files", async () => {
    const folder = await tree({
      "a.ts": "fox",
      "b.md": "fox\n1\n2\nfox",
      "c.ts": "fox",
      "node/d.ts": "x",
      ".ignore": "",
    });
    const before = process.env.TMPDIR;
    process.env.TMPDIR = join(folder, "nowhere");
    onTestFinished(() => {
      if (before === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = before;
    });
    expect(await grep("fox", folder, { globs: ["*.ts"], after: 1 })).toEqual(
      found("./a.ts:1:fox", "--", "./c.ts:1:fox"),
    );
    expect(await grep("fox", folder, { ...paths, globs: ["**/*.{ts,tsx}", "!c.*"] })).toEqual(found("./a.ts"));
  });

  test("matches CRLF lines like LF lines", async () => {
    const folder = await tree({ "dos.txt": "one fox\r\ntwo.\r\n\r\nthree\r\n", "unix.txt": "one fox\ntwo.\n" });
    const dos = { globs: ["dos.txt"] };
    expect(await grep("fox$", folder)).toEqual(found("./dos.txt:1:one fox", "./unix.txt:1:one fox"));
    expect(await grep("^$", folder, dos)).toEqual(found("./dos.txt:3:"));
    expect(await grep("fox.", folder)).toEqual(found());
    const lines = ["1:one fox", "2:two."];
    const both = found(...["dos", "unix"].flatMap((name) => lines.map((line) => `./${name}.txt:${line}`)));
    for (const pattern of [
      "fox\\ntwo",
      "fox\ntwo",
      "fox$\\n^two",
      "fox.two",
      "fox[\\n]+two",
      "[^\\n]x\\n[^\\]\\n]wo",
      "fox\\s+two",
    ])
      expect([pattern, await grep(pattern, folder, { multiline: true })]).toEqual([pattern, both]);
    expect(await grep("fox\ntwo.", folder, { multiline: true, fixedString: true })).toEqual(both);
    expect(await grep("two\\.\\n\\n", folder, { ...dos, multiline: true })).toEqual(
      found("./dos.txt:2:two.", "./dos.txt:3:"),
    );
    expect(await grep("\\r", folder, paths)).toEqual(found("./dos.txt"));
    expect(await grep("fox\\r\\n", folder, { ...paths, multiline: true })).toEqual(found("./dos.txt"));
    expect(await grep("two", folder, { ...dos, before: 1 })).toEqual(found("./dos.txt-1-one fox", "./dos.txt:2:two."));
  });
});
