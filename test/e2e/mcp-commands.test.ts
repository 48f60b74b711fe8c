import { mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Bench, createBench } from "./tinman.ts";

const name = (text: string): string => `$\{${text}}`;

let bench: Bench;
beforeEach(async () => {
  bench = await createBench();
});
afterEach(() => bench.remove());

const mcp = (...args: string[]) => bench.tinman(["mcp", ...args]);
const own = (path: string): string => join(bench.home, ".tinman", path);
const offer = (servers: object) => bench.file(".mcp.json", JSON.stringify({ mcpServers: servers }));

describe("tinman mcp add", () => {
  it("stores a command and an address, which list shows without what may be secret", async () => {
    await mcp("add", "files", "--env", `KEY=${name("KEY")}`, "--env", "A=b=c", "--contained", "--", "srv", "-x", "a b");
    await mcp("add", "docs", "--url", "https://x.example/mcp?key=1", "--header", "A=b", "--header", "Auth: Bearer 1");
    await mcp("add", "old", "--url", "https://x.example/sse", "--type", "sse");
    expect(JSON.parse(await readFile(own("mcp.json"), "utf8"))).toEqual({
      mcpServers: {
        files: { command: "srv", args: ["-x", "a b"], env: { KEY: name("KEY"), A: "b=c" }, contained: true },
        docs: { type: "http", url: "https://x.example/mcp?key=1", headers: { A: "b", Auth: "Bearer 1" } },
        old: { type: "sse", url: "https://x.example/sse" },
      },
    });
    expect((await stat(own("mcp.json"))).mode & 0o777).toBe(0o600);
    expect(await mcp()).toEqual({
      code: 0,
      signal: null,
      stdout: [
        'files mcp.json  enabled  srv -x "a b"',
        "docs  mcp.json  enabled  https://x.example/mcp?…",
        "old   mcp.json  enabled  https://x.example/sse (sse)",
        "",
      ].join("\n"),
      stderr: "",
    });
  });

  it.each<readonly [args: readonly string[], message: string]>([
    [["a"], "Give a command after --, or an address with --url."],
    [["a", "--url", "https://x", "--", "srv"], "Give a command after --, or an address with --url."],
    [["a", "--url", "https://x", "--env", "A=b"], "--env needs a command."],
    [["a", "--url", "https://x", "--contained"], "--contained needs a command."],
    [["a", "--header", "A=b", "--", "srv"], "--header needs --url."],
    [["a", "--type", "sse", "--", "srv"], "--type needs --url."],
    [["a", "--env", "A", "--", "srv"], "option '--env <name=value>' argument 'A' is invalid. Write NAME=value."],
    [["a", "--url", "file:///x"], "This server cannot be added: url: must be an address with http:// or https://."],
    [["../a", "--", "srv"], "This server cannot be added: its name can only have letters, digits, dots, - and _."],
    [["a___b", "--", "srv"], "This server cannot be added: its name must not contain ___."],
    [["a", "b", "--", "srv"], "too many arguments for 'add'. Expected 1 argument but got 2. Put the command after --."],
  ])("refuses %j", async (args, message) => {
    expect(await mcp("add", ...args)).toEqual({ code: 2, signal: null, stdout: "", stderr: `tinman: ${message}\n` });
  });

  it("refuses a name that is taken", async () => {
    await mkdir(own(""), { recursive: true });
    await writeFile(own("config.yaml"), "mcp: {servers: {mine: {command: srv}}}\n");
    await mcp("add", "a", "--", "srv");
    expect([(await mcp("add", "a", "--", "srv")).stderr, (await mcp("add", "mine", "--", "srv")).stderr]).toEqual([
      'tinman: mcp.json already has an MCP server "a". Remove it first.\n',
      'tinman: config.yaml already has an MCP server "mine". Remove it first.\n',
    ]);
  });
});

describe("tinman mcp remove, enable and disable", () => {
  it("change servers of every file, and refuse what they cannot change", async () => {
    await mkdir(own(""), { recursive: true });
    await writeFile(own("config.yaml"), "mcp: {servers: {mine: {command: srv}}}\n");
    await mcp("add", "added", "--", "srv");
    await offer({ offered: { command: "srv" } });
    const told = [];
    for (const args of [
      ["disable", "mine"],
      ["disable", "offered"],
      ["disable", "added"],
      ["enable", "added"],
      ["enable", "offered"],
      ["remove", "added"],
      ["remove", "mine"],
      ["remove", "offered"],
      ["remove", "nope"],
      ["enable", "nope"],
      ["lst"],
    ]) {
      const { code, stdout, stderr } = await mcp(...args);
      told.push(`${code} ${stdout}${stderr}`);
    }
    expect(told).toEqual([
      "0 Disabled mine.\n",
      "0 Disabled offered.\n",
      "0 Disabled added.\n",
      "0 Enabled added.\n",
      "0 Enabled offered.\nIt is not trusted. Review it: tinman mcp trust offered\n",
      `0 Removed added from ${own("mcp.json")}.\n`,
      "2 tinman: The MCP server mine is in config.yaml. Remove it there, or use: tinman mcp disable mine\n",
      "2 tinman: The MCP server offered is in .mcp.json. Remove it there, or use: tinman mcp disable offered\n",
      '2 tinman: No MCP server is named "nope". See: tinman mcp list\n',
      '2 tinman: No MCP server is named "nope". See: tinman mcp list\n',
      '2 tinman: unknown command "lst" (Did you mean list?)\n',
    ]);
    expect((await mcp("list")).stdout).toBe(
      "mine    config.yaml  disabled     srv\noffered .mcp.json    not trusted  srv\n",
    );
  });
});

describe("tinman mcp trust", () => {
  const entry = { command: "./run.sh", args: ["--key", name("KEY"), "a b"], env: { B: "2", A: "" } };
  const shown = (folder: string, head = "srv") =>
    [
      `${head} (${folder}/.mcp.json)`,
      "  command      ./run.sh",
      `  arguments    --key ${name("KEY")} "a b"`,
      "  environment  B=2",
      '  environment  A=""',
      "  sandbox      no: it runs with all your rights",
      "  note         ./run.sh can change with the repository",
      "  receives     KEY of your environment",
      "",
    ].join("\n");

  beforeEach(async () => {
    await bench.file("run.sh", "exit\n");
    await offer({ srv: entry });
  });

  it("shows exactly what would start, and without a terminal trusts only with --yes", async () => {
    expect(await mcp("trust")).toEqual({
      code: 2,
      signal: null,
      stdout: shown(bench.cwd),
      stderr: "tinman: Nothing was trusted, because there is no terminal to ask. Add --yes to trust what is shown.\n",
    });
    expect((await mcp("list")).stdout).toContain("not trusted");
    const trusted = `srv is trusted in ${bench.cwd}, until its entry changes.\n`;
    expect((await mcp("trust", "--yes")).stdout).toBe(`${shown(bench.cwd)}${trusted}`);
    expect((await stat(own("mcp/trusted.json"))).mode & 0o777).toBe(0o600);
    expect((await mcp("list", "--json")).stdout).toContain('"state":"enabled"');
    expect(await mcp("trust")).toMatchObject({ code: 0, stdout: "All servers of .mcp.json are trusted.\n" });
    await offer({ srv: { ...entry, env: { ...entry.env, C: "3" } } });
    expect((await mcp("list")).stdout).toContain("changed since it was trusted");
    expect((await mcp("trust")).stdout).toContain("srv has changed since you trusted it");
  });

  it("asks at a terminal, and anything but yes is a no", async () => {
    const answer = (text: string) =>
      bench.shell(`script -qec 'tinman mcp trust srv' /dev/null <<<'${text}'`).then(({ stdout }) => stdout);
    expect(await answer("")).toContain("srv is not trusted.");
    expect(await answer("no yes")).toContain("srv is not trusted.");
    expect((await mcp("list", "--json")).stdout).toContain('"state":"untrusted"');
    const told = await answer("y");
    expect(told).toContain("Trust srv? [y/N]");
    expect(told).toContain("srv is trusted in");
    expect((await mcp("list", "--json")).stdout).toContain('"state":"enabled"');
  });

  it("trusts only the named server, and shows addresses with headers", async () => {
    await offer({
      a: { url: "https://x.example/mcp?k=1", type: "sse", headers: { A: `Bearer ${name("KEY")}` }, oauth: false },
      b: { command: "srv", contained: true },
      "\u001b[2J": { command: "srv" },
    });
    expect(await mcp("trust", "a", "--yes")).toEqual({
      code: 0,
      signal: null,
      stdout: [
        `a (${bench.cwd}/.mcp.json)`,
        "  address      https://x.example/mcp?k=1",
        "  type         sse",
        `  header       A: Bearer ${name("KEY")}`,
        "  sign-in      never",
        "  receives     KEY of your environment",
        `a is trusted in ${bench.cwd}, until its entry changes.`,
        "",
      ].join("\n"),
      stderr: expect.stringContaining('tinman: Skipped the MCP server "\\u{1b}[2J" of .mcp.json: '),
    });
    expect((await mcp("list")).stdout).toMatch(/^a .*enabled.*\nb .*not trusted.*\n$/);
    expect(await mcp("trust", "c")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('No .mcp.json here names an MCP server "c".'),
    });
  });

  it("works in a folder below, and says so when there is nothing to trust", async () => {
    await mkdir(join(bench.cwd, ".git"));
    await mkdir(join(bench.cwd, "sub"));
    const below = await bench.tinman(["mcp", "trust", "--yes"], { cwd: join(bench.cwd, "sub") });
    expect(below.stdout).toContain(`srv is trusted in ${bench.cwd},`);
    expect((await bench.tinman(["mcp", "trust"], { cwd: bench.root })).stdout).toBe(
      "No .mcp.json here names MCP servers.\n",
    );
  });

  it("stores nothing in a home that cannot be written", async () => {
    await mkdir(own(""), { recursive: true });
    await writeFile(own("mcp"), "in the way");
    const { code, stderr } = await mcp("trust", "--yes");
    expect([code, stderr]).toEqual([1, expect.stringMatching(/^tinman: Cannot write .*trusted\.json: /)]);
  });
});

it("a broken .mcp.json breaks no run", async () => {
  await bench.file(".mcp.json", "{");
  expect(await bench.tinman(["exec", "Just reply OK."])).toMatchObject({ code: 0, stdout: "OK\n" });
  expect(await mcp("list")).toMatchObject({
    code: 0,
    stdout: "No MCP servers. Add one: tinman mcp add <name> -- <command>\n",
    stderr: `tinman: ${bench.cwd}/.mcp.json is ignored: it is not a JSON object.\n`,
  });
});
