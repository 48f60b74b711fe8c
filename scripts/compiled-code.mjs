import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { configureModels, keyVariable, wires, withModelServer } from "../bench/with-model-server.mjs";

/**
 * The last step of the build: runs the program and keeps the code that V8 compiled in `dist/compiled`, so that a run
 * in a fresh home need not compile it. V8 accepts it only in the same Node version.
 */

const dist = fileURLToPath(new URL("../dist/", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tinman-build-"));
const home = join(folder, "home");
const kept = join(home, "cache", "compiled");
const target = join(dist, "compiled", `${process.version}-${process.arch}`);

/** The tools used by most runs. */
const replies = [
  { tool_calls: [{ name: "Execute", input: { command: "ls -a | head -n 5", riskLevel: "low" } }] },
  { tool_calls: [{ name: "Read", input: { file_path: "a.txt" } }] },
  { tool_calls: [{ name: "Edit", input: { file_path: "a.txt", old_str: "one", new_str: "two" } }] },
  { tool_calls: [{ name: "Grep", input: { pattern: "two" } }] },
  { text: "Done." },
];

/** @param {readonly string[]} args */
async function exec(...args) {
  const child = spawn(process.execPath, [join(dist, "main.cjs"), "exec", ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder, TINMAN_HOME: home, [keyVariable]: "build" },
    stdio: ["ignore", "ignore", "inherit"],
  });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`tinman exec ${args.join(" ")} ended with ${code}`);
}

try {
  mkdirSync(kept, { recursive: true });
  rmSync(target, { recursive: true, force: true });
  writeFileSync(join(folder, "a.txt"), "one\n");
  writeFileSync(join(folder, "script.json"), JSON.stringify({ replies }));
  await withModelServer(async (port) => {
    configureModels(home, port, "words-20");
    for (const { wire } of wires) await exec("-m", wire, "hi");
  });
  await exec("-m", "script:script.json", "--auto", "low", "hi");
  await exec("-m", "offline", "hi");
  const [place = ""] = readdirSync(kept);
  mkdirSync(target, { recursive: true });
  for (const name of readdirSync(join(kept, place, "exec"))) {
    writeFileSync(join(target, name), readFileSync(join(kept, place, "exec", name)), { mode: 0o644 });
  }
} catch (error) {
  // The program works without it, but starts a little slower.
  process.stderr.write(`Compiled code was not stored: ${error instanceof Error ? error.message : error}\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
