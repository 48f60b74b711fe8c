import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";

/** Processes whose command line or environment contains a word, except our own test runner. */
export async function processesWith(word: string): Promise<readonly number[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    ids.map(async (id) => {
      const texts = await Promise.all(
        ["cmdline", "environ"].map((file) => readFile(`/proc/${id}/${file}`, "utf8").catch(() => "")),
      );
      return texts.some((text) => text.includes(word)) ? [Number(id)] : [];
    }),
  );
  return found.flat();
}

/** Those that do not exit on their own; none if all is well. */
export async function thatStay(word: string): Promise<readonly number[]> {
  let left: readonly number[] = [];
  for (let tries = 0; tries < 100; tries += 1) {
    left = await processesWith(word);
    if (left.length === 0) return left;
    await sleep(50);
  }
  return left;
}
