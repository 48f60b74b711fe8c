import { describe, expect, it } from "vitest";
import type { Files } from "../../../src/engine/files.ts";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { markOf } from "../../../src/tools/seen-files.ts";
import { createMemoryHost, type MemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";
import { contents, patch } from "./patch-support.ts";

describe("a write that fails midway", () => {
  const files = { "/project/a": "1\n", "/project/b": "2\n", "/project/c": "3\n", "/project/d": "4\n" };
  const input = patch(
    ...["*** Delete File: d", "*** Update File: a", "-1", "+one", "*** Add File: n/n", "+n"],
    ...["*** Update File: b", "-2", "+two", "*** Delete File: c"],
  );

  /** Runs the patch on a host whose files behave as in `change`, and returns the outcome. */
  async function run(change: (host: MemoryHost) => Partial<Files>) {
    const host = createMemoryHost(files);
    const context = createContext({ ...host, files: { ...host.files, ...change(host) } });
    context.seenFiles.set("/project/a", await markOf("1\n"));
    context.seenFiles.set("/project/b", "an older version");
    const output = await call(applyPatchTool, { input }, context);
    expect(Object.fromEntries(context.seenFiles)).toEqual({
      "/project/a": await markOf("1\n"),
      "/project/b": "an older version",
    });
    return { ...output, after: await contents(host) };
  }
  const before = { a: "1\n", b: "2\n", c: "3\n", d: "4\n" };

  /** Fails when a path is first written or removed. */
  const failingOnce = (host: MemoryHost, path: string): Partial<Files> => {
    let isFirst = true;
    const fail = (at: string) => {
      if (at !== path || !isFirst) return;
      isFirst = false;
      throw new Error("ENOSPC: no space left on device");
    };
    return {
      async write(at, text) {
        fail(at);
        return host.files.write(at, text);
      },
      async remove(at) {
        fail(at);
        return host.files.remove(at);
      },
    };
  };

  const back = "The earlier changes were undone, so nothing is changed.";
  const folders = "Empty folders made for new files may remain.";
  it.each([
    ["a", `Cannot write a: ENOSPC: no space left on device. Nothing was changed.`],
    ["n/n", `Cannot write n/n: ENOSPC: no space left on device. ${back}`],
    ["b", `Cannot write b: ENOSPC: no space left on device. ${back} ${folders}`],
    ["d", `Cannot remove d: ENOSPC: no space left on device. ${back} ${folders}`],
    ["c", `Cannot remove c: ENOSPC: no space left on device. ${back} ${folders}`],
  ])("undoes earlier changes: %s", async (name, words) => {
    expect(await run((host) => failingOnce(host, `/project/${name}`))).toEqual({
      status: "failed",
      text: `Error: ${words}`,
      after: before,
    });
  });

  it("reports what could not be undone", async () => {
    const output = await run((host) => ({
      async write(path, text) {
        if (path === "/project/b" || text === "1\n") throw new Error("EROFS: read-only file system");
        return host.files.write(path, text);
      },
    }));
    expect(output).toEqual({
      status: "failed",
      text: `Error: Cannot write b: EROFS: read-only file system. Not all earlier changes could be undone! a was not restored: EROFS: read-only file system. The others were restored. ${folders}`,
      after: { ...before, a: "one\n" },
    });
  });

  it("leaves another program's later change alone", async () => {
    const output = await run((host) => ({
      async write(path, text) {
        if (path !== "/project/b") return host.files.write(path, text);
        host.put("/project/a", "theirs\n");
        throw new Error("no");
      },
    }));
    expect(output).toEqual({
      status: "failed",
      text: `Error: Cannot write b: no. Not all earlier changes could be undone! a was not restored: another program has changed it since. The others were restored. ${folders}`,
      after: { ...before, a: "theirs\n" },
    });
  });

  it("includes one that would overwrite another program's change", async () => {
    const changing = (path: string, at: string) =>
      run((host) => ({
        async write(written, text) {
          const version = await host.files.write(written, text);
          if (written === at) host.put(path, "theirs\n");
          return version;
        },
      }));
    expect(await changing("/project/b", "/project/a")).toEqual({
      status: "failed",
      text: `Error: Cannot write b: it changed in the meantime. ${back} ${folders}`,
      after: { ...before, b: "theirs\n" },
    });
    expect(await changing("/project/n/n", "/project/a")).toEqual({
      status: "failed",
      text: `Error: Cannot write n/n: it was created in the meantime. ${back}`,
      after: { ...before, "n/n": "theirs\n" },
    });
  });

  it("does not begin if the call was stopped", async () => {
    const host = createMemoryHost(files);
    const context = createContext(host, { signal: AbortSignal.abort() });
    expect(await call(applyPatchTool, { input }, context)).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
    expect(await contents(host)).toEqual(before);
  });
});
