import { randomUUID } from "node:crypto";
import { appendFile, mkdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench, lines } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

test("lists, shows, finds and deletes sessions", async () => {
  expect((await bench.tinman(["sessions"])).stdout).toBe("No sessions.\n");
  const { session_id: id } = JSON.parse(
    (await bench.tinman(["exec", "-o", "json", "--tag", "ci", "Just reply OK."])).stdout,
  );
  const [listed] = JSON.parse((await bench.tinman(["sessions", "list", "--json"])).stdout);
  expect(listed).toMatchObject({ id, title: "Just reply OK.", cwd: bench.cwd });
  expect((await bench.tinman(["sessions"])).stdout).toContain(id);
  expect((await bench.tinman(["sessions", "list", "--cwd", "/", "--json"])).stdout).toBe("[]\n");

  const shown = JSON.parse((await bench.tinman(["sessions", "show", id, "--json"])).stdout);
  expect(shown).toMatchObject({
    id,
    lastEnd: "completed",
    waiting: [],
    settings: { tags: [{ name: "ci" }] },
    damagedLines: [],
    missingRecords: [],
  });
  expect(shown.messages.map(({ role }: { role: string }) => role)).toEqual(["user", "assistant"]);
  expect((await bench.tinman(["sessions", "show", id])).stdout).toContain("user: Just reply OK.\n\nassistant: OK\n");

  const path = (await bench.tinman(["sessions", "path", id])).stdout.trimEnd();
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  expect((await bench.tinman(["sessions", "delete", id])).stdout).toBe(`deleted ${id}\n`);
  await expect(stat(path)).rejects.toThrow("ENOENT");
  expect(await bench.tinman(["sessions", "path", id])).toMatchObject({ code: 4, stdout: "" });
  expect(await bench.tinman(["sessions", "delete", id])).toMatchObject({ code: 4 });
  expect(await bench.tinman(["sessions", "show", "../../x"])).toMatchObject({ code: 4 });
});

test("a conversation's control characters do not reach the terminal", async () => {
  const evil = "\u001b]0;owned\u0007 Just reply OK.";
  const { session_id: id } = JSON.parse((await bench.tinman(["exec", "-o", "json", evil])).stdout);
  for (const args of [["sessions"], ["sessions", "show", id]]) {
    expect((await bench.tinman(args)).stdout).not.toContain("\u001b");
  }
});

test("escapes direction marks and invisible characters, even in a client's settings", async () => {
  const own = await createBench();
  const turned = "Just reply OK.\u202e\u200b\u009b ok";
  const { session_id: id } = JSON.parse((await own.tinman(["exec", "-o", "json", turned])).stdout);
  const path = (await own.tinman(["sessions", "path", id])).stdout.trimEnd();
  const title = `${"x".repeat(76)}\u202e\u{1f600}\u2066\u{1f600}`;
  const { seq } = lines(await readFile(path, "utf8")).at(-1) as { seq: number };
  await appendFile(path, `${JSON.stringify({ seq: seq + 1, at: 1, type: "session.titled", title })}\n`);

  const listed = (await own.tinman(["sessions"])).stdout;
  const written = `${"x".repeat(76)}\\u{202e}\u{1f600}\\u{2066}`;
  expect(listed.trimEnd().split("  ")).toEqual([id, expect.any(String), own.cwd, written]);
  const shown = (await own.tinman(["sessions", "show", id])).stdout;
  expect(shown.split("\n")[0]).toBe(`${id}  ${written}\u{1f600}`);
  expect(shown).toContain("\nuser: Just reply OK.\\u{202e}\\u{200b}\\u{9b} ok\n");

  // Programs get it unchanged; a terminal gets equivalent JSON.
  const [plain] = JSON.parse((await own.tinman(["sessions", "--json"])).stdout);
  expect(plain).toMatchObject({ title });
  const typed = (await own.shell("script -qec 'tinman sessions --json' /dev/null")).stdout;
  expect(typed).not.toMatch(/[\u202e\u2066]/);
  expect(JSON.parse(typed)).toEqual([plain]);
  await own.remove();
});

test("lists models, the default first", async () => {
  const [first] = JSON.parse((await bench.tinman(["models", "--json"])).stdout);
  expect(first).toMatchObject({ id: "offline", isDefault: true });
  expect((await bench.tinman(["models"])).stdout).toMatch(/^\* offline/);
});

test("doctor checks what is needed and reports it", async () => {
  const run = await bench.tinman(["doctor", "--json"]);
  const { checks } = JSON.parse(run.stdout);
  expect(checks.map(({ name, status }: Record<string, string>) => [name, status])).toEqual(
    ["node", "home", "configuration", "model", "sessions", "shell", "search", "sandbox", "writes", "git"].map(
      (name) => [name, "ok"],
    ),
  );
  expect(run.code).toBe(0);
});

test("doctor finds the text of an interrupted write", async () => {
  const folder = join(await realpath(bench.home), ".tinman", "unfinished");
  const left = join(folder, `${encodeURIComponent("/ws/a b.txt")}~${randomUUID()}.unfinished`);
  await mkdir(folder, { recursive: true });
  await writeFile(left, "new text");
  const run = await bench.tinman(["doctor", "--json"]);
  await rm(left);
  expect([run.code, JSON.parse(run.stdout).checks]).toEqual([
    0,
    expect.arrayContaining([
      {
        name: "writes",
        status: "warning",
        detail: `/ws/a b.txt may be half-written; its complete new text is in ${left}`,
      },
    ]),
  ]);
});

test("doctor escapes control characters in its home's name", async () => {
  const home = `${bench.root}/\u001b[31mred\u0007`;
  const run = await bench.tinman(["doctor"], { env: { TINMAN_HOME: home } });
  const isRaw = ["\u001b", "\u0007"].some((character) => run.stdout.includes(character));
  expect([run.code, run.stdout.includes("red"), isRaw]).toEqual([0, true, false]);
});

test("doctor lists passed variables, and withheld ones with the reason, without values", async () => {
  const env = {
    PLAIN: "a-plain-value",
    SOME_TOKEN: "planted-1",
    MIRROR: "https://ci:planted-2@example.com",
    BASH_ENV: "planted-3",
    "ODD\u001b[2J": "planted-4",
  };
  const [json, text] = [await bench.tinman(["doctor", "--json"], { env }), await bench.tinman(["doctor"], { env })];
  const { passed, withheld } = JSON.parse(json.stdout).environment;
  expect(passed).toEqual(expect.arrayContaining(["HOME", "ODD\u001b[2J", "PATH", "PLAIN"]));
  expect(withheld).toEqual(
    expect.arrayContaining([
      { name: "BASH_ENV", why: "meaning" },
      { name: "MIRROR", why: "value", kind: "URL with credentials" },
      { name: "SOME_TOKEN", why: "name" },
    ]),
  );
  expect(text.stdout).toMatch(/^Variables that commands get:\n {2}.*ODD\\u\{1b\}\[2J .*PLAIN/m);
  expect(text.stdout).toContain("\n  MIRROR: its value (URL with credentials)\n");
  expect(json.stdout + text.stdout).not.toMatch(/planted|a-plain-value/);
});

test("a broken configuration is one clear line and exit 2; doctor names it", async () => {
  const broken = await createBench();
  await broken.shell("mkdir -p ~/.tinman && echo 'modle: x' > ~/.tinman/config.yaml");
  const run = await broken.tinman(["exec", "hi"]);
  expect([run.code, run.stdout]).toEqual([2, ""]);
  expect(run.stderr).toMatch(/^tinman: [^\n]*config\.yaml: [^\n]*modle[^\n]*\n$/);
  expect((await broken.tinman(["doctor"])).code).toBe(1);
  await broken.remove();
});

test("lists tools as they would be allowed", async () => {
  const tools = async (...args: string[]) => {
    const run = await bench.tinman(["exec", "--list-tools", "-o", "json", ...args]);
    return Object.fromEntries(
      JSON.parse(run.stdout).map((tool: { llmId: string; currentlyAllowed: boolean }) => [
        tool.llmId,
        tool.currentlyAllowed,
      ]),
    );
  };
  const readOnly = { Read: true, Create: false, Edit: false, Execute: true, FetchUrl: false };
  expect(await tools()).toMatchObject(readOnly);
  expect(await tools()).not.toHaveProperty("ApplyPatch");
  const patching = await tools("-m", "gpt-5.1", "--auto", "medium");
  expect(patching).toMatchObject({ ApplyPatch: true, FetchUrl: true });
  expect(patching).not.toHaveProperty("Edit");
  expect(await tools("--auto", "low", "--disabled-tools", "execute-cli")).toMatchObject({
    Create: true,
    Execute: false,
  });
  expect(await tools("--enabled-tools", "Create")).toMatchObject({ Create: true, Edit: false });
  const text = (await bench.tinman(["exec", "--list-tools"])).stdout;
  expect(text).toContain("  - Create (");
  expect(text).toContain("status: blocked");
});

test("an unfinished turn has no last end, and unreadable logs are counted", async () => {
  const own = await createBench();
  try {
    const { session_id: id } = JSON.parse((await own.tinman(["exec", "-o", "json", "Just reply OK."])).stdout);
    await own.tinman(["exec", "-s", id, "Just reply AGAIN."]);
    const path = (await own.tinman(["sessions", "path", id])).stdout.trimEnd();
    const records = (await readFile(path, "utf8")).trimEnd().split("\n");
    await writeFile(path, `${records.slice(0, -1).join("\n")}\n`);
    const shown = JSON.parse((await own.tinman(["sessions", "show", id, "--json"])).stdout);
    expect({ lastEnd: shown.lastEnd, isTurnOpen: shown.isTurnOpen }).toEqual({ lastEnd: null, isTurnOpen: true });
    expect((await own.tinman(["sessions", "show", id])).stdout).toContain("  offline  not ended\n");

    await writeFile(path, `?${records.join("\n")}\n`);
    for (const [args, stdout] of [
      [["sessions", "list"], "No sessions.\n"],
      [["sessions", "list", "--json"], "[]\n"],
    ] as const) {
      expect(await own.tinman(args)).toMatchObject({
        code: 0,
        stdout,
        stderr: `tinman: 1 session log cannot be read and is not listed: ${path}. tinman sessions show <id> prints the reason.\n`,
      });
    }
  } finally {
    await own.remove();
  }
});
