import { mkdir, readdir, readFile, stat, symlink, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { savePlan } from "../../../src/host/files/save-plan.ts";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { tempFolder } from "../support.ts";

const day = new Date(2026, 0, 9, 23, 59);

test("a plan becomes a private file in the user's folder", async () => {
  const folder = join(await tempFolder(), "home", "specs");
  const path = await savePlan(folder, { title: "Add a cache", text: "1. Measure" }, day);
  expect(path).toBe(join(folder, "2026-01-09-add-a-cache.md"));
  expect(await readFile(path, "utf8")).toBe("1. Measure\n");
  const modes = await Promise.all([path, folder, join(folder, "..")].map(async (place) => (await stat(place)).mode));
  expect(modes.map((mode) => mode & 0o777)).toEqual([0o600, 0o700, 0o700]);
});

test("nothing is overwritten, by parallel writers or through a link", async () => {
  const folder = await tempFolder();
  const paths = await Promise.all(
    ["a", "b", "c"].map((text) => savePlan(folder, { title: "x", text: `${text}\n` }, day)),
  );
  const names = ["2026-01-09-x-2.md", "2026-01-09-x-3.md", "2026-01-09-x.md"];
  expect(paths.map((path) => basename(path)).sort()).toEqual(names);
  const texts = await Promise.all(paths.map((path) => readFile(path, "utf8")));
  expect(texts).toEqual(["a\n", "b\n", "c\n"]);
  const elsewhere = join(await tempFolder(), "target");
  await symlink(elsewhere, join(folder, "2026-01-09-y.md"));
  expect(basename(await savePlan(folder, { title: "y", text: "d" }, day))).toBe("2026-01-09-y-2.md");
  await expect(stat(elsewhere)).rejects.toThrow("ENOENT");
});

test("the path is canonical if the folder is a link", async () => {
  const folder = await tempFolder();
  await mkdir(join(folder, "real"));
  await symlink("real", join(folder, "specs"));
  const path = await savePlan(join(folder, "specs"), { text: "Do it" }, day);
  expect(path).toBe(join(folder, "real", "2026-01-09-do-it.md"));
});

describe("its name", () => {
  test.each<readonly [string, { readonly title?: string; readonly text: string }, string]>([
    ["the title", { title: "  Fix: the “login” page, v2!  ", text: "# Other" }, "fix-the-login-page-v2"],
    ["the first heading", { text: "Some words.\n\n## Move *the* data ##\n# Later" }, "move-the-data"],
    ["a heading, when the title has no letters", { title: "…!", text: "### Heading\r\nx" }, "heading"],
    ["the first words", { text: "\n\n1. Measure it\n2. Add it" }, "1-measure-it"],
    ["a hash without a heading", { text: "#hashtag first" }, "hashtag-first"],
    ["other scripts", { title: "添加 缓存：Café Ångström", text: "" }, "添加-缓存-café-ångström"],
    ["wide letters", { title: "ＡＢＣ　１２", text: "" }, "abc-12"],
    ["a text without letters", { title: "!!!", text: "—\n—" }, "plan"],
    ["a path out of the folder", { title: "../../etc/passwd\0", text: "" }, "etc-passwd"],
    ["a hidden file and an option", { title: ".-rf", text: "" }, "rf"],
    ["lines and escapes", { title: "a\nb\u001b[2J\u202ec\ud800d", text: "" }, "a-b-2j-c-d"],
    ["one long word", { title: "x".repeat(5_000), text: "" }, "x".repeat(60)],
    ["a dash where it is cut", { title: `${"x".repeat(59)} yz`, text: "" }, "x".repeat(59)],
    ["characters of two units, never halved", { title: `a${"𠮷".repeat(80)}`, text: "" }, `a${"𠮷".repeat(29)}`],
  ])("%s", async (_, plan, slug) => {
    const folder = await tempFolder();
    expect(basename(await savePlan(folder, plan, day))).toBe(`2026-01-09-${slug}.md`);
    expect(await readdir(folder)).toEqual([`2026-01-09-${slug}.md`]);
  });
});

test("an unwritable plan is an error, and leaves nothing behind", async () => {
  const folder = await tempFolder();
  await writeFile(join(folder, "file"), "");
  await expect(savePlan(join(folder, "file", "specs"), { text: "x" }, day)).rejects.toThrow("ENOTDIR");
  await symlink("nowhere", join(folder, "dangling"));
  await expect(savePlan(join(folder, "dangling"), { text: "x" }, day)).rejects.toThrow("ENOENT");
  expect((await readdir(folder)).sort()).toEqual(["dangling", "file"]);
});

test("the host keeps plans only in a configured folder", async () => {
  const folder = await tempFolder();
  const options = { outputsDir: join(folder, "outputs") };
  await expect(createNodeHost(options).savePlan({ text: "x" })).rejects.toThrow("no folder for plans is configured");
  const path = await createNodeHost({ ...options, specsDir: join(folder, "specs") }).savePlan({
    title: "T",
    text: "x",
  });
  expect(path).toMatch(/\/specs\/\d{4}-\d\d-\d\d-t\.md$/);
  expect(await readFile(path, "utf8")).toBe("x\n");
});
