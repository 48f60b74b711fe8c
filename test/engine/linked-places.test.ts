import { expect, test } from "vitest";
import type { ProtectedPaths } from "../../src/engine/permission.ts";
import { ask, calls, createKit, says } from "../fakes/kit.ts";
import { createMemoryHost, type MemoryHostOptions } from "../fakes/memory-host.ts";

const patch = (path: string) => ({ input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n` });

/** The results of one reply's calls, and what was written. */
async function run(
  steps: ReturnType<typeof calls>,
  options: MemoryHostOptions,
  path: string,
  model: { readonly prefersPatch?: boolean } = {},
) {
  const host = createMemoryHost({ "/ws/a.txt": "a\n" }, options);
  const kit = createKit([steps, says("done")], { host, model });
  const session = await kit.open({ autonomy: "high" });
  const { denials } = await ask(session, "go");
  return { rules: denials.map(({ rule }) => rule), text: host.text(path), told: JSON.stringify(session.history()) };
}

test("a file that a protected place leads to needs approval for writing, by any tool", async () => {
  const links = { "/home/u/.bashrc": "/ws/bashrc", "/home/u/.vim": "/ws/vim" };
  const create = (file_path: string) => calls(["Create", { file_path, content: "x" }]);
  for (const path of ["/ws/bashrc", "bashrc", "/home/u/.bashrc"])
    expect(await run(create(path), { links }, "/ws/bashrc")).toMatchObject({
      rules: ["protected-place"],
      text: undefined,
    });
  const patching = await run(calls(["ApplyPatch", patch("vim/a.vim")]), { links }, "/ws/vim/a.vim", {
    prefersPatch: true,
  });
  expect(patching).toMatchObject({ rules: ["protected-place"], text: undefined });
  expect(await run(create("other"), { links }, "/ws/other")).toMatchObject({ rules: [], text: "x" });
});

test("a place that the environment names is protected, and so is its target", async () => {
  const environment = { closed: ["/srv/kube"], kept: ["/srv/rc"], programs: ["/srv/tools", "/ws/.venv/bin"] };
  const links = { "/srv/rc": "/ws/rc" };
  const create = (file_path: string) => calls(["Create", { file_path, content: "x" }]);
  for (const path of ["/srv/kube", "/srv/tools/git", "/srv/rc", "/ws/rc"])
    expect(await run(create(path), { environment, links }, path)).toMatchObject({ rules: ["protected-place"] });
  // A project's own programs folder is part of the project, and a place around the project cannot exclude it.
  for (const path of ["/ws/.venv/bin/a", "/ws/b"])
    expect(await run(create(path), { environment: { ...environment, closed: ["/ws"] } }, path)).toMatchObject({
      rules: [],
      text: "x",
    });
});

test("checks git's files again right before a file is written", async () => {
  let kept: readonly string[] = [];
  const repositories = (): Partial<ProtectedPaths> => ({ kept });
  const onCommand = () => {
    kept = ["/ws/store"];
    return {};
  };
  const steps = calls(
    ["Execute", { command: "git init --separate-git-dir=store wt" }],
    ["Create", { file_path: "store/hooks/pre-commit", content: "x" }],
    ["Create", { file_path: "b.txt", content: "x" }],
  );
  const { text, told } = await run(steps, { repositories, onCommand }, "/ws/store/hooks/pre-commit");
  expect(text).toBeUndefined();
  expect(told).toContain("/ws/store/hooks/pre-commit has changed since this call was allowed");
  expect(told).toContain("File created successfully");
});
