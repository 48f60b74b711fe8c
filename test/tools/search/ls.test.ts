import { describe, expect, it } from "vitest";
import { jsonBytes, outputLimit } from "../../../src/text/output.ts";
import { lsTool } from "../../../src/tools/search/ls.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";

describe("LS", () => {
  it("lists the working directory by name, with mode, size, date and what each entry is", async () => {
    const host = createMemoryHost(
      { "/project/b.txt": "hello", "/project/src/a.ts": "x", "/project/.env": "", "/project/two\nlines": "0123456789" },
      { links: { "/project/current": "../project/src" } },
    );
    expect(await call(lsTool, {}, createContext(host))).toEqual({
      status: "ok",
      text: [
        "-rw-r--r--  0 2026-01-02 03:04 .env",
        "-rw-r--r--  5 2026-01-02 03:04 b.txt",
        "lrwxrwxrwx  0 2026-01-02 03:04 current -> ../project/src",
        "drwxr-xr-x  0 2026-01-02 03:04 src/",
        "-rw-r--r-- 10 2026-01-02 03:04 two\\x0alines",
      ].join("\n"),
    });
  });

  it("excludes names in ignorePatterns", async () => {
    const names = ["a.log", "b.txt", "c.tmp", "dist/x", "node_modules/y/z", "q1", "q2", "keep"];
    const host = createMemoryHost(Object.fromEntries(names.map((name) => [`/project/${name}`, ""])));
    const ignorePatterns = ["*.{log,tmp}", "**/node_modules/**", "/project/dist", "q[!2]", "", "keep/inner"];
    const { text } = await call(lsTool, { ignorePatterns }, createContext(host));
    expect(text.split("\n").map((line) => line.split(" ").at(-1))).toEqual(["b.txt", "keep", "q2"]);
  });

  it("fails with a message for a missing folder, a file, or an oversized pattern", async () => {
    const context = createContext(createMemoryHost({ "/project/f": "" }));
    expect([
      await call(lsTool, { directory_path: "nowhere" }, context),
      await call(lsTool, { directory_path: "f" }, context),
      await call(lsTool, { ignorePatterns: ["x".repeat(401)] }, context),
    ]).toEqual([
      { status: "failed", text: "Error: LS tool call failed: Directory does not exist: /project/nowhere" },
      {
        status: "failed",
        text: "Error: LS tool call failed: Not a directory: /project/f. Use Read for a file.",
        cause: "not_directory",
      },
      { status: "failed", text: "Error: LS tool call failed: A pattern has more than 400 characters." },
    ]);
  });

  it("has a message for an empty directory", async () => {
    const context = createContext(createMemoryHost({ "/project/only.log": "" }));
    expect(await call(lsTool, { ignorePatterns: ["*"] }, context)).toEqual({
      status: "ok",
      text: "[The directory is empty.]",
    });
  });

  it("shows 1,000 entries at most, fewer when their names are long, and counts the rest", async () => {
    const list = async (count: number, name: string) => {
      const files = Array.from({ length: count }, (_, index) => [`/project/${name}${index}`, ""]);
      return (await call(lsTool, {}, createContext(createMemoryHost(Object.fromEntries(files))))).text;
    };
    const short = await list(1005, "n");
    expect(short.split("\n").slice(1000)).toEqual([
      "",
      "[5 more entries are not shown. Narrow it with ignorePatterns, or use Glob.]",
    ]);
    const long = await list(900, "名".repeat(80));
    expect(jsonBytes(long)).toBeLessThanOrEqual(outputLimit);
    const shown = long.split("\n").length - 2;
    expect(long).toContain(`[${900 - shown} more entries are not shown.`);
  });
});
