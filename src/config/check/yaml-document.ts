import { Composer, Lexer, LineCounter, Parser } from "yaml";
import { invalid, reason } from "./config-fault.ts";

const deepest = 100;
const mostTokens = 50_000;
const mostKeys = 5_000;

/**
 * A configuration as plain data; `null` if empty. JSON is read as YAML too, where a duplicate key is an error.
 */
export function parseConfig(text: string, path: string): unknown {
  return text.trim() === "" ? null : parseYaml(text, path, mostTokens);
}

/** YAML as plain data. Throws `config_invalid` with the line and column of the first error. */
export function parseYaml(text: string, path: string, most = Number.POSITIVE_INFINITY): unknown {
  const lines = new LineCounter();
  const composer = new Composer({ logLevel: "error", prettyErrors: false });
  const [document, another] = composer.compose(boundedTokens(text, path, most, lines), true, text.length);
  const fault = document?.errors[0];
  if (fault !== undefined) throw invalidAt(fault.pos[0], fault.message);
  if (another !== undefined) throw invalidAt(another.range[0], "multiple documents in one file");
  try {
    return document?.toJS({ maxAliasCount: 100 }) as unknown;
  } catch (error) {
    throw invalid(path, reason(error));
  }

  function invalidAt(offset: number, words: string): Error {
    const { line, col } = lines.linePos(offset);
    return invalid(path, `line ${line}, column ${col}: ${words}`);
  }
}

/**
 * The parser's tokens for the composer. Rejects deep nesting and too many parts first: the composer recurses for each level
 * and compares each key with all others, so a hostile file could block the process.
 */
function* boundedTokens(text: string, path: string, most: number, lines: LineCounter) {
  lines.addNewLine(0);
  const parser = new Parser(lines.addNewLine);
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    lexemes += 1;
    // Collected, so that the limits are checked before anything is composed.
    const tokens = Array.from(parser.next(lexeme));
    if (parser.stack.length > deepest) throw invalid(path, `is nested more than ${deepest} levels deep`);
    if (lexemes > most || keysIn(parser.stack.at(-1)) > mostKeys) throw invalid(path, "has too many entries");
    yield* tokens;
  }
  yield* parser.end();
}

/** The number of items in the current map, if it is one. */
function keysIn(part: Parser["stack"][number] | undefined): number {
  const isMap = part?.type === "block-map" || (part?.type === "flow-collection" && part.start.source === "{");
  return isMap ? part.items.length : 0;
}
