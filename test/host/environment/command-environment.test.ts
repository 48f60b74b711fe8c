import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { commandEnvironment } from "../../../src/host/environment/command-environment.ts";
import { createProcesses } from "../../../src/host/processes/processes.ts";
import { providers } from "../../../src/models/providers/providers.ts";
import { eventually, longNap, processesWith, saying, tempFolder } from "../support.ts";

const unattended = {
  GIT_TERMINAL_PROMPT: "0",
  GIT_PAGER: "cat",
  PAGER: "cat",
  DEBIAN_FRONTEND: "noninteractive",
  TERM: "dumb",
  PIP_DISABLE_PIP_VERSION_CHECK: "1",
};

const credentials = [
  "ANTHROPIC_API_KEY",
  "ANTHROPIC_AUTH_TOKEN",
  "OPENAI_API_KEY",
  "MYAPIKEYFILE",
  "my_api_key",
  "FACTORY_API_KEY",
  "GITHUB_TOKEN",
  "NPM_TOKEN",
  "TOKEN",
  "npm_config__authToken",
  "NPM_CONFIG__AUTH",
  "AWS_ACCESS_KEY_ID",
  "AWS_SECRET_ACCESS_KEY",
  "AWS_SESSION_TOKEN",
  "CLIENT_SECRET",
  "SECRETS_JSON",
  "PGPASSWORD",
  "DB_PASSWD",
  "MYSQL_PWD",
  "SMTP_PASS",
  "GPG_PASSPHRASE",
  "GOOGLE_APPLICATION_CREDENTIALS",
  "SSH_PRIVATE_KEY",
  "DEPLOY_KEY",
  "GH_PAT",
  "CI_JOB_JWT",
  "DOCKER_AUTH_CONFIG",
  "TINMAN_HOME",
  "TINMAN_MODEL",
  "TINMAN_TOOL_RUN",
];

/** They would change what a command's text means. */
const misleading = [
  "BASH_ENV",
  "ENV",
  "SSH_CLIENT",
  "SSH2_CLIENT",
  "SHELLOPTS",
  "BASHOPTS",
  "BASH_COMPAT",
  "POSIXLY_CORRECT",
  "CDPATH",
  "GLOBIGNORE",
  "EXECIGNORE",
  "BASH_FUNC_ls%%",
  "BASH_FUNC_git()",
  "TAR_OPTIONS",
  "GREP_OPTIONS",
  "GIT_EXTERNAL_DIFF",
  "RIPGREP_CONFIG_PATH",
  "LESSOPEN",
  "LESSCLOSE",
];

const harmless = [
  "PATH",
  "HOME",
  "PWD",
  "OLDPWD",
  "CI",
  "LD_PRELOAD",
  "NODE_OPTIONS",
  "SSH_AUTH_SOCK",
  "SSH_ASKPASS",
  "XAUTHORITY",
  "TOKENIZERS_PARALLELISM",
  "MAX_TOKENS",
  "KEYBOARD",
  "MONKEY",
  "COMPASS",
  "GIT_AUTHOR_NAME",
];

function setTo(names: readonly string[], value = "x"): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, value]));
}

describe("the environment of commands", () => {
  test("has no variable named like a credential, and none of ours", () => {
    expect(commandEnvironment(setTo(credentials), [])).toEqual(unattended);
  });

  test("has the user's other variables", () => {
    expect(commandEnvironment(setTo(harmless), [])).toEqual({ ...setTo(harmless), ...unattended });
  });

  test("has no library path that depends on the working directory", () => {
    const user = { LD_LIBRARY_PATH: "/opt/lib::lib", LD_PRELOAD: "libm.so ./x.so", LD_AUDIT: "x.so", GCONV_PATH: "." };
    const kept = { LD_LIBRARY_PATH: "/opt/lib", LD_PRELOAD: "libm.so" };
    expect(commandEnvironment(user, [])).toEqual({ ...kept, ...unattended });
  });

  test("has what the user passes by name", () => {
    const passed = ["GITHUB_TOKEN", "TINMAN_HOME", "NOT_SET"];
    expect(commandEnvironment(setTo(credentials), passed)).toEqual({ ...setTo(passed.slice(0, 2)), ...unattended });
  });

  test("has no hidden variables, whatever their names, unless the user passes them", () => {
    const user = setTo(["MODEL_ACCESS", "HOME", "OTHER", "GH_TOKEN"]);
    expect(commandEnvironment(user, ["HOME"], ["MODEL_ACCESS", "HOME", "NOT_SET"])).toEqual({
      ...setTo(["HOME", "OTHER"]),
      ...unattended,
    });
  });

  test("has no key of any known provider", () => {
    const keys = providers.flatMap(({ keyVariables }) => keyVariables);
    expect(keys.length).toBeGreaterThan(10);
    expect(commandEnvironment(setTo(keys), [])).toEqual(unattended);
  });

  test("never waits for input, whatever the user has set", () => {
    const user = { PAGER: "less", GIT_PAGER: "less", TERM: "xterm", CI: "yes", GIT_TERMINAL_PROMPT: "1" };
    expect(commandEnvironment(user, [])).toEqual({ CI: "yes", ...unattended });
  });

  test("has nothing that changes a command's meaning, not even if passed by name", () => {
    expect(commandEnvironment(setTo(misleading), misleading)).toEqual(unattended);
  });

  test("keeps a command's meaning, whatever the user's shell exports", async () => {
    const folder = await tempFolder();
    const script = join(folder, "start-up");
    await writeFile(script, "echo started\n");
    await writeFile(join(folder, ".bashrc"), "echo started\n");
    await mkdir(join(folder, "elsewhere", "sub"), { recursive: true });
    await mkdir(join(folder, "sub"));
    const processes = createProcesses({
      environment: {
        PATH: process.env.PATH,
        BASH_ENV: script,
        ENV: script,
        HOME: folder,
        SHLVL: "0",
        SSH_CLIENT: "::1 1 1",
        SHELLOPTS: "noglob:xtrace",
        BASHOPTS: "dotglob:nullglob",
        CDPATH: join(folder, "elsewhere"),
        GLOBIGNORE: "*",
        "BASH_FUNC_ls%%": "() { echo a function; }",
      },
    });
    const command = "cd sub; pwd; touch .hidden plain; echo *; echo none*; ls; bash -c pwd";
    const spec = { cwd: folder, timeoutMs: 20_000, spoolPath: join(folder, "whole"), keepBytes: 10_000 };
    const result = await processes.run({ ...spec, command, onProgress: () => undefined }, new AbortController().signal);
    expect(result).toEqual(saying(`${folder}/sub\nplain\nnone*\nplain\n${folder}/sub\n`));
  });

  const environment = {
    PATH: process.env.PATH,
    SOME_API_KEY: "s3cret",
    OTHER_TOKEN: "t0ken",
    PLAIN: "plain",
    marker: "m",
  };
  const print = "env | grep -v '^TINMAN_TOOL_RUN=[0-9a-f-]*$' | sort";
  const inherited = ["DEBIAN_FRONTEND=noninteractive", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0"];

  test("reaches the command, with only the run's marker added", async () => {
    const folder = await tempFolder();
    const processes = createProcesses({ environment, passEnvironment: ["OTHER_TOKEN"] });
    const result = await processes.run(
      {
        command: print,
        cwd: folder,
        timeoutMs: 20_000,
        spoolPath: join(folder, "whole"),
        keepBytes: 10_000,
        onProgress: () => undefined,
      },
      new AbortController().signal,
    );
    const shell = [
      `PATH=${process.env.PATH}`,
      "PLAIN=plain",
      `PWD=${folder}`,
      "SHLVL=0",
      "TERM=dumb",
      "_=/usr/bin/env",
    ];
    const names = [
      ...inherited,
      "OTHER_TOKEN=t0ken",
      "PAGER=cat",
      "PIP_DISABLE_PIP_VERSION_CHECK=1",
      ...shell,
      "marker=m",
    ];
    expect(result.head.split("\n").filter(Boolean).map(withoutShellLevel).sort()).toEqual(
      names.map(withoutShellLevel).sort(),
    );
  });

  test("is the same in the background, without a marker", async () => {
    const folder = await tempFolder();
    const outputPath = join(folder, "output.txt");
    await createProcesses({ environment }).startBackground({ command: "env; echo end", cwd: folder, outputPath });
    await untilWritten(outputPath, "end\n");
    const text = await readFile(outputPath, "utf8");
    expect(text).toContain("PLAIN=plain\n");
    expect(text).not.toMatch(/s3cret|t0ken|TINMAN/);
  });
});

function withoutShellLevel(line: string): string {
  return line.replace(/^(SHLVL|_)=.*/, "$1");
}

async function untilWritten(path: string, ending: string): Promise<void> {
  let text = "";
  const read = () => {
    readFile(path, "utf8").then(
      (now) => {
        text = now;
      },
      () => undefined,
    );
    return text.endsWith(ending);
  };
  expect(await eventually(read)).toBe(true);
}

describe("a background command", () => {
  test("outlives the call, leads its own session, and writes to a private file", async () => {
    const folder = await tempFolder();
    const nap = longNap();
    const outputPath = join(folder, "deep", "output.txt");
    const command = `echo out; echo err >&2; echo $$ $(ps -o pgid=,sid= -p $$); cat; exec sleep ${nap}`;
    const { pid } = await createProcesses().startBackground({ command, cwd: folder, outputPath });
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    expect(await eventually(() => processesWith(nap).length === 1)).toBe(true);
    expect(await readFile(outputPath, "utf8")).toBe(`out\nerr\n${pid} ${pid} ${pid}\n`);
    expect((await stat(outputPath)).mode & 0o777).toBe(0o600);
  });

  test("is not ended by the end of another command", async () => {
    const folder = await tempFolder();
    const nap = longNap();
    const processes = createProcesses();
    const spec = { command: `exec sleep ${nap}`, cwd: folder, outputPath: join(folder, "output.txt") };
    const { pid } = await processes.startBackground(spec);
    onTestFinished(() => void process.kill(pid, "SIGKILL"));
    const result = await processes.run(
      {
        command: "echo short",
        cwd: folder,
        timeoutMs: 20_000,
        spoolPath: join(folder, "whole"),
        keepBytes: 1000,
        onProgress: () => undefined,
      },
      new AbortController().signal,
    );
    expect(result).toEqual(saying("short\n"));
    expect(processesWith(nap)).toEqual([`sleep ${nap}`]);
  });

  test("is rejected with a message if it cannot start", async () => {
    const folder = await tempFolder();
    const outputPath = join(folder, "output.txt");
    const processes = createProcesses();
    const missing = join(folder, "nowhere");
    await expect(processes.startBackground({ command: "true", cwd: missing, outputPath })).rejects.toThrow(
      `The working directory ${missing} cannot be used`,
    );
    await expect(processes.startBackground({ command: "true", cwd: folder, outputPath: folder })).rejects.toThrow(
      "EISDIR",
    );
  });
});
