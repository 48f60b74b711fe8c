import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

/** The script in a copy of the repository, so that a test may spoil it. */
let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "tinman-notices-"));
  for (const name of ["scripts", "src", "package.json", "package-lock.json", "LICENSE", "THIRD_PARTY_NOTICES"])
    cpSync(name, join(copy, name), { recursive: true });
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
});

afterEach(() => rmSync(copy, { recursive: true, force: true }));

function notices(...args: readonly string[]) {
  const run = spawnSync(process.execPath, [join(copy, "scripts/notices.mjs"), ...args], { encoding: "utf8" });
  return { status: run.status, stderr: run.stderr };
}

const stale = { status: 1, stderr: "THIRD_PARTY_NOTICES is not up to date. Run: npm run notices\n" };

describe("THIRD_PARTY_NOTICES", () => {
  it("is up to date", () => {
    expect(notices("--check")).toEqual({ status: 0, stderr: "" });
  });

  it("is called stale after a change, and is itself again after a new run", () => {
    const before = readFileSync(join(copy, "THIRD_PARTY_NOTICES"), "utf8");
    writeFileSync(join(copy, "THIRD_PARTY_NOTICES"), `${before}\n`);
    expect(notices("--check")).toEqual(stale);
    expect(notices()).toEqual({ status: 0, stderr: "" });
    expect(readFileSync(join(copy, "THIRD_PARTY_NOTICES"), "utf8")).toBe(before);
  });

  it("is called stale when the source imports one more package, with what that one needs", () => {
    writeFileSync(join(copy, "src/planted.ts"), 'export const load = () => import("fast-check");\n');
    expect(notices("--check")).toEqual(stale);
    notices();
    const headings = sections(readFileSync(join(copy, "THIRD_PARTY_NOTICES"), "utf8"));
    expect(headings).toEqual(expect.arrayContaining(["fast-check", "pure-rand"]));
  });

  it("names exactly the packages whose code is in the bundle", () => {
    const [contained = ""] = readFileSync("THIRD_PARTY_NOTICES", "utf8").split("# Installed beside it");
    const inside = ["rolldown", "pdf.js"];
    expect(sections(contained).filter((name) => !inside.includes(name))).toEqual(bundledPackages());
  });

  it("names what is in the bundle and what is installed beside it", () => {
    const text = readFileSync("THIRD_PARTY_NOTICES", "utf8");
    expect(sections(text)).toEqual([
      "@agentclientprotocol/sdk",
      "@ai-sdk/anthropic",
      "@ai-sdk/google",
      "@ai-sdk/openai",
      "@ai-sdk/openai-compatible",
      "@ai-sdk/provider",
      "@ai-sdk/provider-utils",
      "commander",
      "diff",
      "entities",
      "eventsource-parser",
      "unbash",
      "unpdf",
      "yaml",
      "zod",
      "pdf.js",
      "rolldown",
      "@vscode/ripgrep",
      "ripgrep",
    ]);
    for (const platform of ["darwin-arm64", "linux-x64", "win32-x64"])
      expect(text).toContain(`@vscode/ripgrep-${platform} `);
  });
});

/** Where it does not minify, the bundler marks where each module's code begins. */
function bundledPackages(): readonly string[] {
  const folder = join(copy, "bundle");
  spawnSync(join("node_modules", ".bin", "tsdown"), [
    "--no-minify",
    "--no-dts",
    "--out-dir",
    folder,
    "--log-level",
    "error",
  ]);
  const names = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".cjs"))
    .flatMap((path) => [
      ...readFileSync(join(folder, path), "utf8").matchAll(/^\/\/#region .*node_modules\/((?:@[^/]+\/)?[^/]+)\//gm),
    ])
    .map((match) => match[1] ?? "");
  return [...new Set(names)].sort();
}

function sections(text: string): readonly string[] {
  return [...text.matchAll(/^## (\S+) \(/gm)].map((match) => match[1] ?? "");
}
