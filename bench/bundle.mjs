import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "tsdown";
import { standIns } from "../scripts/stand-ins-plugin.mjs";
import { textFiles } from "../scripts/text-plugin.mjs";

const source = fileURLToPath(new URL("../src/", import.meta.url));

/**
 * Modules of the source, bundled into a folder.
 * @param {string} folder
 * @param {Readonly<Record<string, string>>} entries by name, relative to `src`
 */
export async function bundle(folder, entries) {
  await build({
    config: false,
    entry: Object.fromEntries(Object.entries(entries).map(([name, path]) => [name, join(source, path)])),
    format: "esm",
    platform: "node",
    outDir: folder,
    clean: false,
    dts: false,
    hash: false,
    fixedExtension: true,
    logLevel: "error",
    define: { TINMAN_VERSION: JSON.stringify("0.0.0-bench") },
    plugins: [textFiles(), standIns()],
  });
}

/**
 * Modules of the source, bundled into a folder and loaded from there.
 * @param {string} folder
 * @param {Readonly<Record<string, string>>} entries by name, relative to `src`
 * @returns {Promise<Record<string, any>>} by the same names
 */
export async function loadBundled(folder, entries) {
  await bundle(folder, entries);
  const names = Object.keys(entries);
  const loaded = await Promise.all(names.map((name) => import(pathToFileURL(join(folder, `${name}.mjs`)).href)));
  return Object.fromEntries(names.map((name, index) => [name, loaded[index]]));
}
