import { definitions } from "./definitions.ts";
import { sdkTypes } from "./sdk-types.ts";

/** One document for the data of the client SDK: `$defs` by the names that they have in TypeScript. */
export function sdkSchema() {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "tinman/sdk",
    description: "What the client SDK gives its callers. The document itself describes nothing; see $defs.",
    $defs: definitions(Object.entries(sdkTypes), "output"),
  };
}
