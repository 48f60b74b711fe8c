import { execFile, execFileSync } from "node:child_process";
import { chmod, chown, link, mkdir, open, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, onTestFinished, test } from "vitest";
import { createFiles } from "../../src/host/files/files.ts";
import { unfinishedWrites } from "../../src/host/files/unfinished-writes.ts";
import { bundleForChild } from "../fakes/bundle-for-child.ts";
import { tempFolder } from "./support.ts";

const isRoot = process.getuid?.() === 0;

async function place(): Promise<{ folder: string; file: string; unfinishedDir: string }> {
  const base = await tempFolder();
  const folder = join(base, "ws");
  await mkdir(folder);
  const file = join(folder, "file");
  await writeFile(file, "old text");
  return { folder, file, unfinishedDir: join(base, "unfinished") };
}

/** Node has no access to extended attributes. "none" without Python, or on a file system without them. */
function python(code: string, ...args: readonly string[]): string {
  try {
    return execFileSync("python3", ["-c", code, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
  } catch {
    return "none";
  }
}

describe("an existing file", () => {
  test("keeps owner, mode, hard links and extended attributes", async () => {
    const { folder, file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    await link(file, join(folder, "second-name"));
    await chmod(file, 0o640);
    if (isRoot) await chown(file, 1234, 5678);
    const note = python("import os,sys; os.setxattr(sys.argv[1], 'user.note', b'kept'); print('kept')", file);
    const before = await stat(file);
    for (const text of ["a longer text than before\n", "short", "", "again"]) {
      const version = await files.write(file, text);
      const after = await stat(file);
      expect({
        text: await readFile(join(folder, "second-name"), "utf8"),
        note: python("import os,sys; print(os.getxattr(sys.argv[1], 'user.note').decode())", file),
        version: (await files.stat(file))?.version,
        owner: [after.uid, after.gid],
        rest: [after.ino, after.nlink, after.mode],
      }).toEqual({
        text,
        note,
        version,
        owner: [before.uid, before.gid],
        rest: [before.ino, 2, before.mode],
      });
    }
    expect([await readdir(folder), await readdir(unfinishedDir)]).toEqual([["file", "second-name"], []]);
  });

  test("gets a new version on every write, however fast", async () => {
    const { file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    const versions = new Set<string>();
    for (let round = 0; round < 20; round += 1) versions.add(await files.write(file, `text ${round % 10}`));
    expect(versions.size).toBe(20);
  });

  test("is rejected if its mode has no write permission, even for root", async () => {
    const { file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    await chmod(file, 0o444);
    await expect(files.write(file, "new")).rejects.toMatchObject({
      message: `${file} is read-only (mode 0444). Nothing was written.`,
      code: "EACCES",
    });
    expect((await files.stat(file))?.notWritable).toBe("is read-only (mode 0444)");
    expect([await readFile(file, "utf8"), (await stat(file)).mode & 0o777]).toEqual(["old text", 0o444]);
  });

  test("is rejected without write permission on the file itself; the folder's permissions do not matter", async () => {
    const base = await tempFolder();
    await chmod(base, 0o755);
    await mkdir(join(base, "sealed"), { mode: 0o777 });
    await chmod(join(base, "sealed"), 0o777);
    await writeFile(join(base, "theirs"), "old");
    await writeFile(join(base, "open"), "old");
    await chmod(join(base, "open"), 0o666);
    // Without root we cannot create another user's file, so a read-only mode takes its place.
    if (!isRoot) await chmod(join(base, "theirs"), 0o400);
    const program = await bundleForChild(join(import.meta.dirname, "unprivileged-child.ts"), await tempFolder());
    const { stdout } = await promisify(execFile)(process.execPath, [program, base]);
    const why = isRoot ? "cannot be written by this user (mode 0644, owner 0)" : "is read-only (mode 0400)";
    expect(JSON.parse(stdout)).toEqual({
      theirs: `/theirs ${why}. Nothing was written.`,
      "theirs looked at": why,
      open: "written",
      "open looked at": "writable",
      "sealed/own": "/sealed/own is read-only (mode 0444). Nothing was written.",
      "sealed/own looked at": "is read-only (mode 0444)",
    });
    expect(await readFile(join(base, "theirs"), "utf8")).toBe("old");
    const open = await stat(join(base, "open"));
    expect([await readFile(join(base, "open"), "utf8"), open.uid]).toEqual(["new", process.getuid?.()]);
  });

  test("can be a mount point, as in containers", async ({ skip }) => {
    const { folder, file, unfinishedDir } = await place();
    const mounted = join(folder, "mounted");
    await writeFile(mounted, "");
    try {
      execFileSync("mount", ["--bind", file, mounted], { stdio: "ignore" });
    } catch {
      return skip("mounting needs root and the right to mount");
    }
    onTestFinished(() => void execFileSync("umount", [mounted]));
    await createFiles({ unfinishedDir }).write(mounted, "new text\n");
    expect([await readFile(mounted, "utf8"), await readFile(file, "utf8")]).toEqual(["new text\n", "new text\n"]);
  });
});

describe("a recovery copy of the new text", () => {
  test("survives a kill in the middle of a write, and is listed", async () => {
    const { folder, file, unfinishedDir } = await place();
    const program = await bundleForChild(join(import.meta.dirname, "killed-child.ts"), await tempFolder());
    const run = promisify(execFile)(process.execPath, [program, file, unfinishedDir, "new text, and more of it"]);
    await expect(run).rejects.toMatchObject({ signal: "SIGKILL" });
    expect(await readdir(folder)).toEqual(["file"]);
    const [left, ...others] = await unfinishedWrites(unfinishedDir);
    expect([left, others]).toEqual([{ path: file, copy: expect.any(String) }, []]);
    expect(await readFile(left?.copy ?? "", "utf8")).toBe("new text, and more of it");
    expect((await stat(left?.copy ?? "")).mode & 0o777).toBe(0o600);
  });

  test("is removed if the disk is full, and the file is unchanged", async ({ skip }) => {
    const { file, folder, unfinishedDir } = await place();
    const small = join(folder, "small");
    await mkdir(small);
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", small], { stdio: "ignore" });
    } catch {
      return skip("mounting needs root and the right to mount");
    }
    onTestFinished(() => void execFileSync("umount", [small]));
    const full = join(small, "file");
    await writeFile(full, "old text");
    const files = createFiles({ unfinishedDir });
    await expect(files.write(full, "x".repeat(200_000))).rejects.toThrow(/^ENOSPC: no space left on device/);
    expect([await readFile(full, "utf8"), await readdir(unfinishedDir)]).toEqual(["old text", []]);
    // No room for the copy either: nothing is touched.
    const cramped = createFiles({ unfinishedDir: join(small, "unfinished") });
    await expect(cramped.write(file, "y".repeat(200_000))).rejects.toThrow(/^ENOSPC: no space left on device/);
    expect([await readFile(file, "utf8"), await unfinishedWrites(join(small, "unfinished"))]).toEqual(["old text", []]);
  });

  test("is removed after parallel writes, which leave one of their texts", async () => {
    const { file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    const texts = Array.from({ length: 20 }, (_, index) => `${index}\n`.repeat(1_000 * (1 + (index % 7))));
    await Promise.all(texts.map((text) => files.write(file, text)));
    expect(texts).toContain(await readFile(file, "utf8"));
    expect(await readdir(unfinishedDir)).toEqual([]);
  });
});

describe("after an abort, nothing is written", () => {
  test("neither to an existing file nor to a new one", async () => {
    const { folder, file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    const signal = AbortSignal.abort();
    for (const path of [file, join(folder, "new")])
      await expect(files.write(path, "new", { signal })).rejects.toMatchObject({ code: "ABORT_ERR" });
    await expect(files.remove(file, { signal })).rejects.toMatchObject({ code: "ABORT_ERR" });
    await expect(files.move(file, join(folder, "new"), { signal })).rejects.toMatchObject({ code: "ABORT_ERR" });
    expect([await readFile(file, "utf8"), await readdir(folder)]).toEqual(["old text", ["file"]]);
  });

  test("even if it comes while the recovery copy is being written", async () => {
    const { folder, file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    const stop = new AbortController();
    const written = [file, join(folder, "new")].map((path) =>
      files.write(path, "x".repeat(20_000_000), { signal: stop.signal }),
    );
    stop.abort();
    const ends = (await Promise.allSettled(written)).map((end) => end.status === "rejected" && end.reason.code);
    expect(ends).toEqual(["ABORT_ERR", "ABORT_ERR"]);
    expect([await readFile(file, "utf8"), await readdir(folder)]).toEqual(["old text", ["file"]]);
    expect(await unfinishedWrites(unfinishedDir)).toEqual([]);
  });
});

describe("moving", () => {
  test("renames the same file, and creates its folders", async () => {
    const { folder, file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    await chmod(file, 0o751);
    const before = await stat(file);
    const to = join(folder, "new", "deep", "name");
    const version = await files.move(file, to);
    const { ino, uid, mode } = await stat(to);
    expect([ino, uid, mode, (await files.stat(to))?.version]).toEqual([before.ino, before.uid, before.mode, version]);
    expect(await readdir(folder)).toEqual(["new"]);
  });

  test("replaces nothing, and moves only regular files", async () => {
    const { folder, file, unfinishedDir } = await place();
    const files = createFiles({ unfinishedDir });
    const other = join(folder, "other");
    await symlink("nowhere", other);
    const end = (from: string, to: string) => files.move(from, to).catch((error: Error) => error.message);
    expect([await end(file, other), await end(other, join(folder, "x")), await end(folder, `${folder}-2`)]).toEqual([
      `EEXIST: file already exists, rename '${other}'`,
      `${other} now leads elsewhere than when it was allowed. Nothing was moved.`,
      `EISDIR: illegal operation on a directory, move '${folder}'`,
    ]);
    expect(await readdir(folder)).toEqual(["file", "other"]);
  });
});

test("names an unwritable folder, not the temporary file", async () => {
  const { folder, unfinishedDir } = await place();
  const long = join(folder, "x".repeat(300));
  await expect(createFiles({ unfinishedDir }).write(long, "x")).rejects.toThrow(`'${long}'`);
  expect(await readdir(folder)).toEqual(["file"]);
});

test("a copy left by a crash does not block the next write", async () => {
  const { file, unfinishedDir } = await place();
  await mkdir(unfinishedDir);
  await (await open(join(unfinishedDir, "not-ours"), "w")).close();
  await createFiles({ unfinishedDir }).write(file, "new");
  expect([await unfinishedWrites(unfinishedDir), await readdir(unfinishedDir)]).toEqual([[], ["not-ours"]]);
});
