import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isFullRun } from "../full-run.ts";

/** The script in a similar repository whose source is one small file, so that a test can break it. */
let copy: string;

beforeEach(() => {
  copy = mkdtempSync(join(tmpdir(), "tinman-notices-"));
  for (const name of ["scripts", "package.json", "package-lock.json", "LICENSE"])
    cpSync(name, join(copy, name), { recursive: true });
  mkdirSync(join(copy, "src"));
  writeFileSync(join(copy, "src/main.ts"), 'import { z } from "zod";\nexport const text = z.string();\n');
  symlinkSync(join(process.cwd(), "node_modules"), join(copy, "node_modules"));
});

afterEach(() => rmSync(copy, { recursive: true, force: true }));

const notices = (...args: readonly string[]) => noticesIn(copy, ...args);

function noticesIn(root: string, ...args: readonly string[]) {
  const run = spawnSync(process.execPath, [join(root, "scripts/notices.mjs"), ...args], { encoding: "utf8" });
  return { status: run.status, stderr: run.stderr };
}

const stale = { status: 1, stderr: "THIRD_PARTY_NOTICES is not up to date. Run: npm run notices\n" };

describe("THIRD_PARTY_NOTICES", () => {
  it("is up to date", () => {
    expect(noticesIn(process.cwd(), "--check")).toEqual({ status: 0, stderr: "" });
  });

  it("is stale if the source imports one package more or less, and current after a new run", {
    timeout: 300_000,
  }, () => {
    const written = () => readFileSync(join(copy, "THIRD_PARTY_NOTICES"), "utf8");
    expect(notices()).toEqual({ status: 0, stderr: "" });
    const before = written();
    expect(sections(before)).toContain("zod");
    const planted = join(copy, "src/planted.ts");
    writeFileSync(planted, 'export const load = () => import("fast-check");\n');
    expect(notices("--check")).toEqual(stale);
    expect(written()).toBe(before);
    notices();
    const more = sections(written()).filter((name) => !sections(before).includes(name));
    // With its dependencies.
    expect(more).toEqual(["fast-check", "pure-rand"]);
    rmSync(planted);
    expect(notices("--check")).toEqual(stale);
    notices();
    expect(written()).toBe(before);
  });

  // It needs one more bundle.
  if (isFullRun) {
    it("names exactly the packages whose code is in the bundle", () => {
      const [contained = ""] = readFileSync("THIRD_PARTY_NOTICES", "utf8").split("# Installed beside it");
      const inside = ["rolldown", "pdf.js"];
      expect(sections(contained).filter((name) => !inside.includes(name))).toEqual(bundledPackages());
    });
  }

  it("names what is bundled and what is installed beside it", () => {
    const text = readFileSync("THIRD_PARTY_NOTICES", "utf8");
    expect(sections(text)).toEqual([
      "@agentclientprotocol/sdk",
      "@ai-sdk/anthropic",
      "@ai-sdk/google",
      "@ai-sdk/openai",
      "@ai-sdk/openai-compatible",
      "@ai-sdk/provider",
      "@ai-sdk/provider-utils",
      "@modelcontextprotocol/client",
      "@modelcontextprotocol/core",
      "commander",
      "diff",
      "entities",
      "eventsource",
      "eventsource-parser",
      "htmlparser2",
      "jose",
      "pkce-challenge",
      "prom-client",
      "unbash",
      "unpdf",
      "ws",
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

/** Unminified, the bundler marks where each module's code begins. */
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
