import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Host } from "../../src/engine/ports.ts";
import type { ToolBody, ToolContext } from "../../src/engine/tool.ts";
import { createNodeHost } from "../../src/host/node-host.ts";
import { createTool } from "../../src/tools/edit/create.ts";
import { editTool } from "../../src/tools/edit/edit.ts";
import { readTool } from "../../src/tools/read/read.ts";
import { globTool } from "../../src/tools/search/glob.ts";
import { grepTool } from "../../src/tools/search/grep.ts";
import { lsTool } from "../../src/tools/search/ls.ts";
import { markOf } from "../../src/tools/seen-files.ts";
import { tempFolder } from "../host/support.ts";
import { createContext, decidedCall } from "./call.ts";

interface Place {
  readonly ws: string;
  readonly out: string;
  readonly host: Host;
  readonly context: ToolContext;
}

/** A workspace `ws` with `src/a.txt`, and beside it `ws-other` with files of the same names. */
async function place(): Promise<Place> {
  const base = await tempFolder();
  const [ws, out] = [join(base, "ws"), join(base, "ws-other")];
  for (const folder of [ws, out]) {
    await mkdir(join(folder, "src"), { recursive: true });
    await writeFile(join(folder, "src", "a.txt"), folder === ws ? "inside\n" : "outside\n");
  }
  const host = createNodeHost({ outputsDir: join(base, "outputs") });
  return { ws, out, host, context: { ...createContext(host), cwd: ws } };
}

async function swapForLink(folder: string, target: string): Promise<void> {
  await rename(folder, `${folder}-aside`);
  await symlink(target, folder);
}

/** A host's file system with a change right after the path's last comparison. */
function justBeforeOpening(host: Host, happens: () => Promise<void>): Host {
  let asked = 0;
  const canonical: Host["files"]["canonical"] = async (path, base) => {
    const answer = await host.files.canonical(path, base);
    asked += 1;
    if (asked === 2) await happens();
    return answer;
  };
  return { ...host, files: { ...host.files, canonical } };
}

async function decided(tool: ToolBody, input: object, context: ToolContext) {
  const call = await decidedCall(tool, input, context);
  return { access: call.accesses, run: () => tool.run(call.input, call.context) };
}

const calls: readonly (readonly [string, ToolBody, object, string])[] = [
  ["Read", readTool, { file_path: "src/a.txt" }, "Error reading file: WS/src/a.txt"],
  ["Create", createTool, { file_path: "src/n.txt", content: "new" }, "Cannot create file: WS/src/n.txt"],
  ["Create in a new folder", createTool, { file_path: "src/b/c", content: "new" }, "Cannot create file: WS/src/b/c"],
  ["LS", lsTool, { directory_path: "src" }, "LS tool call failed: WS/src"],
];

describe("a path that is swapped for a link", () => {
  it.each(calls)("after the decision is not used: %s", async (_, tool, input) => {
    const { ws, out, context } = await place();
    const { run } = await decided(tool, input, context);
    await swapForLink(join(ws, "src"), join(out, "src"));
    const result = await run();
    expect(result.status).toBe("failed");
    expect(result.text).toContain("was decided on as ");
    expect(result.text).not.toContain("outside\n");
    expect(await readFile(join(out, "src", "a.txt"), "utf8")).toBe("outside\n");
  });

  it.each(calls)("at the last moment is not followed: %s", async (_, tool, input, words) => {
    const { ws, out, host, context } = await place();
    const late = justBeforeOpening(host, () => swapForLink(join(ws, "src"), join(out, "src")));
    const { run } = await decided(tool, input, { ...context, host: late });
    const what = tool === createTool ? "written" : "read";
    const moved = `now leads elsewhere than when it was allowed. Nothing was ${what}.`;
    expect(await run()).toEqual({ status: "failed", text: `Error: ${words.replace("WS", ws)} ${moved}` });
    expect(await readdir(join(out, "src"))).toEqual(["a.txt"]);
    expect(await readFile(join(out, "src", "a.txt"), "utf8")).toBe("outside\n");
  });

  it("at the last moment is not followed by Edit, even if it is the file itself", async () => {
    const { ws, out, host, context } = await place();
    const file = join(ws, "src", "a.txt");
    const happens = async () => {
      await rm(file);
      await symlink(join(out, "src", "a.txt"), file);
    };
    const late = { ...context, host: justBeforeOpening(host, happens) };
    const { run } = await decided(editTool, { file_path: "src/a.txt", old_str: "outside", new_str: "changed" }, late);
    // Even if the model had seen the other file.
    late.seenFiles.set(file, await markOf("outside\n"));
    expect(await run()).toEqual({
      status: "failed",
      text: `Error: Cannot edit file: ${file} now leads elsewhere than when it was allowed. Nothing was read.`,
    });
    expect(await readFile(join(out, "src", "a.txt"), "utf8")).toBe("outside\n");
  });
});

describe("a path that goes through links", () => {
  it("is decided on by its target, out, back in and up", async () => {
    const { ws, out, context } = await place();
    await symlink(out, join(ws, "leaves"));
    await symlink(join(ws, "src"), join(out, "back"));
    await symlink("../ws-other/src", join(ws, "deep"));
    const found: Record<string, unknown> = {};
    for (const file_path of [
      "leaves/src/a.txt",
      "leaves/back/a.txt",
      "leaves/back/../src/a.txt",
      "deep/../src/a.txt",
      "leaves/new/folder/file",
      "../ws-other/src/a.txt",
      "src/../../ws/src/a.txt",
    ]) {
      found[file_path] = (await decided(createTool, { file_path, content: "" }, context)).access;
    }
    const write = (path: string, written?: string) => [
      { type: "write", path, ...(written === undefined ? {} : { written: `${ws}/${written}` }) },
    ];
    expect(found).toEqual({
      "leaves/src/a.txt": write(join(out, "src", "a.txt"), "leaves/src/a.txt"),
      "leaves/back/a.txt": write(join(ws, "src", "a.txt"), "leaves/back/a.txt"),
      "leaves/back/../src/a.txt": write(join(ws, "src", "a.txt"), "leaves/back/../src/a.txt"),
      "deep/../src/a.txt": write(join(out, "src", "a.txt"), "deep/../src/a.txt"),
      "leaves/new/folder/file": write(join(out, "new", "folder", "file"), "leaves/new/folder/file"),
      "../ws-other/src/a.txt": write(join(out, "src", "a.txt")),
      "src/../../ws/src/a.txt": write(join(ws, "src", "a.txt")),
    });
  });

  it("is read and written where it was decided on", async () => {
    const { ws, out, context } = await place();
    await symlink(out, join(ws, "leaves"));
    const reading = await decided(readTool, { file_path: "leaves/src/a.txt" }, context);
    expect(await reading.run()).toEqual({ status: "ok", text: "outside\n", forModel: "1→outside\n" });
    const creating = await decided(createTool, { file_path: "leaves/new/file", content: "made" }, context);
    expect(await creating.run()).toEqual({ status: "ok", text: "File created successfully" });
    expect(await readFile(join(out, "new", "file"), "utf8")).toBe("made");
  });
});

it.each([
  ["Grep", grepTool, { pattern: "side", path: "src", output_mode: "content" }],
  ["Glob", globTool, { patterns: "*", folder: "src" }],
])("%s shows nothing of a folder that was swapped for a link during the search", async (name, tool, input) => {
  const { ws, out, host, context } = await place();
  const swapping = justBeforeOpening(host, () => swapForLink(join(ws, "src"), join(out, "src")));
  const { run } = await decided(tool, input, { ...context, host: swapping });
  expect(await run()).toEqual({
    status: "failed",
    text: `Error: ${name} failed: src was decided on as ${ws}/src, but now leads to ${out}/src. Nothing was done.`,
  });
});
