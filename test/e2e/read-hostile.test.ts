import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isFullRun } from "../full-run.ts";
import { eventually, processesWith } from "../host/support.ts";
import { busyPdf, drawn, packedStream, pagesPdf, vastPagePdf, vastTablePdf } from "../tools/pdf-file.ts";
import type { Bench } from "./tinman.ts";
import { createBench, finished } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

/** A command that reads this file and repeats the tool's result. */
async function readWords(name: string, bytes: Uint8Array): Promise<readonly string[]> {
  await writeFile(join(bench.cwd, name), bytes);
  const tool_calls = [{ name: "Read", input: { file_path: name } }];
  return ["exec", "-m", await bench.script([{ tool_calls }, { text: "{{tool_result}}" }]), "go"];
}

function readersOf(pid: number | undefined): readonly string[] {
  return processesWith("pdf-pages").filter((line) => line.endsWith(` ${pid}`));
}

/** CPU seconds that a process's children have used so far. */
function secondsOfChildren(pid: number | undefined): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "latin1").split(" ").filter(Boolean);
  const ticks = children.map((child) => Number(readFileSync(`/proc/${child}/stat`, "latin1").split(" ")[13]));
  return ticks.reduce((sum, one) => sum + one, 0) / 100;
}

/** Starts a run whose PDF keeps its reader busy for minutes, and waits until it is busy. */
async function startBusy() {
  const child = bench.start(await readWords("busy.pdf", busyPdf()));
  const end = finished(child);
  expect(await eventually(() => secondsOfChildren(child.pid) > 1)).toBe(true);
  expect(readersOf(child.pid)).toHaveLength(1);
  return { child, end };
}

describe("a hostile file", () => {
  it("does not prevent reading the text of an honest one", async () => {
    const words = await readWords("honest.pdf", pagesPdf([packedStream(drawn("an honest page"))]));
    const run = await bench.tinman(words);
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toMatch(/^\[PDF, 1 page, .*\]\n--- page 1 of 1 ---\nan honest page\n/);
  });

  const vast: readonly (readonly [string, () => Uint8Array])[] = [
    ["runs.pdf", () => vastPagePdf("run-length", 4000)],
    ["table.pdf", vastTablePdf],
  ];
  // The short run reads them with a smaller limit, in the reader's own tests.
  it.each(isFullRun ? vast : [])(
    "fails with a message if it needs too much: %s",
    { timeout: 120_000 },
    async (name, pdf) => {
      const run = await bench.tinman(await readWords(name, pdf()));
      expect([run.code, run.stdout]).toEqual([
        1,
        `Error: Error reading file: ${join(bench.cwd, name)} is a PDF that needs more than 512 MB of memory, and no page of it was read. Execute with pdftotext may read it.\n`,
      ]);
    },
  );

  it("does not keep SIGINT from ending the run, and leaves no reader", async () => {
    const { child, end } = await startBusy();
    child.kill("SIGINT");
    const { code, stderr } = await end;
    expect([code, stderr]).toEqual([130, "tinman: The run was interrupted.\n"]);
    expect(readersOf(child.pid)).toEqual([]);
  });

  it("does not keep --timeout from ending the run, and leaves no reader", async () => {
    const child = bench.start(["exec", "--timeout", "2s", ...(await readWords("busy.pdf", busyPdf())).slice(1)]);
    const { code, stderr } = await finished(child);
    expect([code, stderr]).toEqual([3, "tinman: Stopped by --timeout after 2 s.\n"]);
    expect(readersOf(child.pid)).toEqual([]);
  });

  it("leaves no reader if the run is killed", async () => {
    const { child, end } = await startBusy();
    child.kill("SIGKILL");
    expect((await end).signal).toBe("SIGKILL");
    expect(await eventually(() => readersOf(child.pid).length === 0)).toBe(true);
  });

  it("is read as plain text if it is a notebook over 10 MB", async () => {
    const run = await bench.tinman(
      await readWords("zeros.ipynb", Buffer.from(`{"cells":[${"0,".repeat(8_000_000)}0]}`)),
    );
    expect([run.code, run.stderr]).toEqual([0, ""]);
    expect(run.stdout).toMatch(/^\{"cells":\[0,0,.*\[Not shown as a notebook: it has more than 10 MB\.\]\n$/s);
  });
});
