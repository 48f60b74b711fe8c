import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createSession } from "../../src/sdk/node.ts";
import { createBench } from "../e2e/tinman.ts";
import { isAlive, until } from "./fakes/stand-ins.ts";

it("closing a session in the middle of a command ends the command", async () => {
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

it("a program that dies in the middle of a command leaves nothing behind", async () => {
  const bench = await createBench();
  try {
    const execute = (command: string) => ({ tool_calls: [{ name: "Execute", input: { command } }] });
    const modelId = await bench.script([
      execute("echo $PPID > pid.new; mv pid.new pid; sleep 1; touch first"),
      execute("sleep 1; touch second"),
      { text: "Done." },
    ]);
    const program = join(bench.root, "program.mjs");
    const sdk = new URL("../../dist/sdk/node.js", import.meta.url);
    const options = JSON.stringify({ cwd: bench.cwd, env: bench.env, autonomyLevel: "high", modelId });
    writeFileSync(
      program,
      `import { createSession } from ${JSON.stringify(sdk.href)}; await (await createSession(${options})).send("go");`,
    );
    const host = spawn(process.execPath, [program], { stdio: "inherit" });
    const pidFile = join(bench.cwd, "pid");
    await until(() => existsSync(pidFile));
    host.kill("SIGKILL");
    const backend = Number(readFileSync(pidFile, "utf8"));
    await until(() => !isAlive(backend));
    expect(["first", "second"].filter((file) => existsSync(join(bench.cwd, file)))).toEqual(["first"]);
  } finally {
    await bench.remove();
  }
});
