import { spawnSync } from "node:child_process";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { createProcesses } from "../../src/host/processes/processes.ts";
import { runCommand, saying, tempFolder } from "./support.ts";

describe("a command", () => {
  test("returns standard output and error in the order of writing", async () => {
    const command = "for i in 1 2 3 4 5; do echo out $i; echo err $i >&2; done";
    const lines = [1, 2, 3, 4, 5].map((i) => `out ${i}\nerr ${i}\n`).join("");
    expect(await runCommand(command)).toEqual(saying(lines));
  });

  test("runs exactly as given, with quotes, newlines, backslashes and other scripts", async () => {
    const command =
      "printf '%s|' \"it's\" '$HOME' 'a\\nb' 'ünïcödé 你好 🦊' -n --\ncat <<'END'\n\t`not run` $(nor this)\nEND\n";
    expect(await runCommand(command)).toEqual(
      saying("it's|$HOME|a\\nb|ünïcödé 你好 🦊|-n|--|\t`not run` $(nor this)\n"),
    );
  });

  test("is one command even if it looks like an option or is empty", async () => {
    expect(await runCommand("--version 2>/dev/null")).toEqual(saying("", { type: "exit", code: 127 }));
    expect(await runCommand("")).toEqual(saying(""));
  });

  test("runs in its folder, even through a link", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "real folder"));
    await symlink("real folder", join(folder, "link"));
    expect(await runCommand("pwd -P", { cwd: join(folder, "link") })).toEqual(
      saying(`${join(folder, "real folder")}\n`),
    );
  });

  test("takes `..` as the parent of the canonical folder, whatever PWD says", async () => {
    const folder = await tempFolder();
    await mkdir(join(folder, "real", "project"), { recursive: true });
    await symlink(join("real", "project"), join(folder, "link"));
    const environment = { ...process.env, PWD: join(folder, "link"), OLDPWD: folder };
    const spec = {
      timeoutMs: 20_000,
      spoolPath: join(folder, "whole"),
      keepBytes: 10_000,
      onProgress: () => undefined,
    };
    const result = await createProcesses({ environment }).run(
      { ...spec, command: 'pwd; cd ..; pwd; echo "$OLDPWD"', cwd: join(folder, "real", "project") },
      new AbortController().signal,
    );
    const real = join(folder, "real");
    expect(result).toEqual(saying(`${real}/project\n${real}\n${real}/project\n`));
  });

  test("has empty standard input", async () => {
    expect(await runCommand("cat; read -r line || echo nothing to read")).toEqual(saying("nothing to read\n"));
  });

  test("has no terminal to ask on", async () => {
    expect(await runCommand("(: </dev/tty) 2>/dev/null && echo terminal || echo none")).toEqual(saying("none\n"));
  });

  test("can open its own output by name", async () => {
    const command = "echo one >/dev/stdout; echo two >/dev/stderr; echo three | tee /dev/stderr >/dev/null";
    expect(await runCommand(command)).toEqual(saying("one\ntwo\nthree\n"));
  });

  test("has the same output on a machine without mkfifo", async () => {
    const path = process.env.PATH;
    const folder = await tempFolder();
    process.env.PATH = folder;
    onTestFinished(() => {
      process.env.PATH = path;
    });
    const result = await createProcesses({ environment: { ...process.env, PATH: path } }).run(
      {
        command: "echo out; echo err >&2; head -c 300000 /dev/zero | tr '\\0' x; sleep 500 &",
        cwd: folder,
        timeoutMs: 20_000,
        spoolPath: join(folder, "whole"),
        keepBytes: 200_000,
        onProgress: () => undefined,
      },
      new AbortController().signal,
    );
    const said = saying(`out\nerr\n${"x".repeat(300_000)}`);
    expect(result).toEqual({ ...said, fullTextPath: join(folder, "whole") });
  });

  test.each([0, 1, 2, 126, 127, 255])("returns its exit code %i", async (code) => {
    expect(await runCommand(`exit ${code}`)).toEqual(saying("", { type: "exit", code }));
  });

  test("that is not found exits with 127 and the shell's message", async () => {
    const result = await runCommand("surely-no-such-program-here");
    expect(result.end).toEqual({ type: "exit", code: 127 });
    expect(result.head).toContain("surely-no-such-program-here: command not found");
  });

  test.each(["SIGKILL", "SIGTERM", "SIGSEGV", "SIGHUP"])("killed by %s reports it", async (signal) => {
    expect(await runCommand(`echo before; kill -s ${signal.slice(3)} $$; sleep 5`)).toEqual(
      saying("before\n", { type: "signal", signal }),
    );
  });

  test("does not start in a folder that is missing or is a file", async () => {
    const folder = await tempFolder();
    await writeFile(join(folder, "file"), "");
    const missing = await runCommand("echo hi", { cwd: join(folder, "nowhere") });
    expect(missing).toEqual(saying("", { type: "unstartable", message: expect.stringContaining("ENOENT") }));
    const file = await runCommand("echo hi", { cwd: join(folder, "file") });
    const message = `The working directory ${join(folder, "file")} is not a directory.`;
    expect(file).toEqual(saying("", { type: "unstartable", message }));
  });

  test("that is too long for the system, or contains a NUL, cannot start", async () => {
    const long = await runCommand(`: ${"x".repeat(3_000_000)}`);
    const message = "The command is too long for the system. Put the text into a file.";
    expect(long).toEqual(saying("", { type: "unstartable", message }));
    expect((await runCommand("echo a\0b")).end.type).toBe("unstartable");
  });
});

describe("the shell", () => {
  test("has none of our children and jobs, and leads its group", async () => {
    const command = 'wait; echo "wait $?"; jobs; ps -o comm= --ppid $$; echo $(($(ps -o pgid= -p $$) - $$))';
    expect(await runCommand(command)).toEqual(saying("wait 0\nps\n0\n"));
  });

  test("has none of our descriptors", async () => {
    const list = "ls /proc/self/fd";
    const plain = spawnSync("/bin/bash", ["--noprofile", "--norc", "-c", list], { stdio: ["ignore", "pipe", "pipe"] });
    expect(await runCommand(list)).toEqual(saying(plain.stdout.toString()));
  });

  test("reads no start-up files", async () => {
    const folder = await tempFolder();
    for (const name of [".bashrc", ".profile", ".bash_profile"]) await writeFile(join(folder, name), "echo start-up\n");
    const processes = createProcesses({ environment: { ...process.env, HOME: folder } });
    const result = await processes.run(
      {
        command: "echo only this",
        cwd: folder,
        timeoutMs: 20_000,
        spoolPath: join(folder, "whole"),
        keepBytes: 1000,
        onProgress: () => undefined,
      },
      new AbortController().signal,
    );
    expect(result).toEqual(saying("only this\n"));
  });
});

describe("progress", () => {
  test("is the last two lines", async () => {
    const shown: string[] = [];
    await runCommand("printf 'one\\ntwo\\n'; sleep 0.5; printf 'three\\nfour'; sleep 0.5", {
      onProgress: (tail) => shown.push(tail),
    });
    expect(shown).toContain("one\ntwo");
    expect(shown.at(-1)).toBe("three\nfour");
    for (const tail of shown) expect(tail.split("\n").length).toBeLessThanOrEqual(2);
  });

  test("of a redrawn line is its current text", async () => {
    const shown: string[] = [];
    await runCommand("printf 'start\\n 10%%\\r 50%%\\r100%%'; sleep 0.3", { onProgress: (tail) => shown.push(tail) });
    expect(shown.at(-1)).toBe("start\n100%");
  });

  test("is bounded, even for one long line of large characters", async () => {
    const shown: string[] = [];
    await runCommand("printf '🦊%.0s' {1..5000}; sleep 0.5", { onProgress: (tail) => shown.push(tail) });
    expect(shown.length).toBeGreaterThan(0);
    for (const tail of shown) expect(tail).toMatch(/^(?:🦊){100,200}$/u);
  });

  test("comes at most five times a second", async () => {
    const shown: string[] = [];
    const start = performance.now();
    await runCommand("for i in {1..60}; do echo $i; sleep 0.02; done", {
      onProgress: (tail) => shown.push(tail),
    });
    const elapsed = performance.now() - start;
    expect(shown.length).toBeGreaterThan(1);
    expect(shown.length).toBeLessThanOrEqual(elapsed / 190 + 1);
  });

  test("that throws does not disturb the command", async () => {
    const onProgress = () => {
      throw new Error("a listener's fault");
    };
    expect(await runCommand("echo fine", { onProgress })).toEqual(saying("fine\n"));
  });
});
