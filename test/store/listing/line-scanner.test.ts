import { execFileSync } from "node:child_process";
import { symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { scanLines } from "../../../src/store/listing/line-scanner.ts";
import { maxRecordBytes } from "../../../src/store/listing/listed-records.ts";
import { tempHome } from "../temp-home.ts";

async function linesOf(path: string, chunkBytes?: number, most = Number.POSITIVE_INFINITY): Promise<unknown> {
  const lines: [number, string | undefined][] = [];
  const visit = (line: Buffer | undefined, number: number) => {
    lines.push([number, line && line.length > 99 ? `${line.length} bytes` : line?.toString()]);
    return lines.length >= most ? "enough" : undefined;
  };
  return { size: (await scanLines(path, visit, chunkBytes))?.size, lines };
}

describe("scanning lines", () => {
  it.each([1, 2, 3, 5, undefined])("gives the same lines in chunks of %s bytes", async (chunkBytes) => {
    const path = join(await tempHome(), "a");
    await writeFile(path, "one\n\ntwo\r\nthrée");
    const lines = [
      [1, "one"],
      [2, ""],
      [3, "two\r"],
      [4, "thrée"],
    ];
    expect(await linesOf(path, chunkBytes)).toEqual({ size: 16, lines });
    expect(await linesOf(path, chunkBytes, 3)).toEqual({ size: 16, lines: lines.slice(0, 3) });
  });

  it("accepts lines as long as a record, and reports longer ones once", async () => {
    const path = join(await tempHome(), "a");
    const longest = Buffer.alloc(maxRecordBytes, "x");
    const newline = Buffer.from("\n");
    await writeFile(path, Buffer.concat([longest, newline, longest, Buffer.from("x\n"), longest, newline]));
    const lines = [
      [1, `${maxRecordBytes} bytes`],
      [2, undefined],
      [3, `${maxRecordBytes} bytes`],
    ];
    expect(await linesOf(path)).toMatchObject({ lines });
    await truncate(path, 2 * maxRecordBytes + 2);
    expect(await linesOf(path)).toMatchObject({ lines: lines.slice(0, 2) });
  });

  it("stops early at an overlong line if the visitor has enough", async () => {
    const path = join(await tempHome(), "a");
    await writeFile(path, "");
    // Too large to read within the test's timeout.
    await truncate(path, 2 ** 40);
    expect(await linesOf(path, undefined, 1)).toEqual({ size: 2 ** 40, lines: [[1, undefined]] });
  });

  it("finds no lines in folders, pipes, devices and missing files, and rejects links", async () => {
    const home = await tempHome();
    execFileSync("mkfifo", [join(home, "pipe")]);
    for (const path of [home, join(home, "pipe"), join(home, "missing"), "/dev/zero"]) {
      expect(await linesOf(path)).toEqual({ size: undefined, lines: [] });
    }
    await writeFile(join(home, "a"), "one\n");
    await symlink("a", join(home, "link"));
    await expect(linesOf(join(home, "link"))).rejects.toMatchObject({ code: "ELOOP" });
  });
});
