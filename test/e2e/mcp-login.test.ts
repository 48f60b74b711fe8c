import { type ChildProcess, spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { browse } from "../mcp/sign-in/browser.ts";
import {
  type AuthorizationServer,
  type ProtectedServer,
  startAuthorizationServer,
  startProtectedServer,
} from "../mcp/sign-in/world.ts";
import { type Bench, createBench, type Finished, finished } from "./tinman.ts";

let bench: Bench;
let authority: AuthorizationServer;
let server: ProtectedServer;
beforeEach(async () => {
  [bench, authority] = await Promise.all([createBench(), startAuthorizationServer()]);
  server = await startProtectedServer(authority);
  await bench.tinman(["mcp", "add", "linear", "--url", server.url]);
});
afterEach(async () => {
  await Promise.all([bench.remove(), server.close(), authority.close()]);
});

const mcp = (...args: string[]) => bench.tinman(["mcp", ...args]);

interface Login {
  readonly url: string;
  readonly end: Promise<Finished>;
  readonly child: ChildProcess;
}

/** Starts a login, and resolves with its address and its end. */
async function login(child = bench.start(["mcp", "login", "linear"])): Promise<Login> {
  const end = finished(child);
  const url = await new Promise<string>((resolve) => {
    let text = "";
    child.stdout?.on("data", (piece: Buffer) => {
      text += piece.toString();
      const found = /^ +(http\S+)\r?\n/m.exec(text)?.[1];
      if (found !== undefined) resolve(found);
    });
  });
  return { url: url.trim(), end, child };
}

it("signs in through a browser, and out again", async () => {
  expect(await mcp("list", "--check")).toMatchObject({ code: 1, stdout: expect.stringContaining("needs a sign-in") });
  expect(await mcp("test", "linear")).toMatchObject({
    code: 1,
    stdout: "linear: needs a sign-in: tinman mcp login linear\n",
  });
  const { url, end } = await login();
  await fetch(await browse(url));
  expect(await end).toEqual({
    code: 0,
    signal: null,
    stdout: `Open this address in a browser to sign in to linear:\n  ${url}\nSigned in to linear.\n`,
    stderr: "",
  });
  expect((await mcp("test", "linear")).stdout).toBe("linear: connected, 1 tool\nhigh echo\n");
  expect(await mcp("login", "linear")).toMatchObject({
    code: 0,
    stdout: "linear: connected, 1 tool. It asks for no sign-in.\n",
  });
  expect((await mcp("list")).stdout).not.toContain(server.used[0]);
  expect((await mcp("logout", "linear")).stdout).toBe("Signed out of linear.\n");
  expect((await mcp("logout", "linear")).stdout).toBe("You are not signed in to linear.\n");
  expect((await mcp("test", "linear")).code).toBe(1);
});

it("says when the user declines, or stops it", async () => {
  const declined = await login();
  await fetch(await browse(declined.url, { declines: true }));
  expect(await declined.end).toMatchObject({ code: 1, stderr: "" });
  const stopped = await login();
  stopped.child.kill("SIGINT");
  expect(await stopped.end).toMatchObject({ code: 130, stderr: "tinman: The sign-in was cancelled.\n" });
});

it("takes the address from a browser on another machine at the terminal", async () => {
  const terminal = ["-qec", "tinman mcp login linear", "/dev/null"];
  const child = spawn("script", terminal, { cwd: bench.cwd, env: bench.env });
  const ended = new Promise((resolve) => child.on("close", resolve));
  let shown = "";
  child.stdout.on("data", (piece: Buffer) => {
    shown += piece.toString();
  });
  const isShown = (text: string) => vi.waitFor(() => expect(shown).toContain(text), { timeout: 20_000, interval: 50 });
  await isShown("paste the address on which it ends");
  const answer = await browse(/^ +(http\S+)/m.exec(shown)?.[1] ?? "");
  child.stdin.write("https://example.com/?code=x&state=y\n");
  await isShown("This is not the address of the sign-in.");
  child.stdin.write(`${answer}\n`);
  await ended;
  expect(shown).toContain("Signed in to linear.");
  expect((await mcp("test", "linear")).code).toBe(0);
});

it("removing a server deletes its tokens", async () => {
  const { url, end } = await login();
  await fetch(await browse(url));
  await end;
  const tokens = () => readFile(join(bench.home, ".tinman", "mcp", "tokens.json"), "utf8");
  expect(await tokens()).toContain(server.url);
  expect((await mcp("remove", "linear")).stdout).toContain("Removed linear from ");
  expect(await tokens()).not.toContain(server.url);
});

it("refuses servers without a sign-in", async () => {
  await mcp("add", "files", "--", "srv");
  expect((await mcp("login", "files")).stderr).toBe("tinman: files is started by a command, so it has no sign-in.\n");
  expect((await mcp("login", "nope")).stderr).toBe('tinman: No MCP server is named "nope". See: tinman mcp list\n');
});
