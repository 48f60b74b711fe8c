import { describe, expect, it } from "vitest";
import type { Containment } from "../../../src/engine/containment.ts";
import type { CommandResult } from "../../../src/engine/ports.ts";
import { executeTool } from "../../../src/tools/execute/execute.ts";
import { createMemoryHost } from "../../fakes/memory-host.ts";
import { call, createContext } from "../call.ts";

/** The result of a command that ends like this. */
async function executed(result: Partial<CommandResult>, input: object = {}) {
  const host = createMemoryHost({ "/project/x": "" }, { onCommand: () => result });
  return call(executeTool, { command: "make", ...input }, createContext(host));
}

describe("Execute", () => {
  it("returns the raw output, and the exit code", async () => {
    expect(await executed({ head: "out\nerr\n" })).toEqual({
      status: "ok",
      text: "out\nerr\n\n\n[Process exited with code 0]",
    });
    expect(await executed({})).toEqual({
      status: "ok",
      text: "Command completed successfully\n\n[Process exited with code 0]",
    });
  });

  it("reports the exit code only of a command that ran", async () => {
    const codeOf = async (end: CommandResult["end"]) => (await executed({ end })).exitCode;
    expect([
      await codeOf({ type: "exit", code: 0 }),
      await codeOf({ type: "exit", code: 1 }),
      await codeOf({ type: "exit", code: 127 }),
      await codeOf({ type: "signal", signal: "SIGKILL" }),
      await codeOf({ type: "timeout" }),
      await codeOf({ type: "unstartable", message: "spawn EAGAIN" }),
    ]).toEqual([undefined, 1, 127, undefined, undefined, undefined]);
  });

  it("begins with the failure if the command failed", async () => {
    const failed = [
      await executed({ end: { type: "exit", code: 1 }, head: "ls: /x: No such file or directory\n" }),
      await executed({ end: { type: "exit", code: 3 } }),
      await executed({ end: { type: "exit", code: 127 }, head: "sh: 1: foo: not found\n" }),
      await executed({ end: { type: "signal", signal: "SIGKILL" } }),
      await executed({ end: { type: "signal", signal: "SIGSEGV" }, head: "half" }),
      await executed({ end: { type: "unstartable", message: "spawn EAGAIN" } }),
    ];
    expect(failed.map(({ status, text }) => ({ status, text }))).toEqual(
      [
        "Error: Command failed (exit code: 1)\nls: /x: No such file or directory\n\n\n[Process exited with code 1]",
        "Error: Command failed (exit code: 3)\n\n[Process exited with code 3]",
        "Error: Command not found. The command or program may not be installed or not in PATH.\nsh: 1: foo: not found\n\n\n[Process exited with code 127]",
        "Error: Command terminated by signal: SIGKILL",
        "Error: Command terminated by signal: SIGSEGV\n\nOutput before it ended:\nhalf",
        "Error: Command could not be started: spawn EAGAIN",
      ].map((text) => ({ status: "failed", text })),
    );
  });

  it("counts a timeout as a failure, with the output so far", async () => {
    expect(await executed({ end: { type: "timeout" }, head: "step 1\n" }, { timeout: 2 })).toEqual({
      status: "failed",
      text: "Error: Command timed out after 2 seconds. Consider increasing the timeout for long-running commands.\n\nPartial output before timeout:\nstep 1\n",
    });
  });

  it("shows head and tail of a long output and names the file with all of it", async () => {
    const long = { skippedBytes: 90_000, skippedLines: 1200, totalBytes: 122_768, fullTextPath: "/outputs/all.txt" };
    expect(await executed({ head: "first\n", tail: "last\n", ...long })).toEqual({
      status: "ok",
      text: "first\n[... 1200 lines skipped ...]\nlast\n\n[Whole output, 122768 bytes: /outputs/all.txt]\n\n[Process exited with code 0]",
      fullTextPath: "/outputs/all.txt",
    });
    expect(
      await executed({ head: "aaa", tail: "zzz", ...long, skippedLines: 0, end: { type: "exit", code: 2 } }),
    ).toEqual({
      status: "failed",
      exitCode: 2,
      text: "Error: Command failed (exit code: 2)\naaa\n[... 90000 bytes skipped ...]\nzzz\n\n[Whole output, 122768 bytes: /outputs/all.txt]\n\n[Process exited with code 2]",
      fullTextPath: "/outputs/all.txt",
    });
  });

  it("gives the model less of a long output, in whole lines, with the exit code and the file", async () => {
    const line = (index: number) => `line ${String(index).padStart(4, "0")}\n`;
    const head = Array.from({ length: 3000 }, (_, index) => line(index)).join("");
    const fullTextPath = "/outputs/all.txt";
    const whole = { head, skippedBytes: 0, totalBytes: head.length, fullTextPath };
    expect(await executed(whole)).toEqual({
      status: "ok",
      text: `${head}\n\n[Process exited with code 0]`,
      forModel: `${head.slice(0, 6000)}[... 1401 lines skipped ...]\n${head.slice(-9990)}\n[Whole output, 30000 bytes: ${fullTextPath}]\n\n[Process exited with code 0]`,
      fullTextPath,
    });
    expect(await executed({ ...whole, head: head.slice(0, 16_000), totalBytes: 16_000 })).toEqual({
      status: "ok",
      text: `${head.slice(0, 16_000)}\n\n[Process exited with code 0]`,
    });
    const oneLine = await executed({ ...whole, head: "x".repeat(30_000), end: { type: "exit", code: 2 } });
    expect(oneLine.forModel).toBe(
      `Error: Command failed (exit code: 2)\n${"x".repeat(6000)}\n[... 14000 bytes skipped ...]\n${"x".repeat(10_000)}\n\n[Whole output, 30000 bytes: ${fullTextPath}]\n\n[Process exited with code 2]`,
    );
    const cut = { ...whole, tail: head, skippedBytes: 90_000, skippedLines: 9000, totalBytes: 150_000 };
    expect((await executed(cut)).forModel).toContain("[... 13401 lines skipped ...]");
  });

  it("runs exactly the given command in the working directory, within limits", async () => {
    const host = createMemoryHost();
    const run = (input: object) => call(executeTool, input, createContext(host));
    await run({ command: " echo 'a  b' \n" });
    await run({ command: "a", timeout: 0.5 });
    await run({ command: "b", timeout: 3600 });
    expect(host.commands.map(({ onProgress: _, ...spec }) => spec)).toEqual([
      {
        command: " echo 'a  b' \n",
        cwd: "/project",
        timeoutMs: 60_000,
        spoolPath: "/outputs/s1/execute-1.txt",
        keepBytes: 16_384,
      },
      { command: "a", cwd: "/project", timeoutMs: 500, spoolPath: "/outputs/s1/execute-2.txt", keepBytes: 16_384 },
      {
        command: "b",
        cwd: "/project",
        timeoutMs: 3_600_000,
        spoolPath: "/outputs/s1/execute-3.txt",
        keepBytes: 16_384,
      },
    ]);
  });

  it("rejects a blank command and an invalid timeout, and runs nothing", async () => {
    const host = createMemoryHost();
    const run = (input: object) => call(executeTool, input, createContext(host));
    expect([await run({ command: "" }), await run({ command: " \n\t" })]).toEqual([
      { status: "failed", text: "Error: command is required and must be a string" },
      { status: "failed", text: "Error: command is required and must be a string" },
    ]);
    expect([await run({ command: "x", timeout: -1 }), await run({ command: "x", timeout: 0 })]).toEqual([
      { status: "failed", text: "Error: timeout is the number of seconds to wait: above 0" },
      { status: "failed", text: "Error: timeout is the number of seconds to wait: above 0" },
    ]);
    expect(executeTool.input.safeParse({ command: "x", timeout: Number.NaN }).success).toBe(false);
    expect(host.commands).toEqual([]);
  });

  it("passes the command, the model's estimate, and whether it outlives the call, to the decision", async () => {
    const scope = createContext(createMemoryHost());
    const access = (input: object) => executeTool.access(executeTool.input.parse(input), scope);
    expect([
      await access({ command: "ls" }),
      await access({ command: "rm x", riskLevel: "high", riskLevelReason: "removes", fireAndForget: true }),
      await access({ command: "  " }),
    ]).toEqual([
      [{ type: "command", command: "ls", background: false }],
      [{ type: "command", command: "rm x", claimed: "high", background: true }],
      [],
    ]);
    expect(await executeTool.preview?.(executeTool.input.parse({ command: "ls" }), scope)).toEqual({
      type: "command",
      command: "ls",
    });
  });

  it("shows the last two lines while it runs", async () => {
    const host = createMemoryHost(
      {},
      {
        onCommand(_command, spec) {
          spec.onProgress("one\ntwo\nthree\n");
          spec.onProgress(`${"😀".repeat(5000)}x\n`);
          return {};
        },
      },
    );
    const context = createContext(host);
    await call(executeTool, { command: "make" }, context);
    expect(context.shown).toEqual(["two\nthree", `${"😀".repeat(999)}x`]);
  });

  it("is interrupted with its output so far", async () => {
    const abort = new AbortController();
    const host = createMemoryHost({}, { onCommand: () => new Promise(() => abort.abort()) });
    expect(await call(executeTool, { command: "sleep 9" }, createContext(host, { signal: abort.signal }))).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user",
    });
    expect(await executed({ end: { type: "aborted" }, head: "half" })).toEqual({
      status: "interrupted",
      text: "Error: Tool execution cancelled by user\n\nOutput before it was stopped:\nhalf",
    });
  });

  it("starts a command that outlives the call and says how to follow and stop it", async () => {
    const host = createMemoryHost();
    expect(await call(executeTool, { command: "npm start", fireAndForget: true }, createContext(host))).toEqual({
      status: "ok",
      text: [
        "Background process started (PID: 4001)",
        "Command: npm start",
        "Output: /outputs/s1/execute-1.txt",
        "Status: Running in background",
        "",
        "Note: It keeps running after Tinman ends. Read the output file to follow it; stop it with: kill -- -4001",
      ].join("\n"),
    });
    expect(host.backgrounds).toEqual([
      { command: "npm start", cwd: "/project", outputPath: "/outputs/s1/execute-1.txt" },
    ]);
  });

  it("reports a command that cannot start as a result", async () => {
    const host = createMemoryHost();
    const broken = { ...host, outputPath: () => Promise.reject(new Error("ENOSPC: no space left on device")) };
    for (const fireAndForget of [true, false])
      expect(await call(executeTool, { command: "x", fireAndForget }, createContext(broken))).toEqual({
        status: "failed",
        text: "Error: Command could not be started: ENOSPC: no space left on device",
      });
  });
});

describe("Execute in the sandbox", () => {
  const walls: Containment = {
    writable: ["/tmp/s1", "/project"],
    caches: [],
    repositories: [],
    newFolders: [],
    unwanted: [],
    runsHooks: true,
    outputs: [],
    kept: [],
    barred: [],
    hidden: ["/home/u/.ssh"],
    shown: [],
    network: "session",
    processes: "own",
  };
  const offline = "it has no network and cannot reach ports of this machine";
  const readOnly = "it can write only /project and $TMPDIR";
  const failed = { end: { type: "exit", code: 1 } } as const;

  /** Why the sandbox may have broken a command, as the model reads it. */
  async function causes(output: string, result: Partial<CommandResult> = failed, more: Partial<Containment> = {}) {
    const host = createMemoryHost({}, { onCommand: () => ({ ...result, head: output }) });
    const context = createContext(host, { walls: { ...walls, ...more } });
    const { text, forModel } = await call(executeTool, { command: "make" }, context);
    expect(text).not.toContain("sandbox");
    return /^\[The command ran in a sandbox: (.*?)\. Run installers,.* with riskLevel "high"/m.exec(
      forModel ?? "",
    )?.[1];
  }

  it.each([
    ["cp: cannot create '/etc/x': Read-only file system", readOnly],
    ["Error: EROFS: read-only file system, open '/etc/x'", readOnly],
    ["curl: (6) Could not resolve host: example.com", offline],
    ["Error: connect ECONNREFUSED 127.0.0.1:5432", offline],
    ["cat: /home/u/.ssh/id_rsa: No such file or directory", "/home/u/.ssh is hidden from it"],
    ["chown: changing ownership of 'x': Operation not permitted", "it has no special rights"],
    ["ENOTFOUND\nEROFS", `${offline}; ${readOnly}`],
    ["1 test failed", undefined],
  ])("tells the model what may have broken it: %s", async (output, expected) => {
    expect(await causes(output)).toBe(expected);
  });

  it("says nothing where it succeeded, or what is missing there is open", async () => {
    const noHost = "Could not resolve host: example.com";
    expect([await causes(noHost, {}), await causes(noHost, failed, { network: "host" })]).toEqual([
      undefined,
      undefined,
    ]);
    const many = { writable: ["/tmp/s1", "/a", "/b", "/c", "/d", "/e"] };
    expect([await causes("EROFS", failed, many), await causes("EROFS", failed, { writable: ["/tmp/s1"] })]).toEqual([
      "it can write only /a, /b, /c, /d and $TMPDIR",
      "it can write only $TMPDIR",
    ]);
  });

  it("says that a command in the background ends with the session", async () => {
    const context = createContext(createMemoryHost(), { walls });
    const { text } = await call(executeTool, { command: "npm start", fireAndForget: true }, context);
    expect(text).toContain("It runs in the sandbox, and ends with this session.");
  });
});
