import { readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

/**
 * Writes THIRD_PARTY_NOTICES: the licences of everything in `dist` and installed beside it. `--check` writes nothing
 * and exits with 1 if the file is not up to date. The result is the same on every platform:
 * single-platform packages are listed from the lock file.
 *
 * @typedef {{ name: string, version: string, licence: string, note?: string, text: string }} Notice
 * @typedef {{ version: string, license?: string, dependencies?: Record<string, string>, optionalDependencies?: Record<string, string>, os?: string[] }} Locked
 */

const root = fileURLToPath(new URL("..", import.meta.url));
const target = join(root, "THIRD_PARTY_NOTICES");

/** @param {string} path */
const read = (path) => readFileSync(join(root, path), "utf8");

/** @type {{ dependencies?: Record<string, string> }} */
const manifest = JSON.parse(read("package.json"));
/** @type {Record<string, Locked>} */
const locked = JSON.parse(read("package-lock.json")).packages;

/**
 * Dependencies of bundled packages that are not in the bundle: types, loaders of remote files, and needs of unused
 * parts of prom-client, htmlparser2 and the MCP client.
 */
const leftOut = new Set([
  "@opentelemetry/api",
  "@standard-schema/spec",
  "bintrees",
  "cross-spawn",
  "dom-serializer",
  "domelementtype",
  "domhandler",
  "domutils",
  "isexe",
  "json-schema",
  "path-key",
  "shebang-command",
  "shebang-regex",
  "tdigest",
  "undici",
  "which",
]);

/** Packages without a licence file, and a package of the same project that has it. */
const sameProject = new Map([["@ai-sdk/provider-utils", "@ai-sdk/provider"]]);

/** Packages imported by the source, which the bundler copies into `dist`. */
function importedPackages() {
  /** @type {Set<string>} */
  const names = new Set();
  for (const path of readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".ts")) continue;
    for (const { fileName } of ts.preProcessFile(read(join("src", path))).importedFiles) {
      if (fileName.startsWith(".") || isBuiltin(fileName)) continue;
      names.add(fileName.split("/", fileName.startsWith("@") ? 2 : 1).join("/"));
    }
  }
  return [...names];
}

/**
 * The packages with all their dependencies.
 * @param {readonly string[]} names
 */
function withDependencies(names) {
  /** @type {Set<string>} */
  const all = new Set();
  const waiting = [...names];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (all.has(name)) continue;
    all.add(name);
    waiting.push(...Object.keys(lockedPackage(name).dependencies ?? {}));
  }
  return [...all].sort();
}

/** @param {string} name */
function lockedPackage(name) {
  const entry = locked[`node_modules/${name}`];
  if (!entry) throw new Error(`${name} is not in package-lock.json`);
  return entry;
}

/** @param {string} name */
function licenceText(name) {
  const folder = join("node_modules", sameProject.get(name) ?? name);
  const file = readdirSync(join(root, folder)).find((entry) => /^licen[cs]e(\.\w+)?$/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  return read(join(folder, file));
}

/**
 * @param {string} name
 * @param {string} [note]
 * @returns {Notice}
 */
function notice(name, note) {
  const { version, license, optionalDependencies = {} } = lockedPackage(name);
  const platforms = Object.keys(optionalDependencies).filter((other) => lockedPackage(other).os);
  const also = platforms.sort().map((other) => `${other} ${lockedPackage(other).version}`);
  const words = [note, also.length > 0 ? `The same licence covers ${also.join(", ")}.` : undefined].filter(Boolean);
  return {
    name,
    version,
    licence: license ?? "see the text",
    ...(words.length > 0 && { note: words.join(" ") }),
    text: licenceText(name),
  };
}

/** @returns {Notice} */
function ripgrep() {
  return {
    name: "ripgrep",
    version: `as packed by @vscode/ripgrep ${lockedPackage("@vscode/ripgrep").version}`,
    licence: "MIT OR Unlicense",
    note: "The search program inside the platform packages of @vscode/ripgrep. It is built with PCRE2 (BSD-3-Clause).",
    text: read("scripts/licenses/ripgrep.txt"),
  };
}

/** @returns {Notice} */
function pdfJs() {
  return {
    name: "pdf.js",
    version: `as packed by unpdf ${lockedPackage("unpdf").version}`,
    licence: "Apache-2.0",
    note: "Copyright Mozilla Foundation and its contributors. The reader of PDF files inside unpdf.",
    // The licence's text is always the same.
    text: read("LICENSE"),
  };
}

/** @param {Notice} notice */
function section({ name, version, licence, note, text }) {
  const body = text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n")
    .trim();
  return [`## ${name} (${version})`, `Licence: ${licence}`, ...(note ? [note] : []), "", body, ""].join("\n");
}

export function thirdPartyNotices() {
  const runtime = withDependencies(Object.keys(manifest.dependencies ?? {}));
  const bundled = withDependencies(importedPackages().filter((name) => !runtime.includes(name)));
  return [
    "Tinman is built on the work of others. Written by `npm run notices`; do not edit.",
    "",
    "# Contained in dist/",
    "",
    ...bundled.filter((name) => !leftOut.has(name)).map((name) => section(notice(name))),
    ...(bundled.includes("unpdf") ? [section(pdfJs())] : []),
    section(notice("rolldown", "The bundler; its helper functions are part of the output.")),
    "# Installed beside it",
    "",
    ...runtime.map((name) => section(notice(name))),
    ...(runtime.includes("@vscode/ripgrep") ? [section(ripgrep())] : []),
  ].join("\n");
}

/** The current file, or undefined. */
export function writtenNotices() {
  try {
    return readFileSync(target, "utf8");
  } catch {
    return "";
  }
}

if (realpathSync(process.argv[1] ?? ".") === fileURLToPath(import.meta.url)) {
  const text = thirdPartyNotices();
  if (!process.argv.includes("--check")) writeFileSync(target, text);
  else if (text !== writtenNotices()) {
    process.stderr.write("THIRD_PARTY_NOTICES is not up to date. Run: npm run notices\n");
    process.exitCode = 1;
  }
}
