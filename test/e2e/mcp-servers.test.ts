import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { canContain } from "../host/sandbox/contained.ts";
import { startEverything } from "../mcp/http-program.ts";
import { program, script } from "../mcp/sessions.ts";
import { thatStay } from "./processes.ts";
import { type Bench, createBench } from "./tinman.ts";

const everything = program("@modelcontextprotocol/server-everything");
const odd = (mode = "", argument = "") => script("odd.mjs", mode, argument);

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(() => bench.remove());

/** Calls these tools one after the other; the last reply has the last result. */
async function run(servers: object, calls: readonly object[], ...options: readonly string[]) {
  await bench.file("mcp.json", JSON.stringify({ mcpServers: servers }));
  const replies = [...calls.map((call) => ({ tool_calls: [call] })), { text: "{{tool_result}}" }];
  const model = await bench.script(replies);
  const args = ["exec", "--mcp-config", "mcp.json", "--auto", "high", ...options, "-m", model, "go"];
  const { code, stdout, stderr } = await bench.tinman(args);
  return { code, stdout, stderr };
}

const echo = (server: string) => ({ name: `${server}___echo`, input: { message: "hi" } });

describe("exec with MCP servers", () => {
  it("calls tools of programs, of one that starts late too", async () => {
    const late = { ...odd("slow", "1500") };
    expect(await run({ everything, late }, [echo("everything"), { name: "late___look", input: {} }])).toEqual({
      code: 0,
      stdout: "version 1\n",
      stderr: "",
    });
  });

  it("calls tools over streamable HTTP and SSE", async () => {
    const [http, sse] = await Promise.all([startEverything("streamableHttp"), startEverything("sse")]);
    const servers = {
      http: { url: `http://127.0.0.1:${http.port}/mcp` },
      sse: { url: `http://127.0.0.1:${sse.port}/sse` },
    };
    expect(await run(servers, [echo("http"), echo("sse")])).toEqual({ code: 0, stdout: "Echo: hi\n", stderr: "" });
  });

  it("reads files with a server of its own, and shows images to the model", async () => {
    await bench.file("notes.txt", "Buy milk.\n");
    const files = program("@modelcontextprotocol/server-filesystem", bench.cwd);
    const read = { name: "files___read_text_file", input: { path: join(bench.cwd, "notes.txt") } };
    expect(await run({ files }, [read])).toMatchObject({ code: 0, stdout: expect.stringContaining("Buy milk.") });
    const image = { name: "everything___get-tiny-image", input: {} };
    await run({ everything }, [image]);
    expect((await bench.shell("grep -lr image/png $HOME/.tinman/sessions")).stdout).toContain(".jsonl");
  });

  it("goes on after a crash in a call, and leaves nothing running", async () => {
    const servers = { odd: { ...odd(), env: { MARK: bench.root } } };
    const crash = { name: "odd___crash", input: {} };
    const words = "Error: The server odd did not answer. The server's program exited with code 3: Error: out of luck.";
    const { code, stdout } = await run(servers, [crash]);
    // The run ended on a failed call.
    expect([code, stdout]).toEqual([1, `${words}\n`]);
    expect(await run(servers, [crash, { name: "odd___look", input: {} }])).toMatchObject({ stdout: "version 1\n" });
    expect(await thatStay(bench.root)).toEqual([]);
  });
});

it("kill -9 of tinman ends servers and what they started", async () => {
  const pids = join(bench.root, "pids");
  await bench.file("mcp.json", JSON.stringify({ mcpServers: { odd: odd("stubborn", pids) } }));
  const replies = [
    { tool_calls: [{ name: "odd___children", input: {} }] },
    { tool_calls: [{ name: "odd___hang", input: {} }] },
  ];
  const args = [
    "exec",
    "--mcp-config",
    "mcp.json",
    "--auto",
    "high",
    "-o",
    "stream-json",
    "-m",
    await bench.script(replies),
    "go",
  ];
  const tinman = bench.start(args);
  await new Promise<void>((resolve) => {
    let text = "";
    tinman.stdout?.on("data", (bytes) => {
      text += String(bytes);
      if (text.includes("odd___hang")) resolve();
    });
  });
  tinman.kill("SIGKILL");
  await once(tinman, "close");
  expect(await thatStay(pids)).toEqual([]);
  const left = (await readFile(pids, "utf8")).trim().split("\n").map(Number);
  expect(left.length).toBe(1);
  expect(await thatStay("sleep\u0000300")).toEqual([]);
});

it("a contained server writes in the workspace only, and has no network", async () => {
  const { port } = await startEverything("sse");
  const servers = { odd: { ...odd(), contained: true } };
  const paths = [join(bench.cwd, "made"), join(bench.home, "made"), join(bench.cwd, ".mcp.json")];
  const attempt = { name: "odd___attempt", input: { write: paths, port } };
  const { stdout, stderr } = await run(servers, [attempt]);
  if (await canContain()) expect([stdout, stderr]).toEqual(["done EROFS EISDIR ECONNREFUSED\n", ""]);
  else expect(stderr).toContain("It must run in the sandbox, which does not work here.");
});
