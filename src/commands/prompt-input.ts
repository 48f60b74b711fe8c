import { readBounded } from "../config/bounded-file.ts";
import { AgentError } from "../core/errors.ts";

const maxPromptBytes = 10_000_000;

interface GivenPrompt {
  readonly prompt: string | undefined;
  readonly file?: string;
}

/** The prompt of a run, from exactly one place. Standard input is read only when nothing else gives one. */
export async function readPrompt(given: GivenPrompt, words: readonly string[] | undefined): Promise<string> {
  const afterSeparator = words === undefined || words.length === 0 ? undefined : words.join(" ");
  const argument = given.prompt ?? afterSeparator;
  if (given.prompt !== undefined && afterSeparator !== undefined) {
    throw new AgentError("usage", "There is a prompt before and after --. Give one.");
  }
  if (given.file !== undefined && argument !== undefined) {
    throw new AgentError("usage", "Give the prompt as an argument or with --file, not both.");
  }
  const text = await read(given.file, argument, given.prompt === "-");
  if (text.trim() === "") throw new AgentError("usage", "The prompt is empty.");
  return text;
}

async function read(file: string | undefined, argument: string | undefined, isDash: boolean): Promise<string> {
  if (file !== undefined) return readPromptFile(file);
  if (argument !== undefined && !isDash) return argument;
  return readStandardInput();
}

async function readPromptFile(file: string): Promise<string> {
  try {
    return decode(await readBounded(file, maxPromptBytes), file);
  } catch (error) {
    if (error instanceof AgentError) throw error;
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ENOENT") throw new AgentError("usage", `The prompt file ${file} does not exist.`);
    if (code === "EISDIR") throw new AgentError("usage", `The prompt file ${file} is a folder.`);
    throw new AgentError("usage", `The prompt file ${file} cannot be read.`);
  }
}

async function readStandardInput(): Promise<string> {
  if (process.stdin.isTTY === true) {
    throw new AgentError("usage", 'No prompt given. Try: tinman exec "your prompt", or tinman exec --help');
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  let problem = "and standard input is empty";
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer);
      bytes += (chunk as Buffer).length;
      if (bytes > maxPromptBytes) break;
    }
  } catch (error) {
    problem = `and standard input cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
  if (bytes === 0) throw new AgentError("usage", `No prompt given, ${problem}.`);
  return decode(Buffer.concat(chunks), "standard input");
}

function decode(bytes: Buffer, source: string): string {
  if (bytes.length > maxPromptBytes) {
    throw new AgentError("input_too_large", `The prompt in ${source} is larger than 10 MB.`);
  }
  // The byte order mark is dropped by the decoder, the last line end here: neither is what the user meant to say.
  return new TextDecoder().decode(bytes).replace(/\r?\n$/, "");
}
