import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { AgentError } from "../../engine/errors.ts";

const remedy = "Convert it first, for example with iconv.";

/**
 * Decodes bytes from the user: UTF-8, or UTF-16 with a byte order mark, which is dropped. Throws `usage` for anything else;
 * `what` begins the sentence.
 */
export function decodeGiven(bytes: Uint8Array, what: string): string {
  const encoding = utf16Of(bytes) ?? "utf-8";
  const text = decodedAs(encoding, bytes);
  if (text === undefined)
    throw new AgentError("usage", `${what} is not valid ${encoding.slice(0, 6).toUpperCase()}. ${remedy}`);
  if (!text.includes("\0")) return text;
  const why = "has NUL characters: it is binary, or UTF-16 without a byte order mark";
  throw new AgentError("usage", `${what} ${why}. ${remedy}`);
}

export function utf16Of([first, second]: Uint8Array): "utf-16le" | "utf-16be" | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function decodedAs(encoding: string, bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/** Node replaces invalid UTF-8 in arguments. Throws `usage` if it did. */
export function requireArgument(text: string, what: string): void {
  if (!text.includes("\ufffd")) return;
  let bytes: Buffer;
  try {
    bytes = readFileSync("/proc/self/cmdline");
  } catch {
    return;
  }
  if (!isUtf8(bytes)) throw new AgentError("usage", `${what} is not valid UTF-8. ${remedy}`);
}
