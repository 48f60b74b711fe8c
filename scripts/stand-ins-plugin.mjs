import { fileURLToPath } from "node:url";

const lightZod = fileURLToPath(new URL("../src/models/calls/light-zod.ts", import.meta.url));

/** Platform modules used by the AI SDK while streaming, and our lighter replacements. */
const names = [
  { name: "Headers", file: "fetch-headers", ours: "FetchHeaders" },
  { name: "ReadableStream", file: "streams", ours: "ValueStream" },
  { name: "TransformStream", file: "streams", ours: "ValueTransform" },
  { name: "TextDecoderStream", file: "streams", ours: "TextDecoding" },
];

const onTheWay =
  /\/node_modules\/(@ai-sdk\/[^/]+|@modelcontextprotocol\/client|eventsource-parser)\/|\/src\/(models\/[^/]+|mcp\/transports\/[^/]+)\.ts$/;

/**
 * Injects our stand-ins under the platform's names, and gives the AI SDK the part of zod that it needs.
 * @returns {{
 *   name: string,
 *   resolveId(source: string, importer: string | undefined): string | undefined,
 *   transform(code: string, id: string): { code: string, map: null } | undefined,
 * }}
 */
export function standIns() {
  return {
    name: "tinman-stand-ins",
    resolveId(source, importer) {
      return source === "zod/v4" && importer?.includes("/node_modules/@ai-sdk/") ? lightZod : undefined;
    },
    transform(code, id) {
      if (!onTheWay.test(id)) return undefined;
      const used = names.filter(({ name }) => new RegExp(`\\b(new|extends|instanceof) ${name}\\b`).test(code));
      const imports = used.map(({ name, file, ours }) => {
        const path = fileURLToPath(new URL(`../src/net/http/${file}.ts`, import.meta.url));
        return `import { ${ours} as ${name} } from ${JSON.stringify(path)};`;
      });
      // On the first line, to keep the other lines' numbers.
      return imports.length === 0 ? undefined : { code: `${imports.join(" ")} ${code}`, map: null };
    },
  };
}
