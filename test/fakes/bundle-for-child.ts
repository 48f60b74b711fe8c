import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { textFiles } from "../../scripts/text-plugin.mjs";

/**
 * Bundles a TypeScript module with its imports into one `.mjs` that a plain `node` can run, and returns its path. For
 * tests that need a separate process.
 */
export async function bundleForChild(entry: string, folder: string): Promise<string> {
  const file = join(folder, `${basename(entry, ".ts")}.mjs`);
  const bundle = await rolldown({
    input: entry,
    platform: "node",
    plugins: [textFiles()],
    transform: { define: { TINMAN_VERSION: '"0.0.0-test"' } },
    logLevel: "silent",
  });
  try {
    await bundle.write({ file, format: "esm", codeSplitting: false });
  } finally {
    await bundle.close();
  }
  return file;
}
