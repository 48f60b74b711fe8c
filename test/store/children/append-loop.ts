import { writeSync } from "node:fs";
import { createJsonlStore } from "../../../src/store/jsonl-store.ts";
import { prompt } from "../sample-events.ts";

/**
 * Appends to session `s1` of the home in its first argument until it is killed: batches of one to three records of very
 * different sizes. Prints the highest acknowledged seq after each batch.
 */
const [home = ""] = process.argv.slice(2);
const store = createJsonlStore({ home });
const log = await store.acquire("s1");
const { events } = await store.read("s1");
for (let seq = events.length + 1; ; ) {
  const batch = Array.from({ length: 1 + (seq % 3) }, (_, index) => {
    const length = (seq + index) % 12 === 0 ? 50_000 : 40;
    return prompt("s1", seq + index, `${seq + index} `.padEnd(length, "é"));
  });
  await log.append(batch, { sync: seq % 7 === 0 });
  seq += batch.length;
  writeSync(1, `${seq - 1}\n`);
}
