import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSession, script } from "./sessions.ts";

const odd = script("odd.mjs");

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "tinman-mcp-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

describe("a stdio server", () => {
  it("starts in the session's folder with the environment of commands and its own", async () => {
    process.env.MY_SECRET_KEY = "very secret";
    onTestFinished(() => void delete process.env.MY_SECRET_KEY);
    const cwd = tempFolder();
    const session = openSession({ cwd, given: { odd: { ...odd, env: { TOKEN: "abc" } } } });
    await session.settled();
    const { text } = await session.call("odd___where");
    const { cwd: seen, env } = JSON.parse(text);
    expect({ seen, token: env.TOKEN, secret: env.MY_SECRET_KEY, pager: env.PAGER }).toEqual({
      seen: cwd,
      token: "abc",
      secret: undefined,
      pager: "cat",
    });
  });

  it("is looked up in PATH, but not in the workspace, unless the entry names a path", async () => {
    const cwd = tempFolder();
    const { command, args } = odd;
    writeFileSync(join(cwd, "planted"), `#!/bin/sh\nexec ${command} ${args.join(" ")}\n`, { mode: 0o755 });
    const path = process.env.PATH;
    process.env.PATH = `${cwd}:${path}`;
    onTestFinished(() => void Object.assign(process.env, { PATH: path }));
    const named = (name: string) => ({ kind: "stdio", command: name, args: [], env: {} }) as const;
    const session = openSession({
      cwd,
      given: { bare: named("planted"), path: named("./planted"), missing: named("./missing.sh"), none: named("none") },
    });
    await session.settled();
    expect(session.servers.states().map(({ status, error }) => error ?? status)).toEqual([
      "The program planted was not found. Is it installed?",
      "connected",
      "./missing.sh is not a program that can be run.",
      "The program none was not found. Is it installed?",
    ]);
    expect(JSON.parse((await session.call("path___where")).text).env.PATH).not.toContain(cwd);
  });

  it("ends with its children when the session closes", async () => {
    const session = openSession({ given: { odd: script("odd.mjs", "stubborn") } });
    await session.settled();
    const { text } = await session.call("odd___children");
    const pids = text.split(" ").map(Number);
    expect(pids.map(isRunning)).toEqual([true, true]);
    await session.servers.close();
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it("that cannot start fails with its own words, made harmless", async () => {
    const session = openSession({ given: { odd: script("odd.mjs", "fails") } });
    await session.settled();
    expect(session.servers.states()).toMatchObject([
      {
        status: "failed",
        error: "The server's program exited with code 1: \\u{1b}[31mError: no \\u{7}token\\u{1b}[0m.",
      },
    ]);
  });

  it("can write lines that are not messages, up to a limit", async () => {
    const session = openSession({
      given: { chatty: script("odd.mjs", "chatty"), garbage: script("odd.mjs", "garbage") },
    });
    await session.settled();
    expect(session.servers.states()).toMatchObject([
      { name: "chatty", status: "connected" },
      { name: "garbage", status: "failed", error: "The server writes text to its standard output that is not MCP." },
    ]);
  });

  it("that crashes in a call fails it at once, and starts again for the next one", async () => {
    const file = join(tempFolder(), "pids");
    const session = openSession({ given: { odd: { ...script("odd.mjs", "", file), env: { TOKEN: "tell-nobody" } } } });
    await session.settled();
    const both = await Promise.all([session.call("odd___hang"), session.call("odd___crash")]);
    const failure = {
      status: "failed",
      text: "Error: The server odd did not answer. The server's program exited with code 3: Error: out of luck …",
    };
    expect(both).toEqual([failure, failure]);
    expect(session.servers.states()).toMatchObject([{ status: "disconnected" }]);
    expect(session.servers.list()).toHaveLength(14);
    expect(await session.call("odd___look")).toEqual({ status: "ok", text: "version 1" });
    expect(readFileSync(file, "utf8").trim().split("\n")).toHaveLength(2);
    expect(await session.call("odd___half")).toEqual({
      status: "failed",
      text: "Error: The server odd did not answer. The server's program exited with code 0.",
    });
  });
});
