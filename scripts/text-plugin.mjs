import { readFile } from "node:fs/promises";

/**
 * Lets modules import a Markdown file as a string, in the bundle and in tests.
 * @returns {{ name: string, load(id: string): Promise<string | undefined> }}
 */
export function textFiles() {
  return {
    name: "tinman-text-files",
    async load(id) {
      if (!id.endsWith(".md")) return undefined;
      return `export default ${JSON.stringify(await readFile(id, "utf8"))};`;
    },
  };
}
