import { readFileSync } from "node:fs";
import { defineConfig } from "tsdown";
import { textFiles } from "./scripts/text-plugin.mjs";

const { version } = JSON.parse(readFileSync("package.json", "utf8")) as { version: string };

export default defineConfig({
  entry: { main: "src/main.ts" },
  format: "esm",
  platform: "node",
  target: "node20.19",
  outDir: "dist",
  clean: true,
  dts: false,
  hash: false,
  fixedExtension: false,
  define: { TINMAN_VERSION: JSON.stringify(version) },
  plugins: [textFiles()],
});
