import { sdkTypes } from "../src/protocol/sdk-types.ts";
import { definitions } from "./schema-definitions.ts";

/** One document for the client SDK's data, with `$defs` named as in TypeScript. */
export function sdkSchema() {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "tinman/sdk",
    description: "The data types of the client SDK, in $defs. The root schema is empty.",
    $defs: definitions(Object.entries(sdkTypes), "output"),
  };
}
