import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import type { PdfPart } from "../../../src/engine/pdf-part.ts";
import { createPdfPages, type PdfPagesOptions } from "../../../src/host/pdf/pdf-pages.ts";
import { isFullRun } from "../../full-run.ts";
import { busyPdf, drawn, packedStream, pagesPdf, vastPagePdf, vastTablePdf } from "../../tools/pdf-file.ts";
import { eventually, processesWith, tempFolder } from "../support.ts";

const mainFile = fileURLToPath(new URL("../../../dist/main.cjs", import.meta.url));
const megabyte = 1024 * 1024;
const opened = (pages: number): PdfPart => ({ type: "opened", pages });
const page = (text: string): PdfPart => ({ type: "page", text, lacksTables: false });

interface Asked extends PdfPagesOptions {
  readonly mostPages?: number;
  readonly signal?: AbortSignal;
  onPart?(part: PdfPart): void;
}

async function partsOf(bytes: Uint8Array, { mostPages, signal, onPart, ...options }: Asked = {}): Promise<PdfPart[]> {
  const parts: PdfPart[] = [];
  const pdfPages = createPdfPages({ mainFile, ...options });
  for await (const part of pdfPages(bytes, mostPages ?? 500, signal ?? new AbortController().signal)) {
    parts.push(part);
    onPart?.(part);
  }
  return parts;
}

/** Readers started by this process that are still running. */
function readers(): readonly string[] {
  return processesWith("pdf-pages").filter((line) => line.endsWith(` ${process.pid}`));
}

/** A program in the reader's place. */
async function standIn(source: string): Promise<string> {
  const file = join(await tempFolder(), "main.cjs");
  await writeFile(file, source);
  return file;
}

describe("the PDF reader", () => {
  it("returns a file's pages, no more than requested", async () => {
    const bytes = pagesPdf(["one", "two", "three"].map((text) => packedStream(drawn(text))));
    expect(await partsOf(bytes)).toEqual([opened(3), page("one"), page("two"), page("three")]);
    expect(await partsOf(bytes, { mostPages: 1 })).toEqual([opened(3), page("one")]);
    expect(readers()).toEqual([]);
  });

  it("reports a file's fault", async () => {
    expect(await partsOf(Buffer.from("%PDF-1.7\nnothing of the kind"))).toEqual([
      { type: "failed", encrypted: false, message: "Invalid PDF structure." },
    ]);
    expect(await partsOf(new Uint8Array())).toEqual([
      { type: "failed", encrypted: false, message: "The PDF file is empty, i.e. its size is zero bytes." },
    ]);
  });

  it("is ended if it takes too long, keeping what it had read", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    // The third page would take minutes; here they pass at once.
    const onPart = (part: PdfPart) => part.type === "page" && part.text === "two" && vi.advanceTimersByTime(30_000);
    expect(await partsOf(busyPdf(["one", "two"]), { onPart })).toEqual([
      opened(3),
      page("one"),
      page("two"),
      { type: "exceeded", bound: "milliseconds", limit: 30_000 },
    ]);
    expect(readers()).toEqual([]);
  });

  const vast: readonly (readonly [string, () => Uint8Array])[] = [
    ["a vast page", () => vastPagePdf("flate", 2000)],
    ["a huge table", vastTablePdf],
    ["a huge page after spaces", () => vastPagePdf("spaced", 2000)],
    ["a huge page in hexadecimal digits", () => vastPagePdf("hex", 2000)],
    ["a huge page of runs", () => vastPagePdf("run-length", 2000)],
  ];
  // Memory is measured the same way for all: one page and one table show it.
  it.each(isFullRun ? vast : vast.slice(0, 2))("is ended if it takes too much memory: %s", async (_name, pdf) => {
    const limits = { memoryBytes: 200 * megabyte };
    expect(await partsOf(pdf(), { limits })).toEqual([
      opened(1),
      { type: "exceeded", bound: "memoryBytes", limit: limits.memoryBytes },
    ]);
    expect(readers()).toEqual([]);
  });

  it("is ended if it writes too much, keeping the rest", async () => {
    const bytes = pagesPdf(["one", "two", "three"].map((text) => packedStream(drawn(text))));
    const said = [opened(3), page("one")].map((part) => `${JSON.stringify(part)}\n`).join("").length;
    expect(await partsOf(bytes, { limits: { textBytes: said + 5 } })).toEqual([
      opened(3),
      page("one"),
      { type: "exceeded", bound: "textBytes", limit: said + 5 },
    ]);
  });

  it("is gone when it is interrupted, however busy", async () => {
    const stop = new AbortController();
    const reading = partsOf(busyPdf(["one"]), {
      signal: stop.signal,
      onPart: ({ type }) => type === "page" && setTimeout(() => stop.abort(new Error("enough")), 200),
    });
    expect(await eventually(() => readers().length === 1)).toBe(true);
    await expect(reading).rejects.toThrow("enough");
    expect(readers()).toEqual([]);
    await expect(partsOf(busyPdf(), { signal: AbortSignal.abort(new Error("before")) })).rejects.toThrow("before");
  });

  it("is gone when no more pages are requested", async () => {
    for await (const part of createPdfPages({ mainFile })(busyPdf(["one"]), 500, new AbortController().signal)) {
      expect(readers()).toHaveLength(1);
      if (part.type === "page") break;
    }
    expect(readers()).toEqual([]);
  });

  it("reads one file at a time, and callers that stop waiting delay no others", async () => {
    const pdfPages = createPdfPages({ mainFile });
    const alive: number[] = [];
    const stop = new AbortController();
    const readFirst = async (signal = new AbortController().signal) => {
      for await (const { type } of pdfPages(busyPdf(["one"]), 500, signal)) {
        if (type !== "page") continue;
        alive.push(readers().length);
        stop.abort(new Error("enough"));
        break;
      }
    };
    const ends = await Promise.allSettled([readFirst(), readFirst(stop.signal), readFirst(), readFirst()]);
    expect(ends.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled", "fulfilled"]);
    expect(alive).toEqual([1, 1, 1]);
    expect(readers()).toEqual([]);
  });

  it("has no environment, and works outside the user's folders", async () => {
    const source = `const message = JSON.stringify({ env: process.env, cwd: process.cwd(), words: process.argv.slice(2) });
      process.stdout.write(JSON.stringify({ type: "failed", encrypted: false, message }) + "\\n");`;
    const [part] = await partsOf(new Uint8Array(), { mainFile: await standIn(source), mostPages: 7 });
    expect(part?.type === "failed" && JSON.parse(part.message)).toEqual({
      env: {},
      cwd: "/",
      words: ["pdf-pages", "7", String(process.pid)],
    });
  });

  it.each([
    ["process.exit(3)", { type: "failed", encrypted: false, message: "its reader ended with 3" }],
    ["process.abort()", { type: "exceeded", bound: "memoryBytes", limit: 512 * megabyte }],
    ['process.kill(process.pid, "SIGKILL")', { type: "exceeded", bound: "memoryBytes", limit: 512 * megabyte }],
    ['console.log("nonsense")', { type: "failed", encrypted: false, message: "its reader sent malformed output" }],
    [
      'console.log(\'{"type":"page"}\')',
      { type: "failed", encrypted: false, message: "its reader sent malformed output" },
    ],
  ])("can end in any way: %s", async (source, last) => {
    expect(await partsOf(Buffer.alloc(megabyte), { mainFile: await standIn(source) })).toEqual([last]);
  });
});
