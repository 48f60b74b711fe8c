import type { CST } from "yaml";
import { AgentError } from "../core/errors.ts";
import { printable } from "./visible.ts";

const deepest = 100;
const mostTokens = 50_000;
const mostKeys = 5_000;

/**
 * A configuration as plain data; `null` when there is nothing in it. JSON is read as the YAML that it is, because a key that
 * is written twice must be an error and not the loss of the first.
 */
export async function parseConfig(text: string, path: string): Promise<unknown> {
  if (text.trim() === "") return null;
  const { LineCounter, parseDocument } = await import("yaml");
  await checkOutline(text, path, mostTokens);
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, logLevel: "error", prettyErrors: false });
  const [fault] = document.errors;
  if (fault !== undefined) {
    const { line, col } = lineCounter.linePos(fault.pos[0]);
    throw invalid(path, `line ${line}, column ${col}: ${fault.message}`);
  }
  try {
    return document.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw invalid(path, reason(error));
  }
}

/**
 * Rejects what is nested too deeply or has too many parts for the parser, which calls itself for every level and compares
 * every key with all others: what somebody else wrote could make it end the process, or keep it for hours. Its first stage,
 * which is all that is used here, does neither.
 */
export async function checkOutline(text: string, path: string, most = Number.POSITIVE_INFINITY): Promise<void> {
  const { Lexer, Parser } = await import("yaml");
  const outline = new Parser();
  let tokens = 0;
  for (const token of new Lexer().lex(text)) {
    tokens += 1;
    Array.from(outline.next(token));
    if (outline.stack.length > deepest) throw invalid(path, `is nested more than ${deepest} levels deep`);
    if (tokens > most || keysIn(outline.stack.at(-1)) > mostKeys) throw invalid(path, "has too many entries");
  }
}

/** Of the map that is being read, if it is one. */
function keysIn(part: CST.Token | undefined): number {
  const isMap = part?.type === "block-map" || (part?.type === "flow-collection" && part.start.source === "{");
  return isMap ? part.items.length : 0;
}

export function invalid(path: string, why: string): AgentError {
  return new AgentError("config_invalid", printable(`${path}: ${why}`));
}

export function reason(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  return message.split("\n")[0] ?? message;
}
