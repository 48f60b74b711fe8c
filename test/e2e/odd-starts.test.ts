import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Bench, createBench, lines } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  await writeFile(join(bench.root, "latin1.txt"), Buffer.from("Just reply caf\xe9.", "latin1"));
});
afterAll(() => bench.remove());

const usage = (words: string) => ({ code: 2, signal: null, stdout: "", stderr: `tinman: ${words}\n` });

describe("a home", () => {
  test("rejects a relative path without creating anything", async () => {
    const env = { HOME: "rel" };
    const words = 'HOME must be an absolute path, got "rel". Correct it, or set TINMAN_HOME.';
    for (const args of [
      ["exec", "hi"],
      ["sessions", "list"],
    ]) {
      expect(await bench.tinman(args, { env })).toEqual(usage(words));
    }
    expect(await readdir(bench.cwd)).toEqual([]);
    await expect(readdir("/rel")).rejects.toThrow("ENOENT");
  });

  test("that is a file is named", async () => {
    const run = await bench.tinman(["exec", "hi"], { env: { HOME: join(bench.root, "latin1.txt") } });
    expect([run.code, run.stderr]).toEqual([1, expect.stringContaining(`${bench.root}/latin1.txt/.tinman`)]);
  });
});

test("every command that needs the working directory reports that it was deleted", async () => {
  const gone = join(bench.root, "gone");
  for (const command of ["tinman exec hi", "tinman serve --port 0", "TINMAN_HOME=rel tinman sessions list"]) {
    await mkdir(gone);
    const run = await bench.shell(`cd "${gone}" && rmdir "${gone}" && ${command}`);
    expect([command, run.code, run.stderr]).toEqual([
      command,
      2,
      expect.stringMatching(/^tinman: [^\n]*the current folder does not exist\.\n$/im),
    ]);
  }
});

describe("text that is not UTF-8", () => {
  const advice = "Convert it first, for example with iconv.";
  test.each([
    ["as an argument", 'tinman exec "$(cat ../latin1.txt)"', `The prompt is not valid UTF-8. ${advice}`],
    ["after --", 'tinman exec -- "$(cat ../latin1.txt)"', `The prompt is not valid UTF-8. ${advice}`],
    [
      "for the system prompt",
      'tinman exec --append-system-prompt "$(cat ../latin1.txt)" hi',
      `The text of --append-system-prompt is not valid UTF-8. ${advice}`,
    ],
    ["as a tag", 'tinman exec --tag "$(cat ../latin1.txt)" hi', `The text of --tag is not valid UTF-8. ${advice}`],
    ["on standard input", "tinman exec < ../latin1.txt", `The prompt in standard input is not valid UTF-8. ${advice}`],
    ["in a file", "tinman exec -f ../latin1.txt", `The prompt in ../latin1.txt is not valid UTF-8. ${advice}`],
    [
      "for the system prompt",
      "tinman exec --append-system-prompt-file ../latin1.txt hi",
      `The file ../latin1.txt is not valid UTF-8. ${advice}`,
    ],
    [
      "that is binary as context",
      "printf 'a\\0' | tinman exec hi -",
      "Standard input is binary. Only text can be added to the prompt.",
    ],
  ])("%s is refused", async (_, command, words) => {
    expect(await bench.shell(command)).toEqual(usage(words));
  });

  test("as context is sent as far as it is readable, with a note on stderr", async () => {
    const run = await bench.shell('tinman exec "Just reply OK." - < ../latin1.txt');
    const stderr = "tinman: Standard input is not valid UTF-8; invalid bytes were replaced by \ufffd.\n";
    expect(run).toEqual({ code: 0, signal: null, stdout: "OK\n", stderr });
  });

  test("in a client's line is read as far as possible, with a note on stderr; ACP rejects it", async () => {
    const head = '"jsonrpc":"2.0","factoryApiVersion":"1.0.0","type":"request"';
    const open = String.raw`{${head},"id":"1","method":"droid.initialize_session","params":{"machineId":"m","cwd":"."}}\n`;
    const prompt = String.raw`{${head},"id":"2","method":"droid.add_user_message","params":{"text":"\xe9"}}\n`;
    const format = "--input-format stream-jsonrpc --output-format stream-jsonrpc";
    const rpc = await bench.shell(`printf '${open}${prompt}' | tinman exec ${format}`);
    expect(lines(rpc.stdout).find(({ id }) => id === "2")).toMatchObject({ result: {} });
    expect(rpc.stderr).toContain("not valid UTF-8; invalid bytes were replaced by \ufffd");
    const acp = await bench.shell(`printf '${prompt}' | tinman acp`);
    expect(lines(acp.stdout)).toMatchObject([
      { id: null, error: { code: -32700, message: "Parse error: the line is not valid UTF-8" } },
    ]);
  });

  test("a replacement character typed by the user is ordinary text", async () => {
    expect((await bench.tinman(["exec", 'Just reply "\ufffd"'])).stdout).toBe("\ufffd\n");
  });
});

test("too few file descriptors cause a clear message, whatever runs out", async () => {
  const limits = [20, 22, 24, 26, 28, 31, 34, 40];
  const runs = await Promise.all(
    limits.map((limit) => bench.shell(`ulimit -n ${limit}; tinman exec -o json "run ls command"`)),
  );
  const said = runs.map(({ stdout, stderr }) => stdout + stderr);
  expect(said.filter((text) => text.includes("internal fault"))).toEqual([]);
  expect(said.filter((text) => text.includes("Too many files are open (EMFILE)"))).not.toEqual([]);
});
