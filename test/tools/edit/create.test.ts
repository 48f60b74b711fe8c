import { describe, expect, it } from "vitest";
import { createTool } from "../../../src/tools/edit/create.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";

const preview = (given: unknown, context: ReturnType<typeof createContext>) =>
  createTool.preview?.(createTool.input.parse(given), context);

describe("Create", () => {
  it("makes the file and its parents, and remembers the version it wrote", async () => {
    const host = createMemoryHost({ "/project/x": "" });
    const context = createContext(host);
    expect(await call(createTool, { file_path: "new/deep/a.txt", content: "hello $& \n" }, context)).toEqual({
      status: "ok",
      text: "File created successfully",
    });
    expect(host.text("/project/new/deep/a.txt")).toBe("hello $& \n");
    expect([...context.seenFiles]).toEqual([["/project/new/deep/a.txt", "v2"]]);
  });

  it("says the same when it replaces a file", async () => {
    const host = createMemoryHost({ "/project/a.txt": "old" });
    expect(await call(createTool, { file_path: "/project/a.txt", content: "" }, createContext(host))).toEqual({
      status: "ok",
      text: "File created successfully",
    });
    expect(host.text("/project/a.txt")).toBe("");
  });

  it("fails with words where no file can be", async () => {
    const host = createMemoryHost({ "/project/d/x": "", "/project/f": "" }, { others: ["/project/pipe"] });
    const context = createContext(host);
    const results = [];
    for (const file_path of ["d", "pipe", "f/below", ""])
      results.push(await call(createTool, { file_path, content: "c" }, context));
    expect(results).toEqual(
      [
        "Error: Cannot create file: /project/d is a directory.",
        "Error: Cannot create file: /project/pipe is there and is not a regular file.",
        "Error: Cannot create file: ENOTDIR: not a directory, mkdir '/project/f/below'",
        "Error: file_path is required and must be a string",
      ].map((text) => ({ status: "failed", text })),
    );
    expect([...context.seenFiles]).toEqual([]);
  });

  it("shows an approver the real path, the new content and the old one", async () => {
    const host = createMemoryHost(
      { "/real/a.txt": "old", "/project/big": "x".repeat(1024 * 1024 + 1), "/project/bin": new Uint8Array([0xff]) },
      { links: { "/project/link": "/real" } },
    );
    const context = createContext(host);
    expect([
      await preview({ file_path: "link/a.txt", content: "new" }, context),
      await preview({ file_path: "none", content: "new" }, context),
      await preview({ file_path: "big", content: "new" }, context),
      await preview({ file_path: "bin", content: "new" }, context),
    ]).toEqual([
      { type: "create", path: "/real/a.txt", content: "new", oldContent: "old" },
      { type: "create", path: "/project/none", content: "new" },
      { type: "create", path: "/project/big", content: "new" },
      { type: "create", path: "/project/bin", content: "new" },
    ]);
  });
});
