import { describe, expect, it } from "vitest";
import type { Host } from "../../../src/engine/ports.ts";
import { decidedPath, decideUse } from "../../../src/tools/decided-path.ts";
import { applyPatchTool } from "../../../src/tools/patch/apply-patch.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { createContext, decidedCall, previewOf } from "../call.ts";
import { patch } from "./patch-support.ts";

describe("the decision's paths", () => {
  const scopeOf = (host: Host) => createContext(host);
  const accesses = async (input: string, host = createMemoryHost({ "/project/a": "" })) =>
    applyPatchTool.access(applyPatchTool.input.parse({ input }), scopeOf(host));

  it("are all paths that the patch names, once for each way in which it leads there", async () => {
    const host = createMemoryHost({ "/elsewhere/x": "" }, { links: { "/project/out": "/elsewhere" } });
    const input = patch(
      ...["*** Update File: out/x", "-a", "*** Update File: /elsewhere/x", "-b", "*** Add File: n"],
      ...["*** Update File: m", "*** Move to: out/m", "*** Delete File: out/d"],
    );
    const both = (path: string, written: { written?: string } = {}) => [
      { type: "read", path, ...written },
      { type: "write", path, ...written },
    ];
    expect(await accesses(input, host)).toEqual([
      ...both("/elsewhere/x", { written: "/project/out/x" }),
      ...both("/elsewhere/x"),
      ...both("/project/n"),
      ...both("/project/m"),
      { type: "write", path: "/elsewhere/m", written: "/project/out/m" },
      { type: "read", path: "/elsewhere/d", written: "/project/out/d" },
      { type: "write", path: "/elsewhere/d", written: "/project/out/d", deletes: true },
    ]);
  });

  it("are none if the patch is malformed", async () => {
    expect(await accesses("*** Update File: a\n-x")).toEqual([]);
    expect(await accesses(patch("*** Update File: a", "what is this?"))).toEqual([]);
  });

  it("have the names that were decided on", async () => {
    const scope = scopeOf(createMemoryHost({ "/project/a": "" }));
    const accesses = [await decideUse("read", "a", scope), await decideUse("write", "b", scope)];
    const decided = { ...scope, accesses };
    expect(await Promise.all(["a", "./b"].map((name) => decidedPath(name, decided)))).toEqual([
      "/project/a",
      "/project/b",
    ]);
    await expect(decidedPath("c", decided)).rejects.toThrow("c was not decided on. Nothing was done.");
  });

  it("cannot be swapped for others", async () => {
    for (const swapped of ["d", "e"]) {
      const host = createMemoryHost({ "/etc/x": "secret\n", "/project/a": "1\n" });
      const given = {
        input: patch("*** Update File: a", "-1", "+2", "*** Update File: d/x", "*** Move to: e/x", "-secret", "+gone"),
      };
      const { input, context } = await decidedCall(applyPatchTool, given, createContext(host));
      if (swapped === "e") host.put("/project/d/x", "secret\n");
      host.link(`/project/${swapped}`, "/etc");
      const words = `${swapped}/x was decided on as /project/${swapped}/x, but now leads to /etc/x. Nothing was done.`;
      expect(await applyPatchTool.run(input, context)).toEqual({
        status: "failed",
        text: `Error: Cannot apply the patch. ${words}\nNothing was changed.`,
      });
      expect([host.text("/etc/x"), host.text("/project/a")]).toEqual(["secret\n", "1\n"]);
    }
  });
});

describe("the preview", () => {
  const preview = (files: Readonly<Record<string, string>>, input: string) =>
    previewOf(applyPatchTool, { input }, createContext(createMemoryHost(files)));

  it("has every file before and after", async () => {
    const input = patch(
      ...["*** Update File: a", "*** Move to: b", "-1", "+2", "*** Add File: n", "+n"],
      ...["*** Delete File: d", "*** Update File: b", "-2", "+3"],
    );
    expect(await preview({ "/project/a": "1\n", "/project/d": "d\n" }, input)).toEqual({
      type: "patch",
      patch: input,
      files: [
        { path: "/project/a", movedTo: "/project/b", change: "update", oldContent: "1\n", newContent: "2\n" },
        { path: "/project/n", change: "add", newContent: "n\n" },
        { path: "/project/d", change: "delete", oldContent: "d\n" },
        { path: "/project/b", change: "update", oldContent: "2\n", newContent: "3\n" },
      ],
    });
  });

  it("omits contents if the patch does not fit or is malformed", async () => {
    const input = patch("*** Add File: n", "+n", "*** Update File: a", "*** Move to: b", "-2", "+3");
    expect(await preview({ "/project/a": "1\n" }, input)).toEqual({
      type: "patch",
      patch: input,
      files: [
        { path: "/project/n", change: "add" },
        { path: "/project/a", movedTo: "/project/b", change: "update" },
      ],
    });
    expect(await preview({}, "nothing")).toEqual({ type: "patch", patch: "nothing", files: [] });
  });

  it("omits what is too large, alone or together", async () => {
    const most = 1024 * 1024;
    const big = `${"x".repeat(most)}\n`;
    const half = `${"y".repeat(most / 2)}\n`;
    const input = patch(
      ...["*** Delete File: big", "*** Delete File: h1", "*** Delete File: h2", "*** Delete File: h3"],
      ...["*** Delete File: h4", "*** Delete File: small"],
    );
    const files = { big, h1: half, h2: half, h3: half, h4: half, small: "s" };
    const whole = await preview(
      Object.fromEntries(Object.entries(files).map(([name, text]) => [`/project/${name}`, text])),
      input,
    );
    expect(whole).toMatchObject({ type: "patch" });
    const shown = whole?.type === "patch" ? whole.files.filter((file) => file.oldContent !== undefined) : [];
    expect(shown.map((file) => file.path)).toEqual(["/project/h1", "/project/h2", "/project/h3", "/project/small"]);
  });

  it("shows the head of a huge patch", async () => {
    const input = patch("*** Add File: n", `+${"x".repeat(2 * 1024 * 1024)}`);
    const shown = await preview({}, input);
    expect(shown).toEqual({
      type: "patch",
      patch: `${input.slice(0, 1024 * 1024)}\n[${input.length - 1024 * 1024} more characters: see the call]`,
      files: [{ path: "/project/n", change: "add" }],
    });
  });
});
