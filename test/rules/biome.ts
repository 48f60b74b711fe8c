import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

interface Report {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
}

export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly rule: string;
}

/** Lints files, given by path, with this repository's configuration in a separate folder. */
export function lint(files: ReadonlyMap<string, string>): readonly Finding[] {
  const folder = mkdtempSync(join(tmpdir(), "tinman-rules-"));
  try {
    for (const name of ["biome.json", "scripts/import-rules.biome.json", ".gitignore"]) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      copyFileSync(name, join(folder, name));
    }
    // Biome needs the git repository whose ignore file it is configured to use.
    mkdirSync(join(folder, ".git"));
    for (const [path, text] of files) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const biome = join(process.cwd(), "node_modules/@biomejs/biome/bin/biome");
    const args = [biome, "lint", "--reporter=json", "--max-diagnostics=none", "src"];
    const run = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8", maxBuffer: 64 * 1024 * 1024 });
    if (!run.stdout.startsWith("{")) throw new Error(`biome said: ${run.stderr}`);
    const report = JSON.parse(run.stdout) as Report;
    return report.diagnostics.map(({ category, location }) => ({
      path: location.path,
      line: location.start.line,
      rule: category,
    }));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
