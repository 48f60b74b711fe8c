import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { ProtectedPaths } from "../../../src/engine/permission.ts";
import { environmentPlaces } from "../../../src/host/environment/environment-places.ts";
import { createPermissionPolicy } from "../../../src/permissions/policy.ts";
import { tempFolder } from "../support.ts";

const home = "/home/u";
const named = createPermissionPolicy(() => "bash").namedPlaces({ home, ownHome: "/home/u/.tinman" });
const tickets = [`/tmp/krb5cc_${process.getuid?.()}`, `/run/user/${process.getuid?.()}/krb5cc`];
const nothing: ProtectedPaths = { closed: tickets, kept: [], programs: [], links: [] };
const found = (env: NodeJS.ProcessEnv) => environmentPlaces(env, named, home);

test("without variables, only Kerberos tickets are protected besides the named places", () => {
  expect(found({})).toEqual(nothing);
});

test.each([
  ["XDG_CONFIG_HOME", "closed", "gh"],
  ["XDG_CONFIG_HOME", "kept", "nvim"],
  ["XDG_CONFIG_HOME", "programs", "direnv"],
  ["XDG_DATA_HOME", "closed", "keyrings"],
  ["ZDOTDIR", "closed", ".zshrc"],
  ["ZDOTDIR", "closed", ".zsh_history"],
  ["ZDOTDIR", "programs", ""],
  ["CARGO_HOME", "closed", "credentials.toml"],
  ["CARGO_HOME", "programs", "bin"],
  ["GNUPGHOME", "closed", ""],
  ["DOCKER_CONFIG", "closed", "config.json"],
  ["CODEX_HOME", "closed", "auth.json"],
  ["GOPATH", "programs", "bin"],
  ["CURL_HOME", "closed", ".curlrc"],
  ["NVM_DIR", "programs", ""],
  ["CARGO_HOME", "kept", "env"],
  ["ZIM_HOME", "programs", ""],
  ["PYTHONUSERBASE", "programs", "lib"],
  ["DBT_PROFILES_DIR", "closed", "profiles.yml"],
  ["DOPPLER_CONFIG_DIR", "closed", ""],
] as const)("%s moves a %s place: %s", (variable, list, name) => {
  expect(found({ [variable]: "/srv/moved/" })[list]).toContain(join("/srv/moved", name).replace(/\/$/, ""));
});

test("protects files that variables name, but not devices and folders around the home", () => {
  const env = {
    KUBECONFIG: "/srv/kube/a:/srv/kube/b",
    AWS_SHARED_CREDENTIALS_FILE: "/srv/aws",
    GOOGLE_APPLICATION_CREDENTIALS: "/srv/google.json",
    PGPASSFILE: "/srv/pgpass",
    KRB5CCNAME: "FILE:/tmp/krb5cc_1",
    HISTFILE: "/srv/history",
    LESSHISTFILE: "-",
    PYTHON_HISTORY: "/dev/null",
    NETRC: "/",
    GIT_CONFIG_GLOBAL: "/srv/gitconfig",
    INPUTRC: "relative/inputrc",
  };
  expect(found(env)).toEqual({
    ...nothing,
    closed: [
      "/srv/kube/a",
      "/srv/kube/b",
      "/srv/aws",
      "/srv/google.json",
      "/srv/pgpass",
      "/tmp/krb5cc_1",
      "/srv/history",
      ...tickets,
    ],
    kept: ["/srv/gitconfig"],
  });
});

test("keeps caches that a shell sources at start-up, even if XDG_CACHE_HOME moves them", async () => {
  const folder = await tempFolder();
  const [cache, moved] = [join(folder, ".cache"), join(folder, "moved")];
  for (const at of [cache, moved]) {
    await mkdir(at);
    for (const name of ["p10k-instant-prompt-u.zsh", "zcompdump-5.9", "pip"]) await writeFile(join(at, name), "");
  }
  const sourced = (at: string) => [join(at, "p10k-instant-prompt-u.zsh"), join(at, "zcompdump-5.9")];
  const inFolder = (env: NodeJS.ProcessEnv) => [...environmentPlaces(env, nothing, folder).kept].sort();
  expect(inFolder({})).toEqual(sourced(cache));
  expect(inFolder({ XDG_CACHE_HOME: moved })).toEqual([...sourced(cache), ...sourced(moved)]);
});

test("closes a file named by a variable with a secret's name", async () => {
  const folder = await tempFolder();
  const file = join(folder, "password");
  await writeFile(file, "x");
  expect(
    found({ DB_PASSWORD_FILE: file, OTHER_FILE: `${file}2`, SSH_KEY_PATH: join(folder, "missing"), SECRET: folder }),
  ).toEqual({
    ...nothing,
    closed: [...tickets, file, join(folder, "missing")],
  });
});

test("writable folders of the PATH are program folders", async () => {
  const folder = await tempFolder();
  const [open, shut] = [join(folder, "open"), join(folder, "shut")];
  await mkdir(open);
  await mkdir(shut);
  await chmod(shut, 0o555);
  const isRoot = process.getuid?.() === 0;
  const PATH = ["/usr/bin", "/bin", open, shut, "relative", "", join(folder, "missing")].join(":");
  const missing = join(folder, "missing");
  expect(found({ PATH })).toEqual({ ...nothing, programs: isRoot ? [open, shut, missing] : [open, missing] });
});

test("protects a PATH folder and a secret file before they exist", async () => {
  const folder = await tempFolder();
  const env = {
    PATH: `${folder}/tools/bin:/usr/bin`,
    VAULT_TOKEN_FILE: `${folder}/token`,
    BASH_ENV: `${folder}/start.sh`,
  };
  expect(found(env)).toEqual({
    ...nothing,
    closed: [...tickets, `${folder}/token`],
    kept: [`${folder}/start.sh`],
    programs: [`${folder}/tools/bin`],
  });
});
