import { describe, expect, it } from "vitest";
import type { GlobQuery, GrepQuery, Host, SearchResult } from "../../../src/engine/ports.ts";
import { jsonBytes, outputLimit } from "../../../src/text/output.ts";
import { globTool } from "../../../src/tools/search/glob.ts";
import { grepTool } from "../../../src/tools/search/grep.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";

const files = {
  "/project/a.ts": "const one = 1;\nlet Two;\n",
  "/project/src/b.ts": "one\none",
  "/project/c.md": "none",
};

/** A host that records the queries and returns `result`. */
function recording(result: SearchResult | Error) {
  const queries: (GrepQuery | GlobQuery)[] = [];
  const answer = async (query: GrepQuery | GlobQuery) => {
    queries.push(query);
    if (result instanceof Error) throw result;
    return result;
  };
  const host: Host = { ...createMemoryHost(files), search: { grep: answer, glob: answer } };
  return { host, queries };
}

describe("Grep", () => {
  it("lists the matching files unless content is requested", async () => {
    const context = createContext(createMemoryHost(files));
    expect([
      await call(grepTool, { pattern: "\\bone\\b" }, context),
      await call(grepTool, { pattern: "one", output_mode: "content", glob_pattern: "*.ts" }, context),
      await call(
        grepTool,
        { pattern: "TWO;", output_mode: "content", case_insensitive: true, line_numbers: true },
        context,
      ),
      await call(grepTool, { pattern: "one = 1.", fixed_string: true }, context),
    ]).toEqual([
      { status: "ok", text: "./a.ts\n./src/b.ts" },
      { status: "ok", text: "./a.ts:const one = 1;\n./src/b.ts:one\n./src/b.ts:one" },
      { status: "ok", text: "./a.ts:2:let Two;" },
      { status: "ok", text: "No matching files found", cause: "no_match" },
    ]);
  });

  it("passes every parameter on, with defaults and limits", async () => {
    const { host, queries } = recording({ lines: [], truncated: false });
    await call(grepTool, { pattern: "x" }, createContext(host));
    await call(
      grepTool,
      {
        pattern: "y",
        path: "src",
        glob_pattern: "*.ts",
        output_mode: "content",
        case_insensitive: true,
        type: "ts",
        context: 2,
        context_after: 7,
        line_numbers: true,
        head_limit: 9,
        multiline: true,
        fixed_string: true,
      },
      createContext(host),
    );
    await call(grepTool, { pattern: "z", head_limit: 1e9, context: 1e9, context_before: -1 }, createContext(host));
    const plain = {
      pattern: "x",
      path: "/project",
      globs: [],
      mode: "file_paths",
      caseInsensitive: false,
      fixedString: false,
      multiline: false,
      lineNumbers: false,
      before: 0,
      after: 0,
      limit: 500,
    };
    expect(queries).toEqual([
      plain,
      {
        pattern: "y",
        path: "/project/src",
        globs: ["*.ts"],
        fileType: "ts",
        mode: "content",
        caseInsensitive: true,
        fixedString: true,
        multiline: true,
        lineNumbers: true,
        before: 2,
        after: 7,
        limit: 9,
      },
      { ...plain, pattern: "z", after: 100, limit: 5000 },
    ]);
  });

  it("reports that there is more, and where paths start if not in the working directory", async () => {
    const context = createContext(createMemoryHost(files));
    expect([
      await call(grepTool, { pattern: "one", output_mode: "content", head_limit: 2 }, context),
      await call(grepTool, { pattern: "one", path: "src" }, context),
      await call(grepTool, { pattern: "one", path: "src/b.ts" }, context),
    ]).toEqual([
      {
        status: "ok",
        text: "./a.ts:const one = 1;\n./c.md:none\n\n[Only the first 2 are shown. Narrow the search to see the others.]",
      },
      { status: "ok", text: "./b.ts\n\n[Paths are relative to /project/src]" },
      { status: "ok", text: "./b.ts" },
    ]);
  });

  it("limits long lines and long results", async () => {
    const { host } = recording({ lines: [`./min.js:${"😀".repeat(400_000)}`, "./z"], truncated: false });
    const { text } = await call(grepTool, { pattern: "x", output_mode: "content" }, createContext(host));
    expect(text).toBe(`./min.js:${"😀".repeat(245)}… [line cut: 799510 more characters]\n./z`);

    const many = recording({ lines: Array.from({ length: 5000 }, () => "\u0001".repeat(100)), truncated: false });
    const bounded = await call(grepTool, { pattern: "x", output_mode: "content" }, createContext(many.host));
    expect(jsonBytes(bounded.text)).toBeLessThanOrEqual(outputLimit);
    expect(bounded.text).toMatch(/\n\n\[Only the first \d+ are shown\./);
  });

  it("turns faults into a result", async () => {
    const { host } = recording(new Error("regex parse error: unclosed group"));
    expect([
      await call(grepTool, { pattern: "(" }, createContext(host)),
      await call(grepTool, { pattern: "" }, createContext(host)),
      await call(grepTool, { pattern: "x", head_limit: -1 }, createContext(host)),
      await call(grepTool, { pattern: "x", path: "nowhere" }, createContext(host)),
      await call(grepTool, { pattern: "x" }, createContext(host, { signal: AbortSignal.abort() })),
    ]).toEqual([
      { status: "failed", text: "Error: Grep failed: regex parse error: unclosed group" },
      { status: "failed", text: "Error: pattern is required and must be a string" },
      { status: "failed", text: "Error: head_limit is the number of results to return: 1 or more" },
      { status: "failed", text: "Error: Grep failed: Path does not exist: /project/nowhere" },
      { status: "interrupted", text: "Error: Tool execution cancelled by user" },
    ]);
  });
});

describe("Glob", () => {
  it("finds files by one or several patterns, minus excluded ones", async () => {
    const context = createContext(createMemoryHost(files));
    expect([
      await call(globTool, { patterns: "*.ts" }, context),
      await call(globTool, { patterns: ["*.md", "src/**"], excludePatterns: "b.*" }, context),
      await call(globTool, { patterns: "*", folder: "/project/src" }, context),
      await call(globTool, { patterns: "*.go" }, context),
    ]).toEqual([
      { status: "ok", text: "./a.ts\n./src/b.ts" },
      { status: "ok", text: "./c.md" },
      { status: "ok", text: "./b.ts\n\n[Paths are relative to /project/src]" },
      { status: "ok", text: "No matching files found", cause: "no_match" },
    ]);
  });

  it("passes its query on and reports that there is more", async () => {
    const { host, queries } = recording({ lines: ["./a.ts"], truncated: true });
    const { text } = await call(
      globTool,
      { patterns: ["a", " "], excludePatterns: ["b", "c"], folder: "src" },
      createContext(host),
    );
    expect(queries).toEqual([{ folder: "/project/src", include: ["a"], exclude: ["b", "c"], limit: 1000 }]);
    expect(text).toBe(
      "./a.ts\n\n[Only the first 1 are shown. Narrow the search to see the others.]\n[Paths are relative to /project/src]",
    );
  });

  it("turns faults into a result", async () => {
    const { host } = recording(new Error("invalid glob"));
    expect([
      await call(globTool, { patterns: "[" }, createContext(host)),
      await call(globTool, { patterns: [] }, createContext(host)),
      await call(globTool, { patterns: "*", folder: "a.ts" }, createContext(host)),
      await call(globTool, { patterns: "*" }, createContext(host, { signal: AbortSignal.abort() })),
    ]).toEqual([
      { status: "failed", text: "Error: Glob failed: invalid glob" },
      { status: "failed", text: "Error: patterns is required: one pattern or more" },
      { status: "failed", text: "Error: Glob failed: Directory does not exist: /project/a.ts" },
      { status: "interrupted", text: "Error: Tool execution cancelled by user" },
    ]);
  });
});

describe("a search's exclusions", () => {
  const left = async (path: string, protectedPlaces: readonly string[]) => {
    const { host, queries } = recording({ lines: [], truncated: false });
    await host.files.write(`${path}/file`, "");
    await call(grepTool, { pattern: "x", path }, createContext(host, { protectedPlaces }));
    await call(globTool, { patterns: "*", folder: path }, createContext(host, { protectedPlaces }));
    return queries.map((query) => ("globs" in query ? query.globs : query.exclude));
  };

  it("are protected places below the folder, Tinman's own folders, and in .git what starts programs", async () => {
    const places = ["/project/.ssh", "/home/u/.aws"];
    const always = ["/.ssh", ".tinman"];
    expect(await left("/project", places)).toEqual([always.map((glob) => `!${glob}`), always]);
    const inGit = [".tinman", "config", "config.worktree", "hooks"];
    for (const folder of ["/project/.git", "/project/.git/modules/a"])
      expect(await left(folder, places)).toEqual([inGit.map((glob) => `!${glob}`), inGit]);
    expect(await left("/project/.github", places)).toEqual([["!.tinman"], [".tinman"]]);
  });

  it("are processes and devices below the root, and a search of only those is rejected", async () => {
    const [, globs] = await left("/", ["/home/u/.aws"]);
    expect(globs).toEqual(["/home/u/.aws", "/proc", "/sys", "/dev", ".tinman"]);
    const others = ["/home/*/.aws", "/root/.aws"];
    const skipped = async (path: string) => (await left(path, others))[1];
    expect([await skipped("/home"), await skipped("/home/bob"), await skipped("/root")]).toEqual([
      ["/*/.aws", ".tinman"],
      ["/.aws", ".tinman"],
      ["/.aws", ".tinman"],
    ]);
    const { host, queries } = recording({ lines: [], truncated: false });
    await host.files.write("/proc/self/maps", "");
    const why = "/proc contains processes and devices, and is not searched. Use Read for one file.";
    expect([
      await call(grepTool, { pattern: "x", path: "/proc/self" }, createContext(host)),
      await call(globTool, { patterns: "*", folder: "/proc" }, createContext(host)),
    ]).toEqual([
      { status: "failed", text: `Error: Grep failed: ${why}` },
      { status: "failed", text: `Error: Glob failed: ${why}` },
    ]);
    expect(queries).toEqual([]);
  });

  it("are empty where nothing is protected", async () => {
    expect(await left("/project/.git", [])).toEqual([[], []]);
  });
});
