import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** Inputs and outputs of the build. */
const parts = [
  "src",
  "scripts",
  "bench",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsdown.config.ts",
  "dist",
];
const stamp = "node_modules/.cache/tinman/build";

/** End-to-end tests run the built program, so it is built from this source first, unless it is up to date. */
export default function setup(): void {
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === digest()) return;
  execFileSync("npm", ["run", "--silent", "build"], { stdio: "inherit" });
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest());
}

/** Hash of the build's inputs and outputs. */
function digest(): string {
  const hash = createHash("sha256").update(process.version);
  for (const path of parts.flatMap(filesIn)) hash.update(`\0${path}\0`).update(readFileSync(path));
  return hash.digest("hex");
}

function filesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  if (statSync(path).isFile()) return [path];
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .map((name) => join(path, name))
    .filter((name) => statSync(name).isFile())
    .sort();
}
