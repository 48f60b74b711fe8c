import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isFullRun } from "../full-run.ts";
import { type Bench, createBench, lines } from "./tinman.ts";

const program = fileURLToPath(new URL("../../examples/mcp/notes-server.mjs", import.meta.url));
const notes = { command: process.execPath, args: [program, "notes.txt"] };
const failing = { command: process.execPath, args: ["-e", "process.exit(3)"] };
const silent = { command: process.execPath, args: ["-e", "process.stdin.resume()"] };
const name = (text: string): string => `$\{${text}}`;

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
  await bench.file("notes.txt", "Buy milk.\n");
});
afterEach(() => bench.remove());

const servers = (path: string, named: object) => bench.file(path, JSON.stringify({ mcpServers: named }));
const reading = [{ tool_calls: [{ name: "notes___list", input: {} }] }, { text: "Notes: {{tool_result}}" }];
const exec = async (...args: string[]) => {
  const { code, stdout, stderr } = await bench.tinman(["exec", ...args]);
  return { code, stdout, stderr };
};

describe("--mcp-config", () => {
  it("gives a run further servers, with variables replaced", async () => {
    await servers("a.json", { notes: { ...notes, args: [program, name("FILE")] }, spare: failing });
    await servers("b.json", { spare: { ...notes, disabled: true } });
    const run = ["exec", "--auto", "low", "--mcp-config", "a.json", "--mcp-config", "b.json", "-m"];
    const { code, stdout } = await bench.tinman([...run, await bench.script(reading), "go"], {
      env: { FILE: "notes.txt" },
    });
    expect([code, stdout]).toEqual([0, "Notes: Buy milk.\n"]);
  });

  it("warns about entries that cannot be used, and runs", async () => {
    await servers("a.json", { a___b: notes, unset: { command: name("NO_SUCH") }, notes });
    const result = await exec("--auto", "low", "--mcp-config", "a.json", "-m", await bench.script(reading), "go");
    expect(result).toEqual({
      code: 0,
      stdout: "Notes: Buy milk.\n",
      stderr: [
        'tinman: Skipped the MCP server "a___b" of a.json: its name must not contain ___.\n',
        "tinman: The MCP server unset is not used: the variable NO_SUCH is not set.\n",
      ].join(""),
    });
  });

  it.each<readonly [what: string, text: string | undefined, message: RegExp]>([
    ["missing", undefined, /^tinman: bad\.json: ENOENT/],
    ["malformed", "{", /^tinman: bad\.json: must be JSON with a map "mcpServers"\n$/],
    ["without servers", "{}", /^tinman: bad\.json: must be JSON with a map "mcpServers"\n$/],
  ])("refuses a file that is %s", async (_, text, message) => {
    if (text !== undefined) await bench.file("bad.json", text);
    const result = await exec("--mcp-config", "bad.json", "hi");
    expect(result).toEqual({ code: 2, stdout: "", stderr: expect.stringMatching(message) });
  });

  it("works for clients of stream-jsonrpc", async () => {
    await servers("a.json", { notes });
    const requests = [
      { id: "1", method: "droid.initialize_session", params: { machineId: "m", cwd: bench.cwd } },
      { id: "2", method: "droid.add_user_message", params: { text: "go" } },
    ];
    const input = requests.map(
      (one) => `${JSON.stringify({ jsonrpc: "2.0", factoryApiVersion: "1.0.0", type: "request", ...one })}\n`,
    );
    const wire = ["--input-format", "stream-jsonrpc", "--output-format", "stream-jsonrpc"];
    const given = ["--auto", "low", "--mcp-config", "a.json", "-m", await bench.script(reading)];
    const { stdout } = await bench.tinman(["exec", ...wire, ...given], { stdin: input.join("") });
    expect(JSON.stringify(lines(stdout))).toContain("Notes: Buy milk.");
  });
});

describe("--mcp-required", () => {
  it("runs when the servers are there", async () => {
    await servers("a.json", { notes, spare: notes });
    expect(await exec("--mcp-config", "a.json", "--mcp-required", "notes,spare", "Just reply OK.")).toMatchObject({
      code: 0,
      stdout: "OK\n",
    });
  });

  const missing: readonly (readonly [required: string, why: string])[] = [
    ["failing", "failed: The server's program exited with code 3."],
    ["off", "is disabled."],
    ["unset", "is not configured, or its entry cannot be used."],
    ["other", "is not configured, or its entry cannot be used."],
    ["silent", "did not connect in time. To wait longer, use --mcp-wait."],
    [
      "offered",
      "is not used: The repository offers it, and you have not trusted it. To use it, run: tinman mcp trust offered",
    ],
  ];
  it.each(missing.filter(([name]) => isFullRun || ["failing", "silent", "offered"].includes(name)))(
    "exits with 2 and says why %s is missing, before anything runs",
    async (required, why) => {
      await servers("a.json", {
        notes,
        failing,
        silent,
        off: { ...notes, enabled: false },
        unset: { command: name("NO") },
      });
      await servers(".mcp.json", { offered: notes });
      const options = [
        "--log-level",
        "error",
        "--mcp-config",
        "a.json",
        "--mcp-wait",
        "500ms",
        "--mcp-required",
        required,
      ];
      const { code, stdout, stderr } = await exec("-m", await bench.script([{ text: "never" }]), ...options, "hi");
      expect([code, stdout]).toEqual([2, ""]);
      expect(stderr.split("\n").at(-2)).toBe(`tinman: The required MCP server ${required} ${why}`);
    },
  );

  it("has a code in json, and ends on --timeout", async () => {
    await servers("a.json", { silent });
    const all = ["-o", "json", "--mcp-config", "a.json", "--mcp-required"];
    const missing = await exec(...all, "x", "--mcp-wait", "100ms", "hi");
    expect(JSON.parse(missing.stdout)).toMatchObject({ exit_code: 2, error: { code: "server_missing" } });
    const late = await exec(...all, "silent", "--mcp-wait", "1h", "--timeout", "1s", "hi");
    expect(JSON.parse(late.stdout)).toMatchObject({ exit_code: 3, error: { code: "timeout" } });
  });

  it("is for one run only", async () => {
    const { code, stderr } = await exec("--input-format", "stream-jsonrpc", "--mcp-required", "a");
    expect([code, stderr]).toEqual([
      2,
      "tinman: --mcp-required cannot be used with --input-format stream-jsonrpc: the client sets it.\n",
    ]);
  });
});

describe("tinman mcp test and list --check", () => {
  beforeEach(async () => {
    await bench.tinman(["mcp", "add", "notes", "--", notes.command, ...notes.args]);
    await bench.tinman(["mcp", "add", "failing", "--", failing.command, ...failing.args]);
  });
  const mcp = (...args: string[]) => bench.tinman(["mcp", ...args]);

  it("show tools with their classes, and failures", async () => {
    expect(await mcp("test", "notes")).toMatchObject({
      code: 0,
      stdout: "notes: connected, 2 tools\nlow  list  Lists the notes.\nhigh add   Adds a note.\n",
    });
    expect(await mcp("test", "failing")).toMatchObject({
      code: 1,
      stdout: "failing: failed: The server's program exited with code 3.\n",
    });
    expect(JSON.parse((await mcp("test", "notes", "--json")).stdout)).toMatchObject({
      name: "notes",
      status: "connected",
      toolCount: 2,
      tools: [
        { name: "list", class: "low", isEnabled: true },
        { name: "add", class: "high", isEnabled: true },
      ],
    });
    await mcp("disable", "failing");
    expect((await mcp("test", "failing")).stderr).toBe(
      "tinman: failing is disabled. First use: tinman mcp enable failing\n",
    );
    expect(await mcp("list", "--check")).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^notes +mcp\.json +connected, 2 tools .*\nfailing +mcp\.json +disabled /),
    });
    await mcp("enable", "failing");
    expect(await mcp("list", "--check", "--json")).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('"status":"failed","error":"The server\'s program exited with code 3."'),
    });
  });

  it("start no server that is not trusted", async () => {
    const mark = join(bench.root, "started");
    await servers(".mcp.json", { bad: { command: "touch", args: [mark] } });
    expect((await mcp("test", "bad")).stderr).toBe("tinman: bad is not trusted. Review it: tinman mcp trust bad\n");
    await mcp("list", "--check");
    await bench.tinman(["exec", "--skip-permissions-unsafe", "Just reply OK."]);
    await bench.tinman(["doctor"]);
    expect(await bench.shell(`ls ${mark}`)).toMatchObject({ code: 2 });
    expect((await mcp("test", "unknown")).stderr).toBe(
      'tinman: No MCP server is named "unknown". See: tinman mcp list\n',
    );
  });

  it("doctor names the servers, and what is wrong with them", async () => {
    const row = async () => (await bench.tinman(["doctor"])).stdout.split("\n").find((line) => / mcp /.test(line));
    await mcp("disable", "failing");
    expect(await row()).toBe("ok       mcp            servers: notes; 1 disabled");
    await servers(".mcp.json", { offered: notes });
    expect(await row()).toBe(
      "warning  mcp            .mcp.json names the server offered. It is not started. Review it with: tinman mcp trust",
    );
  });
});

it("a run in a repository with untrusted servers says so once, and starts nothing", async () => {
  await servers(".mcp.json", { a: notes, b: notes });
  const { code, stdout, stderr } = await exec("-m", await bench.script([{ text: "Hello." }]), "hi");
  expect({ code, stdout, stderr }).toEqual({
    code: 0,
    stdout: "Hello.\n",
    stderr: "tinman: .mcp.json names the servers a, b. They are not started. Review them with: tinman mcp trust\n",
  });
});

it("servers of config.yaml are used, with the user's own classes", async () => {
  await bench.tinman(["mcp"]);
  const entry = { ...notes, tools: { add: "read" } };
  await bench.shell(`mkdir -p ${bench.home}/.tinman`);
  await writeFile(join(bench.home, ".tinman", "config.yaml"), JSON.stringify({ mcp: { servers: { notes: entry } } }));
  const adding = [{ tool_calls: [{ name: "notes___add", input: { text: "Call Ann." } }] }, { text: "{{tool_result}}" }];
  expect(await exec("-m", await bench.script(adding), "go")).toEqual({ code: 0, stdout: "Added.\n", stderr: "" });
  expect(await bench.read("notes.txt")).toBe("Buy milk.\nCall Ann.\n");
});
