import { isUtf8 } from "node:buffer";
import { fstatSync } from "node:fs";
import { readBounded } from "../../config/bounded-file.ts";
import { AgentError } from "../../engine/errors.ts";
import { errorMessage } from "../../text/values.ts";
import { decodeGiven, requireArgument, utf16Of } from "./given-text.ts";

const maxPromptBytes = 10_000_000;

interface GivenPrompt {
  readonly prompt: string | undefined;
  /** The second argument. */
  readonly input?: string | undefined;
  readonly file?: string;
}

export interface PromptInput {
  readonly text: string;
  readonly usesInput: boolean;
  /** A warning for the user. */
  readonly warning?: string;
}

export function readsInput({ prompt, input, file }: GivenPrompt, words: readonly string[] | undefined): boolean {
  if (prompt === "-" || input === "-") return true;
  return prompt === undefined && file === undefined && (words ?? []).length === 0;
}

/** The prompt, from exactly one source. A second argument `-` adds standard input as context. */
export async function readPrompt(given: GivenPrompt, words: readonly string[] | undefined): Promise<PromptInput> {
  const usesInput = readsInput(given, words);
  const prompt = await ownPrompt(given, words);
  if (prompt !== undefined && given.file === undefined) requireArgument(prompt, "The prompt");
  if (prompt === undefined) return { text: notBlank(await readStandardInput()), usesInput };
  const text = notBlank(prompt);
  return usesInput ? { ...(await withContext(text)), usesInput } : { text, usesInput };
}

/** From an argument or a file; undefined if standard input is the prompt. */
async function ownPrompt(given: GivenPrompt, words: readonly string[] = []): Promise<string | undefined> {
  const afterSeparator = words.length === 0 ? undefined : words.join(" ");
  const beforeSeparator = given.prompt === "-" ? undefined : given.prompt;
  if (given.input !== undefined && given.input !== "-") {
    const count = "too many arguments for 'exec'. Expected 1 argument but got 2.";
    throw new AgentError("usage", `${count} Put the prompt in quotes, or after --.`);
  }
  if (beforeSeparator !== undefined && afterSeparator !== undefined) {
    throw new AgentError("usage", "Prompts before and after --. Give only one.");
  }
  const argument = beforeSeparator ?? afterSeparator;
  if (given.file === undefined) return argument;
  if (argument === undefined) return readPromptFile(given.file);
  throw new AgentError("usage", "Give the prompt as an argument or with --file, not both.");
}

function notBlank(text: string): string {
  if (text.trim() === "") throw new AgentError("usage", "The prompt is empty.");
  return text;
}

async function withContext(prompt: string): Promise<Omit<PromptInput, "usesInput">> {
  if (process.stdin.isTTY === true) {
    throw new AgentError("usage", "Standard input is a terminal. Pipe something into it, or leave out -.");
  }
  const room = maxPromptBytes - Buffer.byteLength(prompt);
  const { bytes, problem } = await inputBytes(room);
  if (problem !== undefined) throw new AgentError("usage", `Standard input cannot be read: ${problem}`);
  if (bytes.length > room) {
    const remedy = "Put it into a file and let the prompt name the file.";
    throw new AgentError("input_too_large", `Standard input is larger than 10 MB. ${remedy}`);
  }
  if (bytes.length === 0) {
    return { text: prompt, warning: "Standard input was empty: nothing was added to the prompt." };
  }
  const isWide = utf16Of(bytes) !== undefined;
  if (!isWide && bytes.includes(0))
    throw new AgentError("usage", "Standard input is binary. Only text can be added to the prompt.");
  const piped = isWide ? decodeGiven(bytes, "Standard input") : new TextDecoder().decode(bytes);
  const text = `${prompt}\n\n${framed(withoutLastLineEnd(piped))}`;
  // A diff may contain a file in another encoding; the rest is still useful.
  if (!isWide && !isUtf8(bytes))
    return { text, warning: "Standard input is not valid UTF-8; invalid bytes were replaced by \ufffd." };
  return { text };
}

/** Uses a tag name that the text does not close, so the text cannot end the frame. */
function framed(text: string): string {
  const closed = new Set(text.toLowerCase().match(/<\/stdin(?:-\d+)?/g));
  let name = "stdin";
  for (let number = 2; closed.has(`</${name}`); number += 1) name = `stdin-${number}`;
  return `<${name}>\n${text}\n</${name}>`;
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
  const { bytes, problem } = await inputBytes(maxPromptBytes);
  if (bytes.length > 0) return decode(bytes, "standard input");
  const why = problem === undefined ? "and standard input is empty" : `and standard input cannot be read: ${problem}`;
  throw new AgentError("usage", `No prompt given, ${why}.`);
}

/** Reads standard input to its end, or a little more than `most`. */
async function inputBytes(most: number): Promise<{ readonly bytes: Buffer; readonly problem?: string }> {
  const chunks: Buffer[] = [];
  let count = 0;
  // Node reads nothing from a folder, without an error.
  if (isFolder()) return { bytes: Buffer.alloc(0), problem: "it is a folder" };
  try {
    for await (const chunk of process.stdin) {
      chunks.push(chunk as Buffer);
      count += (chunk as Buffer).length;
      if (count > most) break;
    }
    return { bytes: Buffer.concat(chunks) };
  } catch (error) {
    return { bytes: Buffer.concat(chunks), problem: errorMessage(error) };
  }
}

function isFolder(): boolean {
  try {
    return fstatSync(0).isDirectory();
  } catch {
    return false;
  }
}

function decode(bytes: Buffer, source: string): string {
  if (bytes.length > maxPromptBytes) {
    throw new AgentError("input_too_large", `The prompt in ${source} is larger than 10 MB.`);
  }
  return withoutLastLineEnd(decodeGiven(bytes, `The prompt in ${source}`));
}

/** Drops the last line end. The decoder has dropped the byte order mark. */
function withoutLastLineEnd(text: string): string {
  return text.replace(/\r?\n$/, "");
}
