import { spawnSync } from "node:child_process";

let path: string | undefined;

/** The path of Python. A version manager's shim would look for its files in a home that is empty in tests. */
export function pythonPath(): string {
  path ??= findPython();
  return path;
}

function findPython(): string {
  const { status, stdout } = spawnSync("python3", ["-c", "import sys; print(sys.executable)"], { encoding: "utf8" });
  if (status !== 0) throw new Error("python3 is needed to run the Python examples: install Python 3.8 or later.");
  return stdout.trim();
}
