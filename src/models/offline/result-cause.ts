import type { ToolCause, ToolResultBlock } from "../../engine/message.ts";

/** Matched by text: shells and client tools report these only in words. */
const foreignWords: readonly (readonly [ToolCause, RegExp, ToolResultBlock["status"]])[] = [
  ["is_directory", /is a directory/i, "failed"],
  ["not_directory", /not a directory/i, "failed"],
  ["no_match", /^\s*(?:No match\w*.*)?\s*$/i, "ok"],
];

/** A result's cause, beyond its status. */
export function causeOf({ cause, status, text }: ToolResultBlock): ToolCause | undefined {
  return cause ?? foreignWords.find(([, words, of]) => of === status && words.test(text))?.[0];
}
