import { expect, test } from "vitest";
import { makeFolders } from "../../src/engine/make-folders.ts";

function disk(existing: readonly string[], denied: (path: string) => string | undefined = () => undefined) {
  const there = new Set(existing);
  const asked: string[] = [];
  const make = async (path: string): Promise<void> => {
    asked.push(path);
    const parent = path.slice(0, path.lastIndexOf("/")) || "/";
    const code = denied(path) ?? (there.has(path) ? "EEXIST" : there.has(parent) ? undefined : "ENOENT");
    if (code !== undefined) throw Object.assign(new Error(code), { code });
    there.add(path);
  };
  return { there, asked, make };
}

test("creates missing folders, from the top", async () => {
  const { there, make } = disk(["/", "/a"]);
  await makeFolders("/a/b/c", make);
  expect([...there]).toEqual(["/", "/a", "/a/b", "/a/b/c"]);
});

test("accepts existing ones", async () => {
  const { asked, make } = disk(["/", "/a"]);
  await makeFolders("/a", make);
  expect(asked).toEqual(["/a"]);
});

test("gives up on a folder that cannot be created although its parent exists", async () => {
  const { asked, make } = disk(["/", "/proc"], (path) => (path.startsWith("/proc/") ? "ENOENT" : undefined));
  await expect(makeFolders("/proc/x/y", make)).rejects.toMatchObject({ code: "ENOENT" });
  expect(asked.length).toBeLessThan(10);
});

test("passes other errors on", async () => {
  const { make } = disk(["/"], () => "EACCES");
  await expect(makeFolders("/a/b", make)).rejects.toMatchObject({ code: "EACCES" });
});
