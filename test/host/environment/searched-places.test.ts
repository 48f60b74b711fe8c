import { chmod, mkdir, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { withEvidence } from "../../../src/engine/calls/evidence.ts";
import type { DecisionContext } from "../../../src/engine/permission.ts";
import { createNodeHost } from "../../../src/host/node-host.ts";
import { createPermissionPolicy } from "../../../src/permissions/policy.ts";
import { tempFolder } from "../support.ts";

const host = createNodeHost({ outputsDir: "/nowhere" });
const policy = createPermissionPolicy(() => "bash");

const scripts: Readonly<Record<string, string>> = {
  ...{ egrep: "#!/bin/sh", fgrep: "#! /bin/sh", zcat: "#!/bin/bash", lsb_release: "#!/bin/sh -e" },
  ...{ yq: "#!/usr/bin/python3", pip: "#!/usr/bin/env bash\nexec pyenv exec pip", npm: "#!/usr/bin/env node" },
  ...{
    shasum: "#!/usr/bin/perl",
    bundle: "#!/usr/bin/env ruby",
    cksum: "#!/usr/bin/env ruby",
    rails: "#!/usr/bin/ruby",
    pytest: "#!/usr/bin/python3",
  },
};
const binaries = ["ls", "cat", "git", "tar", "gzip", "diff", "diff3", "go", "python3"];

/** A machine with these programs, a workspace with `bin`, and these variables, where `WS` is the workspace. */
async function machine(variables: Readonly<Record<string, string>>, inWorkspace: readonly string[] = []) {
  const base = await tempFolder();
  const [ws, system] = [join(base, "ws"), join(base, "system")];
  const program = async (path: string, text: string) => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${text}\n`);
    await chmod(path, 0o755);
  };
  for (const [name, text] of Object.entries(scripts)) await program(join(system, name), text);
  for (const name of binaries) await program(join(system, name), "\x7fELF");
  await mkdir(join(ws, "bin"), { recursive: true });
  await symlink(ws, join(base, "link"));
  for (const name of inWorkspace) await program(join(ws, "bin", name), "#!/bin/sh");
  const set: Record<string, string> = { PATH: "SYSTEM", GIT_CONFIG_GLOBAL: "/dev/null", ...variables };
  for (const [name, value] of Object.entries(set)) {
    const before = process.env[name];
    onTestFinished(() => {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    });
    process.env[name] = value.replaceAll("WS", ws).replaceAll("LINK", join(base, "link")).replaceAll("SYSTEM", system);
  }
  const context: DecisionContext = {
    ...{ tool: "Execute", autonomy: "off", mode: "auto", approver: true, unsafe: false, enabledTools: [] },
    ...{ cwd: ws, readable: [], home: "/home/u", ownHome: "/home/u/.tinman", temp: "/tmp" },
    rules: { allow: [], deny: [], alwaysDeny: [] },
  };
  const decide = async (command: string) => {
    const accesses = await withEvidence([{ type: "command", command, background: false }], policy, host, context);
    const { class: found, rule } = policy.decide(accesses, context);
    return rule === "program-in-workspace" ? "workspace" : found;
  };
  return async (commands: readonly string[]) => {
    return Object.fromEntries(await Promise.all(commands.map(async (text) => [text, await decide(text)] as const)));
  };
}

const all = (commands: readonly string[], found: string) => Object.fromEntries(commands.map((text) => [text, found]));

const reading = [
  ...["egrep x f", "fgrep x f", "zcat f", "lsb_release -a", "yq . f", "pip list", "npm --version", "shasum f"],
  ...["git submodule status", "timeout 5 egrep x f", "ls | egrep x", "find . -exec egrep x {} +"],
];
const plain = ["ls", "cat f", "git status", "git log", "diff3 a b c", "python3 --version"];
const projects = ["npm test", "pytest", "bundle exec rspec", "go test ./..."];

test("programs that start others by name stay free with a PATH outside the workspace", async () => {
  const decide = await machine({});
  expect(await decide([...reading, ...plain])).toEqual(all([...reading, ...plain], "read"));
  expect(await decide([...projects, "tar czf x.tgz src"])).toEqual(all([...projects, "tar czf x.tgz src"], "medium"));
});

test.each(["WS/bin:SYSTEM", "SYSTEM:WS/bin", "SYSTEM:LINK/bin", "SYSTEM:WS/node_modules/.bin"])(
  "with a workspace folder on the PATH %s, scripts are high, but programs that run the project are not",
  async (PATH) => {
    const decide = await machine({ PATH });
    expect(await decide(reading)).toEqual(all(reading, "workspace"));
    expect(await decide(plain)).toEqual(all(plain, "read"));
    expect(await decide([...projects, "tar czf x.tgz src"])).toEqual(all([...projects, "tar czf x.tgz src"], "medium"));
  },
);

test("a script called by its path finds its helpers on the PATH", async () => {
  const decide = await machine({ PATH: "SYSTEM:WS/bin" });
  expect(await decide(["/usr/bin/which ls", "/bin/ls"])).toEqual({
    "/usr/bin/which ls": "workspace",
    "/bin/ls": "read",
  });
});

test("binaries are high if the PATH finds one of their helpers in the workspace", async () => {
  const decide = await machine({ PATH: "WS/bin:SYSTEM" }, ["gzip", "diff", "ssh"]);
  const commands = ["tar czf x.tgz src", "diff3 a b c", "git fetch"];
  expect(await decide([...commands, "git status"])).toEqual({ ...all(commands, "workspace"), "git status": "read" });
});

test.each([
  ...[{ LD_LIBRARY_PATH: "WS/lib" }, { LD_PRELOAD: "libm.so WS/x.so" }, { LD_AUDIT: "LINK/x.so" }],
  ...[{ DYLD_INSERT_LIBRARIES: "WS/x" }, { DYLD_LIBRARY_PATH: "WS" }, { GCONV_PATH: "WS" }],
])("every program is high with libraries in the workspace: %j", async (variables) => {
  const decide = await machine(variables);
  expect(await decide(plain)).toEqual(all(plain, "workspace"));
  expect(await decide(["env ls", "pytest"])).toEqual({ "env ls": "workspace", pytest: "medium" });
});

const byLanguage = {
  python: ["yq . f", "pip list"],
  perl: ["shasum f"],
  node: ["npm --version"],
  ruby: ["cksum f"],
};

test.each<[keyof typeof byLanguage, Record<string, string>]>([
  ["python", { PYTHONPATH: "WS" }],
  ["python", { PYTHONPATH: "." }],
  ["python", { PYTHONPATH: "/opt/lib:" }],
  ["python", { PYTHONPATH: "LINK/lib" }],
  ["python", { PYTHONHOME: "WS" }],
  ["python", { PYTHONUSERBASE: "WS/.local" }],
  ["perl", { PERL5LIB: "WS/lib" }],
  ["perl", { PERL5OPT: "-w -IWS/lib" }],
  ["perl", { PERL5OPT: "-Mlib=lib -Mx" }],
  ["perl", { PERL_USE_UNSAFE_INC: "1" }],
  ["ruby", { RUBYLIB: "lib" }],
  ["ruby", { RUBYOPT: "-W0 -I WS/lib" }],
  ["ruby", { RUBYOPT: "-r./x" }],
  ["ruby", { RUBYOPT: "-rbundler/setup" }],
  ["node", { NODE_PATH: "WS/lib" }],
  ["node", { NODE_OPTIONS: "--max-old-space-size=4096 --require ./x.js" }],
  ["node", { NODE_OPTIONS: '-r "WS/x.js"' }],
  ["node", { NODE_OPTIONS: "--import=file://WS/x.mjs" }],
  ["node", { NODE_OPTIONS: "--require=ts-node/register" }],
])("scripts of %s are high with code in the workspace: %j", async (language, variables) => {
  const decide = await machine(variables);
  const expected = Object.entries(byLanguage).flatMap(([name, commands]) =>
    commands.map((text) => [text, name === language ? "workspace" : "read"] as const),
  );
  expect(await decide(Object.values(byLanguage).flat())).toEqual(Object.fromEntries(expected));
  expect(await decide(["ls", "egrep x f", "pytest"])).toEqual({ ls: "read", "egrep x f": "read", pytest: "medium" });
});

const standIns = ["python3 --version", "npm --version"];

test.each<[string, string, string]>([
  [".tool-versions", "nodejs 20.1.0\npython 3.12.1\n", "read"],
  [".tool-versions", "nodejs path:./made\n", "workspace"],
  ["rust-toolchain.toml", '[toolchain]\nchannel = "1.80"\n', "read"],
  ["rust-toolchain.toml", '[toolchain]\npath = "made"\n', "workspace"],
  [".python-version", "3.12\n", "read"],
  [".python-version", "../../ws/made\n", "workspace"],
  [".python-version", "LINK", "workspace"],
  [".asdfrc", "pre_asdf_reshim = ./made\n", "workspace"],
  ["mise.toml", '[tools]\nnode = "path:./made"\n', "workspace"],
  ["mise.toml", '[tools]\nnode = "22.1"\n# why\npython = "3.12"\n', "read"],
  ["mise.toml", '[tools]\nnode = "p\\u0061th:./made"\n', "workspace"],
  ["mise.toml", '[env]\n_.source = "./made"\n', "workspace"],
  ["mise.dev.toml", '[tools]\nnode = "22.1"\n', "workspace"],
  [".config/mise.toml", '[tools]\nnode = "path:./made"\n', "workspace"],
  [".mise/config.toml", '[tools]\nnode = "path:./made"\n', "workspace"],
  [".tool-versions", '{{ exec(command="./made") }}\n', "workspace"],
  [".node-version", "path:./made\n", "workspace"],
  [".nvmrc", "lts/iron # why\n\n", "read"],
  [".node-version", `${"a".repeat(60)}!`, "workspace"],
  [".tool-versions", `x${" a".repeat(60)}!`, "workspace"],
  [".nvmrc", "path:./made\n", "workspace"],
  [".python-versions", "path:./made\n", "workspace"],
  ["package.json", '{"name": "x", "engines": {"node": ">=20"}}', "read"],
  ["package.json", '{"devEngines": {"runtime": {"name": "node", "version": "path:./made"}}}', "workspace"],
  ["rust-toolchain.toml", '[toolchain]\nchannel = "stable"\ncomponents = ["clippy", "rustfmt"]\n', "read"],
])("a version manager's shim is high where %s with %j chooses the program: %s", async (name, text, found) => {
  const decide = await machine({ PATH: "SYSTEM/shims:SYSTEM" });
  const [shims = ""] = (process.env.PATH ?? "").split(":");
  const ws = join(dirname(dirname(shims)), "ws");
  await mkdir(shims);
  for (const program of ["python3", "npm"]) {
    await writeFile(join(shims, program), "#!/bin/sh\nexec asdf exec x\n", { mode: 0o755 });
  }
  const file = join(ws, name);
  await mkdir(dirname(file), { recursive: true });
  await (text === "LINK" ? symlink("/etc/passwd", file) : writeFile(file, text));
  expect(await decide([...standIns, "cd bin && npm --version"])).toEqual(
    all([...standIns, "cd bin && npm --version"], found),
  );
  expect(await decide(["ls", "npm test"])).toEqual({ ls: "read", "npm test": "medium" });
});

test("and where the command itself has just written such a file", async () => {
  const decide = await machine({ PATH: "SYSTEM/shims:SYSTEM" });
  expect(await decide(["cp x .tool-versions && npm --version", "cp x y && npm --version"])).toEqual({
    "cp x .tool-versions && npm --version": "high",
    "cp x y && npm --version": "low",
  });
});

test("variables that lead elsewhere change nothing", async () => {
  const decide = await machine({
    ...{ LD_LIBRARY_PATH: "/opt/lib", LD_PRELOAD: "libjemalloc.so", PYTHONPATH: "/opt/python", PERL5LIB: "" },
    ...{
      NODE_OPTIONS: "--max-old-space-size=4096 --require /opt/x.js",
      RUBYOPT: "-W0 -rlogger",
      PERL5OPT: "-w -I/opt",
    },
  });
  const commands = [...reading, ...plain, "cksum f"];
  expect(await decide(commands)).toEqual(all(commands, "read"));
});
