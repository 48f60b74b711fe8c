import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSession } from "../../src/sdk/node.ts";
import { createBench } from "../e2e/tinman.ts";

it("a session that is closed in the middle of a command ends the command, too", async () => {
  const bench = await createBench();
  try {
    const model = await bench.script([
      { tool_calls: [{ name: "Execute", input: { command: "touch began; sleep 1; touch ended" } }] },
      { text: "Done." },
    ]);
    const env = { ...bench.env, TINMAN_MODEL: model };
    const session = await createSession({ cwd: bench.cwd, env, autonomyLevel: "high" });
    const turn = session.stream("go");
    const began = join(bench.cwd, "began");
    while (!existsSync(began)) await new Promise((resolve) => setTimeout(resolve, 20));
    await session.close();
    await expect(turn.result).rejects.toMatchObject({ name: "ClosedError" });
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect(existsSync(join(bench.cwd, "ended"))).toBe(false);
  } finally {
    await bench.remove();
  }
});
