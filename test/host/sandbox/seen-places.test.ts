import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { saying } from "../support.ts";
import { canContain, createWorld, testRefusal, type World } from "./contained.ts";

async function newWorld(name: string): Promise<World> {
  const world = await createWorld(name);
  onTestFinished(world.end);
  return world;
}

async function put(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, name);
    await mkdir(join(path, ".."), { recursive: true });
    await writeFile(path, text);
  }
}

if (await canContain()) {
  test("the homes of other users are hidden, except what the walls show and what tools need", async () => {
    const world = await newWorld("homes");
    const { folder, home } = world;
    await put(folder, {
      "homes/ada/notes": "NOTES\n",
      "homes/ada/plan": "PLAN\n",
      "homes/tools/bin/tool": "#!/bin/sh\necho tool runs\n",
      "homes/tools/.ssh/id": "KEY\n",
      "root/.profile": "ROOT\n",
    });
    execFileSync("chmod", ["+x", join(folder, "homes/tools/bin/tool")]);
    const variables = { PATH: `${process.env.PATH}:${join(folder, "homes/tools/bin")}` };
    const look = `cd ${folder}; ls homes homes/ada; cat homes/ada/* homes/tools/.ssh/id root/.profile; tool; true`;
    const hidden = [join(home, ".ssh")];
    const quiet = `{ ${look}; } 2>/dev/null`;
    expect(await world.run(quiet, null, { variables })).toEqual(
      saying("homes:\nada\ntools\n\nhomes/ada:\nnotes\nplan\nNOTES\nPLAN\nKEY\nROOT\ntool runs\n"),
    );
    expect(await world.run(quiet, { hidden }, { variables })).toEqual(saying("homes:\ntools\ntool runs\n"));
    const shown = [join(folder, "homes/ada/notes")];
    expect(await world.run(quiet, { hidden, shown }, { variables })).toEqual(
      saying("homes:\nada\ntools\n\nhomes/ada:\nnotes\nNOTES\ntool runs\n"),
    );
  });

  test("git's settings are hidden only with a credential, and a credential behind a link is shown to its program", async () => {
    const world = await newWorld("settings");
    const { folder, home } = world;
    await put(home, { ".gitconfig": "[user]\n  name = Ada\n" });
    await put(home, { ".config/git/config": '[url "https://ada:SECRET@host/"]\n  insteadOf = x:\n' });
    await put(folder, { "dotfiles/npmrc": "TOKEN\n", "dotfiles/other": "OTHER\n" });
    await symlink(join(folder, "dotfiles/npmrc"), join(home, ".npmrc"));
    const [npmrc, target] = [join(home, ".npmrc"), join(folder, "dotfiles/npmrc")];
    const hidden = [...[".gitconfig", ".config/git/config"].map((name) => join(home, name)), npmrc, target];
    const look = `cd "$HOME"; cat .gitconfig .config/git/config .npmrc`;
    const settings = "[user]\n  name = Ada\n";
    expect(await world.run(look, { hidden })).toEqual(saying(settings));
    expect(await world.run(look, { hidden, shown: [npmrc] })).toEqual(saying(`${settings}TOKEN\n`));
    // A link that has changed since the decision opens nothing.
    const other = join(folder, "dotfiles/other");
    execFileSync("ln", ["-sfn", other, npmrc]);
    const swapped = { hidden: [...hidden, join(folder, "dotfiles")], shown: [npmrc] };
    expect((await world.run(look, swapped)).head).not.toContain("OTHER");
  });

  test("files by which git would take its settings from elsewhere are reported", async () => {
    const world = await newWorld("bare");
    const { workspace } = world;
    const words = (name: string) =>
      `\n[${join(workspace, name)} is new: git reads settings through it. Check it before you use git here.]\n`;
    const make = "mkdir objects refs && echo 'ref: refs/heads/main' > HEAD && echo '[core]' > config";
    expect((await world.run(make)).head).toBe(words("HEAD"));
    expect((await world.run("mkdir .git; echo ../evil > .git/commondir")).head).toBe("");
    const writable = [workspace, join(workspace, ".git")];
    expect((await world.run("echo x > .git/config; rm .git/commondir", { writable })).head).toBe("");
    expect((await world.run("echo ../evil > .git/commondir", { writable })).head).toBe(words(".git/commondir"));
  });

  test("Go builds where no repository can be made", async () => {
    const world = await newWorld("go");
    const barred = [join(world.workspace, ".git")];
    const flags = async (module: string, variables = {}) => {
      await put(world.workspace, { "go.mod": `module x\n\n${module}\n` });
      return (await world.run('echo "$GOFLAGS"', { barred }, { variables })).head;
    };
    expect([
      await flags("go 1.22"),
      await flags("go 1.22.1", { GOFLAGS: "-mod=mod" }),
      await flags("go 1.22", { GOFLAGS: "-buildvcs=true" }),
      await flags("go 1.17"),
    ]).toEqual(["-buildvcs=false\n", "-mod=mod -buildvcs=false\n", "-buildvcs=true\n", "\n"]);
    expect(existsSync(join(world.workspace, ".git"))).toBe(false);
  });
} else {
  testRefusal();
}
