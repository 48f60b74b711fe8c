import { readBounded } from "../../config/bounded-file.ts";
import { AgentError } from "../../engine/errors.ts";
import type { GivenSettings } from "./exec-options.ts";
import { decodeGiven, requireArgument } from "./given-text.ts";

const maxAppendedBytes = 1_000_000;

/** Text to append to the system prompt, from an option or from a file. */
export async function appendedPrompt(given: GivenSettings): Promise<string | undefined> {
  const { appendSystemPrompt: text } = given;
  if (text !== undefined) requireArgument(text, "The text of --append-system-prompt");
  if (given.appendSystemPromptFile === undefined) return text;
  const path = given.appendSystemPromptFile;
  const bytes = await readBounded(path, maxAppendedBytes).catch(() => {
    throw new AgentError("usage", `The file ${path} cannot be read.`);
  });
  if (bytes.length > maxAppendedBytes) throw new AgentError("usage", `The file ${path} is larger than 1 MB.`);
  return decodeGiven(bytes, `The file ${path}`);
}
