/** Cuts a request into the things it asks for. */
import { quotedSpans } from "./words.ts";

export interface Piece {
  readonly text: string;
  /** What stood between the piece before and this one. */
  readonly joint: "start" | "then" | "sentence" | "soft";
  /** The text of the joint, to put the pieces together again. */
  readonly glue: string;
}

/**
 * Places where a new clause may begin. `then` and a sentence's end are strong signs, a comma or "and" is a weak one: whoever
 * joins the pieces decides.
 */
const joints = new RegExp(
  [
    String.raw`(?<then>[,;.]?\s+(?:and\s+)?(?:then|after(?:\s+that|wards)|afterwards?)[,:]?\s+(?:please\s+)?|[，,；;。]?\s*(?:然后|接着|之后再?|随后|[，,；。]\s*再|[，,；。]\s*最后)[，,]?\s*)`,
    String.raw`(?<sentence>[.!?]+(?:\s+|$)|[。！？；]+\s*|\s*\n+\s*)`,
    String.raw`(?<soft>\s*[,;]\s+(?:and\s+|but\s+)?|\s+(?:and|but)\s+|\s+[-–—]+\s+|\s*[，]\s*(?:并且?|而且|同时)?\s*|(?<=\S)\s*并且?(?=只|仅|回复|列|读|运行|执行|创建|新建|搜|查|显示|打开|把))`,
  ].join("|"),
  "gi",
);

export function piecesOf(text: string): readonly Piece[] {
  const quoted = quotedSpans(text);
  const pieces: Piece[] = [];
  let from = 0;
  let joint: Piece["joint"] = "start";
  let glue = "";
  const close = (until: number): void => {
    const piece = text.slice(from, until);
    if (piece.trim() !== "") pieces.push({ text: piece, joint: pieces.length === 0 ? "start" : joint, glue });
  };
  for (const match of text.matchAll(joints)) {
    if (quoted.some((span) => match.index > span.start && match.index < span.end)) continue;
    const kind = match.groups?.then !== undefined ? "then" : match.groups?.sentence !== undefined ? "sentence" : "soft";
    // The mark stays with its sentence: it tells a question from a statement.
    const mark = kind === "sentence" ? match[0].trim().length : 0;
    close(match.index + mark);
    from = match.index + match[0].length;
    joint = kind;
    glue = match[0].slice(mark);
  }
  close(text.length);
  return pieces;
}

/** The clauses of a text. `stands` tells whether a piece can be a clause after this joint; otherwise a comma only continues. */
export function clausesOf(
  text: string,
  stands: (piece: string, joint: Piece["joint"], before: string) => boolean,
): readonly string[] {
  const clauses: string[] = [];
  for (const { text: piece, joint, glue } of piecesOf(text)) {
    const before = clauses.at(-1);
    if (before === undefined || joint !== "soft" || stands(piece, joint, before)) clauses.push(piece);
    else clauses[clauses.length - 1] = before + glue + piece;
  }
  return clauses.map((clause) => clause.trim());
}
