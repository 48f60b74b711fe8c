import { describe, expect, it } from "vitest";
import { createTool } from "../../../src/tools/edit/create.ts";
import { readTool } from "../../../src/tools/read/read.ts";
import { markOf } from "../../../src/tools/seen-files.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext, previewOf } from "../call.ts";
import { pngOf } from "../image-files.ts";

const preview = (given: unknown, context: ReturnType<typeof createContext>) => previewOf(createTool, given, context);

describe("Create", () => {
  it("creates the file and its parents, and remembers the version it wrote", async () => {
    const host = createMemoryHost({ "/project/x": "" });
    const context = createContext(host);
    expect(await call(createTool, { file_path: "new/deep/a.txt", content: "hello $& \n" }, context)).toEqual({
      status: "ok",
      text: "File created successfully",
    });
    expect(host.text("/project/new/deep/a.txt")).toBe("hello $& \n");
    expect([...context.seenFiles]).toEqual([["/project/new/deep/a.txt", await markOf("hello $& \n")]]);
  });

  it("replaces a file that was read, and an empty one", async () => {
    const host = createMemoryHost({ "/project/a.txt": "old", "/project/empty": "" });
    const context = createContext(host);
    await call(readTool, { file_path: "a.txt" }, context);
    const created = { status: "ok", text: "File created successfully" };
    expect([
      await call(createTool, { file_path: "/project/a.txt", content: "" }, context),
      await call(createTool, { file_path: "empty", content: "new" }, context),
      await call(createTool, { file_path: "empty", content: "newer" }, context),
    ]).toEqual([created, created, created]);
    expect([host.text("/project/a.txt"), host.text("/project/empty")]).toEqual(["", "newer"]);
  });

  it("does not replace an unread or changed file", async () => {
    const large = "x".repeat(10 * 1024 * 1024 + 1);
    const host = createMemoryHost({ "/project/a": "old", "/project/b": "old", "/project/large": large });
    const context = createContext(host);
    await call(readTool, { file_path: "b", limit: 1 }, context);
    await call(readTool, { file_path: "large", limit: 1 }, context);
    const create = (file_path: string) => call(createTool, { file_path, content: "mine" }, context);
    const results = [await create("a")];
    host.put("/project/b", "theirs");
    host.put("/project/large", `${large}!`);
    results.push(await create("b"), await create("large"));
    const advice = "then create it, or use Edit to change a part of it. Nothing was changed.";
    expect(results.map(({ text }) => text)).toEqual([
      `Error: Cannot replace a file that has not been read: /project/a. Read it first, ${advice}`,
      `Error: Cannot replace a file that has changed since it was read: /project/b. Read it again, ${advice}`,
      `Error: Cannot replace a file that has changed since it was read: /project/large. Read it again, ${advice}`,
    ]);
    expect([host.text("/project/a"), host.text("/project/b")]).toEqual(["old", "theirs"]);
    host.put("/project/b", "old");
    await call(readTool, { file_path: "large", limit: 1 }, context);
    expect([(await create("b")).status, (await create("large")).status]).toEqual(["ok", "ok"]);
  });

  it.each([
    ["an image", pngOf(1, 1)],
    ["UTF-16", Buffer.from("\uFEFFold", "utf16le")],
  ])("replaces %s that was read", async (_, bytes) => {
    const context = createContext(createMemoryHost({ "/project/a": bytes }));
    await call(readTool, { file_path: "a" }, context);
    expect((await call(createTool, { file_path: "a", content: "text" }, context)).status).toBe("ok");
  });

  it("fails with a message where no file can be", async () => {
    const host = createMemoryHost({ "/project/d/x": "", "/project/f": "" }, { others: ["/project/pipe"] });
    const context = createContext(host);
    const results = [];
    for (const file_path of ["d", "pipe", "f/below", ""])
      results.push(await call(createTool, { file_path, content: "c" }, context));
    expect(results).toEqual(
      [
        "Error: Cannot create file: /project/d is a directory.",
        "Error: Cannot create file: /project/pipe exists and is not a regular file.",
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
