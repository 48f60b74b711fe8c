import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { closeAll, fakeServer, parrot } from "../connect/connected.ts";
import type { FakeServer } from "../connect/fake-server.ts";
import { pythonPath } from "../examples/python.ts";
import { type Bench, createBench, mainFile } from "./tinman.ts";

let bench: Bench;
let server: FakeServer;

beforeEach(async () => {
  bench = await createBench();
  server = await fakeServer(parrot);
});

afterEach(async () => {
  await closeAll();
  await bench.remove();
});

/** A home as `tinman serve` leaves it. */
async function keepToken(token: string): Promise<string> {
  const path = join(bench.home, ".tinman", "serve-token");
  await mkdir(join(bench.home, ".tinman"), { mode: 0o700 });
  await writeFile(path, `${token}\n`, { mode: 0o600 });
  return path;
}

describe("tinman connect", () => {
  it("sends the lines of a pipe, with the session settings of its options", async () => {
    await bench.file("tools.json", '[{"name":"add","inputSchema":{"type":"object"}}]');
    const options =
      "--user ann --language de -m offline --context 'It rains.' --tools tools.json --tool-execution client";
    const { code, stdout, stderr } = await bench.shell(
      `printf 'hello\\nagain\\n' | tinman connect ${server.url.replace("ws:", "http:")} ${options}`,
    );
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "You said: hello\nYou said: again\n",
      stderr: "[Session s-1: active, started]\n[Session s-1: stopped, completed]\n",
    });
    expect(server.of("startSession")).toEqual([
      {
        userId: "ann",
        sessionParams: {
          language: "de",
          model: "offline",
          context: "It rains.",
          tools: [{ name: "add", inputSchema: { type: "object" } }],
          toolExecution: "client",
        },
      },
    ]);
  });

  it("takes the token from the file, the variable or the machine, in this order", async () => {
    const path = await keepToken("of-the-machine");
    await bench.file("token", " of-the-file \n");
    const env = { TINMAN_TOKEN: "of-the-variable" };
    await bench.tinman(["connect", server.url, "--token-file", "token"], { env });
    await bench.tinman(["connect", server.url], { env });
    await bench.tinman(["connect", server.url]);
    expect(server.headers.map(({ authorization }) => authorization)).toEqual([
      "Bearer of-the-file",
      "Bearer of-the-variable",
      "Bearer of-the-machine",
    ]);
    expect(server.of("startSession")[0]).toEqual({ userId: userInfo().username, sessionParams: {} });
    server.refuse(401);
    const refused = await bench.tinman(["connect", server.url]);
    expect([refused.code, refused.stdout, refused.stderr]).toEqual([
      1,
      "",
      `tinman: ${server.url} rejected the token (401). The token came from ${path}.\n`,
    ]);
  });

  it("keeps the machine's token from other machines, and warns before sending a token unencrypted", async () => {
    const path = await keepToken("of-the-machine");
    // It leads to this machine without looking like it.
    const { port } = new URL(server.url);
    const address = `ws://0.0.0.0:${port}/ws`;
    const { code, stderr } = await bench.tinman(["connect", address]);
    expect([code, stderr.includes("in the clear")]).toEqual([0, false]);
    const given = await bench.tinman(["connect", address, "--token-file", path]);
    expect([given.code, given.stderr.split("\n")[0]]).toEqual([
      0,
      `tinman: The token is sent to 0.0.0.0:${port} unencrypted. Use wss:// to encrypt it.`,
    ]);
    expect(server.headers.map(({ authorization }) => authorization)).toEqual([undefined, "Bearer of-the-machine"]);
  });

  it.each([
    [["ftp://example.org"], "Unsupported scheme ftp:// in the address. Use ws:// or wss://."],
    [["--after", "3"], "--after needs --resume."],
    [
      ["--resume", "s-1", "--model", "x"],
      "error: option '--resume <session-id>' cannot be used with option '-m, --model <id>'",
    ],
    [["--token-file", "none"], "--token-file: ENOENT: no such file or directory, open 'none'"],
    [["--token-file", "empty"], "No token in empty."],
    [["--tools", "empty"], "--tools: empty is not valid JSON."],
    [["--tools", "object.json"], '--tools: object.json must be a list of objects with a "name".'],
  ])("%j is a usage error", async (args, words) => {
    await bench.file("empty", "\n");
    await bench.file("object.json", '{"name":"add"}');
    const { code, stdout, stderr } = await bench.tinman(["connect", ...args]);
    expect([code, stdout, stderr]).toEqual([2, "", `tinman: ${words.replace(/^error: /, "")}\n`]);
  });

  it("reports that nothing listens there", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as { port: number };
    await new Promise((resolve) => other.close(resolve));
    const { code, stderr } = await bench.tinman(["connect", `127.0.0.1:${port}`], { stdin: "hello\n" });
    expect([code, stderr]).toEqual([
      1,
      `tinman: Cannot reach ws://127.0.0.1:${port}/ws: nothing listens there. Start a server with tinman serve.\n`,
    ]);
  });

  it("loses nothing to a slow reader, and exits with 141 if the reader leaves", async () => {
    const long = "0123456789".repeat(30_000);
    await bench.file("long", `${long}\n${long}\n`);
    const slow = await bench.shell(`tinman connect ${server.url} <long 2>/dev/null | { sleep 0.3; cat; }`);
    expect(slow.stdout === `You said: ${long}\nYou said: ${long}\n`).toBe(true);
    const left = await bench.shell(`tinman connect ${server.url} <long 2>/dev/null | true; echo "\${PIPESTATUS[0]}"`);
    expect(left.stdout).toBe("141\n");
  });

  it("stops the session when it is terminated", async () => {
    const endless = await fakeServer((turn) => turn.chunk("endless"));
    const child = bench.start(["connect", endless.url]);
    child.stdin?.write("hello\n");
    child.stdout?.once("data", () => child.kill("SIGTERM"));
    const code = await new Promise((resolve) => child.once("exit", resolve));
    expect([code, endless.of("stopSession").length]).toEqual([143, 1]);
  });

  it("has a prompt at a terminal, without control characters", async () => {
    const evil = await fakeServer((turn) => {
      turn.chunk("a\x1b[2J");
      turn.end();
    });
    const inTerminal = "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)";
    const child = spawn(pythonPath(), ["-c", inTerminal, process.execPath, mainFile, "connect", evil.url], {
      env: { ...bench.env, TERM: "xterm" },
    });
    let seen = "";
    const typeAfter = (words: string, typed: string): Promise<void> =>
      new Promise((resolve) => {
        const look = (): void => {
          if (!seen.slice(seen.indexOf(words)).includes("> ") || !seen.includes(words)) return;
          child.stdout.off("data", look);
          child.stdin.write(typed);
          resolve();
        };
        child.stdout.on("data", look);
        look();
      });
    child.stdout.on("data", (chunk: Buffer) => {
      seen += chunk;
    });
    const exit = new Promise((resolve) => child.once("exit", resolve));
    await typeAfter("started]", "hello\r");
    await typeAfter("a\\u{1b}[2J", "\x04");
    const code = await exit;
    expect(code).toBe(0);
    // The prompt is on its own line.
    expect(seen).toContain("a\\u{1b}[2J\r\n");
    expect(evil.asked.map(({ method }) => method)).toEqual(["startSession", "sendUserMessage", "stopSession"]);
  });
});
