import { execFileSync } from "node:child_process";
import { chmod, link, mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createFiles } from "../../../src/host/files/files.ts";
import { tempFolder } from "../support.ts";

const files = createFiles();

async function text(path: string, range: { from?: number; maxBytes: number } = { maxBytes: 1000 }): Promise<string> {
  return Buffer.from(await files.read(path, range)).toString("utf8");
}

describe("a canonical path", () => {
  test("is absolute and plain", async () => {
    const folder = await tempFolder();
    expect(await files.canonical("a/./b//../c.txt", folder)).toBe(join(folder, "a", "c.txt"));
    expect(await files.canonical(".", folder)).toBe(folder);
    expect(await files.canonical("", folder)).toBe(folder);
    expect(await files.canonical("/", folder)).toBe("/");
    expect(await files.canonical("/..//../", folder)).toBe("/");
    expect(await files.canonical(`${folder}/x`, "/elsewhere")).toBe(join(folder, "x"));
  });

  test("has links resolved, in folders and at the end", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "real", "deep"), { recursive: true });
    await writeFile(join(folder, "real", "file"), "");
    await symlink("real/deep", join(folder, "inside"));
    await symlink(join(folder, "real", "file"), join(folder, "file-link"));
    await symlink("file-link", join(folder, "link-to-link"));
    expect(await files.canonical("inside/new/file", folder)).toBe(join(folder, "real/deep/new/file"));
    expect(await files.canonical("link-to-link", folder)).toBe(join(folder, "real/file"));
    expect(await files.canonical("x", join(folder, "inside"))).toBe(join(folder, "real/deep/x"));
  });

  test("takes the parent of a link's target, as the system does", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "real", "deep"), { recursive: true });
    await symlink("real/deep", join(folder, "inside"));
    expect(await files.canonical("inside/../x", folder)).toBe(join(folder, "real/x"));
    expect(await files.canonical("missing/../inside/x", folder)).toBe(join(folder, "real/deep/x"));
  });

  test("follows a dangling link as far as it goes", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "real"));
    await symlink("real", join(folder, "to-real"));
    await symlink("to-real/not/there", join(folder, "dangling"));
    expect(await files.canonical("dangling/x", folder)).toBe(join(folder, "real/not/there/x"));
  });

  test("keeps names that only look special", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "file"), "");
    expect(await files.canonical("~/x", folder)).toBe(join(folder, "~", "x"));
    expect(await files.canonical("$HOME", folder)).toBe(join(folder, "$HOME"));
    expect(await files.canonical("file/below", folder)).toBe(join(folder, "file", "below"));
  });

  test("rejects a loop of links, or a NUL", async () => {
    const folder = await tempFolder();
    await symlink("b", join(folder, "a"));
    await symlink("a", join(folder, "b"));
    await expect(files.canonical("a/x", folder)).rejects.toThrow("ELOOP: too many symbolic links, 'a/x'");
    await expect(files.canonical("a\0b", folder)).rejects.toThrow(
      "EINVAL: a path cannot contain a NUL character, 'a\\0b'",
    );
  });
});

describe("stat", () => {
  test("reports what exists", async () => {
    const folder = await tempFolder();
    const file = join(folder, "file");
    await writeFile(file, "hello");
    await chmod(file, 0o640);
    await utimes(file, 1000, 2000);
    await symlink("file", join(folder, "link"));
    const expected = { kind: "file", size: 5, mtimeMs: 2_000_000, mode: 0o640, version: expect.any(String) };
    expect(await files.stat(file)).toEqual(expected);
    expect(await files.stat(join(folder, "link"))).toEqual(expected);
    expect((await files.stat(folder))?.kind).toBe("directory");
    expect((await files.stat("/dev/null"))?.kind).toBe("other");
    expect(await files.stat(join(folder, "missing"))).toBeUndefined();
    expect(await files.stat(join(file, "below"))).toBeUndefined();
  });

  test("has a new version after every change, even one that restores its time", async () => {
    const folder = await tempFolder();
    const file = join(folder, "file");
    const versions: (string | undefined)[] = [];
    const note = async () => versions.push((await files.stat(file))?.version);
    await writeFile(file, "aaaa");
    await utimes(file, 1000, 2000);
    await note();
    await note();
    await writeFile(file, "bbbb");
    await utimes(file, 1000, 2000);
    await note();
    await files.write(file, "cccc");
    await note();
    expect(versions[1]).toBe(versions[0]);
    expect(new Set(versions).size).toBe(3);
  });
});

test("lists every entry in order, links as links", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, "b.txt"), "12345");
  await mkdir(join(folder, "a"));
  await symlink("nowhere", join(folder, "c"));
  await writeFile(join(folder, ".hidden"), "");
  execFileSync("mkfifo", [join(folder, "pipe")]);
  const entries = await files.list(folder);
  expect(entries.map(({ name, kind, linkTarget }) => ({ name, kind, linkTarget }))).toEqual([
    { name: ".hidden", kind: "file", linkTarget: undefined },
    { name: "a", kind: "directory", linkTarget: undefined },
    { name: "b.txt", kind: "file", linkTarget: undefined },
    { name: "c", kind: "link", linkTarget: "nowhere" },
    { name: "pipe", kind: "other", linkTarget: undefined },
  ]);
  const { mtimeMs, mode } = await stat(join(folder, "b.txt"));
  expect(entries[2]).toEqual({ name: "b.txt", kind: "file", size: 5, mtimeMs, mode: mode & 0o7777 });
  await expect(files.list(join(folder, "missing"))).rejects.toThrow("ENOENT");
});

describe("reading", () => {
  test("returns a range of bytes", async () => {
    const file = join(await tempFolder(), "file");
    await writeFile(file, "0123456789");
    expect(await text(file)).toBe("0123456789");
    expect(await text(file, { maxBytes: 3 })).toBe("012");
    expect(await text(file, { from: 4, maxBytes: 3 })).toBe("456");
    expect(await text(file, { from: 8, maxBytes: 100 })).toBe("89");
    expect(await text(file, { from: 100, maxBytes: 100 })).toBe("");
    expect(await text(file, { maxBytes: 0 })).toBe("");
  });

  test("returns large files whole", async () => {
    const file = join(await tempFolder(), "file");
    const bytes = Buffer.alloc(3_500_000, "0123456");
    await writeFile(file, bytes);
    expect(Buffer.from(await files.read(file, { maxBytes: 10_000_000 })).equals(bytes)).toBe(true);
    expect(
      Buffer.from(await files.read(file, { from: 7, maxBytes: 2_000_000 })).equals(bytes.subarray(0, 2_000_000)),
    ).toBe(true);
  });

  test("returns files whole that report size 0", async () => {
    expect(await text(`/proc/${process.pid}/comm`)).toMatch(/^.+\n$/);
  });

  test("rejects non-regular files at once", async () => {
    const folder = await tempFolder();
    const pipe = join(folder, "pipe");
    execFileSync("mkfifo", [pipe]);
    await expect(text(pipe)).rejects.toThrow(`EINVAL: a named pipe is not a regular file, read '${pipe}'`);
    await expect(text("/dev/zero")).rejects.toThrow("EINVAL: a device is not a regular file, read '/dev/zero'");
    await expect(text(folder)).rejects.toThrow(`EISDIR: illegal operation on a directory, read '${folder}'`);
    await expect(text("/")).rejects.toThrow("EISDIR: illegal operation on a directory, read '/'");
    await expect(text(join(folder, "missing"))).rejects.toThrow("ENOENT");
  });
});

describe("writing", () => {
  test("creates a file and its folders, with the modes of the user's umask", async () => {
    const folder = await tempFolder();
    const file = join(folder, "new", "deep", "file.txt");
    const version = await files.write(file, "héllo 🦊\n");
    expect(await readFile(file, "utf8")).toBe("héllo 🦊\n");
    expect((await stat(file)).mode & 0o777).toBe(0o666 & ~process.umask());
    expect((await files.stat(file))?.version).toBe(version);
    expect(await readdir(join(folder, "new", "deep"))).toEqual(["file.txt"]);
  });

  test("replaces a file and keeps its mode", async () => {
    const file = join(await tempFolder(), "script");
    for (const mode of [0o755, 0o600, 0o222, 0o4777]) {
      await writeFile(file, "old, and longer than the new", { flag: "w" }).catch(() => undefined);
      await chmod(file, mode);
      await files.write(file, `new ${mode}`);
      expect(await readFile(file, "utf8")).toBe(`new ${mode}`);
      expect((await stat(file)).mode & 0o7777).toBe(mode);
    }
  });

  test("rejects a folder, a pipe and a device, and leaves nothing behind", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "folder"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    await writeFile(join(folder, "file"), "as it was");
    const below = files.write(join(folder, "file", "below"), "x");
    await expect(below).rejects.toThrow(/EEXIST|ENOTDIR/);
    await expect(files.write(join(folder, "folder"), "x")).rejects.toThrow(
      "EISDIR: illegal operation on a directory, write",
    );
    await expect(files.write(join(folder, "pipe"), "x")).rejects.toThrow("a named pipe is not a regular file, write");
    await expect(files.write("/dev/null", "x")).rejects.toThrow("a device is not a regular file, write '/dev/null'");
    expect((await readdir(folder)).sort()).toEqual(["file", "folder", "pipe"]);
    expect(await readFile(join(folder, "file"), "utf8")).toBe("as it was");
  });

  test("removes its temporary file on failure", async () => {
    const folder = await tempFolder();
    const name = join(folder, "x".repeat(300));
    await expect(files.write(name, "x")).rejects.toThrow("ENAMETOOLONG");
    expect(await readdir(folder)).toEqual([]);
  });

  test("by many at once leaves one of the texts, complete", async () => {
    const folder = await tempFolder();
    const file = join(folder, "file");
    const texts = Array.from({ length: 20 }, (_, index) => `${index}\n`.repeat(10_000));
    await Promise.all(texts.map((one) => files.write(file, one)));
    expect(texts).toContain(await readFile(file, "utf8"));
    expect(await readdir(folder)).toEqual(["file"]);
  });
});

describe("removing", () => {
  test("removes one name of a file, and leaves its folder", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "sub"));
    await writeFile(join(folder, "sub", "file"), "text", { mode: 0o400 });
    await link(join(folder, "sub", "file"), join(folder, "same-file"));
    await files.remove(join(folder, "sub", "file"));
    expect(await readdir(folder)).toEqual(["same-file", "sub"]);
    expect(await readdir(join(folder, "sub"))).toEqual([]);
    expect(await readFile(join(folder, "same-file"), "utf8")).toBe("text");
  });

  test("rejects non-regular and missing files", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "folder"));
    execFileSync("mkfifo", [join(folder, "pipe")]);
    const refused = async (path: string) => files.remove(path).catch((error: unknown) => String(error));
    expect(await Promise.all(["folder", "pipe", "missing"].map((name) => refused(join(folder, name))))).toEqual([
      `Error: EISDIR: illegal operation on a directory, remove '${folder}/folder'`,
      `Error: EINVAL: a named pipe is not a regular file, remove '${folder}/pipe'`,
      `Error: ENOENT: no such file or directory, lstat '${folder}/missing'`,
    ]);
    expect(await refused("/")).toBe("Error: EISDIR: illegal operation on a directory, remove '/'");
    expect(await readdir(folder)).toEqual(["folder", "pipe"]);
  });
});
