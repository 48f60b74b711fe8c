import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createFiles } from "../../src/host/files/files.ts";

/**
 * A separate process in a folder with `theirs` (another user's) and `open` (theirs, writable for all): drops root's
 * rights, writes to every file, and prints the results.
 */
const [folder = ""] = process.argv.slice(2);
if (process.getuid?.() === 0) {
  process.setgid?.(65534);
  process.setgroups?.([65534]);
  process.setuid?.(65534);
}
writeFileSync(join(folder, "sealed", "own"), "old");
chmodSync(join(folder, "sealed", "own"), 0o444);

const files = createFiles({ unfinishedDir: join(folder, "sealed", "unfinished") });
const outcomes: Record<string, string> = {};
for (const name of ["theirs", "open", "sealed/own"]) {
  const path = join(folder, name);
  outcomes[name] = await files.write(path, "new").then(
    () => "written",
    (error: Error) => error.message.replaceAll(folder, ""),
  );
  const { notWritable = "writable" } = (await files.stat(path)) ?? {};
  outcomes[`${name} looked at`] = notWritable;
}
process.stdout.write(JSON.stringify(outcomes));
