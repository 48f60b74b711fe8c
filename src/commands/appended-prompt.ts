import { isUtf8 } from "node:buffer";
import { readBounded } from "../config/bounded-file.ts";
import { AgentError } from "../core/errors.ts";
import type { GivenSettings } from "./exec-options.ts";

const maxAppendedBytes = 1_000_000;

/** What the system prompt is to end with: the text of an option, or of the file that another one names. */
export async function appendedPrompt(given: GivenSettings): Promise<string | undefined> {
  if (given.appendSystemPromptFile === undefined) return given.appendSystemPrompt;
  const path = given.appendSystemPromptFile;
  const bytes = await readBounded(path, maxAppendedBytes).catch(() => {
    throw new AgentError("usage", `The file ${path} cannot be read.`);
  });
  if (bytes.length > maxAppendedBytes) throw new AgentError("usage", `The file ${path} is larger than 1 MB.`);
  if (!isUtf8(bytes)) throw new AgentError("usage", `The file ${path} is not valid UTF-8.`);
  return bytes.toString("utf8");
}
