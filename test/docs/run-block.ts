import { spawn, spawnSync } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, delimiter, dirname, join, resolve } from "node:path";

export type Runnable = "shell" | "node" | "go" | "python";

export interface Program {
  readonly kind: Runnable;
  readonly text: string;
  readonly files: Readonly<Record<string, string>>;
  readonly copies: readonly string[];
  readonly git: boolean;
}

export interface Outcome {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Programs that the block needs and this machine lacks. */
  readonly missing: readonly string[];
}

const timeoutMs = 60_000;

/** Programs and packages that a contributor can lack. Any other missing one is a fault of the page. */
const optional: ReadonlySet<string> = new Set(["jq", "go", "python3", "websockets"]);

/**
 * Runs a block in a fresh workspace with an empty home, without keys or network, with `tinman` on the PATH and the
 * package to import.
 */
export async function runBlock(program: Program, tinman: string): Promise<Outcome> {
  const root = mkdtempSync(join(tmpdir(), "tinman-docs-"));
  try {
    const folder = (name: string): string => {
      const path = join(root, name);
      mkdirSync(path);
      return path;
    };
    const bin = folder("bin");
    const home = folder("home");
    const workspace = folder("workspace");
    const temp = folder("tmp");
    writeWrapper(join(bin, "tinman"), [process.execPath, resolve(tinman)]);
    writeWrapper(join(bin, "node"), [process.execPath]);
    // A version manager's shim for Python would look for its files in the home, which is empty here.
    const python = program.text.includes("python3") || program.kind === "python" ? pythonPath(program) : undefined;
    if (python) writeWrapper(join(bin, "python3"), [python]);
    const modules = folder("node_modules");
    symlinkSync(resolve("."), join(modules, "tinman"), "junction");
    // Packages that the pages tell readers to install.
    symlinkSync(resolve("node_modules/ws"), join(modules, "ws"), "junction");
    fillWorkspace(workspace, program);
    const environment = {
      PATH: [bin, process.env.PATH ?? ""].join(delimiter),
      HOME: home,
      TMPDIR: temp,
      LANG: "C.UTF-8",
      NO_COLOR: "1",
      HTTP_PROXY: "http://127.0.0.1:9",
      HTTPS_PROXY: "http://127.0.0.1:9",
      ...(process.env.PYTHONPATH !== undefined && { PYTHONPATH: process.env.PYTHONPATH }),
      ...(program.kind === "go" && goEnvironment()),
    };
    const command = commandOf(program, root);
    const [name = ""] = command;
    if (optional.has(name) && !pathOf(name, [name === "go" ? "version" : "--version"]))
      return { exitCode: null, stdout: "", stderr: "", missing: [name] };
    const ended = await spawnBounded(command, workspace, environment);
    const missing = [
      ...ended.stderr.matchAll(/(\S+): command not found$/gm),
      ...ended.stderr.matchAll(/No module named '(\w+)'$/gm),
    ].map((match) => match[1] ?? "");
    return { ...ended, missing: missing.filter((one) => optional.has(one)) };
  } finally {
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Checks the syntax. Returns the faults. */
export function shellFault(text: string): string | undefined {
  const { status, stderr } = spawnSync("bash", ["-n"], { input: text, encoding: "utf8" });
  return status === 0 ? undefined : stderr;
}

function commandOf({ kind, text }: Program, root: string): readonly string[] {
  const file = join(root, { shell: "block.sh", node: "block.mjs", go: "block.go", python: "block.py" }[kind]);
  writeFileSync(file, text);
  switch (kind) {
    case "shell":
      return ["bash", "-eu", "-o", "pipefail", file];
    case "node":
      return ["node", file];
    case "go":
      return ["go", "run", file];
    case "python":
      return ["python3", file];
  }
}

function fillWorkspace(workspace: string, { files, copies, git }: Program): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, name)), { recursive: true });
    writeFileSync(join(workspace, name), text);
  }
  for (const path of copies) copyFileSync(path, join(workspace, basename(path)));
  if (!git) return;
  const identity = ["-c", "user.name=Reader", "-c", "user.email=reader@example.org"];
  for (const args of [
    ["init", "-q"],
    ["add", "-A"],
    [...identity, "commit", "-q", "--allow-empty", "-m", "Start"],
  ]) {
    const { status, stderr } = spawnSync("git", args, { cwd: workspace, encoding: "utf8" });
    if (status !== 0) throw new Error(`git ${args.join(" ")}: ${stderr}`);
  }
}

function writeWrapper(path: string, command: readonly string[]): void {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
  writeFileSync(path, `#!/bin/sh\nexec ${quoted} "$@"\n`);
  chmodSync(path, 0o755);
}

const answers = new Map<string, string | undefined>();

/** A program's output about itself, in this process's environment; empty if it is not installed. */
function pathOf(name: string, args: readonly string[]): string | undefined {
  const question = [process.env.PATH, name, ...args].join(" ");
  if (!answers.has(question)) {
    const { status, stdout } = spawnSync(name, args, { encoding: "utf8" });
    answers.set(question, status === 0 ? stdout.trim() : undefined);
  }
  return answers.get(question);
}

/** The system's own Python can have a package that the first Python on the PATH lacks. */
function pythonPath({ files }: Program): string | undefined {
  const say = "import sys; print(sys.executable)";
  const wantsWebsockets = Object.values(files).some((text) => text.includes("import websockets"));
  const found = wantsWebsockets
    ? ["python3", "/usr/bin/python3"].map((name) => pathOf(name, ["-c", `import websockets; ${say}`])).find(Boolean)
    : undefined;
  return found ?? pathOf("python3", ["-c", say]);
}

/** Go would compile its library for every fresh cache, so it keeps the machine's. */
function goEnvironment(): Readonly<Record<string, string>> {
  const cache = pathOf("go", ["env", "GOCACHE"]);
  return { GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "-mod=mod", ...(cache !== undefined && { GOCACHE: cache }) };
}

function spawnBounded(
  [program = "", ...args]: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<Omit<Outcome, "missing">> {
  return new Promise((done, fail) => {
    const child = spawn(program, args, { cwd, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    const endGroup = (): void => {
      try {
        if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
      } catch {
        // The whole group is gone.
      }
    };
    const timer = setTimeout(() => {
      stderr += `\nstopped after ${timeoutMs} ms`;
      endGroup();
    }, timeoutMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      fail(error);
    });
    child.once("exit", (exitCode) => {
      clearTimeout(timer);
      endGroup();
      child.once("close", () => done({ exitCode, stdout, stderr }));
    });
  });
}
