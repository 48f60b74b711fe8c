import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bench } from "./tinman.ts";
import { createBench } from "./tinman.ts";

let bench: Bench;
beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());

test.each(["cut", { status: 500, retry_after_ms: 1 }])(
  "a session cut off in one run continues with the next reply in another: %j",
  async (error) => {
    const model = await bench.script([{ text: "Hello wor", error }, { text: "ld." }, { text: "third" }]);
    const first = JSON.parse((await bench.tinman(["exec", "-m", model, "-o", "json", "one"])).stdout) as {
      result: string;
      session_id: string;
    };
    const goOn = ["exec", "-s", first.session_id, "-m", model];
    const second = await bench.tinman([...goOn, "two"]);
    const third = await bench.tinman([...goOn, "three"]);
    expect([first.result, second.stdout, third.stdout, third.code]).toEqual(["Hello world.", "third\n", "", 1]);
    expect(third.stderr).toContain('has no reply left for the prompt "three"');
  },
);
