import { spawn } from "node:child_process";
import { cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Bench, createBench, finished, lines, mainFile } from "../tinman.ts";
import { formats, requestIn } from "./raw-client.ts";

let bench: Bench;
/** Clients that look for `droid` find a link in one of these. */
let folders: readonly string[];
beforeAll(async () => {
  bench = await createBench();
  // To the program itself.
  const direct = join(bench.root, "a folder");
  // As npm lays it out, and from there into a folder of the user.
  const modules = join(bench.root, "lib", "node_modules");
  const [installed, bin, own] = [join(modules, "tinman"), join(modules, ".bin"), join(bench.root, "own")];
  for (const folder of [direct, installed, bin, own]) await mkdir(folder, { recursive: true });
  await symlink(mainFile, join(direct, "droid"));
  await cp(dirname(mainFile), join(installed, "dist"), { recursive: true });
  await cp(fileURLToPath(new URL("../../../package.json", import.meta.url)), join(installed, "package.json"));
  await symlink("../tinman/dist/main.cjs", join(bin, "tinman"));
  await symlink(join("..", "lib", "node_modules", ".bin", "tinman"), join(own, "droid"));
  folders = [direct, own];
});
afterAll(() => bench.remove());

test("a client that starts droid gets Tinman, wherever the link leads", async () => {
  await bench.file("unlikely-name.txt", "x");
  for (const folder of folders) {
    const child = spawn("droid", formats, {
      cwd: bench.cwd,
      env: { ...bench.env, PATH: `${folder}:${dirname(process.execPath)}:${bench.env.PATH}` },
      stdio: ["pipe", "pipe", "pipe"],
    });
    const requests = [
      requestIn("early", "1", "initialize_session", { machineId: "m", cwd: bench.cwd, autonomyLevel: "auto-low" }),
      requestIn("early", "2", "add_user_message", { text: "run ls command" }),
    ];
    const { code, stdout, stderr } = await finished(
      child,
      requests.map((each) => `${JSON.stringify(each)}\n`).join(""),
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(lines(stdout).find(({ id }) => id === "1")).toMatchObject({
      result: { settings: { autonomyLevel: "auto-low" } },
    });
    expect(stdout).toContain('"type":"tool_result"');
    expect(stdout).toContain("unlikely-name.txt");
    expect(lines(stdout).at(-1)).toMatchObject({
      params: { notification: { type: "droid_working_state_changed", newState: "idle" } },
    });
  }
});
