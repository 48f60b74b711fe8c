/** A pattern as people write it: `./src` and `src` are the same, and a folder means what is in it. */
export function normaliseGlob(pattern: string): string {
  const relative = pattern.replace(/^(?:\.\/)+/, "");
  return relative.endsWith("/") ? `${relative}**` : relative;
}

function escapeLiteral(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

function unclosed(bracket: string, pattern: string): Error {
  return new Error(`The pattern ${pattern} is wrong: its "${bracket}" is not closed.`);
}

/** The class that begins at `start`, and where it ends. */
function readClass(pattern: string, start: number): { source: string; end: number } {
  let at = start + 1;
  const negated = pattern[at] === "!" || pattern[at] === "^";
  if (negated) at += 1;
  const first = at;
  let members = "";
  for (; pattern[at] !== "]" || at === first; at += 1) {
    if (at >= pattern.length) throw unclosed("[", pattern);
    const character = pattern[at] === "\\" ? pattern[++at] : pattern[at];
    members += character === "-" ? "-" : escapeLiteral(character ?? "");
  }
  return { source: negated ? `[^/${members}]` : `[${members}]`, end: at };
}

/** Stars that begin at `start`: two of them, alone between slashes, stand for any number of folders. */
function readStars(pattern: string, start: number): { source: string; end: number } {
  let end = start;
  while (pattern[end + 1] === "*") end += 1;
  const alone = end > start && (start === 0 || pattern[start - 1] === "/");
  if (alone && pattern[end + 1] === "/") return { source: "(?:.*/)?", end: end + 1 };
  if (alone && end + 1 === pattern.length) return { source: ".*", end };
  return { source: "[^/]*", end };
}

/**
 * Reads a pattern as `.gitignore` does: one without a slash matches at any depth, one with a slash starts at the folder;
 * `*` and `?` stay within a name, `**` does not; also `[a-z]`, `{a,b}` and `\` before a character. Throws with words when
 * it is malformed. The expression takes paths that are relative and have no `./`.
 */
export function compileGlob(pattern: string): RegExp {
  const anchored = pattern.slice(0, -1).includes("/");
  const body = pattern.replace(/^\//, "");
  let source = anchored ? "^" : "^(?:.*/)?";
  let depth = 0;
  for (let at = 0; at < body.length; at += 1) {
    const character = body[at] ?? "";
    if (character === "*" || character === "[") {
      const part = character === "*" ? readStars(body, at) : readClass(body, at);
      source += part.source;
      at = part.end;
    } else if (character === "?") source += "[^/]";
    else if (character === "{") {
      source += "(?:";
      depth += 1;
    } else if (character === "}" && depth > 0) {
      source += ")";
      depth -= 1;
    } else if (character === "," && depth > 0) source += "|";
    else if (character === "\\") source += escapeLiteral(body[++at] ?? "\\");
    else source += escapeLiteral(character);
  }
  if (depth > 0) throw unclosed("{", pattern);
  try {
    return new RegExp(`${source}$`, "su");
  } catch {
    throw new Error(`The pattern ${pattern} is wrong.`);
  }
}
