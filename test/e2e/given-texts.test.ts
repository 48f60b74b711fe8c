import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWire } from "../fakes/rpc/wire.ts";
import type { Bench } from "./tinman.ts";
import { createBench, lines } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
  const swapped = (text: string) => Buffer.from(text, "utf16le").swap16();
  const prompt = "Just reply PINEAPPLE.\r\n";
  const files: Readonly<Record<string, Uint8Array>> = {
    "little.txt": Buffer.from(`\ufeff${prompt}`, "utf16le"),
    "big.txt": swapped(`\ufeff${prompt}`),
    "marked.txt": Buffer.from(`\ufeff${prompt}`),
    "unmarked.txt": Buffer.from(prompt, "utf16le"),
    "unmarked-big.txt": swapped(prompt),
    "wide.txt": Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), Buffer.from("J\0\0\0u\0\0\0", "latin1")]),
    "odd.txt": Buffer.concat([Buffer.from("\ufeffJust", "utf16le"), Buffer.from([0x41])]),
    "half.txt": Buffer.from("\ufeffJust \ud83d reply", "utf16le"),
    "latin.txt": Buffer.from("Gr\xfc\xdfe", "latin1"),
    "chinese.txt": Buffer.from("\ufeff只有汉字\n", "utf16le"),
  };
  for (const [name, bytes] of Object.entries(files)) await writeFile(join(bench.cwd, name), bytes);
});
afterAll(() => bench.remove());

const nul =
  "has NUL characters: it is binary, or UTF-16 without a byte order mark. Convert it first, for example with iconv.";
const notUtf = (bits: number) => `is not valid UTF-${bits}. Convert it first, for example with iconv.`;
const refusals: readonly (readonly [string, string])[] = [
  ["unmarked.txt", nul],
  ["unmarked-big.txt", nul],
  ["wide.txt", nul],
  ["odd.txt", notUtf(16)],
  ["half.txt", notUtf(16)],
  ["latin.txt", notUtf(8)],
];

describe("a prompt in UTF-16", () => {
  test.each(["little.txt", "big.txt", "marked.txt"])("is read with a byte order mark: %s", async (name) => {
    const file = await bench.tinman(["exec", "-f", name]);
    const input = await bench.shell(`tinman exec < ${name}`);
    for (const run of [file, input]) expect([run.code, run.stdout]).toEqual([0, "PINEAPPLE\n"]);
  });

  test("is read from standard input beside a prompt", async () => {
    const run = await bench.shell(`tinman exec -o stream-json "Just reply OK." - < chinese.txt`);
    const [, prompt] = lines(run.stdout);
    expect([run.code, run.stderr, prompt?.text]).toEqual([0, "", "Just reply OK.\n\n<stdin>\n只有汉字\n</stdin>"]);
  });

  test.each(refusals)("is rejected if unmarked or malformed: %s", async (name, why) => {
    const file = await bench.tinman(["exec", "-f", name]);
    const input = await bench.shell(`tinman exec < ${name}`);
    const appended = await bench.tinman(["exec", "--append-system-prompt-file", name, "Just reply OK."]);
    expect([file, input, appended]).toEqual(
      [`The prompt in ${name}`, "The prompt in standard input", `The file ${name}`].map((what) => ({
        code: 2,
        signal: null,
        stdout: "",
        stderr: `tinman: ${what} ${why}\n`,
      })),
    );
  });
});

test("a system prompt is read in the same encodings, without its mark", async () => {
  const model = await bench.script([{ text: "ok" }]);
  for (const name of ["little.txt", "big.txt", "marked.txt"]) {
    const run = await bench.tinman(["exec", "-o", "json", "-m", model, "--append-system-prompt-file", name, "hi"]);
    const { session_id: id } = JSON.parse(run.stdout);
    const shown = JSON.parse((await bench.tinman(["sessions", "show", id, "--json"])).stdout);
    expect(shown.settings.appendSystemPrompt).toBe("Just reply PINEAPPLE.\r\n");
  }
});

test("rejects a system prompt on the command line that is not UTF-8", async () => {
  const run = await bench.shell(`tinman exec --append-system-prompt $'Gr\\xfc\\xdfe' "Just reply OK."`);
  expect([run.code, run.stderr]).toEqual([
    2,
    "tinman: The text of --append-system-prompt is not valid UTF-8. Convert it first, for example with iconv.\n",
  ]);
});

test("reports half a character in a stream-jsonrpc prompt to its client", async () => {
  const wire = openWire(bench);
  await wire.request("droid.initialize_session", { machineId: "m", cwd: bench.cwd, modelId: "offline" });
  await wire.request("droid.add_user_message", { text: "Just reply OK \ud83d" });
  const { message } = await wire.waitForNotice("notice");
  expect(message).toBe(
    "The prompt contains half a character (a lone surrogate). It was replaced by \ufffd for the model.",
  );
  wire.eof();
  expect((await wire.exit()).code).toBe(0);
});
