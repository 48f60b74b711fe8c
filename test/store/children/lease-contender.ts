import { createInterface } from "node:readline";
import { failureOf } from "../../../src/engine/errors.ts";
import type { SessionLog } from "../../../src/engine/ports.ts";
import { createJsonlStore } from "../../../src/store/jsonl-store.ts";

/** Acquires and releases session `s1` of the home in its first argument, as commands on stdin say, and answers each. */
const [home = ""] = process.argv.slice(2);
const store = createJsonlStore({ home });
let log: SessionLog | undefined;

for await (const command of createInterface({ input: process.stdin })) {
  if (command === "acquire") {
    const answer = await store.acquire("s1").then(
      (acquired) => {
        log = acquired;
        return "acquired";
      },
      (error) => failureOf(error).code,
    );
    process.stdout.write(`${answer}\n`);
  } else {
    await log?.release();
    log = undefined;
    process.stdout.write("released\n");
  }
}
