import { renameSync, rmSync, symlinkSync, unlinkSync } from "node:fs";

/** A separate process: swaps a folder for a link and back until its input ends. */
const [folder = "", target = ""] = process.argv.slice(2);
const aside = `${folder}-aside`;

function putBack(): void {
  for (let tries = 0; tries < 1000; tries += 1) {
    try {
      renameSync(aside, folder);
      return;
    } catch {
      // Another process created the folder while it was missing, and may still use it.
      try {
        rmSync(folder, { recursive: true, force: true });
      } catch {}
    }
  }
  throw new Error("The folder cannot be put back.");
}

function swap(): void {
  for (let round = 0; round < 50; round += 1) {
    renameSync(folder, aside);
    try {
      symlinkSync(target, folder);
      unlinkSync(folder);
    } catch {
      // The same: then there is no link this time.
    }
    putBack();
  }
  setImmediate(swap);
}

process.stdin.on("end", () => process.exit(0));
process.stdin.resume();
process.stdout.write("swapping\n");
swap();
