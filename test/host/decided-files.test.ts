import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import type { Files } from "../../src/engine/files.ts";
import { createFiles } from "../../src/host/files/files.ts";
import { createHoldFolder } from "../../src/host/files/open-decided.ts";
import { bundleForChild } from "../fakes/bundle-for-child.ts";
import { isFullRun } from "../full-run.ts";
import { tempFolder } from "./support.ts";

/** A workspace with a file in a folder, and an outside folder with files of the same names. */
async function places(): Promise<{ ws: string; folder: string; file: string; out: string }> {
  const base = await tempFolder();
  const [ws, out] = [join(base, "ws"), join(base, "ws-other")];
  const folder = join(ws, "folder");
  for (const path of [folder, out]) {
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "file"), path === out ? "outside" : "inside");
  }
  return { ws, folder, file: join(folder, "file"), out };
}

async function swap(folder: string, target: string): Promise<void> {
  await rename(folder, `${folder}-aside`);
  await symlink(target, folder);
}

async function text(files: Files, path: string): Promise<string> {
  return Buffer.from(await files.read(path, { maxBytes: 100 })).toString("utf8");
}

/** A folder's content, by name. */
async function contents(folder: string): Promise<Record<string, string>> {
  const names = await readdir(folder);
  return Object.fromEntries(
    await Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), "utf8")] as const)),
  );
}

function refusal(path: string, use: "read" | "written" | "removed"): object {
  return {
    message: `${path} now leads elsewhere than when it was allowed. Nothing was ${use}.`,
    code: "ESTALE",
  };
}

const ways: readonly (readonly [string, () => Promise<boolean>])[] = [
  ["through descriptors", async () => true],
  ["by path, where descriptors have none", async () => false],
];

describe.each(ways)("a file that was decided on, %s", (_, hasDescriptorPaths) => {
  const holdFolder = createHoldFolder(hasDescriptorPaths);
  const files = createFiles({ holdFolder });

  test("is read, written, listed and removed if unchanged", async () => {
    const { ws, folder, file } = await places();
    expect(await text(files, file)).toBe("inside");
    await files.write(file, "new");
    await files.write(join(ws, "a", "b", "c"), "made");
    expect([await contents(folder), await contents(join(ws, "a", "b"))]).toEqual([{ file: "new" }, { c: "made" }]);
    expect((await files.list(ws)).map(({ name, kind }) => `${kind} ${name}`)).toEqual([
      "directory a",
      "directory folder",
    ]);
    expect((await files.list("/")).map(({ name }) => name)).toContain("proc");
    await files.remove(file);
    await files.remove(join(ws, "a", "b", "c"));
    expect([await contents(folder), await contents(join(ws, "a", "b"))]).toEqual([{}, {}]);
  });

  test("is rejected if it has become a link since", async () => {
    const { ws, file, out } = await places();
    const decided = await files.canonical("folder/file", ws);
    await rm(file);
    await symlink(join(out, "file"), file);
    await expect(text(files, decided)).rejects.toMatchObject(refusal(file, "read"));
    await expect(files.write(decided, "new")).rejects.toMatchObject(refusal(file, "written"));
    await expect(files.remove(decided)).rejects.toMatchObject(refusal(file, "removed"));
    expect(await contents(out)).toEqual({ file: "outside" });
    expect(await readdir(join(ws, "folder"))).toEqual(["file"]);
  });

  test("is rejected if a folder above it has become a link since, wherever that leads", async () => {
    const { ws, folder, file, out } = await places();
    await mkdir(join(ws, "other"));
    for (const target of [out, "other", "folder-aside", "nowhere", ".."]) {
      await swap(folder, target);
      await expect(text(files, file)).rejects.toMatchObject(refusal(file, "read"));
      await expect(files.list(folder)).rejects.toMatchObject(refusal(folder, "read"));
      await expect(files.write(file, "new")).rejects.toMatchObject(refusal(file, "written"));
      await expect(files.remove(file)).rejects.toMatchObject(refusal(file, "removed"));
      await expect(files.write(join(folder, "new", "file"), "new")).rejects.toMatchObject(
        refusal(join(folder, "new", "file"), "written"),
      );
      await rm(folder);
      await rename(`${folder}-aside`, folder);
    }
    expect([await contents(out), await contents(folder), await readdir(ws)]).toEqual([
      { file: "outside" },
      { file: "inside" },
      ["folder", "other"],
    ]);
  });

  test("is not created behind a link placed where a folder was missing", async () => {
    const { ws, out } = await places();
    const decided = await files.canonical("new/deep/file", ws);
    await symlink(out, join(ws, "new"));
    await expect(files.write(decided, "new")).rejects.toMatchObject(refusal(decided, "written"));
    expect(await readdir(out)).toEqual(["file"]);
  });

  test("can be named through links that lead out and back in, because the decision is about its location", async () => {
    const { ws, folder, out } = await places();
    await symlink(out, join(ws, "leaves"));
    await symlink("../ws/folder", join(out, "back"));
    await symlink(join(out, "back"), join(ws, "round"));
    const decided = await Promise.all(
      ["leaves/back/file", "round/file", "round/../folder/file", "round/new/file", "leaves/../ws-other/file"].map(
        (path) => files.canonical(path, ws),
      ),
    );
    expect(decided).toEqual([
      join(folder, "file"),
      join(folder, "file"),
      join(folder, "file"),
      join(folder, "new", "file"),
      join(out, "file"),
    ]);
    expect(await text(files, decided[0] ?? "")).toBe("inside");
    await files.write(decided[3] ?? "", "made");
    expect(await contents(join(folder, "new"))).toEqual({ file: "made" });
  });

  test("is rejected by a non-canonical path", async () => {
    const { ws, folder } = await places();
    for (const path of ["file", `${folder}/../folder/file`, `${ws}/./folder/file`]) {
      await expect(text(files, path)).rejects.toMatchObject({ code: "EINVAL" });
      await expect(files.write(path, "x")).rejects.toMatchObject({ code: "EINVAL" });
      await expect(files.remove(path)).rejects.toMatchObject({ code: "EINVAL" });
    }
  });

  test("has its own path in system errors", async () => {
    const { ws, folder, file } = await places();
    const missing = join(folder, "missing");
    await expect(text(files, missing)).rejects.toThrow(`ENOENT: no such file or directory, lstat '${missing}'`);
    await expect(files.remove(missing)).rejects.toThrow(`ENOENT: no such file or directory, lstat '${missing}'`);
    const below = join(ws, "none", "file");
    await expect(text(files, below)).rejects.toThrow(/^ENOENT: no such file or directory, \w+ '[^']*\/ws\/none'$/);
    await expect(files.list(file)).rejects.toThrow(`ENOTDIR: not a directory, open '${file}'`);
    await expect(files.write(join(file, "below"), "x")).rejects.toThrow(`ENOTDIR: not a directory, open '${file}'`);
    await expect(files.write("/proc/none/file", "x")).rejects.toThrow(/^[A-Z]+: [^,]+, mkdir '\/proc\/none'$/);
  });
});

/** Files whose folder is swapped for a link at the worst moment: right after the check. */
function swappingFiles(hasDescriptorPaths: boolean, folder: string, target: string): Files {
  const hold = createHoldFolder(async () => hasDescriptorPaths);
  return createFiles({
    async holdFolder(...given) {
      const held = await hold(...given);
      await swap(folder, target);
      return held;
    },
  });
}

describe("a folder swapped while it is held open", () => {
  test("has no effect where descriptors have paths", async () => {
    const { folder, file, out } = await places();
    const back = async () => {
      await rm(folder);
      await rename(`${folder}-aside`, folder);
    };
    const files = swappingFiles(true, folder, out);
    expect(await text(files, file)).toBe("inside");
    await back();
    expect((await files.list(folder)).map(({ size }) => size)).toEqual(["inside".length]);
    await back();
    await files.write(file, "new");
    expect([await contents(`${folder}-aside`), await contents(out)]).toEqual([{ file: "new" }, { file: "outside" }]);
    await back();
    await files.remove(file);
    expect([await contents(`${folder}-aside`), await contents(out)]).toEqual([{}, { file: "outside" }]);
  });

  test("is detected where they have none", async () => {
    for (const act of [
      (files: Files, path: string) => text(files, path),
      (files: Files, path: string) => files.write(path, "new"),
      (files: Files, path: string) => files.remove(path),
    ]) {
      const { folder, file, out } = await places();
      await expect(act(swappingFiles(false, folder, out), file)).rejects.toMatchObject({ code: "ESTALE" });
      expect([await contents(`${folder}-aside`), await contents(out)]).toEqual([
        { file: "inside" },
        { file: "outside" },
      ]);
    }
  });
});

describe("against a program that swaps a folder continuously", { timeout: 120_000 }, () => {
  const often = isFullRun ? 100 : 10;

  /** Repeats until it succeeded and failed often enough, or many times; returns the outcomes. */
  async function race(attempt: (files: Files, file: string) => Promise<string>): Promise<{
    outcomes: ReadonlySet<string>;
    out: string;
    folder: string;
  }> {
    const { folder, file, out } = await places();
    const program = await bundleForChild(join(import.meta.dirname, "swapping-child.ts"), await tempFolder());
    const child = spawn(process.execPath, [program, folder, out], { stdio: ["pipe", "pipe", "inherit"] });
    const ended = once(child, "exit");
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const files = createFiles();
    const outcomes = new Set<string>();
    let [through, kept] = [0, 0];
    for (let tries = 0; tries < 40 * often && (through < often || kept < often); tries += 1) {
      try {
        outcomes.add(await attempt(files, file));
        through += 1;
      } catch (error) {
        const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
        outcomes.add(code);
        kept += 1;
      }
    }
    child.stdin.end();
    expect(await ended).toEqual([0, null]);
    return { outcomes, out, folder };
  }

  test("nothing of the other folder is ever read", async () => {
    const { outcomes, out } = await race((files, file) => text(files, file));
    expect([...outcomes].filter((outcome) => !["inside", "ESTALE", "ENOENT"].includes(outcome))).toEqual([]);
    expect(await contents(out)).toEqual({ file: "outside" });
  });

  test("nothing is ever written to it", async () => {
    const { outcomes, out } = await race(async (files, file) => {
      await files.write(file, "new");
      await files.write(join(dirname(file), "made", "file"), "new");
      return "written";
    });
    const expected = ["written", "ESTALE", "ENOENT", "EEXIST", "ENOTEMPTY"];
    expect([...outcomes].filter((outcome) => !expected.includes(outcome))).toEqual([]);
    expect(await contents(out)).toEqual({ file: "outside" });
  });

  test("nothing of it is ever removed", async () => {
    const { outcomes, out } = await race(async (files, file) => {
      await files.write(file, "new");
      await files.remove(file);
      return "removed";
    });
    const expected = ["removed", "ESTALE", "ENOENT"];
    expect([...outcomes].filter((outcome) => !expected.includes(outcome))).toEqual([]);
    expect(await contents(out)).toEqual({ file: "outside" });
  });
});
