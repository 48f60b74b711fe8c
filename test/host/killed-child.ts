import { promises } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createFiles } from "../../src/host/files/files.ts";

/** A separate process: writes to a file, and is killed when half of the new text is written. */
const [path = "", unfinishedDir = "", text = ""] = process.argv.slice(2);
const { open } = promises;
const opened = async (...given: Parameters<typeof open>) => {
  const file = await open(...given);
  if (typeof given[1] !== "number") return file;
  const write = file.write.bind(file) as (...args: unknown[]) => Promise<unknown>;
  return Object.assign(file, {
    async write(bytes: Uint8Array, offset: number, length: number, position: number) {
      await write(bytes, offset, Math.ceil(length / 2), position);
      process.kill(process.pid, "SIGKILL");
      return new Promise(() => {});
    },
  });
};
Object.assign(promises, { open: opened });
syncBuiltinESMExports();
await createFiles({ unfinishedDir }).write(path, text);
